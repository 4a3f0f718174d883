#include <algorithm>

#include "hearth/bench/gemm_bench.h"
#include "hearth/bench/ops_bench.h"
#include "hearth/bench/tokenize_bench.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"
#include "tests/bench/small_model.h"
#include "tests/paths.h"

namespace hearth::bench {
namespace {

TEST_F(SmallModel, GemmHasARowForEachImplementationAndProduct) {
  GemmBenchOptions options;
  options.model = folder_.string();
  options.tokens = 24;
  options.rounds = 1;
  const std::vector<GemmBenchRow> rows = bench_gemm(options);
  std::size_t impls = 0;
  for (const DType type : options.dtypes) {
    EXPECT_FALSE(product_impls(type).empty()) << name_of(type);
    impls += product_impls(type).size();
  }
  EXPECT_EQ(rows.size(), 12 * impls);
  for (const GemmBenchRow& row : rows) EXPECT_TRUE(0 < row.all.gflops() && row.all.gflops() <= row.best.gflops());
  for (const DType type : options.dtypes)
    EXPECT_EQ(std::ranges::count_if(rows, [&](const auto& row) { return row.product.type == type && row.chosen; }), 12);

  const std::vector<io::Json> lines = to_json(rows);
  EXPECT_EQ(lines.size(), (12 + 3) * impls);
  EXPECT_EQ(lines[2].at("pass"), "weight gradient");
  EXPECT_EQ(lines[2].at("k"), 24);
  EXPECT_EQ(lines.back().at("layer"), "all");
  EXPECT_GT(lines.back().at("gflops_mean").get<double>(), 0);
  EXPECT_TRUE(contains(to_text(rows), "24 x 96 x 32"));
}

// BERT-base with many tokens, where the implementation takes blocks.
TEST(Products, HaveTheLayoutsOfTraining) {
  kernels::GemmImpl impl = kernels::choose_gemm(DType::bf16);
  impl.takes_bf16_blocks = true;
  const kernels::ForcedGemm forced(DType::bf16, impl);
  nn::TransformerConfig config;
  config.hidden = 768;
  config.intermediate = 3072;
  const auto layouts = [&](std::int64_t tokens, DType type) {
    std::string letters;
    for (const Product& product : training_products(config, tokens, type))
      for (const kernels::Layout layout : {product.a_layout, product.b_layout, product.c_layout})
        letters += layout == kernels::Layout::blocks ? 'b' : 'r';
    return letters;
  };
  // Per layer: A, B and C of forward, of the input gradient and of the weight gradient.
  const std::string expected =
      "brr"
      "rrr"
      "rbr"  // query, key, value: the input is copied
      "rrr"
      "rrr"
      "rrr"  // attention output
      "brb"
      "brr"
      "bbr"  // intermediate
      "brr"
      "rrb"
      "rbr";  // output
  EXPECT_EQ(layouts(4608, DType::bf16), expected);
  EXPECT_EQ(layouts(1023, DType::bf16), std::string(36, 'r'));
  EXPECT_EQ(layouts(4608, DType::f16), std::string(36, 'r'));
}

TEST_F(SmallModel, OpsAreHeldAgainstCopyAndProduct) {
  OpsBenchOptions options;
  options.model = folder_.string();
  options.batch = 2;
  options.seq = 20;
  options.rounds = 1;
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    options.dtype = type;
    const std::vector<OpsBenchRow> rows = bench_ops(options);
    const auto attention = std::ranges::find(rows, "attention forward", &OpsBenchRow::op);
    ASSERT_NE(attention, rows.end());
    EXPECT_EQ(attention->flops, 4 * 32 * 2 * 20 * 20);
    for (const OpsBenchRow& row : rows)
      EXPECT_TRUE(row.seconds > 0 && row.copy_seconds > 0 && row.share_of_limit() > 0);
    EXPECT_EQ(to_json(rows, type).size(), rows.size());
    EXPECT_TRUE(contains(to_text(rows, type), "AdamW"));
  }
}

TEST_F(SmallModel, TokenizesTextAndQuestions) {
  const std::string fixtures = kFixturesFolder;
  TokenizeBenchOptions options;
  options.vocab = fixtures + "/qa/vocab.txt";
  options.rounds = 1;
  options.file = write("text.txt", "the cat\nthe dog");
  cpu::set_num_threads(2);
  const auto of_text = bench_tokenize(options);
  ASSERT_EQ(of_text.size(), 2u);
  EXPECT_EQ(of_text[0].threads, 1);
  EXPECT_EQ(of_text[1].threads, 2);
  EXPECT_EQ(of_text[0].tokens, of_text[1].tokens);
  EXPECT_EQ(of_text[0].bytes, 14);
  EXPECT_EQ(cpu::num_threads(), 2);

  options.file = fixtures + "/qa/records.json";
  const auto of_questions = bench_tokenize(options);
  ASSERT_EQ(of_questions.size(), 4u);
  EXPECT_EQ(of_questions[2].work, "features");
  EXPECT_GT(of_questions[2].features, 0);
  EXPECT_EQ(of_questions[2].features, of_questions[3].features);
  EXPECT_EQ(to_json(of_questions).size(), 4u);

  options.model = folder_.string();
  EXPECT_TRUE(contains(error_of([&] { bench_tokenize(options); }), "--vocab"));
}

}  // namespace
}  // namespace hearth::bench
