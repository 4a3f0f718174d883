// hearth run_embedding, embed, search and rerank as a user runs them.
#include <gtest/gtest.h>

#include "hearth/io/npy.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

class Embeddings : public ProgramTest {
 protected:
  void SetUp() override {
    write("pairs.jsonl", pairs(24));
    write("texts.txt",
          "Elif lives in Bergen.\nGreta is the baker of Faro, who also sells mail.\nKira lives in Jena.\n");
  }
  static std::string pairs(int count) {
    const std::vector<std::string> people{"Elif", "Greta", "Kira", "Bruno"}, towns{"Bergen", "Faro", "Jena"};
    std::string lines;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      lines += fmt::format("{{\"question\": \"Where does {0} {2} live?\", \"answer\": \"{0} {2} lives in {1}.\"}}\n",
                           people[i % 4], towns[i % 3], i);
    return lines;
  }
  static std::string job(const std::string& flags) {
    return "run_embedding --model_name_or_path " + start_model().string() +
           " --max_seq_length 48 --learning_rate 1e-3 --logging_steps 1 --disable_tqdm True --num_threads 1 "
           "--save_strategy no " +
           flags;
  }
  static std::string training(const std::string& flags) { return job("--do_train --train_file pairs.jsonl " + flags); }
  Outcome must(const std::string& command, const std::string& before = "") const {
    Outcome outcome = hearth(command, before);
    EXPECT_EQ(outcome.status, 0) << command << "\n" << outcome.err;
    return outcome;
  }
  std::string error(const std::string& command) const { return hearth(command).error(); }
};

TEST_F(Embeddings, ATrainedModelHasTheFilesOfSentenceTransformers) {
  must(
      training("--max_steps 3 --output_dir out --pooling cls,mean --normalize --model_prompts '{\"query\": \"q: \"}'"));
  EXPECT_EQ(json("out/1_Pooling/config.json").at("pooling_mode"), io::Json({"cls", "mean"}));
  EXPECT_EQ(json("out/modules.json").size(), 3);
  EXPECT_EQ(json("out/config_sentence_transformers.json").at("prompts").at("query"), "q: ");
  EXPECT_EQ(json("out/tokenizer_config.json").at("model_max_length"), 48);
  EXPECT_EQ(json("out/config.json").at("architectures"), io::Json({"BertModel"}));
  // Training goes on from it, with its pooling.
  must(
      "run_embedding --model_name_or_path out --do_train --train_file pairs.jsonl --max_steps 1 --output_dir again "
      "--save_strategy no --disable_tqdm True");
  EXPECT_EQ(json("again/1_Pooling/config.json").at("pooling_mode"), io::Json({"cls", "mean"}));
}

TEST_F(Embeddings, TrainingImprovesRetrieval) {
  const std::string evaluation = "--do_eval --validation_file pairs.jsonl ";
  must(job(evaluation + "--output_dir before"));
  must(training(evaluation + "--num_train_epochs 6 --output_dir after"));
  const std::string metric = "eval_cosine_ndcg@10";
  EXPECT_GT(json("after/eval_results.json").at(metric).get<double>(),
            json("before/eval_results.json").at(metric).get<double>() + 0.1);
  const std::vector<std::string> rows = lines_of(text("after/eval/Information-Retrieval_evaluation_results.csv"));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_TRUE(rows[0].starts_with("epoch,steps,cosine-Accuracy@1,cosine-Accuracy@3"));
  EXPECT_TRUE(rows[1].starts_with("6.0,18,")) << rows[1];
}

TEST_F(Embeddings, ACorpusIsSearched) {
  write("queries.jsonl", "{\"_id\": \"q\", \"text\": \"Where does Elif live?\"}\n");
  write("corpus.jsonl", "{\"_id\": \"d\", \"text\": \"Elif lives in Bergen.\"}\n{\"_id\": \"e\", \"text\": \"No.\"}\n");
  write("qrels.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n");
  const std::string files = "--queries_file queries.jsonl --corpus_file corpus.jsonl --qrels_file qrels.tsv ";
  must(job("--do_eval --output_dir out " + files));
  EXPECT_EQ(json("out/eval_results.json").at("eval_cosine_recall@3"), 1.0);
  EXPECT_EQ(json("out/eval_results.json").at("eval_samples"), 1);
  write("qrels.tsv", "query-id\tcorpus-id\tscore\nq\tx\t1\n");
  EXPECT_TRUE(contains(error(job("--do_eval --output_dir o " + files)),
                       "the document x, relevant to the query q, is not in the corpus corpus.jsonl"));
  EXPECT_TRUE(
      contains(error(job("--do_eval --output_dir o --corpus_file corpus.jsonl")), "needs all of --queries_file"));
}

