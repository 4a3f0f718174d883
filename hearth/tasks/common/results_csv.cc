#include "hearth/tasks/common/results_csv.h"

#include "hearth/io/file.h"
#include "hearth/io/json.h"

namespace hearth::tasks {
namespace {

std::string written(double value) { return io::dump_json(io::Json(value), io::kOneLine); }  // as Python's str()

}  // namespace

void ResultsCsv::append(double epoch, std::int64_t step, const Metrics& metrics) const {
  std::string text;
  if (std::filesystem::exists(file)) {
    text = io::read_file(file);
  } else {
    text = "epoch,steps";
    for (const auto& [header, name] : columns) text += "," + header;
    text += line_end;
  }
  text += written(epoch) + "," + std::to_string(step);
  for (const auto& [header, name] : columns) text += "," + written(metrics.at(name));
  io::create_directories(file.parent_path());
  io::replace_file(file, text + line_end);
}

ResultsCsv similarity_csv(const std::filesystem::path& folder, const std::string& similarity) {
  return {folder / "similarity_evaluation_results.csv",
          {{similarity + "_pearson", "pearson_" + similarity}, {similarity + "_spearman", "spearman_" + similarity}},
          "\r\n"};
}

ResultsCsv retrieval_csv(const std::filesystem::path& folder, const std::string& similarity) {
  ResultsCsv csv{folder / "Information-Retrieval_evaluation_results.csv", {}};
  const auto add = [&](const std::string& header, const std::string& name) {
    csv.columns.emplace_back(similarity + "-" + header, similarity + "_" + name);
  };
  for (const char* k : {"1", "3", "5", "10"}) add(std::string("Accuracy@") + k, std::string("accuracy@") + k);
  for (const char* k : {"1", "3", "5", "10"}) {
    add(std::string("Precision@") + k, std::string("precision@") + k);
    add(std::string("Recall@") + k, std::string("recall@") + k);
  }
  add("MRR@10", "mrr@10");
  add("NDCG@10", "ndcg@10");
  add("MAP@100", "map@100");
  return csv;
}

ResultsCsv cross_encoder_csv(const std::filesystem::path& folder) {
  return {folder / "CrossEncoderCorrelationEvaluator_results.csv",
          {{"Pearson_Correlation", "pearson"}, {"Spearman_Correlation", "spearman"}},
          "\r\n"};
}

}  // namespace hearth::tasks
