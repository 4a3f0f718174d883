#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "hearth/base/error.h"
#include "hearth/data/qa_dataset.h"
#include "hearth/data/sha256.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/tasks/qa_postprocess.h"
#include "hearth/tasks/qa_preprocess.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {
namespace {

constexpr double kClose = 1e-5;

// Where the file does not say it, the vocabulary's name does.
bool is_lowercase(const io::Json& golden) {
  const bool cased = golden.at("vocab").get<std::string>().find("-cased") != std::string::npos;
  return io::get_bool_or(golden, "lowercase", !cased, "all.json");
}

class QaCheck {
 public:
  QaCheck(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report)
      : folder_(folder),
        report_(report),
        all_(io::read_json(folder / "all.json")),
        tokenizer_(tokenizer::load_vocabulary(root / all_.at("vocab").get<std::string>(), is_lowercase(all_))),
        examples_(data::read_qa_dataset(folder / all_.at("source").get<std::string>())) {}

  void run() {
    check_all();
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("features_")) check_features(entry.path());
    check_answers();
  }

 private:
  static tasks::QaFeatureOptions options_of(const io::Json& golden) {
    tasks::QaFeatureOptions options;
    options.max_seq_length = golden.at("max_seq_length").get<std::int64_t>();
    options.doc_stride = golden.at("doc_stride").get<std::int64_t>();
    return options;
  }

  // Every feature of the whole file, by the hash of their lines.
  void check_all() {
    const tasks::QaFeatures features = tasks::prepare_train_features(examples_, *tokenizer_, options_of(all_));
    data::Sha256 hash;
    for (std::int64_t f = 0; f < features.size(); ++f) {
      const auto at = static_cast<std::size_t>(f);
      hash.update(fmt::format("{}:{}:{}:{}\n", examples_[static_cast<std::size_t>(features.examples[at])].id,
                              fmt::join(features.ids_of(f), ","), features.start_positions[at],
                              features.end_positions[at]));
    }
    const auto counted = [&](const char* key, std::int64_t ours) {
      const auto expected = all_.at(key).get<std::int64_t>();
      report_.check_exact(fmt::format("qa/all.json {}", key), ours == expected,
                          fmt::format("{}, expected {}", ours, expected));
    };
    counted("examples", std::ssize(examples_));
    counted("features", features.size());
    counted("tokens", features.tokens());
    const auto expected = all_.at("sha256_of_lines").get<std::string>();
    const std::string ours = hash.hex();
    report_.check_exact("qa/all.json sha256_of_lines", ours == expected,
                        fmt::format("{}, expected {}", ours, expected));
  }

  void check_features(const std::filesystem::path& file) {
    const io::Json golden = io::read_json(file);
    std::unordered_map<std::string, const data::QaExample*> by_id;
    for (const data::QaExample& example : examples_) by_id[example.id] = &example;
    std::vector<data::QaExample> sample;
    for (const io::Json& feature : golden.at("features")) {
      const auto id = feature.at("example_id").get<std::string>();
      check(by_id.contains(id), "{} names the example {}, which the source does not have", file.string(), id);
      if (sample.empty() || sample.back().id != id) sample.push_back(*by_id[id]);
    }
    const auto train = tasks::prepare_train_features(sample, *tokenizer_, options_of(golden));
    const auto validation = tasks::prepare_validation_features(sample, *tokenizer_, options_of(golden));
    const auto expected_count = std::ssize(golden.at("features"));
    std::int64_t wrong = std::abs(expected_count - train.size());
    for (std::int64_t f = 0; f < std::min(expected_count, train.size()); ++f)
      wrong += !equals(golden.at("features")[static_cast<std::size_t>(f)], train, validation, sample, f);
    report_.check_exact(fmt::format("qa/{} {} features", file.filename().string(), expected_count), wrong == 0,
                        wrong == 0 ? "" : fmt::format("{} differ", wrong));
  }

