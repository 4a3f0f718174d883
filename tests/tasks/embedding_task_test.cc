#include "hearth/data/table.h"
#include "hearth/tasks/embedding/dataset.h"
#include "hearth/tasks/embedding/nearest.h"
#include "hearth/tasks/embedding/records.h"
#include "hearth/tasks/embedding/retrieval.h"
#include "hearth/tasks/embedding/run_embedding.h"
#include "tests/tasks/loaded_task.h"

namespace hearth::tasks {
namespace {

using models::EmbeddingLoss, models::EmbeddingLossKind;

class EmbeddingTask : public TemporaryFolder {
 protected:
  EmbeddingRecords records(std::string_view contents, const std::string& name = "a.jsonl",
                           const std::vector<std::string>& columns = {}) const {
    return read_embedding_records(data::read_table(write(name, contents)), columns, std::nullopt);
  }
  std::string error(std::string_view contents, const std::string& name = "a.jsonl") const {
    return error_of([&] { records(contents, name); });
  }
  std::string error_of_loss(EmbeddingLossKind kind, std::string_view contents) const {
    EmbeddingLoss loss;
    loss.kind = kind;
    return error_of([&] { check_fits(loss, records(contents)); });
  }
};

TEST_F(EmbeddingTask, ColumnsCountInTheirOrderAndTheFirstLabelNameIsTheLabel) {
  const EmbeddingRecords read = records("score,b,a\n0.5,x,y\n1,z,w\n", "a.csv");
  EXPECT_EQ(read.columns, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(read.texts[1], (std::vector<std::string>{"y", "w"}));
  EXPECT_EQ(read.labels, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(records("score,b,a\n0.5,x,y\n", "a.csv", {"a", "b"}).texts[0], std::vector<std::string>{"y"});
  EXPECT_EQ(records(R"({"q": "a", "p": "b", "n": "c", "labels": [1, 2.5]})").labels_per_record, 2);
}

TEST_F(EmbeddingTask, BadRecordsAreNamed) {
  EXPECT_TRUE(contains(error("{\"a\": \"x\", \"b\": \"y\"}\n{\"a\": \"x\", \"b\": \" \"}\n"),
                       "a.jsonl: \"b\" of record 2 is empty; write a text, or leave the record out"));
  EXPECT_TRUE(contains(error("{\"a\": \"x\", \"b\": \"y\"}\n{\"a\": \"x\"}\n"),
                       "a.jsonl: record 2 has no \"b\"; give every record all of its texts"));
  EXPECT_TRUE(contains(error("{\"a\": \"x\", \"label\": 1}\n"), "has one column of texts; a pair needs two"));
  EXPECT_TRUE(contains(error("{\"a\": \"x\", \"id\": 7}\n"), "the column \"id\" holds whole numbers, not texts"));
  EXPECT_TRUE(contains(error("{\"a\": \"x\", \"b\": \"y\", \"label\": \"yes\"}\n"), "the label of texts is a number"));
  EXPECT_TRUE(contains(error("a,b,score\nx,y,1\nx,y,\n", "a.csv"), "\"score\" of record 2 is missing or not finite"));
  EXPECT_TRUE(contains(
      error("{\"a\": \"x\", \"b\": \"y\", \"labels\": [1, 2]}\n{\"a\": \"x\", \"b\": \"y\", \"labels\": [1]}\n"),
      "\"labels\" of record 2 has 1 numbers, but that of record 1 has 2"));
}

TEST_F(EmbeddingTask, ALossThatTheRecordsDoNotFitIsAnError) {
  using enum EmbeddingLossKind;
  const std::string pair = "{\"a\": \"x\", \"b\": \"y\"}\n", scored = "{\"a\": \"x\", \"b\": \"y\", \"score\": 4.5}\n";
  EXPECT_TRUE(contains(error_of_loss(cosent, pair), "CoSENTLoss needs two texts and a number"));
  EXPECT_TRUE(contains(error_of_loss(triplet, pair), "TripletLoss needs three texts"));
  EXPECT_TRUE(contains(error_of_loss(margin_mse, pair), "MarginMSELoss needs a query, two or more documents"));
  EXPECT_TRUE(contains(error_of_loss(cosine_similarity, scored),
                       "the label 4.5 of record 1 is outside of -1 to 1, the range of CosineSimilarityLoss"));
  EXPECT_TRUE(contains(error_of_loss(contrastive, scored), "outside of 0 to 1, the range of ContrastiveLoss"));
  EXPECT_EQ(error_of_loss(cosent, scored), "");
  EXPECT_EQ(error_of_loss(multiple_negatives_ranking, pair), "");
}

TEST_F(EmbeddingTask, BatchesHaveTheFirstTextsThenTheSecond) {
  auto features = std::make_shared<EmbeddingFeatures>();
  for (const int base : {10, 20}) {
    TextColumn column;
    for (int row = 0; row < 3; ++row) {
      tokenizer::Encoding encoding;
      encoding.ids.assign(static_cast<std::size_t>(row + 1), base + row);
      encoding.type_ids.assign(encoding.ids.size(), 0);
      column.rows.append(encoding);
    }
    features->columns.push_back(column);
  }
  features->labels = {1, 2, 3};
  const EmbeddingDataset data(features, {});
  EXPECT_EQ(data.length(2), 6);
  const BatchPtr batch = data.collate(std::vector<std::int64_t>{2, 0}, 5);
  batch->check_consistent();
  EXPECT_EQ(batch->texts_per_item, 2);
  EXPECT_EQ(batch->input_ids, (std::vector<std::int32_t>{12, 12, 12, 10, 22, 22, 22, 20}));
  EXPECT_EQ(batch->samples, (std::vector<std::uint32_t>{10, 12, 11, 13}));
  EXPECT_EQ(batch->float_labels.at("labels"), (std::vector<float>{3, 1}));
}

TEST_F(EmbeddingTask, RetrievalReadsBeirsFiles) {
  const std::string queries =
      write("q.jsonl", "{\"_id\": \"q1\", \"text\": \"a\"}\n{\"_id\": \"q2\", \"text\": \"b\"}\n");
  const std::string corpus = write(
      "c.jsonl", "{\"_id\": 1, \"title\": \"T\", \"text\": \"x\"}\n{\"_id\": 2, \"title\": \"\", \"text\": \"y\"}\n");
  const auto read = [&](std::string_view qrels) {
    return read_retrieval(queries, corpus, write("qrels.tsv", "query-id\tcorpus-id\tscore\n" + std::string(qrels)));
  };
  const RetrievalTask task = read("q2\t2\t1\nq2\t1\t0\nq9\t1\t1\n");
  EXPECT_EQ(task.documents, (std::vector<std::string>{"T x", "y"}));
  EXPECT_EQ(task.queries, std::vector<std::string>{"b"});
  EXPECT_EQ(task.relevant, (std::vector<std::set<std::int64_t>>{{1}}));
  EXPECT_TRUE(contains(error_of([&] { read("q1\t7\t1\n"); }),
                       "the document 7, relevant to the query q1, is not in the corpus"));
  EXPECT_TRUE(contains(error_of([&] { read("q1 1 1\n"); }), "line 2: needs query-id, corpus-id and score with tabs"));
  EXPECT_TRUE(contains(error_of([&] { read("q1\t1\thigh\n"); }), "line 2: the score 'high' is not a number"));
  EXPECT_TRUE(contains(error_of([&] { read("q1\t1\t0\n"); }), "names no relevant document"));
  EXPECT_TRUE(contains(error_of([&] { read("q9\t1\t1\n"); }), "no query of"));
}

TEST_F(EmbeddingTask, RetrievalAmongPairsTakesEqualTextsAsOne) {
  std::vector<std::int64_t> query_rows, document_rows;
  const EmbeddingRecords pairs =
      records("{\"q\": \"a\", \"p\": \"x\"}\n{\"q\": \"b\", \"p\": \"x\"}\n{\"q\": \"a\", \"p\": \"y\"}\n");
  const RetrievalTask task = retrieval_among(pairs, query_rows, document_rows);
  EXPECT_EQ(task.queries, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(task.documents, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(task.relevant, (std::vector<std::set<std::int64_t>>{{0, 1}, {0}}));
  EXPECT_EQ(query_rows, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(document_rows, (std::vector<std::int64_t>{3, 5}));
}

TEST(Nearest, BestFirstAndOfEqualScoresTheFirst) {
  const Tensor queries = Tensor::of(std::vector<float>{1, 0}, {1, 2});
  const Tensor documents = Tensor::of(std::vector<float>{0, 1, 2, 0, 1, 0, -1, 0}, {4, 2});
  const auto cosine = nearest(queries, documents, 3, Similarity::cosine);
  ASSERT_EQ(cosine[0].size(), 3);
  EXPECT_EQ(cosine[0][0].document, 1);
  EXPECT_EQ(cosine[0][1].document, 2);
  EXPECT_EQ(cosine[0][2].document, 0);
  EXPECT_EQ(nearest(queries, documents, 9, Similarity::dot)[0].size(), 4);
  EXPECT_TRUE(contains(error_of([] { similarity_named("euclidean", "m"); }), "which is not supported"));
}

}  // namespace
}  // namespace hearth::tasks
