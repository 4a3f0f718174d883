#include "hearth/launch/config/config_dialogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <limits>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"

namespace hearth::launch {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostMachines = 9999, kHighestPort = 65535;

std::string in_case(std::string text, int (*convert)(int)) {
  std::ranges::transform(text, text.begin(), [&](unsigned char c) { return static_cast<char>(convert(c)); });
  return text;
}

// Asks again, with an explanation, until the answer is valid. Enter alone takes the default, if there is one.
class Questions {
 public:
  explicit Questions(Terminal& terminal) : terminal_(terminal) {}

  // From here on the end of the input means the defaults.
  void let_input_end() { input_may_end_ = true; }

  std::size_t choose(std::string_view question, const std::vector<std::string>& choices, std::size_t marked = 0) {
    const auto choice =
        terminal_.choose(question, choices, marked,
                         "Hearth trains on CPUs: those of this machine and of machines that mpirun can reach.");
    check_end(choice.has_value(), question);
    return choice.value_or(marked);
  }

  bool yes_or_no(std::string_view question, bool otherwise) {
    return ask<bool>(question, otherwise, "Please enter yes or no.", [](const std::string& typed) {
      const std::string word = in_case(typed, std::tolower);
      return word == "yes" ? std::optional(true) : word == "no" ? std::optional(false) : std::nullopt;
    });
  }

  std::int64_t integer(std::string_view question, std::optional<std::int64_t> otherwise, std::int64_t least,
                       std::int64_t most = kNoLimit) {
    const std::string limits = most == kNoLimit ? fmt::format("Please enter an integer, {} or more.", least)
                                                : fmt::format("Please enter an integer, {} to {}.", least, most);
    return ask<std::int64_t>(question, otherwise, limits, [&](const std::string& typed) -> std::optional<std::int64_t> {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
      const bool fits = error == std::errc() && *end == 0 && number >= least && number <= most;
      return fits ? std::optional(number) : std::nullopt;
    });
  }

  std::string text(std::string_view question, std::optional<std::string> otherwise) {
    return ask<std::string>(question, otherwise, "Please enter a value.", [](const std::string& typed) {
      return typed.empty() ? std::nullopt : std::optional(typed);
    });
  }

  void explain(std::string_view sentence) { terminal_.print(fmt::format("{}\n", sentence)); }

 private:
  template <class T>
  T ask(std::string_view question, const std::optional<T>& otherwise, std::string_view explanation,
        const std::function<std::optional<T>(const std::string&)>& convert) {
    while (true) {
      const auto typed = terminal_.ask(question);
      check_end(typed.has_value(), question);
      if (otherwise && typed.value_or("").empty()) return *otherwise;
      if (const auto value = convert(*typed)) return *value;
      explain(explanation);
    }
  }

  void check_end(bool answered, std::string_view question) const {
    check(answered || input_may_end_, "the input ended at the question \"{}\"; nothing was written", question);
  }

  Terminal& terminal_;
  bool input_may_end_ = false;
};

class Dialogue {
 public:
  explicit Dialogue(Terminal& terminal) : questions_(terminal) {}

  LaunchConfig run() {
    static const std::vector<std::string> formats{"no", "fp16", "bf16"};
    questions_.choose("In which compute environment are you running?", {"This machine"});
    const bool several =
        questions_.choose("Which type of machine are you using?", {"No distributed training", "multi-CPU"}) == 1;
    if (several) {
      ask_several();
    } else {
      ask_one();
    }
    config_.mixed_precision = formats[questions_.choose("Do you wish to use FP16 or BF16 (mixed precision)?", formats)];
    if (several) ask_later_questions();
    return config_;
  }

 private:
  void ask_one() {
    config_.use_cpu = questions_.yes_or_no(
        "Do you want to run your training on CPU only (even if a GPU / Apple Silicon device is available)? [yes/NO]:",
        false);
    if (config_.use_cpu) ask_ipex();
    ask_dynamo();
    while (questions_.yes_or_no("Do you want to use DeepSpeed? [yes/NO]: ", false))
      questions_.explain("DeepSpeed trains on GPUs, which Hearth does not use; please answer no.");
  }

