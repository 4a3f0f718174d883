#include "hearth/tasks/masked_lm/masked_lm.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hearth/io/json.h"
#include "hearth/tasks/masked_lm/masking.h"
#include "tests/tasks/loaded_task.h"

namespace hearth::tasks {
namespace {

using Ids = std::vector<std::int32_t>;

const std::filesystem::path kModel = fixture("masked_lm");

std::vector<std::int64_t> all_of(const Dataset& data) {
  std::vector<std::int64_t> items(static_cast<std::size_t>(data.size()));
  std::iota(items.begin(), items.end(), 0);
  return items;
}

// The tokens that a sequence had before it was masked.
Ids unmasked(const Dataset& data, std::int64_t item) {
  const BatchPtr batch = data.collate(std::vector{item}, 0);
  Ids ids = batch->input_ids;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (const std::int64_t label = batch->labels.at("labels")[i]; label != kNotMasked)
      ids[i] = static_cast<std::int32_t>(label);
  return ids;
}

TEST(Masking, HasTheBitsOfTransformers) {
  const auto tokenizer = tokenizer::load_tokenizer(kModel);
  int whole = 0, single = 0;
  for (const io::Json& row : io::read_json(kModel / "masks.json")) {
    const bool whole_words = row.at("whole_words").get<bool>();
    ++(whole_words ? whole : single);
    const Masking masking(*tokenizer, {row.at("probability").get<double>(), whole_words});
    std::mt19937 random(row.at("seed").get<std::uint32_t>());
    const MaskedSequence result = masking(row.at("ids").get<Ids>(), random);
    EXPECT_EQ(result.ids, row.at("masked").get<Ids>()) << row.at("seed");
    EXPECT_EQ(result.labels, row.at("labels").get<std::vector<std::int64_t>>()) << row.at("seed");
  }
  EXPECT_GE(whole, 10);
  EXPECT_GE(single, 10);
}

// DataCollatorForWholeWordMask knows the words of BERT's tokenizers alone: tokens of others are words of their own.
TEST(Masking, TakesTokensForWordsWhereTransformersDoes) {
  std::vector<std::string> messages;
  set_log_sink([&](LogLevel, std::string_view message) { messages.emplace_back(message); });
  for (const char* family : {"roberta", "xlm-roberta", "albert"}) {
    const auto folder = fixture("families") / "tokenizers" / family;
    const auto tokenizer = tokenizer::load_tokenizer(folder);
    const io::Json rows = io::read_json(folder / "masks.json");
    EXPECT_EQ(rows.size(), 8u);
    for (const io::Json& row : rows) {
      const Masking masking(*tokenizer, {row.at("probability").get<double>(), true});
      std::mt19937 random(row.at("seed").get<std::uint32_t>());
      const MaskedSequence result = masking(row.at("ids").get<Ids>(), random);
      EXPECT_EQ(result.ids, row.at("masked").get<Ids>()) << family << row.at("seed");
      EXPECT_EQ(result.labels, row.at("labels").get<std::vector<std::int64_t>>()) << family << row.at("seed");
    }
  }
  set_log_sink({});
  ASSERT_EQ(messages.size(), 24u);
  EXPECT_TRUE(contains(messages.front(), "does not mark the inside of words with ##")) << messages.front();
}

TEST(Masking, MasksEightInTenOfTheShareAskedFor) {
  const auto tokenizer = tokenizer::load_tokenizer(kModel);
  const Ids ids(100'000, tokenizer->pieces("makes").ids.front());
  std::mt19937 random(1);
  const MaskedSequence result = Masking(*tokenizer, {0.15, false})(ids, random);
  const auto count = [&](const auto& matches) {
    double found = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) found += result.labels[i] != kNotMasked && matches(result.ids[i]);
    return found / static_cast<double>(ids.size());
  };
  EXPECT_NEAR(count([](std::int32_t) { return true; }), 0.15, 0.005);
  EXPECT_NEAR(count([&](std::int32_t id) { return id == tokenizer->special("mask"); }), 0.12, 0.005);
  EXPECT_NEAR(count([&](std::int32_t id) { return id == ids.front(); }), 0.015, 0.002);
}

using Loaded = LoadedTask<MaskedLm>;

class MaskedLmTask : public TemporaryFolder {
 protected:
  std::string file(const std::string& name, const std::string& contents) const {
    return write(name, contents).string();
  }
};

TEST_F(MaskedLmTask, SplitsTheFirstRowsOffAndJoinsTheOthers) {
  const auto curve = io::read_json(kModel / "curve.json");
  Loaded task(
      "run_mlm", kModel,
      "--do_train --do_eval --max_seq_length 32 --output_dir out --train_file " + (kModel / "text.txt").string());
  EXPECT_EQ(task->train_data()->size(), curve.at("train_sequences"));
  EXPECT_EQ(task->evaluation_size(0), curve.at("eval_sequences"));
  for (std::int64_t item = 0; item < task->train_data()->size(); ++item)
    EXPECT_EQ(task->train_data()->length(item), 32);
}

TEST_F(MaskedLmTask, RoundsTheSplitAsPythonDoes) {
  const auto sizes = [](std::int64_t rows, std::int64_t percentage) {
    const SplitTexts split = split_texts({"texts", std::vector<std::string>(rows, "a")}, percentage);
    EXPECT_EQ(split.train.size() + split.validation.size(), rows);
    return split.validation.size();
  };
  EXPECT_EQ(sizes(50, 5), 2);  // 2.5
  EXPECT_EQ(sizes(70, 5), 4);  // 3.5
  EXPECT_EQ(sizes(400, 5), 20);
  EXPECT_EQ(sizes(2, 50), 1);
  EXPECT_EQ(sizes(3, 5), 0);
}

TEST_F(MaskedLmTask, ReadsLinesAndColumns) {
  const std::string flags = "--do_train --line_by_line --validation_file " + (kModel / "text.txt").string() +
                            " --max_seq_length 6 --output_dir out --train_file ";
  const std::string text = file("a.txt", "Bruno makes bread.\n\n  \r\nKira the potter of Galway sells bowls\n");
  const std::string csv = file("a.csv", "n,text\n1,Bruno makes bread.\n2,Kira the potter of Galway sells bowls\n");
  const std::string json =
      file("a.jsonl", "{\"x\": \"Bruno makes bread.\"}\n{\"x\": \"Kira the potter of Galway sells bowls\"}\n");
  const auto tokenizer = tokenizer::load_tokenizer(kModel);
  for (const std::string& name : {text, csv, json}) {
    Loaded task("run_mlm", kModel, flags + name);
    ASSERT_EQ(task->train_data()->size(), 2) << name;
    EXPECT_EQ(unmasked(*task->train_data(), 0), tokenizer->encode_truncated("Bruno makes bread.", 6).ids) << name;
    EXPECT_EQ(unmasked(*task->train_data(), 1), tokenizer->encode_truncated("Kira the potter of Galway", 6).ids)
        << name;
  }
}

TEST_F(MaskedLmTask, DropsTheRestOfEveryThousandRows) {
  std::string text;
  for (int row = 0; row < 1500; ++row) text += "in\n";  // three tokens each
  Loaded task("run_mlm", kModel,
              "--do_train --max_seq_length 32 --output_dir out --validation_file " + (kModel / "text.txt").string() +
                  " --train_file " + file("a.txt", text));
  EXPECT_EQ(task->train_data()->size(), 3000 / 32 + 1500 / 32);
}

TEST_F(MaskedLmTask, MasksDependOnSeedEpochAndItemAlone) {
  const std::string flags = "--do_train --line_by_line --output_dir out --train_file " + (kModel / "text.txt").string();
  Loaded task("run_mlm", kModel, flags), padded("run_mlm", kModel, flags + " --pad_to_max_length True"),
      other("run_mlm", kModel, flags + " --seed 43");
  const DatasetPtr data = task->train_data();
  const auto labels = [](const Dataset& of, std::int64_t epoch, const std::vector<std::int64_t>& items) {
    return of.collate_in_epoch(epoch, items, 0)->labels.at("labels");
  };
  const std::vector<std::int64_t> both = labels(*data, 3, {5, 9}), first = labels(*data, 3, {5}),
                                  second = labels(*data, 3, {9});
  std::vector<std::int64_t> joined = first;
  joined.insert(joined.end(), second.begin(), second.end());
  EXPECT_EQ(both, joined);
  const std::vector<std::int64_t> with_padding = labels(*padded->train_data(), 3, {5});
  EXPECT_EQ(with_padding.size(), 64);
  EXPECT_TRUE(std::ranges::equal(std::span(with_padding).first(first.size()), first));
  const std::vector<std::int64_t> everything = all_of(*data);
  EXPECT_NE(labels(*data, 3, everything), labels(*data, 4, everything));
  EXPECT_NE(labels(*data, 3, everything), labels(*other->train_data(), 3, everything));
  EXPECT_EQ(data->collate(everything, 0)->labels, data->collate(everything, 0)->labels);
}

TEST_F(MaskedLmTask, KeepsTheFirstSequences) {
  Loaded task("run_mlm", kModel,
              "--do_train --do_eval --max_seq_length 32 --max_train_samples 7 --max_eval_samples 3 --output_dir out "
              "--train_file " +
                  (kModel / "text.txt").string());
  EXPECT_EQ(task->train_data()->size(), 7);
  EXPECT_EQ(task->evaluation_size(0), 3);
}

TEST_F(MaskedLmTask, RefusesWhatItCannotUse) {
  const std::string text = " --train_file " + (kModel / "text.txt").string();
  const auto error = [&](const std::string& flags) {
    return error_of([&] { Loaded("run_mlm", kModel, "--do_train --do_eval --output_dir out " + flags); });
  };
  const auto expect = [&](const std::string& flags, const std::string& part) {
    EXPECT_TRUE(contains(error(flags), part)) << error(flags);
  };
  expect("--train_file " + file("blank.txt", "\n \n"), "blank.txt has no text");
  expect("--train_file " + file("empty.txt", ""), "empty.txt holds no records");
  expect("--train_file " + file("nothing.jsonl", "{}\n"), "nothing.jsonl holds no records");
  expect("--train_file " + file("few.txt", "one\ntwo\nthree\n"), "few.txt has 3 rows, too few");
  expect("--mlm_probability 0" + text, "--mlm_probability is 0; it must lie above 0 and below 1");
  expect("--mlm_probability 1" + text, "--mlm_probability is 1; it must lie above 0 and below 1");
  expect("--max_seq_length 2" + text, "sequences of 2 tokens leave no word to mask");
  expect("--max_seq_length 65" + text, "beyond the model's 64 positions");
  expect("--train_file " + file("short.txt", "in\nin\nin\nin\n") + " --validation_split_percentage 25",
         "short.txt has too little text for one sequence of 64 tokens");
}

}  // namespace
}  // namespace hearth::tasks
