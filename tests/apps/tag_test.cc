// hearth tag, with a model that hearth run_ner has trained.
#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/tokenizer/text.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kSentences = fixture("ner");

// Trained once; every test reads it.
const fs::path& tagger() {
  static const TemporaryPlace place;
  static const fs::path folder = [] {
    const auto must = [](const Outcome& outcome) { check(outcome.status == 0, "{}{}", outcome.out, outcome.err); };
    must(run_program(place.path(), "train_tokenizer --vocab_size 400 --output_dir tok --files " +
                                       (kSentences / "text.txt").string()));
    must(run_program(place.path(),
                     "init_model --tokenizer tok --output_dir model --config " + (kFixtures / "config.json").string()));
    must(run_program(place.path(),
                     "run_ner --model_name_or_path model --output_dir out --do_train --learning_rate 3e-3 "
                     "--num_train_epochs 20 --per_device_train_batch_size 16 --label_all_tokens --disable_tqdm True "
                     "--num_threads 1 --save_strategy no --train_file " +
                         (kSentences / "train.conll").string()));
    return place.path() / "out";
  }();
  return folder;
}

class Tag : public ProgramTest {
 protected:
  Outcome tag(const std::string& flags, const std::string& before = "") const {
    return hearth("tag --model " + tagger().string() + " " + flags, before);
  }
  static std::vector<io::Json> lists_in(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<io::Json> lists;
    for (const std::string& line : lines_of(outcome.out)) lists.push_back(io::parse_json(line, "the output"));
    return lists;
  }
  io::Json entities(const std::string& text, const std::string& flags = "") const {
    return lists_in(tag("--text '" + text + "' " + flags)).at(0);
  }
  static std::vector<std::string> groups(const io::Json& list) {
    std::vector<std::string> found;
    for (const io::Json& entity : list)
      found.push_back(entity.at("entity_group").get<std::string>() + " " + entity.at("word").get<std::string>());
    return found;
  }
};

using Texts = std::vector<std::string>;

TEST_F(Tag, FindsEntitiesWithTheirPlaces) {
  const std::string text = "Inés Kovač works for Ekström Steel Works in Évora .";
  const io::Json found = entities(text, "--aggregation_strategy first");
  EXPECT_EQ(groups(found), (Texts{"PER ines kovac", "ORG ekstrom steel works", "LOC evora"}));
  Texts places;
  for (const io::Json& entity : found)
    places.emplace_back(tokenizer::python::slice(text, entity.at("start").get<int>(), entity.at("end").get<int>()));
  EXPECT_EQ(places, (Texts{"Inés Kovač", "Ekström Steel Works", "Évora"})) << "code points";
  EXPECT_EQ(keys_of(found.at(0)), (Texts{"entity_group", "score", "word", "start", "end"}));
  EXPECT_GT(found.at(1).at("score").get<double>(), 0.5);
}

TEST_F(Tag, WithoutAggregationTokensAreListed) {
  const io::Json found = entities("Nils Grau slept .", "--aggregation_strategy none");
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(keys_of(found.at(0)), (Texts{"entity", "score", "index", "word", "start", "end"}));
  EXPECT_EQ(found.at(0).at("entity"), "B-PER");
  EXPECT_EQ(found.at(0).at("index"), 1) << "[CLS] is token 0";
}

TEST_F(Tag, StandardInputGivesALinePerLine) {
  const auto lists = lists_in(tag("", "printf 'Nils Grau lives in Cork .\\n\\nThe market .\\nOlga lives in Faro .' |"));
  ASSERT_EQ(lists.size(), 4u);
  EXPECT_EQ(groups(lists[0]), (Texts{"PER nils grau", "LOC cork"}));
  EXPECT_TRUE(lists[1].empty());
  EXPECT_EQ(lists[3].size(), 2u);
}

TEST_F(Tag, ALineThatFailsEndsAPipe) {
  const Outcome odd = tag("", "printf 'Nils slept .\\n\\nNils \\377 .\\nNils slept .\\n' |");
  EXPECT_EQ(odd.status, 1);
  EXPECT_EQ(odd.error(), "line 3 of standard input: the line is not UTF-8 text; convert it first");
  EXPECT_EQ(lines_of(odd.out).size(), 2u) << "the lines before it";
  EXPECT_EQ(tag("--text \"$(printf '\\377')\"").error(), "--text is not UTF-8 text; convert it first");
}

