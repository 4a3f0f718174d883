#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "hearth/base/check.h"
#include "hearth/io/sha256.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/postprocess.h"
#include "hearth/tasks/question_answering/preprocess.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/verify/compare.h"
#include "hearth/verify/golden.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {
namespace {

constexpr double kClose = 1e-5;

// Without the key "lowercase" the name of the vocabulary decides.
bool is_lowercase(const io::Json& golden, const std::string& file) {
  const bool cased = io::get_string(golden, "vocab", file).find("-cased") != std::string::npos;
  return io::get_bool_or(golden, "lowercase", !cased, file);
}

class QaCheck {
 public:
  QaCheck(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report)
      : folder_(folder),
        report_(report),
        all_file_((folder / "all.json").string()),
        all_(io::read_json(all_file_)),
        tokenizer_(
            tokenizer::load_vocabulary(root / io::get_string(all_, "vocab", all_file_), is_lowercase(all_, all_file_))),
        examples_(tasks::read_qa_dataset(folder / io::get_string(all_, "source", all_file_))) {}

  void run() {
    check_all();
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) files.insert(entry.path());
    for (const std::filesystem::path& file : files)
      if (file.filename().string().starts_with("features_")) check_features(file);
    check_answers();
  }

 private:
  static tasks::QaFeatureOptions options_of(const io::Json& golden, const std::string& file) {
    tasks::QaFeatureOptions options;
    options.max_seq_length = io::get_int(golden, "max_seq_length", file);
    options.doc_stride = io::get_int(golden, "doc_stride", file);
    return options;
  }

  // Every feature of the source, by the hash over one line per feature.
  void check_all() {
    const tasks::QaFeatures features =
        tasks::prepare_train_features(examples_, *tokenizer_, options_of(all_, all_file_));
    io::Sha256 hash;
    for (std::int64_t f = 0; f < features.size(); ++f) {
      const auto at = static_cast<std::size_t>(f);
      hash.update(fmt::format("{}:{}:{}:{}\n", examples_[static_cast<std::size_t>(features.examples[at])].id,
                              fmt::join(features.ids_of(f), ","), features.start_positions[at],
                              features.end_positions[at]));
    }
    const auto counted = [&](const char* key, std::int64_t ours) {
      const std::int64_t expected = io::get_int(all_, key, all_file_);
      report_.check_exact(fmt::format("qa/all.json {}", key), ours == expected,
                          fmt::format("{}, expected {}", ours, expected));
    };
    counted("examples", std::ssize(examples_));
    counted("features", features.size());
    counted("tokens", features.tokens());
    const std::string expected = io::get_string(all_, "sha256_of_lines", all_file_);
    const std::string ours = hash.hex();
    report_.check_exact("qa/all.json sha256_of_lines", ours == expected,
                        fmt::format("{}, expected {}", ours, expected));
  }

  void check_features(const std::filesystem::path& path) {
    const std::string file = path.string();
    const io::Json golden = io::read_json(path);
    const io::Json& expected = list_at(golden, "features", file);
    std::unordered_map<std::string, const tasks::QaExample*> by_id;
    for (const tasks::QaExample& example : examples_) by_id[example.id] = &example;
    std::vector<tasks::QaExample> sample;
    for (const io::Json& feature : expected) {
      const std::string id = io::get_string(feature, "example_id", file);
      check(by_id.contains(id), "{} names the example {}, which the source does not have", file, id);
      if (sample.empty() || sample.back().id != id) sample.push_back(*by_id[id]);
    }
    const auto train = tasks::prepare_train_features(sample, *tokenizer_, options_of(golden, file));
    const auto validation = tasks::prepare_validation_features(sample, *tokenizer_, options_of(golden, file));
    const auto expected_count = std::ssize(expected);
    std::int64_t wrong = std::abs(expected_count - train.size());
    for (std::int64_t f = 0; f < std::min(expected_count, train.size()); ++f)
      wrong += !equals(expected[static_cast<std::size_t>(f)], file, train, validation, sample, f);
    report_.check_exact(fmt::format("qa/{} {} features", path.filename().string(), expected_count), wrong == 0,
                        wrong == 0 ? "" : fmt::format("{} differ", wrong));
  }