  void ask_several() {
    config_.distributed_type = "MULTI_CPU";
    config_.use_cpu = true;
    config_.num_machines = questions_.integer(
        "How many different machines will you use (use more than 1 for multi-node training)? [1]: ", 1, 1,
        kMostMachines);
    if (config_.num_machines > 1) ask_machines();
    ask_ipex();
    ask_dynamo();
    config_.num_processes = questions_.integer("How many CPU(s) should be used for distributed training? [1]:", 1, 1);
  }

  void ask_machines() {
    std::vector<std::string> ranks;
    for (std::int64_t rank = 0; rank < config_.num_machines; ++rank) ranks.push_back(std::to_string(rank));
    config_.machine_rank = static_cast<std::int64_t>(questions_.choose("What is the rank of this machine?", ranks));
    config_.main_process_ip =
        questions_.text("What is the IP address of the machine that will host the main process? ", std::nullopt);
    config_.main_process_port = questions_.integer(
        "What is the port you will use to communicate with the main process? ", std::nullopt, 0, kHighestPort);
    config_.same_network = questions_.yes_or_no(
        "Are all the machines on the same local network? Answer `no` if nodes are on the cloud and/or on different "
        "network hosts [YES/no]: ",
        true);
    if (!config_.same_network)
      config_.rdzv_backend =
          questions_.text("What rendezvous backend will you use? ('static', 'c10d', ...): ", "static");
  }

  void ask_ipex() {
    config_.ipex = questions_.yes_or_no(
        "Do you want to use Intel PyTorch Extension (IPEX) to speed up training on CPU? [yes/NO]:", false);
  }

  void ask_dynamo() {
    static const std::vector<std::string> backends{"eager", "aot_eager", "inductor", "onnxrt", "ipex", "tvm"};
    static const std::vector<std::string> modes{"default", "reduce-overhead", "max-autotune"};
    if (!questions_.yes_or_no("Do you wish to optimize your script with torch dynamo?[yes/NO]:", false)) return;
    const std::size_t backend = questions_.choose("Which dynamo backend would you like to use?", backends, 2);
    config_.dynamo_backend = in_case(backends[backend], std::toupper);
    if (!questions_.yes_or_no("Do you want to customize the defaults sent to torch.compile? [yes/NO]: ", false)) return;
    config_.dynamo_mode = modes[questions_.choose("Which mode do you want to use?", modes)];
    config_.dynamo_use_fullgraph = questions_.yes_or_no(
        "Do you want the fullgraph mode or it is ok to break model into several subgraphs? [yes/NO]: ", false);
    config_.dynamo_use_dynamic = questions_.yes_or_no("Do you want to enable dynamic shape tracing? [yes/NO]: ", false);
  }

  void ask_later_questions() {
    questions_.let_input_end();
    config_.debug = questions_.yes_or_no(
        "Should distributed operations be checked while running for errors? This can avoid timeout issues but will be "
        "slower. [yes/NO]: ",
        false);
    if (!questions_.yes_or_no("Do you want hearth to launch mpirun? [yes/NO]: ", false)) return;
    const std::string hostfile =
        questions_.text("Please enter the path to the hostfile to use with mpirun [~/hostfile]: ", "~/hostfile");
    config_.mpirun_hostfile = hostfile.starts_with("~/") ? environment("HOME") + hostfile.substr(1) : hostfile;
    config_.mpirun_ccl = questions_.integer("Enter the number of oneCCL worker threads [1]: ", 1, 0);
  }

  Questions questions_;
  LaunchConfig config_;
};

}  // namespace

LaunchConfig ask_launch_config(Terminal& terminal) { return Dialogue(terminal).run(); }

}  // namespace hearth::launch