TEST_F(Tag, FilesAreTextsOrWords) {
  write("f.txt", "Nils Grau slept .\nOlga lives in Cork .\n");
  write("f.conll", "Nils B-PER\nGrau I-PER\nslept O\n. O\n\nOlga O\nlives O\nin O\nCork O\n. O\n");
  write("f.jsonl",
        "{\"tokens\": [\"Nils\", \"Grau\", \"slept\", \".\"]}\n"
        "{\"tokens\": [\"Olga\", \"lives\", \"in\", \"Cork\", \".\"]}\n");
  const std::string lines = tag("--file f.txt").out;
  EXPECT_EQ(lines_of(lines).size(), 2u);
  EXPECT_EQ(tag("--file f.conll").out, lines);
  EXPECT_EQ(tag("--file f.jsonl").out, lines);
  EXPECT_EQ(tag("--file f.jsonl --batch_size 1").out, lines);
  EXPECT_EQ(tag("", "cat f.txt |").out, lines);
}

TEST_F(Tag, LongTextsAreReadInWindows) {
  const std::string sentence = "Nils Grau lives in Cork . ";
  std::string text;
  for (int i = 0; i < 40; ++i) text += sentence;
  for (const char* flags : {"", "--max_seq_length 24", "--max_seq_length 24 --stride 15",
                            "--max_seq_length 9 --stride 2", "--max_seq_length 20 --batch_size 3"}) {
    const io::Json found = entities(text, flags);
    const auto people = std::ranges::count(found, "PER", [](const io::Json& e) { return e.at("entity_group"); });
    EXPECT_EQ(people, 40) << flags;
    for (const io::Json& entity : found) {
      if (entity.at("entity_group") != "PER") continue;
      EXPECT_EQ(text.substr(entity.at("start").get<std::size_t>(), 9), "Nils Grau") << flags;
    }
  }
}

TEST_F(Tag, TheWindowIsThatOfTraining) {
  fs::copy(tagger(), folder() / "short", fs::copy_options::recursive);
  io::Json settings = json("short/training_args.json");
  settings["max_seq_length"] = 8;
  write("short/training_args.json", settings.dump());
  const std::string text = "--text 'In Cork , Nils Grau met Olga Hansen of Novak Paper Ltd , who lives in Faro .'";
  EXPECT_EQ(hearth("tag --model short " + text).out, tag(text + " --max_seq_length 8").out);
  EXPECT_NE(hearth("tag --model short " + text).out, tag(text).out);
}

TEST_F(Tag, ComputesInLowerPrecision) {
  const std::string text = "Nils Grau lives in Cork .";
  const Texts wanted = groups(entities(text));
  EXPECT_EQ(groups(entities(text, "--bf16")), wanted);
  EXPECT_EQ(groups(entities(text, "--fp16")), wanted);
  EXPECT_NE(entities(text, "--bf16"), entities(text));
}

// Its training_args.json has no max_seq_length, which is no limit and no fault.
TEST_F(Tag, ATaggerAnswersNoQuestionsAndOrdersNoTexts) {
  EXPECT_TRUE(json(tagger() / "training_args.json").at("max_seq_length").is_null());
  const std::string model = " --model " + tagger().string();
  write("texts.txt", "Nils slept .\n");
  EXPECT_EQ(hearth("rerank --query x --file texts.txt" + model).error(),
            (tagger() / "config.json").string() +
                ": this model has no head for text classification; train one with hearth run_glue or "
                "run_classification");
  EXPECT_EQ(hearth("ask --context_text Nils --question Who?" + model).error(),
            (tagger() / "config.json").string() +
                ": this model has no head for question answering; train one with hearth run_qa");
}

TEST_F(Tag, WrongUseIsOneSentence) {
  write("empty.txt", "");
  const auto error = [&](const std::string& flags) { return tag(flags).error(); };
  EXPECT_TRUE(contains(error("--text ' '"), "--text is empty"));
  EXPECT_TRUE(contains(error("--text x --file y.txt"), "either --text TEXT or --file"));
  EXPECT_TRUE(contains(error("--text x --bf16 --fp16"), "give one of --dtype, --bf16 and --fp16"));
  EXPECT_TRUE(contains(error("--text x --aggregation_strategy mean"), "average"));
  EXPECT_TRUE(contains(error("--text x --max_seq_length 2"), "leaves no room for words"));
  EXPECT_TRUE(contains(error("--text x --max_seq_length 10 --stride 8"), "--stride 8 must be less than the 8 tokens"));
  EXPECT_TRUE(contains(error("--file none.txt"), "none.txt"));
  EXPECT_TRUE(contains(error("--file empty.txt"), "empty.txt is empty"));
  EXPECT_TRUE(contains(error("--file f.xml"), "f.xml"));
  EXPECT_TRUE(contains(hearth("tag --model nowhere --text x").error(), "nowhere"));
  EXPECT_TRUE(contains(hearth("tag --model " + start_model().string() + " --text x").error(),
                       "this model has no head for token classification; train one with hearth run_ner"));
  EXPECT_TRUE(contains(hearth("tag --text x").error(), "--model"));
}

}  // namespace
}  // namespace hearth
