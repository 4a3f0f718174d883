#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "hearth/base/check.h"
#include "hearth/base/shell_word.h"
#include "hearth/migrate/flags.h"
#include "hearth/migrate/migration.h"
#include "hearth/migrate/python_syntax.h"

namespace hearth::migrate {
namespace {

struct TaskOfModel {
  std::string_view suffix, command;
};
constexpr std::array kTasks{
    TaskOfModel{"ForQuestionAnswering", "run_qa"},
    TaskOfModel{"ForTokenClassification", "run_ner"},
    TaskOfModel{"ForSequenceClassification", "run_classification"},
};

// A flag of the new command, with its words as the program gets them and as they are typed.
struct NewFlag {
  std::size_t line = 1;
  std::vector<OldWord> words;
  std::vector<std::string> typed;
  std::string remark;  // if the flag stays
};

std::string upper_case(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

NewFlag flag_of(std::size_t line, const std::string& name, const std::vector<std::string>& values) {
  NewFlag flag{line, {{"--" + name, true}}, {"--" + name}, ""};
  if (values == std::vector<std::string>{"True"}) return flag;
  for (const std::string& value : values) {
    flag.words.push_back({value, true});
    flag.typed.push_back(shell_word(value));
  }
  return flag;
}

// An expression, whose value only the user knows: a shell variable takes its place.
NewFlag flag_of_expression(std::size_t line, const std::string& name, const std::string& expression) {
  const std::string variable = upper_case(name);
  return {line,
          {{"--" + name, true}, {"$" + variable, false}},
          {"--" + name, fmt::format("\"${}\"", variable)},
          fmt::format("{}={}: set {} to its value", name, expression, variable)};
}

class ScriptMigration {
 public:
  ScriptMigration(std::string_view script, const std::string& name) : name_(name) {
    for (const PythonImport& import : find_imports(script)) take_import(import);
    for (const PythonCall& call : find_calls(script)) take_call(call);
  }

  Migration result() {
    check(is_known_, "{} has nothing that Hearth replaces: no TrainingArguments, Trainer, Accelerator or IPEX", name_);
    if (has_trainer_) {
      write_command();
    } else if (has_accelerator_) {
      result_.text = fmt::format("hearth launch{} {}", bf16_ ? " --mixed_precision bf16" : "", shell_word(name_));
    } else {
      result_.complete = false;
      remark(1, "no command has a training loop of one's own; docs/library.md shows such a loop in C++");
    }
    std::ranges::stable_sort(result_.remarks, {}, &Remark::line);
    return std::move(result_);
  }

 private:
  void remark(std::size_t line, std::string text) { result_.remarks.push_back({line, std::move(text)}); }

  void take_import(const PythonImport& import) {
    if (import.module.starts_with("intel_extension_for_pytorch")) {
      is_known_ = true;
      remark(import.line, "left out: IPEX: Hearth's own optimized kernels are always used");
    } else if (import.module.starts_with("oneccl_bindings_for_pytorch") || import.module.starts_with("torch_ccl")) {
      is_known_ = true;
      remark(import.line, "left out: oneCCL's bindings for PyTorch: --ddp_backend ccl uses oneCCL itself");
    }
  }

  void take_call(const PythonCall& call) {
    const std::string_view name = call.last_name();
    if (name == "TrainingArguments") return take_training_arguments(call);
    if (name.ends_with("Trainer")) return take_trainer(call);
    if (name == "Accelerator") return take_accelerator(call);
    if (name == "from_pretrained") return take_model(call);
    if (name == "load_dataset") return take_dataset(call);
    if (name == "HfArgumentParser") return take_parser(call);
    if (call.name.ends_with("ipex.optimize") || call.name == "intel_extension_for_pytorch.optimize" ||
        name == "autocast")
      return take_optimize(call);
    if (name == "init_process_group") return take_process_group(call);
    if (call.find("truncation") != nullptr) take_tokenizer_call(call);
    const bool is_of_trainer = call.name.ends_with("rainer." + std::string(name));
    if (is_of_trainer) take_action(call.line, name);
  }

  void take_action(std::size_t line, std::string_view name) {
    constexpr std::array<std::array<std::string_view, 2>, 3> kActions{
        {{"train", "do_train"}, {"evaluate", "do_eval"}, {"predict", "do_predict"}}};
    for (const auto& [method, flag] : kActions)
      if (name == method) add_once(flag_of(line, std::string(flag), {"True"}));
  }

  void add_once(NewFlag flag) {
    const bool is_there =
        std::ranges::any_of(flags_, [&](const NewFlag& other) { return other.typed.front() == flag.typed.front(); });
    if (!is_there) flags_.push_back(std::move(flag));
  }

  void add_argument(std::size_t line, const std::string& name, const PythonArgument& argument) {
    if (!argument.words) return add_once(flag_of_expression(line, name, argument.text));
    if (!argument.words->empty()) add_once(flag_of(line, name, *argument.words));
  }

  void take_training_arguments(const PythonCall& call) {
    is_known_ = has_trainer_ = true;
    for (const PythonArgument& argument : call.arguments) {
      if (argument.name == "**") {
        remark(argument.line, fmt::format("**{}: add a flag --name value for each of its items", argument.text));
        result_.complete = false;
      } else {
        add_argument(argument.line, argument.name.empty() ? "output_dir" : argument.name, argument);
      }
    }
  }

  void take_trainer(const PythonCall& call) {
    is_known_ = has_trainer_ = true;
    constexpr std::array<std::string_view, 6> kOwnCode{"callbacks",     "compute_metrics", "compute_loss_func",
                                                       "data_collator", "optimizers",      "model_init"};
    for (const PythonArgument& argument : call.arguments)
      if (std::ranges::find(kOwnCode, argument.name) != kOwnCode.end())
        remark(call.line, fmt::format("{}={}: the command has its own; hearth::Trainer in C++ takes another "
                                      "(docs/library.md)",
                                      argument.name, argument.text));
  }

  void take_accelerator(const PythonCall& call) {
    is_known_ = has_accelerator_ = true;
    const PythonArgument* precision = call.find("mixed_precision");
    bf16_ = bf16_ || (precision != nullptr && precision->words == std::vector<std::string>{"bf16"});
    remark(call.line,
           "the script stays Python, with PyTorch; hearth::Accelerator has the same methods in C++ "
           "(docs/library.md, examples/nlp_example.cc)");
  }

  void take_model(const PythonCall& call) {
    for (const auto& [suffix, command] : kTasks) {
      if (call.name.find(suffix) == call.name.npos) continue;
      command_ = command;
      PythonArgument model = call.arguments.empty() ? PythonArgument{} : call.arguments.front();
      add_argument(call.line, "model_name_or_path", model);
    }
  }

  void take_dataset(const PythonCall& call) {
    constexpr std::array<std::string_view, 5> kFiles{"csv", "json", "text", "parquet", "pandas"};
    const std::string name = call.word_at(0), part = call.word_at(1);
    if (name == "glue" || name == "nyu-mll/glue") {
      is_glue_ = true;
      if (!part.empty()) add_once(flag_of(call.line, "task_name", {part}));
    } else if (std::ranges::find(kFiles, name) != kFiles.end()) {
      add_once(flag_of_expression(call.line, "train_file", "load_dataset of files"));
      add_once(flag_of_expression(call.line, "validation_file", "load_dataset of files"));
    } else if (!call.arguments.empty()) {
      add_argument(call.line, "dataset_name", call.arguments.front());
      if (!part.empty()) add_once(flag_of(call.line, "dataset_config_name", {part}));
    }
  }

  void take_parser(const PythonCall& call) {
    is_known_ = has_trainer_ = has_parser_ = true;
    remark(call.line,
           "the flags of the script's command line: `hearth migrate 'python3 SCRIPT FLAGS'` translates them");
  }

  void take_optimize(const PythonCall& call) {
    is_known_ = true;
    const PythonArgument* dtype = call.find("dtype");
    const bool is_bf16 = dtype != nullptr && dtype->text.find("bfloat16") != dtype->text.npos;
    bf16_ = bf16_ || is_bf16;
    remark(call.line, fmt::format("left out: {}: Hearth's own optimized kernels are always used{}", call.name,
                                  is_bf16 ? ", in bf16 with --bf16" : ""));
  }

  void take_process_group(const PythonCall& call) {
    const PythonArgument* named = call.find("backend");
    const std::string backend =
        named != nullptr && named->words ? fmt::format("{}", fmt::join(*named->words, " ")) : call.word_at(0);
    if (backend != "ccl" && backend != "mpi" && backend != "gloo") return;
    is_known_ = true;
    remark(call.line,
           fmt::format("init_process_group: ranks join without it; --ddp_backend {} chooses the backend", backend));
  }

  void take_tokenizer_call(const PythonCall& call) {
    if (const PythonArgument* length = call.find("max_length")) add_argument(call.line, "max_seq_length", *length);
    if (const PythonArgument* stride = call.find("stride")) add_argument(call.line, "doc_stride", *stride);
  }

  void write_command() {
    if (is_glue_ && command_ == "run_classification") command_ = "run_glue";
    if (bf16_) add_once(flag_of(1, "bf16", {"True"}));
    if (has_parser_) std::erase_if(flags_, [](const NewFlag& flag) { return flag.typed.front().starts_with("--do_"); });
    std::string text = command_.empty() ? "" : "hearth " + command_;
    for (const NewFlag& flag : flags_) {
      const auto kept = kept_words(flag);
      if (!kept.empty()) text += fmt::format("{}{}", text.empty() ? "" : " \\\n  ", fmt::join(kept, " "));
    }
    if (command_.empty()) {
      result_.complete = false;
      remark(1, "these are flags of run_qa, run_ner, run_glue and run_classification: no model class tells which");
    }
    result_.text = text;
  }

  // The words of a flag as they are typed, under its present name; none if the flag is left out.
  std::vector<std::string> kept_words(const NewFlag& flag) {
    // Every training command has the flags of TrainingArguments.
    const std::vector<OldFlag> flags = flags_of_command(command_.empty() ? "run_qa" : command_, flag.words);
    if (flags.empty()) return {};  // an argument called help
    const OldFlag& old = flags.front();
    if (!old.remark.empty()) remark(flag.line, old.remark);
    if (old.is_lost) result_.complete = false;
    if (!old.stays) return {};
    if (!flag.remark.empty()) remark(flag.line, flag.remark);
    std::vector<std::string> words = flag.typed;
    if (old.new_name) words.front() = *old.new_name;
    return words;
  }

  std::string name_, command_;
  std::vector<NewFlag> flags_;
  Migration result_;
  bool is_known_ = false, has_trainer_ = false, has_accelerator_ = false, has_parser_ = false, is_glue_ = false,
       bf16_ = false;
};

}  // namespace

Migration migrate_python(std::string_view text, const std::string& name) {
  return ScriptMigration(text, name).result();
}

}  // namespace hearth::migrate