TEST_F(Embeddings, ScoredPairsAreCorrelated) {
  write("scored.csv",
        "a,b,score\nElif lives in Bergen.,Elif is in Bergen.,0.9\nKira sells mail.,Greta bakes.,0.2\n"
        "Kira sells mail.,Kira has mail to sell.,0.8\nBruno is in Faro.,Jena is a town.,0.1\n");
  must(
      job("--do_train --do_eval --train_file scored.csv --validation_file scored.csv --max_steps 2 --output_dir out "
          "--matryoshka_dims 16,8"));
  EXPECT_TRUE(json("out/eval_results.json").contains("eval_spearman_cosine"));
  EXPECT_TRUE(
      contains(text("out/eval/similarity_evaluation_results.csv"), "epoch,steps,cosine_pearson,cosine_spearman\r\n"));
}

// The chunked loss, dropout included, and batches without duplicates.
TEST_F(Embeddings, ChunksTrainAsTheWholeBatch) {
  const auto weights = [&](const std::string& out) { return io::read_file(folder() / out / "model.safetensors"); };
  const auto losses = [&](const std::string& out) {
    std::vector<double> found;
    const io::Json state = json(out + "/trainer_state.json");
    for (const io::Json& row : state.at("log_history"))
      if (row.contains("loss")) found.push_back(row.at("loss").get<double>());
    return found;
  };
  const std::string run = "--max_steps 4 --per_device_train_batch_size 12 --batch_sampler no_duplicates --output_dir ";
  must(training(run + "whole"));
  must(training(run + "chunks --mini_batch_size 5"));
  must(training(run + "again --mini_batch_size 5"));
  ASSERT_EQ(losses("whole").size(), 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(losses("whole")[i], losses("chunks")[i], 1e-4) << i;
  EXPECT_EQ(weights("chunks"), weights("again"));
}

TEST_F(Embeddings, BadInputIsOneSentence) {
  EXPECT_TRUE(
      contains(error(training("--output_dir o --pooling median")), "--pooling 'median' is not known; use one of cls"));
  EXPECT_TRUE(contains(error(training("--output_dir o --loss CosineLoss")), "--loss 'CosineLoss' is not known"));
  EXPECT_TRUE(contains(error(training("--output_dir o --per_device_train_batch_size 1")),
                       "MultipleNegativesRankingLoss has no negatives: a batch of one pair"));
  EXPECT_TRUE(contains(error(training("--output_dir o --matryoshka_dims 9000")), "the embeddings of this model have"));
  EXPECT_TRUE(contains(error(training("--output_dir o --matryoshka_dims 8,x")), "'x' is not a number above 0"));
  EXPECT_TRUE(
      contains(error(training("--output_dir o --prompts '{\"title\": \"t\"}'")), "which pairs.jsonl does not have"));
  EXPECT_TRUE(contains(error(training("--output_dir o --loss TripletLoss")), "TripletLoss needs three texts"));
  write("pairs.jsonl", "{\"question\": \"a\", \"answer\": \"b\"}\n");
  EXPECT_TRUE(contains(error(training("--output_dir o")), "has no negatives: a batch of one pair"));
  write("pairs.jsonl", "{\"question\": \"a\", \"answer\": \"\"}\n");
  EXPECT_TRUE(contains(error(training("--output_dir o")), "\"answer\" of record 1 is empty"));
  EXPECT_FALSE(fs::exists(folder() / "o"));
}

TEST_F(Embeddings, AreWrittenAndSearched) {
  const std::string model = "--model " + start_model().string() + " ";
  const Outcome written = must("embed " + model + "--file texts.txt --output texts.npy --tokens_per_batch 12");
  EXPECT_TRUE(contains(written.err + written.out, "3 texts, ")) << written.err;
  const Tensor embeddings = io::read_npy(folder() / "texts.npy");
  ASSERT_EQ(embeddings.rows(), 3);
  // One text alone has the same embedding.
  const io::Json alone = io::Json::parse(lines_of(must("embed " + model + "--text 'Kira lives in Jena.'").out).front());
  ASSERT_EQ(alone.at("embedding").size(), embeddings.row_size());
  for (std::size_t i = 0; i < alone.at("embedding").size(); ++i)
    EXPECT_NEAR(alone.at("embedding")[i].get<double>(), embeddings.data<float>()[2 * embeddings.row_size() + i], 1e-5);
  const Outcome found =
      must("search " + model + "--file texts.txt --embeddings texts.npy --query 'Kira lives in Jena.'");
  const io::Json results = io::Json::parse(lines_of(found.out).front()).at("results");
  EXPECT_EQ(results[0].at("corpus_id"), 2);
  EXPECT_NEAR(results[0].at("score").get<double>(), 1, 1e-5);
  must("embed " + model + "--file texts.txt --output short.npy --truncate_dim 4 --normalize");
  const std::string search = "search " + model + "--file texts.txt --embeddings texts.npy";
  const Outcome odd = hearth(search, "printf 'Kira\\n\\377\\nKira\\n' |");
  EXPECT_EQ(odd.error(), "line 2 of standard input: the line is not UTF-8 text; convert it first");
  EXPECT_EQ(lines_of(odd.out).size(), 1u);
  EXPECT_EQ(error(search + " --query $(printf '\\377')"), "--query is not UTF-8 text; convert it first");
  EXPECT_EQ(error("embed " + model + "--text $(printf '\\377')"), "--text is not UTF-8 text; convert it first");
  EXPECT_EQ(hearth("embed " + model, "printf 'a\\n\\377\\n' |").error(),
            "line 2 of standard input is not UTF-8 text; convert it first");
  EXPECT_TRUE(contains(error("search " + model + "--file texts.txt --embeddings short.npy --query a"),
                       "short.npy has embeddings of 4 numbers"));
  write("more.txt", "a\nb\n");
  EXPECT_TRUE(contains(error("search " + model + "--file more.txt --embeddings texts.npy --query a"),
                       "texts.npy has 3 embeddings, but more.txt has 2 texts"));
  write("more.txt", "a\n\n");
  EXPECT_TRUE(contains(error("embed " + model + "--file more.txt"), "more.txt: text 2 is empty"));
  EXPECT_TRUE(contains(error("embed " + model + "--file texts.txt --prompt_name query"), "has no prompt 'query'"));
}

TEST_F(Embeddings, ACrossEncoderOrdersWhatSearchFound) {
  std::string rows = "query,text,label\n";
  for (int i = 0; i < 12; ++i) rows += fmt::format("Where is {0}?,{1} lives in Jena.,{2}\n", i, i, i % 2);
  write("scored.csv", rows);
  must("run_classification --cross_encoder --model_name_or_path " + start_model().string() +
       " --do_train --do_eval --train_file scored.csv --validation_file scored.csv --max_seq_length 48 --max_steps 3 "
       "--output_dir ce --save_strategy no --disable_tqdm True --num_threads 1");
  EXPECT_TRUE(json("ce/eval_results.json").contains("eval_spearman"));
  EXPECT_EQ(json("ce/config_sentence_transformers.json").at("model_type"), "CrossEncoder");
  EXPECT_TRUE(
      contains(text("ce/eval/CrossEncoderCorrelationEvaluator_results.csv"), "epoch,steps,Pearson_Correlation,"));
  const std::string model = "--model " + start_model().string() + " ";
  must("embed " + model + "--file texts.txt --output texts.npy");
  const Outcome found = must("search " + model + "--file texts.txt --embeddings texts.npy --query 'Where is Kira?'");
  write("found.jsonl", found.out);
  const io::Json ordered = io::Json::parse(must("rerank --model ce --top_k 2", "cat found.jsonl |").out);
  ASSERT_EQ(ordered.at("results").size(), 2);
  EXPECT_GE(ordered.at("results")[0].at("score"), ordered.at("results")[1].at("score"));
  const io::Json same = io::Json::parse(must("rerank --model ce --query 'Where is Kira?' --file texts.txt").out);
  EXPECT_EQ(same.at("results")[0].at("text"), ordered.at("results")[0].at("text"));
  const Outcome odd = hearth("rerank --model ce", "{ cat found.jsonl; echo bad; cat found.jsonl; } |");
  EXPECT_EQ(odd.error(), "line 2 of standard input: the line is not valid JSON: column 1: a value was expected");
  EXPECT_EQ(lines_of(odd.out).size(), 1u);
  EXPECT_TRUE(contains(hearth("rerank --model ce", "echo '{\"query\": \"a\"}' |").error(),
                       "line 1 of standard input: the line must be JSON of hearth search"));
  EXPECT_EQ(must("rerank --model ce --top_k 2", "{ echo; cat found.jsonl; echo '  '; } |").out,
            must("rerank --model ce --top_k 2", "cat found.jsonl |").out);
  EXPECT_EQ(error("rerank --model ce --file texts.txt --query $(printf '\\377')"),
            "--query is not UTF-8 text; convert it first");
  EXPECT_TRUE(contains(error("rerank --model ce --query a"), "--query and --file belong together"));
  EXPECT_TRUE(contains(error("run_classification --cross_encoder --model_name_or_path " + start_model().string() +
                             " --do_train --train_file pairs.jsonl --label_column_name answer --output_dir o"),
                       "--cross_encoder needs pairs of texts"));
  write("scored.csv", "query,text,label\na,b,3\nc,d,0\n");
  EXPECT_TRUE(contains(error("run_classification --cross_encoder --model_name_or_path " + start_model().string() +
                             " --do_train --train_file scored.csv --output_dir o"),
                       "record 1 has the score 3, but --cross_encoder learns scores between 0 and 1"));
}

}  // namespace
}  // namespace hearth