  static bool equals(const io::Json& golden, const std::string& file, const tasks::QaFeatures& train,
                     const tasks::QaFeatures& validation, const std::vector<tasks::QaExample>& sample, std::int64_t f) {
    const auto at = static_cast<std::size_t>(f);
    io::Json offsets = io::Json::array();
    for (const tokenizer::Offset& offset : validation.offsets_of(f))
      offsets.push_back(offset == tasks::QaFeatures::kNoOffset ? io::Json() : io::Json{offset.begin, offset.end});
    const auto ids = train.ids_of(f);
    const auto types = train.type_ids_of(f);
    return io::get_string(golden, "example_id", file) == sample[static_cast<std::size_t>(train.examples[at])].id &&
           list_at(golden, "input_ids", file) == io::Json(std::vector<std::int32_t>(ids.begin(), ids.end())) &&
           list_at(golden, "token_type_ids", file) == io::Json(std::vector<int>(types.begin(), types.end())) &&
           list_at(golden, "offsets", file) == offsets &&
           io::get_int(golden, "start", file) == train.start_positions[at] &&
           io::get_int(golden, "end", file) == train.end_positions[at];
  }

  void check_answers() {
    const std::string file = (folder_ / "postprocess.json").string();
    const io::Json golden = io::read_json(file);
    const auto text = [&](const io::Json& record, const char* key) { return io::get_string(record, key, file); };
    std::vector<tasks::QaExample> examples;
    for (const io::Json& record : list_at(golden, "examples", file))
      examples.push_back({text(record, "id"),
                          "",
                          std::make_shared<const std::string>(text(record, "context")),
                          text(record, "question"),
                          {}});
    const auto features = tasks::prepare_validation_features(examples, *tokenizer_, options_of(golden, file));
    const io::Safetensors tensors = io::Safetensors::open(folder_ / "logits.safetensors");
    const Tensor start = tensor_of(tensors, "start_logits", DType::f32);
    const Tensor end = tensor_of(tensors, "end_logits", DType::f32, start.shape());
    check(start.shape().rank() == 2 && start.rows() == features.size(),
          "{}: start_logits has the shape {}, it must have a row for each of {} features", tensors.path().string(),
          start.shape().to_string(), features.size());
    std::vector<tasks::QaLogits> logits;
    for (std::int64_t f = 0; f < features.size(); ++f) logits.push_back({row(start, f), row(end, f)});
    for (const bool v2 : {false, true}) {
      tasks::QaPostprocessOptions options;
      options.version_2_with_negative = v2;
      const std::string version = v2 ? "v2" : "v1";
      check_predictions(object_at(golden, version, file), file, version,
                        tasks::postprocess_qa_predictions(examples, features, logits, options), v2);
    }
  }

  static std::span<const float> row(const Tensor& tensor, std::int64_t index) {
    return {tensor.data<float>() + index * tensor.row_size(), static_cast<std::size_t>(tensor.row_size())};
  }

  void check_predictions(const io::Json& golden, const std::string& file, const std::string& version,
                         const std::vector<tasks::QaPrediction>& predictions, bool v2) {
    std::size_t texts = 0, nbest_texts = 0;
    LargestError logits, probabilities, odds;
    const auto compare = [&](LargestError& worst, double ours, const io::Json& expected, std::string_view key) {
      worst.take(std::abs(ours - io::get_double(expected, key, file)));
    };
    const io::Json& expected_texts = object_at(golden, "predictions", file);
    const io::Json& expected_nbest = object_at(golden, "nbest", file);
    for (const tasks::QaPrediction& prediction : predictions) {
      texts += io::get_string(expected_texts, prediction.id, file) != prediction.text;
      const io::Json& nbest = list_at(expected_nbest, prediction.id, file);
      nbest_texts += nbest.size() != prediction.nbest.size();
      for (std::size_t i = 0; i < std::min(nbest.size(), prediction.nbest.size()); ++i) {
        const tasks::QaCandidate& ours = prediction.nbest[i];
        nbest_texts += io::get_string(nbest[i], "text", file) != ours.text;
        compare(logits, ours.start_logit, nbest[i], "start_logit");
        compare(logits, ours.end_logit, nbest[i], "end_logit");
        compare(probabilities, ours.probability, nbest[i], "probability");
      }
      if (v2) compare(odds, prediction.null_odds, object_at(golden, "null_odds", file), prediction.id);
    }
    const std::string name = "qa/postprocess.json " + version;
    const auto exact = [&](const char* what, std::size_t wrong) {
      report_.check_exact(fmt::format("{} {}", name, what), wrong == 0,
                          wrong == 0 ? "" : fmt::format("{} differ", wrong));
    };
    exact("predictions", texts + (predictions.size() != expected_texts.size()));
    exact("n-best texts", nbest_texts);
    report_.check(name + " n-best logits", logits.value(), kClose);
    report_.check(name + " n-best probabilities", probabilities.value(), kClose);
    if (v2) report_.check(name + " null odds", odds.value(), kClose);
  }

  std::filesystem::path folder_;
  Report& report_;
  std::string all_file_;
  io::Json all_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::vector<tasks::QaExample> examples_;
};

}  // namespace

void verify_question_answering(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report) {
  QaCheck(folder, root, report).run();
}

}  // namespace hearth::verify
