#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hearth/base/environment.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

using Commands = ProgramTest;

TEST_F(Commands, AreListed) {
  const Outcome none = hearth("");
  EXPECT_EQ(none.status, 2);
  const Outcome help = hearth("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out, none.out);
  EXPECT_TRUE(contains(help.out, "\nTrain a model:\n  run_qa ")) << help.out;
  EXPECT_TRUE(contains(help.out, "docs/reliability.md"));
  for (const char* name : {"run_qa", "ask", "train_tokenizer", "init_model", "verify", "env", "report", "top"}) {
    EXPECT_TRUE(contains(help.out, std::string("\n  ") + name)) << name;
    const Outcome own = hearth(std::string(name) + " --help");
    EXPECT_EQ(own.status, 0) << name;
    EXPECT_TRUE(own.out.starts_with(std::string("usage: hearth ") + name)) << own.out;
    EXPECT_EQ(own.err, "");
  }
  for (const char* option : {"--model_name_or_path", "--do_train", "--learning_rate", "--bf16", "--save_total_limit",
                             "--doc_stride", "--config_overrides", "--early_stopping_patience", "--use_ipex"})
    EXPECT_TRUE(contains(hearth("run_qa --help").out, option)) << option;
  EXPECT_EQ(hearth("--version").out.substr(0, 7), "hearth ");
  EXPECT_EQ(hearth("version").out, hearth("--version").out);
  EXPECT_EQ(hearth("help ask").out, hearth("ask --help").out);

  const Outcome unknown = hearth("run_aq");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(unknown.err.starts_with("hearth: error: 'run_aq' is not a command")) << unknown.err;
  EXPECT_EQ(lines_of(unknown.err).size(), 1u);
}

TEST_F(Commands, AreHintedAt) {
  const auto hint = [&](const char* word) { return hearth(word).err; };
  EXPECT_TRUE(contains(hint("runqa"), "'runqa' is not a command; did you mean 'hearth run_qa'?\n"));
  EXPECT_TRUE(contains(hint("trian"), "did you mean 'hearth run_qa'?"));
  EXPECT_TRUE(contains(hint("tokenizer"), "'hearth train_tokenizer'"));
  EXPECT_TRUE(contains(hint("estimate_memory"), "'hearth estimate-memory'"));
  EXPECT_TRUE(contains(hint("quux"), "'quux' is not a command; 'hearth --help' lists the commands\n"));
}

TEST_F(Commands, AWrongCommandLineIsStatusTwo) {
  write("options.yaml", "quux: 1\n");
  for (const char* wrong :
       {"run_qa --quux", "run_qa options.yaml", "run_qa --model_name_or_path x --do_train", "ask", "bench quux",
        "bench gemm --quux", "verify", "launch --quux x", "config quux", "env --max_isa", "test --quux",
        "train_tokenizer", "init_model --seed x", "estimate-memory --batch 0"})
    EXPECT_EQ(hearth(wrong).status, 2) << wrong;
  for (const char* failing :
       {"verify nowhere", "run_qa --model_name_or_path nowhere --do_eval --validation_file x.json",
        "ask --model nowhere --context_text x --question y"})
    EXPECT_EQ(hearth(failing).status, 1) << failing;
}

// Of every command that `hearth --help` lists, and of every benchmark.
TEST_F(Commands, HelpHasTwoExamplesAndFitsTheTerminal) {
  std::vector<std::string> names{"bench train", "bench gemm", "bench ops", "bench tokenize", "bench allreduce"};
  for (const std::string& line : lines_of(hearth("--help").out))
    if (line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  EXPECT_GT(names.size(), 25u);
  for (const std::string& name : names) {
    if (name == "bench") continue;  // its help lists the benchmarks
    for (const std::size_t columns : {72, 120}) {
      const std::string help = hearth(name + " --help", fmt::format("COLUMNS={}", columns)).out;
      const std::size_t examples = help.find("\nExamples:\n");
      ASSERT_NE(examples, help.npos) << name;
      std::size_t count = 0;
      for (const std::string& line : lines_of(help.substr(examples + 1)))
        count += line.starts_with("  hearth ") || contains(line, " hearth ");
      EXPECT_GE(count, 2u) << name;
      for (const std::string& line : lines_of(help.substr(0, examples)))  // a word is never broken
        EXPECT_TRUE(line.size() <= columns || line.find(' ', line.find_first_not_of(' ')) == line.npos)
            << name << ": " << line;
    }
  }
}

TEST_F(Commands, JsonOfTheCache) {
  const io::Json cache = io::parse_json(hearth("cache --json").out, "cache");
  EXPECT_EQ(cache.at("files"), 0);
  EXPECT_TRUE(cache.at("limit_bytes").is_number());
}

TEST_F(Commands, HelpOfBenchmarksListsTheirOptionsUnderTheirSections) {
  for (const char* name : {"bench train", "bench allreduce"}) {
    const std::string help = hearth(std::string(name) + " --help").out;
    const std::size_t several = help.find("\nSeveral ranks");
    ASSERT_NE(several, help.npos) << help;
    for (const char* option : {"--threads", "--max_isa", "--json"}) EXPECT_LT(help.find(option), several) << option;
    EXPECT_GT(help.find("--ddp_timeout"), several);
  }
}

TEST_F(Commands, HelpOfEnvExplainsTheEnvironmentVariables) {
  const std::string help = hearth("env --help").out;
  EXPECT_TRUE(contains(help, "\nEnvironment variables:\n  HEARTH_MAX_ISA "));
  for (const EnvironmentVariable& variable : environment_variables())
    EXPECT_TRUE(contains(help, std::string("\n  ") + variable.name + " ")) << variable.name;
}

TEST_F(Commands, EnvDescribesTheMachine) {
  const Outcome text = hearth("env");
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(contains(text.out, "- version: ") && contains(text.out, "- matrix_product:\n  - ")) << text.out;
  const Outcome machine = hearth("env --json");
  ASSERT_EQ(machine.status, 0);
  const io::Json json = io::parse_json(machine.out, "env --json");
  for (const char* key : {"version", "compiler", "platform", "processor", "sockets", "cores", "numa_nodes", "threads",
                          "instruction_sets_found", "amx", "instruction_set_in_use", "matrix_product", "attention",
                          "memory_total", "transparent_huge_pages", "libraries", "backends"}) {
    EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(contains(text.out, std::string("- ") + key + ":")) << key;
  }
  EXPECT_EQ(io::parse_json(hearth("env --json --max_isa avx2").out, "").at("instruction_set_in_use"), "avx2");
  EXPECT_EQ(io::parse_json(hearth("env --json", "HEARTH_MAX_ISA=avx2").out, "").at("instruction_set_in_use"), "avx2");
  EXPECT_EQ(io::parse_json(hearth("env --json", "OMP_NUM_THREADS=3").out, "").at("threads"), 3);
}

TEST_F(Commands, EnvSaysWhatAReportOfASpeedNeeds) {
  const io::Json json = io::parse_json(hearth("env --json", "OMP_PROC_BIND=close ONEDNN_MAX_CPU_ISA=ALL").out, "");
  EXPECT_GE(json.at("sockets"), 1);
  EXPECT_GE(json.at("cores"), json.at("sockets"));
  EXPECT_GE(json.at("numa_nodes"), 1);
  const std::set<std::string> huge_pages{"always", "madvise", "never", "unknown"};
  EXPECT_TRUE(huge_pages.contains(json.at("transparent_huge_pages").get<std::string>()));
  if (json.contains("processor_quota")) {
    EXPECT_GT(json.at("processor_quota"), 0.0);
  }
  std::set<std::string> libraries;
  for (const auto& [name, version] : json.at("libraries").items()) {
    libraries.insert(name);
    EXPECT_NE(version.get<std::string>().find_first_of("123456789"), std::string::npos) << name << version;
  }
  EXPECT_EQ(libraries, std::set<std::string>({"oneDNN", "Highway", "hwloc", "OpenMP", "fmt", "nlohmann-json"}));
  EXPECT_EQ(json.at("environment").at("OMP_PROC_BIND"), "close");
  EXPECT_EQ(json.at("environment").at("ONEDNN_MAX_CPU_ISA"), "ALL");
  const auto& found = json.at("instruction_sets_found");
  EXPECT_EQ(json.at("amx") == "not announced", std::ranges::find(found, "amx_bf16") == found.end());
  for (const char* backend : {"self", "gloo", "mpi_mpich", "mpi_intel", "mpi_openmpi", "ccl"})
    EXPECT_NE(json.at("backends").at(backend), "") << backend;
  EXPECT_FALSE(contains(hearth("env", "HEARTH_JOB_TOKEN=secret").out, "secret"));
}

TEST_F(Commands, TheNumberOfThreadsHasALimit) {
  for (const std::string& arguments :
       {std::string("verify --num_threads 4097 x"), std::string("bench gemm --threads 4097"),
        job() + " --do_eval --output_dir out --num_threads 4097"}) {
    const std::string error = hearth(arguments).error();
    EXPECT_TRUE(contains(error, "must be at most 4096, not 4097")) << arguments << ": " << error;
  }
}

TEST_F(Commands, ACapThatDoesNotExistIsAnError) {
  for (const char* command : {"env", "run_qa"}) {
    const std::string arguments = command == std::string("env") ? "env" : job() + " --do_eval --output_dir out";
    const std::string error = hearth(arguments, "HEARTH_MAX_ISA=sse9").error();
    EXPECT_TRUE(contains(error, "HEARTH_MAX_ISA") && contains(error, "sse9") && contains(error, "avx512")) << error;
  }
}

TEST_F(Commands, VerifyChecksGoldenFiles) {
  const std::string goldens = (fs::path(kFixturesFolder) / "goldens").string();
  const Outcome outcome = hearth("verify --quiet --num_threads 1 " + goldens);
  EXPECT_EQ(outcome.status, 0) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, " checks made, 0 failed, not known: 0")) << outcome.out;
  EXPECT_TRUE(contains(hearth("verify nowhere").error(), "nowhere"));
  EXPECT_TRUE(contains(hearth("verify").error(), "folder"));

  fs::create_directories(folder() / "set" / "models");
  fs::copy(fs::path(goldens) / "models" / "bert-qa", folder() / "set" / "models" / "bert-qa");
  std::string weights = text("set/models/bert-qa/model.safetensors");
  weights.back() = static_cast<char>(weights.back() ^ 0x02);  // an exponent
  write("set/models/bert-qa/model.safetensors", weights);
  const Outcome wrong = hearth("verify --quiet --num_threads 1 set");
  EXPECT_EQ(wrong.status, 1) << wrong.out;
  EXPECT_FALSE(contains(wrong.out, " 0 failed")) << wrong.out;
}

