#include "hearth/migrate/shell_syntax.h"

#include <algorithm>
#include <array>

#include "hearth/base/check.h"
#include "hearth/migrate/migration.h"

namespace hearth::migrate {
namespace {

enum class TokenKind { word, redirection, pipe, separator, comment };

struct Token {
  TokenKind kind;
  ShellWord word;  // its place, and the value of a word
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> result;
    while (skip_blanks(), at_ < text_.size()) {
      Token token{TokenKind::word, {at_, at_, "", true}};
      token.kind = read(token.word);
      token.word.end = at_;
      result.push_back(std::move(token));
    }
    return result;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool begins(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }
  bool take(std::string_view prefix) {
    if (!begins(prefix)) return false;
    at_ += prefix.size();
    return true;
  }
  bool take_line_end_after_backslash() { return take("\\\n") || take("\\\r\n"); }

  void skip_blanks() {
    while (at_ < text_.size() && (take_line_end_after_backslash() || (is_blank(peek()) && ++at_))) {
    }
  }

  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  TokenKind read(ShellWord& word) {
    if (peek() == '#') {
      skip_line();
      return TokenKind::comment;
    }
    if (take("\n")) {
      skip_here_documents();
      return TokenKind::separator;
    }
    if (begins_redirection()) {
      read_redirection();
      return TokenKind::redirection;
    }
    for (const std::string_view separator : {"&&", "||", ";;", ";", "&", "(", ")"})
      if (take(separator)) return TokenKind::separator;
    if (take("|")) return take("&"), TokenKind::pipe;
    read_word(word);
    return TokenKind::word;
  }

  // 2>file, &>file; <(command) is a word.
  bool begins_redirection() const {
    std::size_t ahead = 0;
    while (peek(ahead) >= '0' && peek(ahead) <= '9') ++ahead;
    if (ahead == 0 && peek() == '&') ahead = peek(1) == '>' ? 1 : 0;
    return (peek(ahead) == '<' || peek(ahead) == '>') && peek(ahead + 1) != '(';
  }

  void read_redirection() {
    at_ = text_.find_first_of("<>", at_);
    const bool is_document = begins("<<") && !begins("<<<");
    while (std::string_view("<>&|-").find(peek()) != std::string_view::npos && at_ < text_.size()) ++at_;
    skip_blanks();
    ShellWord target{at_, at_, "", true};
    read_word(target);
    if (is_document) documents_.push_back(target.value);
  }

  // The lines between the end of the line with <<WORD and the line WORD.
  void skip_here_documents() {
    for (const std::string& end : documents_)
      while (at_ < text_.size()) {
        const std::size_t begin = at_;
        skip_line();
        std::string_view line = text_.substr(begin, at_ - begin);
        if (at_ < text_.size()) ++at_;
        while (line.starts_with('\t')) line.remove_prefix(1);
        if (line == end) break;
      }
    documents_.clear();
  }

  void read_word(ShellWord& word) {
    if (begins("<(") || begins(">(")) {
      ++at_;
      copy_until_closed(word);
    }
    while (at_ < text_.size() && !ends_word(peek())) {
      if (take_line_end_after_backslash()) continue;
      read_piece(word);
    }
  }

  void read_piece(ShellWord& word) {
    const char c = peek();
    if (c == '\\') {
      ++at_;
      if (at_ < text_.size()) word.value += text_[at_++];
    } else if (c == '\'') {
      const std::size_t end = text_.find('\'', at_ + 1);
      check_closed(end != text_.npos, at_, '\'');
      word.value += text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else if (c == '"') {
      read_double_quotes(word);
    } else {
      read_unquoted(word);
    }
  }

  void read_double_quotes(ShellWord& word) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && peek() != '"') {
      if (take_line_end_after_backslash()) continue;
      if (peek() == '\\' && std::string_view("\"\\$`").find(peek(1)) != std::string_view::npos)
        ++at_;
      else if (peek() == '$' || peek() == '`') {
        read_expansion(word);
        continue;
      }
      if (at_ < text_.size()) word.value += text_[at_++];
    }
    check_closed(at_ < text_.size(), begin, '"');
    ++at_;
  }

