#include "batch.h"
#include "bindings.h"
#include "convert.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/ops/context.h"
#include "hearth/tasks/embedding/embedder.h"
#include "hearth/tasks/question_answering/answer.h"
#include "hearth/tasks/text_classification/classifier.h"
#include "hearth/tasks/token_classification/tagger.h"

namespace hearth::python {
namespace {

using models::Pretrained, tokenizer::Tokenizer;
using ModelPtr = std::shared_ptr<Pretrained>;
using TokenizerPtr = std::shared_ptr<Tokenizer>;

nb::list answers(const ModelPtr& model, const TokenizerPtr& tokenizer, const std::string& question,
                 const std::string& context, const std::string& trained_in, const nb::dict& options,
                 std::size_t count) {
  tasks::AnswerOptions answering = trained_in.empty() ? tasks::AnswerOptions() : tasks::trained_options(trained_in);
  const auto take = [&](const char* name, auto& value) {
    if (options.contains(name)) value = nb::cast<std::decay_t<decltype(value)>>(options[name]);
  };
  take("max_seq_len", answering.max_seq_length);
  take("doc_stride", answering.doc_stride);
  take("max_answer_len", answering.postprocess.max_answer_length);
  take("handle_impossible_answer", answering.postprocess.version_2_with_negative);
  const std::int64_t longest = std::min(model->max_positions(), tokenizer->model_max_length());
  if (answering.max_seq_length > longest) {
    answering.max_seq_length = longest;
    if (!options.contains("doc_stride")) answering.doc_stride = std::min(answering.doc_stride, longest / 3);
  }
  answering.postprocess.n_best_size = std::max(answering.postprocess.n_best_size, static_cast<int>(count));
  io::Json found;
  {
    const nb::gil_scoped_release without_gil;
    const tasks::QaPrediction prediction = tasks::answer_question(*model, *tokenizer, context, question, answering);
    found = tasks::answers_json(question, tasks::best_answers(prediction, count));
  }
  return nb::cast<nb::list>(to_python(found["n_best"]));
}

// The scores of all labels, best first, for each text.
nb::list classes(tasks::TextClassifier& classifier, const std::vector<std::string>& first,
                 const std::vector<std::string>& second) {
  std::vector<std::vector<tasks::LabelScore>> all;
  {
    const nb::gil_scoped_release without_gil;
    all = classifier.classify({first, second});
  }
  nb::list result;
  for (const auto& scores : all) {
    nb::list of_text;
    for (const tasks::LabelScore& score : scores) {
      nb::dict entry;
      entry["label"] = score.label;
      entry["score"] = score.score;
      of_text.append(entry);
    }
    result.append(of_text);
  }
  return result;
}

nb::list entities(const ModelPtr& model, const TokenizerPtr& tokenizer, const std::vector<std::string>& texts,
                  const std::string& aggregation, std::int64_t stride, std::int64_t batch_size) {
  tasks::TaggerOptions options;
  options.max_seq_length = std::min(model->max_positions(), tokenizer->model_max_length());
  options.stride = stride > 0 ? stride : options.max_seq_length / 4;
  options.batch_size = batch_size;
  options.aggregation = tasks::aggregation_named(aggregation);
  io::Json found = io::Json::array();
  {
    const nb::gil_scoped_release without_gil;
    const tasks::Tagger tagger(*model, model->config().label_names(), *tokenizer, options);
    std::vector<tasks::TokenizedSentence> sentences;
    for (const std::string& text : texts) sentences.push_back(tasks::tokenized(text, *tokenizer));
    for (const auto& of_text : tagger(sentences)) found.push_back(tasks::entities_json(of_text, options.aggregation));
  }
  return nb::cast<nb::list>(to_python(found));
}

// The last hidden states of a batch, (S, L, H).
nb::object hidden_states(const ModelPtr& model, const PackedBatch& packed) {
  nn::ModelOutput output;
  {
    const nb::gil_scoped_release without_gil;
    ops::Context ctx;
    output.logits = {{"hidden", model->hidden_states(ctx, packed.batch)}};
  }
  return logits_of(*packed.batch, output)["hidden"];
}

}  // namespace

void bind_pipelines(nb::module_& m) {
  m.def("answers", answers);
  m.def("entities", entities);
  m.def("hidden_states", hidden_states);
  m.def("aggregation_names", tasks::aggregation_names);
  nb::class_<tasks::TextClassifier>(m, "TextClassifier")
      .def("__init__",
           [](tasks::TextClassifier* self, const ModelPtr& model, const TokenizerPtr& tokenizer,
              std::int64_t max_length, std::int64_t batch_size) {
             new (self) tasks::TextClassifier(model, tokenizer, {max_length, batch_size});
           })
      .def("classify", classes);
  nb::class_<tasks::Embedder>(m, "Embedder")
      .def(
          "__init__",
          [](tasks::Embedder* self, const std::string& folder, std::optional<std::int64_t> max_seq_length,
             bool normalize, std::optional<std::int64_t> truncate_dim) {
            tasks::EmbedderOptions options;
            options.max_seq_length = max_seq_length;
            options.normalize = normalize;
            options.truncate_dim = truncate_dim;
            new (self) tasks::Embedder(folder, options);
          },
          nb::arg("folder"), nb::arg("max_seq_length").none(), nb::arg("normalize"), nb::arg("truncate_dim").none(),
          WithoutGil())
      .def("embed",
           [](tasks::Embedder& self, const std::vector<std::string>& texts, const std::string& prompt) {
             Tensor embeddings;
             {
               const nb::gil_scoped_release without_gil;
               embeddings = self.embed(texts, prompt);
             }
             return array_of(embeddings);
           })
      .def_prop_ro("dimension", &tasks::Embedder::dimension);
}

}  // namespace hearth::python