TEST_F(Commands, AskAnswersQuestions) {
  ASSERT_EQ(run_qa("--do_train --num_train_epochs 1 --save_strategy no --output_dir out").status, 0);
  const std::string context = "Elif the baker lives in Bergen. Greta the cooper lives in Faro.";
  write("context.txt", context + "\n");
  const auto is_answer = [&](const std::string& line) {
    const std::size_t end = line.find("  (");
    return end != line.npos && line.ends_with("%)") && contains(context, line.substr(0, end));
  };
  const Outcome one = hearth("ask --model out --context context.txt --question 'Where does Elif live?'");
  ASSERT_EQ(one.status, 0) << one.err;
  ASSERT_EQ(lines_of(one.out).size(), 1u) << one.out;
  EXPECT_TRUE(is_answer(lines_of(one.out)[0])) << one.out;
  const Outcome best = hearth("ask --model out --context context.txt --question 'Where does Elif live?' --n_best 3");
  ASSERT_EQ(lines_of(best.out).size(), 3u) << best.out;
  for (const std::string& line : lines_of(best.out)) EXPECT_TRUE(is_answer(line)) << line;
  EXPECT_EQ(lines_of(best.out)[0], lines_of(one.out)[0]);

  const std::string questions = "printf 'Where does Elif live?\\n\\n  \\nWho is the cooper?\\n' |";
  const Outcome piped = hearth("ask --model out --context context.txt", questions);
  EXPECT_EQ(piped.status, 0) << piped.err;
  ASSERT_EQ(lines_of(piped.out).size(), 2u) << piped.out;
  EXPECT_EQ(lines_of(piped.out)[0], lines_of(one.out)[0]);
  const Outcome standard_input =
      hearth("ask --model out --context - --question 'Where does Elif live?'", "cat context.txt |");
  EXPECT_EQ(standard_input.out, one.out);

  std::string words;
  for (int i = 0; i < 40; ++i) words += "Elif ";
  const std::string settings = "ask --model out --context context.txt --max_seq_length 32 ";
  const Outcome bad = hearth(settings, "printf 'Where does Elif live?\\n" + words + "\\nWho?\\n' |");
  EXPECT_TRUE(bad.error().starts_with("line 2 of standard input: the question has 40 tokens")) << bad.err;
  EXPECT_EQ(lines_of(bad.out).size(), 1u) << bad.out;
  EXPECT_EQ(hearth(settings, "printf '\\377\\n' |").error(),
            "line 1 of standard input: the line is not UTF-8 text; convert it first");
  EXPECT_EQ(hearth(settings + "--question \"$(printf '\\377')\"").error(),
            "--question is not UTF-8 text; convert it first");
  EXPECT_EQ(hearth("ask --model out --context_text \"$(printf '\\377')\" --question Who").error(),
            "--context_text is not UTF-8 text; convert it first");
  EXPECT_TRUE(contains(hearth(settings + "--doc_stride 32 --question Who").error(), "doc_stride 32"));
  EXPECT_TRUE(contains(hearth(settings + "--max_seq_length 2000000000 --question Who").error(), "at most 1073741824"));
  EXPECT_EQ(lines_of(hearth("ask --model out --context context.txt --question 'Where does Elif live?' --n_best 30").out)
                .size(),
            30u);

  // More windows than one batch takes: as run_qa answers it.
  std::string town;
  for (int i = 0; i < 60; ++i) town += context + " ";
  write("town.txt", town);
  write("town.json", io::dump_json({{"data",
                                     {{{"id", "a"},
                                       {"question", "Where does Elif live?"},
                                       {"context", town},
                                       {"answers", {{"text", {"Bergen"}}, {"answer_start", {24}}}}}}}},
                                   2));
  ASSERT_EQ(run_qa("--model_name_or_path out --do_eval --validation_file town.json --max_seq_length 32 --doc_stride 10 "
                   "--output_dir town")
                .status,
            0);
  EXPECT_GT(json("town/eval_results.json").at("eval_samples"), 16);
  const Outcome many =
      hearth("ask --model out --context town.txt --max_seq_length 32 --question 'Where does Elif live?'");
  EXPECT_TRUE(many.out.starts_with(json("town/eval_predictions.json").at("a").get<std::string>() + "  (")) << many.out;

  const Outcome text = hearth("ask --model out --context_text '" + context + "' --question 'Where does Elif live?'");
  EXPECT_EQ(text.out, one.out);
  EXPECT_TRUE(contains(hearth("ask --model out --context -").error(), "--question"));
  EXPECT_TRUE(contains(hearth("ask --model out --context context.txt --question ' '").error(), "--question is empty"));
  EXPECT_TRUE(contains(hearth("ask --model out --question Q").error(), "either --context FILE or --context_text"));
  EXPECT_TRUE(
      contains(hearth("ask --model out --context context.txt --context_text x --question Q").error(), "either"));
  EXPECT_TRUE(contains(hearth("ask --model out --context none.txt").error(), "none.txt"));
  EXPECT_TRUE(contains(hearth("ask --model nowhere --context context.txt").error(), "nowhere"));
  EXPECT_TRUE(contains(hearth("ask --context context.txt").error(), "--model"));
  write("context.txt", " \n");
  EXPECT_TRUE(contains(hearth("ask --model out --context context.txt --question Q").error(), "no text"));
}

