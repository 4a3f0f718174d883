#include "hearth/apps/hub_push.h"

#include <chrono>

#include "hearth/base/log.h"
#include "hearth/hub/model.h"

namespace hearth::apps {
namespace {

namespace fs = std::filesystem;

// As the Trainer names it if nothing else does: after the folder.
std::string repository_name(const tasks::HubArguments& args, const fs::path& output_dir) {
  if (args.hub_model_id) return *args.hub_model_id;
  const fs::path folder = fs::absolute(output_dir).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

hub::UploadOptions options_of(const tasks::HubArguments& args, std::string message) {
  hub::UploadOptions options;
  options.message = std::move(message);
  options.is_private = args.hub_private_repo.value_or(false);
  if (args.hub_revision) options.revision = *args.hub_revision;
  return options;
}

}  // namespace

HubPush::HubPush(const tasks::HubArguments& args, const std::string& token, fs::path output_dir, bool is_first)
    : args_(args), output_dir_(std::move(output_dir)), is_first_(is_first) {
  if (!is_first_) return;
  access_.token = args.hub_token.value_or(token);
  access_.quiet = true;
  repository_.name = repository_name(args, output_dir_);
  repository_ = hub::create_repository(repository_, options_of(args, "initial commit"), access_);
}

HubPush::~HubPush() { wait(); }

void HubPush::wait() {
  if (running_.valid()) running_.get();
}

void HubPush::on_save(const TrainingProgress& progress, TrainerControl&, const fs::path& checkpoint) {
  using namespace std::chrono_literals;
  if (!is_first_ || args_.hub_strategy == tasks::HubStrategy::end) return;
  const bool is_busy = running_.valid() && running_.wait_for(0s) != std::future_status::ready;
  if (is_busy && !args_.hub_always_push) return;
  wait();
  running_ = std::async(std::launch::async,
                        [this, checkpoint, step = progress.global_step] { push_checkpoint(checkpoint, step); });
}

// A failure does not end training: the next upload has everything again.
void HubPush::push_checkpoint(const fs::path& checkpoint, std::int64_t step) const try {
  hub::UploadOptions options = options_of(args_, fmt::format("Training in progress, step {}", step));
  options.patterns.include = hub::model_file_patterns();
  hub::upload(repository_, checkpoint, options, access_);
  if (args_.hub_strategy == tasks::HubStrategy::every_save) return;
  options = options_of(args_, options.message + ", checkpoint");
  options.path_in_repo =
      args_.hub_strategy == tasks::HubStrategy::checkpoint ? "last-checkpoint" : checkpoint.filename().string();
  hub::upload(repository_, checkpoint, options, access_);
} catch (const std::exception& error) {
  log_warning("{} was not uploaded: {}", checkpoint.string(), error.what());
}

void HubPush::push_results() {
  if (!is_first_) return;
  wait();
  hub::UploadOptions options = options_of(args_, "End of training");
  options.patterns.exclude = {"_*", "checkpoint-*", ".*", "report.*"};
  access_.quiet = false;
  log_info("uploaded to {}", hub::upload(repository_, output_dir_, options, access_).url);
}

}  // namespace hearth::apps
