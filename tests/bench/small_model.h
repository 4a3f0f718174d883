#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "hearth/base/error.h"
#include "hearth/cpu/parallel.h"

namespace hearth::bench {

// A folder of its own for a test, with the config.json of a BERT small enough for it. One thread: the sizes are tiny,
// and threads would wait for each other on a busy machine.
class SmallModel : public testing::Test {
 protected:
  SmallModel() {
    std::string name = (std::filesystem::temp_directory_path() / "hearth-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error("no temporary folder");
    folder_ = name;
    cpu::set_num_threads(1);
    write("config.json", R"({"model_type": "bert", "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 40})");
  }
  ~SmallModel() override {
    cpu::set_num_threads(0);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

// The message of the Error that `action` throws; empty when it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace hearth::bench