TEST_F(Commands, AskPrintsJson) {
  ASSERT_EQ(run_qa("--do_train --max_steps 1 --save_strategy no --output_dir out").status, 0);
  const std::string context = "\u00c9lif the baker lives in Bergen.";
  const Outcome outcome = hearth("ask --model out --json --n_best 3 --context_text '" + context + "'",
                                 "printf 'Who?\\nWhere is \u00c9lif?\\n' |");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(lines_of(outcome.out).size(), 2u) << outcome.out;
  const io::Json answer = io::parse_json(lines_of(outcome.out)[1], "answer");
  EXPECT_EQ(keys_of(answer), (std::vector<std::string>{"question", "score", "start", "end", "answer", "n_best"}));
  EXPECT_EQ(answer.at("question"), "Where is \u00c9lif?");
  ASSERT_EQ(answer.at("n_best").size(), 3u);
  for (const io::Json& one : answer.at("n_best")) {
    const int start = one.at("start"), end = one.at("end");
    const std::u32string characters = U"\u00c9lif the baker lives in Bergen.";
    std::string text;
    for (const char32_t c : characters.substr(start, end - start))
      text += c == U'\u00c9' ? "\u00c9" : std::string(1, static_cast<char>(c));
    EXPECT_EQ(one.at("answer"), text);
    EXPECT_LE(one.at("score"), answer.at("score"));
  }
}

