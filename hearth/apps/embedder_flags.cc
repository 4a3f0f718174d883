#include "hearth/apps/embedder_flags.h"

#include "hearth/hub/model.h"

namespace hearth::apps {

DType dtype_of(ComputeDtype dtype) {
  return dtype == ComputeDtype::bf16 ? DType::bf16 : dtype == ComputeDtype::fp16 ? DType::f16 : DType::f32;
}

void EmbedderFlags::declare(Arguments& arguments) {
  arguments
      .add("model", &model,
           "model folder written by run_embedding or sentence-transformers, or name in the Hugging Face cache")
      .alias("model_name_or_path")
      .required();
  arguments.add("max_seq_length", &max_seq_length, "maximum tokens per text; if not given, that of the model")
      .at_least(1);
  arguments.add("truncate_dim", &truncate_dim, "keep the first N numbers of each embedding").at_least(1);
  arguments.add("normalize", &normalize, "give embeddings length 1, whatever the model does");
  arguments.add("dtype", choice(&dtype), "dtype of matmuls");
  arguments.add("tokens_per_batch", &tokens_per_batch, "tokens that are computed together").at_least(1);
}

tasks::Embedder EmbedderFlags::embedder() const {
  return {hub::find_model(model, hub::ModelParts::all),
          {max_seq_length, tokens_per_batch, dtype_of(dtype), normalize, truncate_dim}};
}

}  // namespace hearth::apps
