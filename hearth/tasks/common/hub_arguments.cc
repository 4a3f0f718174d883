#include "hearth/tasks/common/hub_arguments.h"

namespace hearth::tasks {

void declare(Arguments& options, HubArguments& arguments) {
  options.section("Hub");
  options.add("push_to_hub", &arguments.push_to_hub, "upload the model to the Hub");
  options.add("hub_model_id", &arguments.hub_model_id, "repository: OWNER/NAME; if not given, the name of output_dir")
      .alias("push_to_hub_model_id");
  options.add(
      "hub_strategy", choice(&arguments.hub_strategy),
      "what is uploaded: the model at the end, or with every checkpoint too; with it the last checkpoint, or all");
  options
      .add("hub_token", &arguments.hub_token,
           "token with write access; if not given, --token, or else HF_TOKEN or that of `hf auth login`")
      .secret()
      .alias("push_to_hub_token");
  options.add("hub_private_repo", &arguments.hub_private_repo, "create a private repository");
  options.add("hub_always_push", &arguments.hub_always_push,
              "wait for an upload that still runs instead of leaving the "
              "next one out");
  options.add("hub_revision", &arguments.hub_revision, "branch to upload to; main if not given");
  options.refused({"push_to_hub_organization"}, "is now the OWNER of --hub_model_id OWNER/NAME");
}

}  // namespace hearth::tasks
