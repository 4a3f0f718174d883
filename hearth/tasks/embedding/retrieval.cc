#include "hearth/tasks/embedding/retrieval.h"

#include <charconv>
#include <unordered_map>

#include "hearth/base/check.h"
#include "hearth/data/table.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/file.h"
#include "hearth/tasks/common/samples.h"
#include "hearth/tasks/common/text_features.h"

namespace hearth::tasks {
namespace {

using Places = std::unordered_map<std::string, std::int64_t>;  // of ids

struct Texts {
  std::vector<std::string> ids, texts;
};

// Ids may be texts or whole numbers.
Texts read_texts(const std::string& file) {
  const data::Table table = data::read_table(file);
  const data::Column &ids = table.at("_id"), &texts = table.at("text");
  const data::Column* const titles = table.find("title");
  Texts result;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    result.ids.push_back(ids.written(row));
    const std::string title = titles == nullptr || titles->is_missing(row) ? "" : titles->text(row);
    result.texts.push_back(is_blank(title) ? texts.text(row) : title + " " + texts.text(row));
    check(!is_blank(result.texts.back()), "{}: \"text\" of record {} is empty; write a text, or leave the record out",
          file, row + 1);
  }
  return result;
}

Places places_of(const std::vector<std::string>& ids, const std::string& file) {
  Places places;
  for (const std::string& id : ids)
    check(places.try_emplace(id, std::ssize(places)).second, "{}: the id {} occurs twice; give every text its own",
          file, id);
  return places;
}

struct Judgement {
  std::string query, document;
};

// The lines with a score above 0. The first line is a header.
std::vector<Judgement> read_judgements(const std::string& file) {
  const io::MappedFile contents(file);
  data::TextLines lines(contents.text(), file);
  std::vector<Judgement> result;
  for (std::string_view line; lines.next(line);) {
    if (lines.number() == 1 || line.empty()) continue;
    const std::size_t first = line.find('\t'), second = first == line.npos ? line.npos : line.find('\t', first + 1);
    check(second != line.npos, "{}, line {}: needs query-id, corpus-id and score with tabs between them", file,
          lines.number());
    const std::string_view text = line.substr(second + 1);
    double score = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
    check(error == std::errc() && end == text.data() + text.size(), "{}, line {}: the score '{}' is not a number", file,
          lines.number(), text);
    if (score > 0)
      result.push_back({std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1))});
  }
  check(!result.empty(), "{} names no relevant document: no line has a score above 0", file);
  return result;
}

std::vector<SamplePrediction> samples_of(const RetrievalTask& task, const std::vector<std::vector<Hit>>& hits) {
  const auto is_right = [&](std::int64_t query) {
    const auto at = static_cast<std::size_t>(query);
    return !hits[at].empty() && task.relevant[at].contains(hits[at].front().document);
  };
  const auto document = [&](std::int64_t row) { return task.documents[static_cast<std::size_t>(row)]; };
  std::vector<SamplePrediction> samples;
  for (const std::int64_t query : sample_items(std::ssize(hits), kSamples, is_right)) {
    const auto at = static_cast<std::size_t>(query);
    if (hits[at].empty()) continue;
    samples.push_back({task.queries[at], "", document(*task.relevant[at].begin()), document(hits[at].front().document),
                       is_right(query)});
  }
  return samples;
}

}  // namespace

RetrievalTask read_retrieval(const std::string& queries_file, const std::string& corpus_file,
                             const std::string& qrels_file) {
  Texts queries = read_texts(queries_file), documents = read_texts(corpus_file);
  const Places query_places = places_of(queries.ids, queries_file), places = places_of(documents.ids, corpus_file);
  std::vector<std::set<std::int64_t>> relevant(queries.ids.size());
  for (const Judgement& each : read_judgements(qrels_file)) {
    const auto query = query_places.find(each.query), document = places.find(each.document);
    if (query == query_places.end()) continue;  // qrels of another part of the queries
    check(document != places.end(), "{}: the document {}, relevant to the query {}, is not in the corpus {}",
          qrels_file, each.document, each.query, corpus_file);
    relevant[static_cast<std::size_t>(query->second)].insert(document->second);
  }
  RetrievalTask task;
  task.documents = std::move(documents.texts);
  for (std::size_t query = 0; query < relevant.size(); ++query) {
    if (relevant[query].empty()) continue;
    task.queries.push_back(std::move(queries.texts[query]));
    task.relevant.push_back(std::move(relevant[query]));
  }
  check(!task.queries.empty(), "{}: no query of {} has a relevant document", qrels_file, queries_file);
  return task;
}

RetrievalTask retrieval_among(const EmbeddingRecords& records, std::vector<std::int64_t>& query_rows,
                              std::vector<std::int64_t>& document_rows) {
  RetrievalTask task;
  Places queries, documents;
  const std::int64_t size = records.size();
  for (std::size_t column = 1; column < records.texts.size(); ++column)
    for (std::int64_t record = 0; record < size; ++record) {
      const std::string& text = records.texts[column][static_cast<std::size_t>(record)];
      if (!documents.try_emplace(text, std::ssize(documents)).second) continue;
      task.documents.push_back(text);
      document_rows.push_back(static_cast<std::int64_t>(column) * size + record);
    }
  for (std::int64_t record = 0; record < size; ++record) {
    const std::string& query = records.texts[0][static_cast<std::size_t>(record)];
    const auto [place, is_new] = queries.try_emplace(query, std::ssize(queries));
    if (is_new) {
      task.queries.push_back(query);
      task.relevant.emplace_back();
      query_rows.push_back(record);
    }
    task.relevant[static_cast<std::size_t>(place->second)].insert(
        documents.at(records.texts[1][static_cast<std::size_t>(record)]));
  }
  return task;
}

Metrics retrieval_scores(const RetrievalTask& task, const Tensor& queries, const Tensor& documents,
                         Similarity similarity, std::vector<SamplePrediction>& samples) {
  std::vector<metrics::RetrievedDocuments> found;
  const auto hits = nearest(queries, documents, metrics::kRetrieved, similarity);
  for (std::size_t query = 0; query < hits.size(); ++query) {
    metrics::RetrievedDocuments of_query;
    of_query.relevant = std::ssize(task.relevant[query]);
    for (const Hit& hit : hits[query]) of_query.is_relevant.push_back(task.relevant[query].contains(hit.document));
    found.push_back(std::move(of_query));
  }
  samples = samples_of(task, hits);
  return metrics::retrieval_scores(found).with_prefix(similarity == Similarity::cosine ? "cosine_" : "dot_");
}

}  // namespace hearth::tasks
