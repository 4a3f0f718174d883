#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hearth/metrics/retrieval.h"
#include "hearth/metrics/sample_prediction.h"
#include "hearth/tasks/embedding/nearest.h"
#include "hearth/tasks/embedding/records.h"

namespace hearth::tasks {

// Queries, documents and which documents are relevant to which query. Every query has at least one.
struct RetrievalTask {
  std::vector<std::string> queries, documents;
  std::vector<std::set<std::int64_t>> relevant;  // by query: rows of the documents
};

// BEIR's files: JSON lines of {"_id", "text"} for queries and {"_id", "title", "text"} for the corpus, whose title
// stands before its text, and lines of query-id, corpus-id and score with tabs between them, below a header. Queries
// without a relevant document, score above 0, are left out. A document that the corpus does not have is an Error.
RetrievalTask read_retrieval(const std::string& queries_file, const std::string& corpus_file,
                             const std::string& qrels_file);

// Retrieval among the texts of the records: the distinct first texts are queries, all other texts documents, and the
// second text of a record is relevant to its first. `query_rows` and `document_rows` get the rows of the texts among
// (columns, records), the order in which they were embedded.
RetrievalTask retrieval_among(const EmbeddingRecords& records, std::vector<std::int64_t>& query_rows,
                              std::vector<std::int64_t>& document_rows);

// The scores of embeddings of the queries and documents. `samples` gets some queries with the document that is nearest
// to each.
Metrics retrieval_scores(const RetrievalTask& task, const Tensor& queries, const Tensor& documents,
                         Similarity similarity, std::vector<SamplePrediction>& samples);

}  // namespace hearth::tasks
