#include "hearth/tasks/common/model_arguments.h"

#include "hearth/base/check.h"

namespace hearth::tasks {

void declare(Arguments& options, ModelArguments& arguments, ModelStart start) {
  options.section("Model");
  Arguments::Option& model =
      options.add("model_name_or_path", &arguments.model_name_or_path, "model folder, or model name on the Hub")
          .per_process();
  if (start == ModelStart::pretrained) {
    model.required();
  } else {
    options.add("model_type", &arguments.model_type,
                "instead of model_name_or_path: start from nothing, with a new model of this type, such as bert");
  }
  options.add("config_name", &arguments.config_name, "folder or name of the config, if not that of the model")
      .per_process();
  options.add("tokenizer_name", &arguments.tokenizer_name, "folder or name of the tokenizer, if not that of the model")
      .per_process();
  options.add("cache_dir", &arguments.cache_dir, "folder of files from the Hub, if not the one that transformers uses")
      .per_process();
  options.add("model_revision", &arguments.model_revision, "branch, tag or commit of the model on the Hub");
  options.add("config_overrides", &arguments.config_overrides,
              "fields of config.json to change: hidden_dropout_prob=0,layer_norm_eps=1e-5");
  options.add("ignore_mismatched_sizes", &arguments.ignore_mismatched_sizes,
              "start with a new head if that of the model has another number of labels");
  options.add("freeze", &arguments.freeze,
              "parameters that stay as they are: shell patterns over Hugging Face names, such as 'bert.embeddings.*'");
  options
      .add("freeze_layers", &arguments.freeze_layers,
           "freeze the embeddings and the first N layers: no gradients, no optimizer state, faster steps")
      .at_least(0);
  options.add("token", &arguments.token, "token for the Hub; if not given, HF_TOKEN or that of `hf auth login`")
      .secret();
  options.ignored_switches({"use_auth_token"}, "the token of `hf auth login` is always used");
  options.ignored_switches({"trust_remote_code"}, "Hearth never runs code from a model folder");
  options.ignored_switches({"use_fast_tokenizer"}, "the only tokenizer is a fast one");
}

void check_start(const ModelArguments& arguments) {
  const bool is_new = (arguments.model_type || arguments.config_name) && arguments.tokenizer_name;
  check(!arguments.model_name_or_path.empty() || is_new,
        "no model was given: add --model_name_or_path, or --model_type and --tokenizer_name to start from nothing");
}

}  // namespace hearth::tasks
