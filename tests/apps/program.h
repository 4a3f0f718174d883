// The program as a user runs it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth {

namespace fs = std::filesystem;

inline const fs::path kFixtures = fs::path(kFixturesFolder) / "apps";

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> keys_of(const io::Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

inline std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

struct Outcome {
  int status = 0;
  std::string out, err;

  // The sentence with which the program failed, without "hearth: error: ".
  std::string error() const {
    EXPECT_TRUE(status >= 1 && status <= 3) << status << err;
    const std::string beginning = "hearth: error: ";
    std::string sentence;
    for (const std::string& line : lines_of(err)) {
      if (!line.starts_with(beginning)) continue;
      EXPECT_TRUE(sentence.empty()) << err;
      sentence = line.substr(beginning.size());
    }
    EXPECT_FALSE(sentence.empty()) << err;
    EXPECT_TRUE(lines_of(err).empty() || lines_of(err).back().starts_with(beginning)) << err;
    return sentence;
  }
};

// Runs the program in `folder`, without the Hub; `before` is shell text in front of it: settings of variables, or a
// whole command with a semicolon or a pipe.
inline Outcome run_program(const fs::path& folder, const std::string& arguments, const std::string& before = "") {
  const fs::path out = folder / ".out", err = folder / ".err";
  const std::string command =
      "cd " + folder.string() + " && { export HF_HUB_OFFLINE=1 HEARTH_CACHE=" + (folder / ".cache").string() + "; " +
      before + " " + kProgram + " " + arguments + "; } > " + out.string() + " 2> " + err.string() + " < /dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 255, io::read_file(out), io::read_file(err)};
}

// A tokenizer and a model of two layers with random weights, made once.
inline const fs::path& start_model() {
  static const TemporaryPlace place;
  static const fs::path folder = [] {
    const auto must = [](const Outcome& outcome) { check(outcome.status == 0, "{}{}", outcome.out, outcome.err); };
    must(run_program(place.path(), "train_tokenizer --vocab_size 200 --output_dir tokenizer --files " +
                                       (kFixtures / "text.txt").string()));
    must(run_program(place.path(), "init_model --tokenizer tokenizer --output_dir model --config " +
                                       (kFixtures / "config.json").string()));
    return place.path() / "model";
  }();
  return folder;
}

class ProgramTest : public testing::Test {
 protected:
  Outcome hearth(const std::string& arguments, const std::string& before = "") const {
    return run_program(folder(), arguments, before);
  }
  // run_qa from the start model on the fixtures, 7 steps per epoch.
  Outcome run_qa(const std::string& flags, const std::string& before = "") const {
    return hearth(job() + " " + flags, before);
  }
  static std::string job(const std::string& version = "") {
    return "run_qa --model_name_or_path " + start_model().string() + " --train_file " +
           (kFixtures / ("train" + version + ".json")).string() + " --validation_file " +
           (kFixtures / ("dev" + version + ".json")).string() + " --test_file " + (kFixtures / "test.json").string() +
           " --max_seq_length 64 --doc_stride 16 --learning_rate 1e-3 --logging_steps 1 --disable_tqdm True "
           "--num_threads 1";
  }

  const fs::path& folder() const { return place_.path(); }
  std::string text(const fs::path& file) const { return io::read_file(folder() / file); }
  bool same(const fs::path& a, const fs::path& b) const { return text(a) == text(b); }
  io::Json json(const fs::path& file) const { return io::read_json(folder() / file); }
  void write(const fs::path& file, const std::string& contents) const { io::replace_file(folder() / file, contents); }

 private:
  TemporaryPlace place_;
};

}  // namespace hearth
