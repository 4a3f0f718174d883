#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/log.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/models/pretrained.h"
#include "tests/support.h"

namespace hearth::models {

inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(kFixturesFolder) / "goldens" / "models" / name;
}

using Weights = std::map<std::string, Tensor>;

inline Weights weights_in(const std::filesystem::path& folder) {
  const io::Safetensors file = io::Safetensors::open(folder / "model.safetensors");
  Weights weights;
  for (const std::string& name : file.names()) weights[name] = file.tensor(name);
  return weights;
}

inline Tensor in_format(const Tensor& tensor, DType type) {
  Tensor converted(tensor.shape(), type);
  kernels::convert(tensor.type(), tensor.raw(), type, converted.raw(), tensor.size());
  return converted;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// The parameters of a model by name.
inline Weights weights_of(const Pretrained& model) {
  Weights weights;
  for (const auto& parameter : model.parameters().parameters())
    for (const Parameter::Part& part : parameter->parts) weights[part.name] = parameter->master_part(part);
  return weights;
}

inline void expect_same_weights(const Weights& actual, const Weights& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(actual.contains(name)) << name;
    EXPECT_TRUE(same_bits(actual.at(name), tensor)) << name;
  }
}

// A folder to put a model into, made of a golden one and changed; messages are kept.
class ModelFolder : public TemporaryFolder {
 protected:
  ModelFolder() {
    set_log_sink([this](LogLevel, std::string_view message) { messages_.emplace_back(message); });
  }
  ~ModelFolder() override { set_log_sink({}); }

  void write(const io::Json& config, const Weights& weights) {
    write_config(config);
    io::write_safetensors(folder_ / "model.safetensors", {weights.begin(), weights.end()});
  }
  void write_config(const io::Json& config) { io::replace_file(folder_ / "config.json", io::dump_json(config, 2)); }

  std::unique_ptr<Pretrained> load(HeadKind head, const LoadOptions& options = {}) const {
    return load_pretrained(folder_, head, options);
  }

  // Loading must fail with one line that holds all of `parts`.
  void expect_error(HeadKind head, const std::vector<std::string>& parts, const LoadOptions& options = {}) const {
    const std::string message = error_of([&] { load(head, options); });
    EXPECT_FALSE(message.empty()) << "no error";
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : parts) EXPECT_TRUE(contains(message, part)) << message << "\nlacks " << part;
  }

  std::string config_file() const { return (folder_ / "config.json").string(); }

  std::vector<std::string> messages_;
};

}  // namespace hearth::models