  void read_unquoted(ShellWord& word) {
    if (peek() == '$' || peek() == '`') return read_expansion(word);
    if (std::string_view("*?[").find(peek()) != std::string_view::npos) word.is_literal = false;
    word.value += text_[at_++];
  }

  // $name, ${name}, $(command), `command`
  void read_expansion(ShellWord& word) {
    word.is_literal = false;
    const std::size_t begin = at_;
    if (peek() == '`') {
      const std::size_t end = text_.find('`', at_ + 1);
      check_closed(end != text_.npos, at_, '`');
      at_ = end + 1;
      word.value += text_.substr(begin, at_ - begin);
      return;
    }
    word.value += text_[at_++];
    if (peek() == '(') return copy_until_closed(word);
    if (peek() != '{') return;
    const std::size_t end = text_.find('}', at_);
    check_closed(end != text_.npos, begin, '{');
    word.value += text_.substr(at_, end + 1 - at_);
    at_ = end + 1;
  }

  // From an opening parenthesis to the one that closes it.
  void copy_until_closed(ShellWord& word) {
    word.is_literal = false;
    const std::size_t begin = at_;
    int depth = 0;
    do {
      check_closed(at_ < text_.size(), begin, '(');
      const char c = peek();
      if (c == '\'' || c == '"' || c == '\\') {
        ShellWord inner;
        read_piece(inner);
        continue;
      }
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      ++at_;
    } while (depth > 0);
    word.value += text_.substr(begin, at_ - begin);
  }

  void check_closed(bool is_closed, std::size_t begin, char opening) const {
    check(is_closed, "line {}: {} is never closed", line_of(text_, begin), opening);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> documents_;  // ends of the here-documents that begin after this line
};

// Words of the syntax that may stand before a command.
bool is_keyword(const ShellWord& word) {
  constexpr std::array<std::string_view, 10> kBefore{"if",    "then", "elif", "else", "while",
                                                     "until", "do",   "!",    "{",    "time"};
  return std::ranges::find(kBefore, word.value) != kBefore.end();
}

void add(std::vector<ShellPipeline>& pipelines, ShellPipeline& pipeline) {
  std::erase_if(pipeline.commands, [](const ShellCommand& command) { return command.words.empty(); });
  if (!pipeline.commands.empty()) pipelines.push_back(std::move(pipeline));
  pipeline = {};
}

}  // namespace

std::size_t line_of(std::string_view text, std::size_t place) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, place), '\n'));
}

std::vector<ShellPipeline> parse_shell(std::string_view text) {
  std::vector<ShellPipeline> result;
  ShellPipeline pipeline;
  for (Token& token : Lexer(text).tokens()) {
    if (token.kind == TokenKind::comment) continue;
    if (token.kind == TokenKind::separator) {
      if (pipeline.commands.empty()) continue;
      const bool is_next = text.substr(pipeline.end, token.word.begin - pipeline.end).find_first_not_of(" \t\r") ==
                           std::string_view::npos;
      pipeline.separator_end = is_next && text[token.word.begin] != ')' ? token.word.end : pipeline.end;
      add(result, pipeline);
      continue;
    }
    if (pipeline.commands.empty()) {
      if (token.kind == TokenKind::word && is_keyword(token.word)) {
        pipeline.follows_keyword = true;
        continue;
      }
      pipeline.begin = token.word.begin;
      pipeline.commands.emplace_back();
    }
    pipeline.end = pipeline.separator_end = token.word.end;
    if (token.kind == TokenKind::pipe) pipeline.commands.emplace_back();
    if (token.kind == TokenKind::word) pipeline.commands.back().words.push_back(std::move(token.word));
  }
  add(result, pipeline);
  return result;
}

}  // namespace hearth::migrate