TEST_F(Commands, AskAnswersAsTheModelWasTrained) {
  const std::string trained =
      "--do_train --max_steps 1 --save_strategy no --max_seq_length 32 --doc_stride 12 "
      "--max_answer_length 1 --version_2_with_negative --null_score_diff_threshold -1e6 ";
  ASSERT_EQ(run_qa(trained + "--output_dir out").status, 0);
  const std::string ask = "ask --model out --context_text 'Elif the baker lives in Bergen.' --question 'Where?' ";
  EXPECT_TRUE(hearth(ask).out.starts_with("(no answer)")) << "null_score_diff_threshold";
  const std::string any = ask + "--null_score_diff_threshold 1e6 ";
  EXPECT_FALSE(hearth(any).out.starts_with("(no answer)"));
  EXPECT_FALSE(contains(hearth(ask + "--no_version_2_with_negative --n_best 5").out, "(no answer)"));
  fs::copy(folder() / "out", folder() / "untold");
  fs::remove(folder() / "untold/training_args.json");
  const std::string untold = "ask --model untold --context_text 'Elif the baker lives in Bergen.' --question 'Where?' ";
  EXPECT_EQ(hearth(any + "--n_best 4").out,
            hearth(untold + "--max_seq_length 32 --doc_stride 12 --max_answer_length 1 --version_2_with_negative "
                            "--null_score_diff_threshold 1e6 --n_best 4")
                .out);
  EXPECT_NE(hearth(any + "--n_best 4").out, hearth(untold + "--n_best 4").out);
}

