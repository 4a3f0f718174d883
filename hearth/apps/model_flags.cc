#include "hearth/apps/model_flags.h"

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/usage_error.h"
#include "hearth/hub/model.h"
#include "hearth/ops/precision.h"

namespace hearth::apps {

void ModelFlags::declare(Arguments& arguments, std::string model_help) {
  arguments.add("model", &model, std::move(model_help)).alias("model_name_or_path").required();
  arguments.add("dtype", choice(&dtype), "dtype of matmuls");
  arguments.add("bf16", &bf16, "bf16 matmuls: --dtype bf16");
  arguments.add("fp16", &fp16, "fp16 matmuls: --dtype fp16");
}

void ModelFlags::check_usage() const {
  as_usage([&] {
    check(int{bf16} + int{fp16} + int{dtype != ComputeDtype::fp32} <= 1, "give one of --dtype, --bf16 and --fp16");
  });
}

std::filesystem::path ModelFlags::folder() const { return hub::find_model(model, hub::ModelParts::all); }

DType ModelFlags::compute() const {
  const DType type = bf16 || dtype == ComputeDtype::bf16   ? DType::bf16
                     : fp16 || dtype == ComputeDtype::fp16 ? DType::f16
                                                           : DType::f32;
  if (const auto warning = ops::emulation_warning(type)) log_warning("{}", *warning);
  return type;
}

void EmbedderFlags::declare(Arguments& arguments) {
  ModelFlags::declare(
      arguments, "model folder written by run_embedding or sentence-transformers, or name in the Hugging Face cache");
  arguments.add("max_seq_length", &max_seq_length, "maximum tokens per text; if not given, that of the model")
      .at_least(1);
  arguments.add("truncate_dim", &truncate_dim, "keep the first N numbers of each embedding").at_least(1);
  arguments.add("normalize", &normalize, "give embeddings length 1, whatever the model does");
  arguments.add("tokens_per_batch", &tokens_per_batch, "tokens that are computed together").at_least(1);
}

tasks::Embedder EmbedderFlags::embedder() const {
  return {folder(), {max_seq_length, tokens_per_batch, compute(), normalize, truncate_dim}};
}

void ClassifierFlags::declare(Arguments& arguments, std::string model_help) {
  ModelFlags::declare(arguments, std::move(model_help));
  arguments.add("max_seq_length", &max_seq_length, "maximum tokens per input; if not given, as the model was trained")
      .at_least(1);
  arguments.add("batch_size", &batch_size, "number of inputs that are computed together").at_least(1);
}

tasks::TextClassifier ClassifierFlags::classifier(std::int64_t usual_length) const {
  return {folder(), {max_seq_length, batch_size, compute(), usual_length}};
}

}  // namespace hearth::apps
