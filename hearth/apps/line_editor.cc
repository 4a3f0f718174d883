#include "hearth/apps/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"

namespace hearth::apps {
namespace {

constexpr int kHistoryLines = 1000;

char* prompt_of(EditLine* editor) {
  void* prompt = nullptr;
  el_get(editor, EL_CLIENTDATA, &prompt);
  return static_cast<char*>(prompt);
}

// libedit drops characters that the locale does not know.
void read_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(nl_langinfo(CODESET)) != "UTF-8") std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

LineEditor::LineEditor(std::string prompt, std::filesystem::path history_file)
    : prompt_(std::move(prompt)),
      history_file_(std::move(history_file)),
      history_(history_init(), history_end),
      editor_(nullptr, el_end) {
  read_utf8();
  editor_.reset(el_init("hearth", stdin, stderr, stderr));
  check(history_ != nullptr && editor_ != nullptr,
        "the terminal cannot be used: pipe the questions into hearth instead");
  HistEvent event;
  ::history(history_.get(), &event, H_SETSIZE, kHistoryLines);
  ::history(history_.get(), &event, H_SETUNIQUE, 1);
  if (!history_file_.empty()) ::history(history_.get(), &event, H_LOAD, history_file_.c_str());
  el_set(editor_.get(), EL_CLIENTDATA, prompt_.data());
  el_set(editor_.get(), EL_PROMPT, prompt_of);
  el_set(editor_.get(), EL_EDITOR, "emacs");
  el_set(editor_.get(), EL_SIGNAL, 1);  // Ctrl-C leaves the terminal as it was
  el_set(editor_.get(), EL_HIST, ::history, history_.get());
  el_source(editor_.get(), nullptr);  // the user's ~/.editrc
}

std::optional<std::string> LineEditor::read() {
  int size = 0;
  const char* text = el_gets(editor_.get(), &size);
  if (text == nullptr || size <= 0) return std::nullopt;
  std::string line(text, static_cast<std::size_t>(size));
  if (line.ends_with('\n')) line.pop_back();
  if (line.find_first_not_of(" \t") == line.npos) return line;
  HistEvent event;
  ::history(history_.get(), &event, H_ENTER, line.c_str());
  if (history_file_.empty()) return line;
  std::error_code ignored;  // without the folder there is no history next time
  std::filesystem::create_directories(history_file_.parent_path(), ignored);
  ::history(history_.get(), &event, H_SAVE, history_file_.c_str());
  return line;
}

bool on_terminal() { return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0; }

std::filesystem::path state_file(const std::string& name) {
  std::filesystem::path folder = environment("XDG_STATE_HOME");
  if (folder.empty()) folder = with_home("~/.local/state");
  return folder.is_absolute() ? folder / "hearth" / name : std::filesystem::path();
}

}  // namespace hearth::apps