TEST_F(Commands, EstimateMemoryUnderstandsAcceleratesWords) {
  fs::create_directories(folder() / "hub/models--towns--tiny-bert/refs");
  fs::create_directories(folder() / "hub/models--towns--tiny-bert/snapshots");
  write("hub/models--towns--tiny-bert/refs/main", "abc123");
  fs::copy(start_model(), folder() / "hub/models--towns--tiny-bert/snapshots/abc123");
  const Outcome outcome =
      hearth("estimate-memory towns/tiny-bert --library_name transformers --dtypes float32 bfloat16 --seq 64 --json",
             "HF_HUB_CACHE=hub");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "{\"dtype\": \"fp32\"") && contains(outcome.out, "{\"dtype\": \"bf16\""))
      << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "fp16")) << outcome.out;
  const Outcome frozen = hearth("estimate-memory bert-tiny --freeze_layers 1 --trust_remote_code --json");
  EXPECT_TRUE(contains(frozen.err, "frozen: ") && contains(frozen.err, "--trust_remote_code is")) << frozen.err;
  for (const Outcome& each : {outcome, frozen}) {
    EXPECT_GE(lines_of(each.out).size(), 4u) << each.out;
    for (const std::string& line : lines_of(each.out)) EXPECT_TRUE(line.starts_with('{')) << line;
  }
  const std::vector<std::string> table = lines_of(hearth("estimate-memory bert-tiny --dtypes bf16").out);
  EXPECT_TRUE(std::ranges::any_of(table, [](const std::string& line) {
    return line.starts_with("dtype ") && line.ends_with(" total");
  })) << table[0];
  EXPECT_TRUE(contains(hearth("estimate-memory bert-tiny --dtypes int8").error(), "none of fp32, bf16, fp16"));
  EXPECT_TRUE(contains(hearth("estimate-memory bert-huge").error(), "built-in models are bert-tiny"));
}