  static bool equals(const io::Json& golden, const tasks::QaFeatures& train, const tasks::QaFeatures& validation,
                     const std::vector<data::QaExample>& sample, std::int64_t f) {
    const auto at = static_cast<std::size_t>(f);
    io::Json offsets = io::Json::array();
    for (const tokenizer::Offset& offset : validation.offsets_of(f))
      offsets.push_back(offset == tasks::QaFeatures::kNoOffset ? io::Json() : io::Json{offset.begin, offset.end});
    const auto ids = train.ids_of(f);
    const auto types = train.type_ids_of(f);
    return golden.at("example_id") == sample[static_cast<std::size_t>(train.examples[at])].id &&
           golden.at("input_ids") == io::Json(std::vector<std::int32_t>(ids.begin(), ids.end())) &&
           golden.at("token_type_ids") == io::Json(std::vector<int>(types.begin(), types.end())) &&
           golden.at("offsets") == offsets && golden.at("start") == train.start_positions[at] &&
           golden.at("end") == train.end_positions[at];
  }

  void check_answers() {
    const io::Json golden = io::read_json(folder_ / "postprocess.json");
    std::vector<data::QaExample> examples;
    for (const io::Json& record : golden.at("examples"))
      examples.push_back(
          {record.at("id"), "", std::make_shared<const std::string>(record.at("context")), record.at("question"), {}});
    const auto features = tasks::prepare_validation_features(examples, *tokenizer_, options_of(golden));
    const io::Safetensors file = io::Safetensors::open(folder_ / "logits.safetensors");
    const Tensor start = file.tensor("start_logits"), end = file.tensor("end_logits");
    check(start.rows() == features.size(), "{} has logits of {} features, there are {}", file.path().string(),
          start.rows(), features.size());
    std::vector<tasks::QaLogits> logits;
    for (std::int64_t f = 0; f < features.size(); ++f) logits.push_back({row(start, f), row(end, f)});
    for (const bool v2 : {false, true}) {
      tasks::QaPostprocessOptions options;
      options.version_2_with_negative = v2;
      check_predictions(golden.at(v2 ? "v2" : "v1"), v2 ? "v2" : "v1",
                        tasks::postprocess_qa_predictions(examples, features, logits, options), v2);
    }
  }

  static std::span<const float> row(const Tensor& tensor, std::int64_t index) {
    return {tensor.data<float>() + index * tensor.row_size(), static_cast<std::size_t>(tensor.row_size())};
  }

  void check_predictions(const io::Json& golden, const std::string& version,
                         const std::vector<tasks::QaPrediction>& predictions, bool v2) {
    std::size_t texts = 0, nbest_texts = 0;
    double logits = 0, probabilities = 0, odds = 0;
    const auto widen = [](double& worst, double ours, double expected) {
      const double difference = std::abs(ours - expected);
      if (!(difference <= worst)) worst = difference;
    };
    for (const tasks::QaPrediction& prediction : predictions) {
      texts += golden.at("predictions").at(prediction.id) != prediction.text;
      const io::Json& nbest = golden.at("nbest").at(prediction.id);
      nbest_texts += nbest.size() != prediction.nbest.size();
      for (std::size_t i = 0; i < std::min(nbest.size(), prediction.nbest.size()); ++i) {
        const tasks::QaCandidate& ours = prediction.nbest[i];
        nbest_texts += nbest[i].at("text") != ours.text;
        widen(logits, ours.start_logit, nbest[i].at("start_logit").get<double>());
        widen(logits, ours.end_logit, nbest[i].at("end_logit").get<double>());
        widen(probabilities, ours.probability, nbest[i].at("probability").get<double>());
      }
      if (v2) widen(odds, prediction.null_odds, golden.at("null_odds").at(prediction.id).get<double>());
    }
    const std::string name = "qa/postprocess.json " + version;
    const auto exact = [&](const char* what, std::size_t wrong) {
      report_.check_exact(fmt::format("{} {}", name, what), wrong == 0,
                          wrong == 0 ? "" : fmt::format("{} differ", wrong));
    };
    exact("predictions", texts + (predictions.size() != golden.at("predictions").size()));
    exact("n-best texts", nbest_texts);
    report_.check(name + " n-best logits", logits, kClose);
    report_.check(name + " n-best probabilities", probabilities, kClose);
    if (v2) report_.check(name + " null odds", odds, kClose);
  }

  std::filesystem::path folder_;
  Report& report_;
  io::Json all_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::vector<data::QaExample> examples_;
};

}  // namespace

void verify_question_answering(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report) {
  QaCheck(folder, root, report).run();
}

}  // namespace hearth::verify
