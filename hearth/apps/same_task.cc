#include "hearth/apps/same_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/json.h"
#include "hearth/tasks/common/label_map.h"

namespace hearth::apps {
namespace {

using Names = std::vector<std::string>;

std::string way_out(const TrainingArguments& args) {
  if (args.resume_from_checkpoint && !args.resumes_from_last())
    return "leave out --resume_from_checkpoint, or name a checkpoint of this task";
  return fmt::format("{}give another --output_dir, or --overwrite_output_dir to start from the beginning",
                     args.resumes_from_last() ? "leave out --resume_from_checkpoint and " : "");
}

// Empty where the labels have no names, or none that can be read.
Names label_names(const models::Config& config) try {
  return config.has_label_names() ? config.label_names() : Names();
} catch (const Error&) {
  return {};
}

// 0, 1, 2, ...
bool are_numbers(const Names& names) {
  for (std::size_t id = 0; id < names.size(); ++id)
    if (names[id] != std::to_string(id)) return false;
  return true;
}

}  // namespace

void check_same_task(const std::filesystem::path& checkpoint, const models::Pretrained& model,
                     const TrainingArguments& args) {
  if (!std::filesystem::exists(checkpoint / "config.json")) return;
  const models::Config config = models::load_config(checkpoint);
  const io::Json architectures = config.values().value("architectures", io::Json::array());
  if (!architectures.empty() && architectures.front() != model.architecture())
    fail("{} is a checkpoint of {}, and this run trains {}: {}", checkpoint.string(),
         io::excerpt(architectures.front()), model.architecture(), way_out(args));
  const Names before = label_names(config), now = label_names(model.config());
  if (before.empty() || now.empty() || before == now) return;
  const std::string fact = fmt::format("the labels of {} are {}, those of this run are {}", checkpoint.string(),
                                       tasks::shown_labels(before), tasks::shown_labels(now));
  check(before.size() == now.size() && (are_numbers(before) || are_numbers(now)), "{}: {}", fact, way_out(args));
  log_warning("{}: they are taken to be the same, in this order", fact);
}

}  // namespace hearth::apps