TEST_F(Commands, AModelMadeFromNothingHasATokenizerOfItsFamily) {
  const auto saved_class = [&] {
    return io::read_json(folder() / "made/tokenizer_config.json").at("tokenizer_class").get<std::string>();
  };
  const std::string made = "init_model --overwrite_output_dir --output_dir made --tokenizer " + start_model().string();
  ASSERT_EQ(hearth(made + " --config " + (kFixtures / "config.json").string()).status, 0);
  EXPECT_EQ(saved_class(), "BertTokenizer");
  write("distilbert.json", R"({"model_type": "distilbert", "architectures": ["DistilBertForQuestionAnswering"],
      "dim": 16, "hidden_dim": 32, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 64})");
  const Outcome outcome = hearth(made + " --config distilbert.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(saved_class(), "DistilBertTokenizer");
}

TEST_F(Commands, ModelsAreMadeFromNothing) {
  EXPECT_EQ(names_in(start_model()),
            std::set<std::string>({"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
                                   "special_tokens_map.json", "vocab.txt"}));
  EXPECT_EQ(io::read_json(start_model() / "config.json").at("vocab_size"), 200);
  EXPECT_EQ(lines_of(io::read_file(start_model() / "vocab.txt")).size(), 200u);
  const std::string made = " --output_dir made --config " + (kFixtures / "config.json").string();
  const std::string tokenizer = " --tokenizer " + start_model().string();
  ASSERT_EQ(hearth("init_model --seed 42" + made + tokenizer).status, 0);
  EXPECT_TRUE(text("made/model.safetensors") == io::read_file(start_model() / "model.safetensors"));
  const std::string refused = hearth("init_model --seed 43" + made + tokenizer).error();
  EXPECT_TRUE(contains(refused, "made already holds model.safetensors") && contains(refused, "--overwrite_output_dir"))
      << refused;
  EXPECT_TRUE(text("made/model.safetensors") == io::read_file(start_model() / "model.safetensors"));
  ASSERT_EQ(hearth("init_model --overwrite_output_dir --seed 43" + made + tokenizer).status, 0);
  EXPECT_FALSE(text("made/model.safetensors") == io::read_file(start_model() / "model.safetensors"));

  const std::string learn = "train_tokenizer --output_dir made --files " + (kFixtures / "text.txt").string();
  EXPECT_TRUE(contains(hearth(learn).error(), "made already holds vocab.txt"));
  EXPECT_EQ(hearth(learn + " --overwrite_output_dir").status, 0);
  const std::string train = "train_tokenizer --vocab_size 300 --files " + (kFixtures / "text.txt").string();
  for (const std::string_view type : {"bpe", "unigram"})
    EXPECT_EQ(hearth(train + " --type " + std::string(type) + " --output_dir of-" + std::string(type)).status, 0);
  EXPECT_EQ(names_in(folder() / "of-bpe"),
            std::set<std::string>(
                {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt"}));
  EXPECT_EQ(io::read_json(folder() / "of-unigram" / "tokenizer_config.json").at("tokenizer_class"),
            "XLMRobertaTokenizer");
  write("texts.jsonl", "{\"text\": \"fire fire fire\"}\n{\"text\": \"stone stone\"}\n");
  EXPECT_EQ(hearth("train_tokenizer --output_dir of-records --vocab_size 40 --files texts.jsonl").status, 0);
  EXPECT_TRUE(contains(text("of-records/vocab.txt"), "\nfire\n"));
  EXPECT_TRUE(contains(hearth("train_tokenizer --output_dir x --type words --files texts.jsonl").error(), "--type"));
  fs::remove(folder() / "made" / "model.safetensors");
  EXPECT_TRUE(contains(hearth("init_model" + made + tokenizer).error(), "made already holds vocab.txt"));
  EXPECT_EQ(hearth("init_model --tokenizer made" + made).status, 0);
  fs::remove_all(folder() / "made");
  write("list.json", "[]");
  EXPECT_TRUE(contains(hearth("init_model --output_dir x --config list.json" + tokenizer).error(),
                       "list.json is not a JSON object"));

  EXPECT_TRUE(contains(hearth("init_model" + made + " --tokenizer nowhere").error(), "nowhere"));
  EXPECT_TRUE(contains(hearth("init_model --output_dir x --config none.json" + tokenizer).error(), "none.json"));
  EXPECT_TRUE(contains(hearth("train_tokenizer --output_dir x --files none.txt").error(), "none.txt"));
  EXPECT_TRUE(contains(hearth("train_tokenizer --output_dir x").error(), "--files"));
}

}  // namespace
}  // namespace hearth
