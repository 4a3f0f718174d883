#include "hearth/nn/parameter_scope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "hearth/base/random.h"

namespace hearth::nn {
namespace {

std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Box-Muller: two uniform numbers in (0, 1] give one normal one.
float normal_number(PhiloxKey key, std::uint64_t index) {
  const PhiloxCounter words = philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)}, key);
  const double radius = std::sqrt(-2.0 * std::log((words[0] + 1.0) * 0x1p-32));
  return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * (words[1] * 0x1p-32)));
}

}  // namespace

std::string ParameterScope::name_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

Parameter& ParameterScope::parameter(std::string_view name, Shape shape, Init init, bool is_norm) const {
  const std::string full = name_of(name);
  builder_->inits[full] = init;
  return builder_->parameters.add({{full, shape, 0}}, is_norm);
}

Parameter& ParameterScope::stacked(std::initializer_list<std::string_view> names, std::string_view leaf, Shape shape,
                                   Init init) const {
  std::vector<Parameter::Part> parts;
  for (const std::string_view name : names) {
    parts.push_back({(*this / name).name_of(leaf), shape, 0});
    builder_->inits[parts.back().name] = init;
  }
  return builder_->parameters.add(std::move(parts));
}

void initialise(const ModelBuilder& builder, const std::string& name, const Tensor& values, std::uint64_t seed) {
  const Init init = builder.inits.at(name);
  const PhiloxKey key = philox_key(seed, hash_of(name), 0);
  for (std::int64_t i = 0; i < values.size(); ++i)
    values.data<float>()[i] =
        init.kind == Init::Kind::constant ? init.value : init.value * normal_number(key, static_cast<std::uint64_t>(i));
  if (init.zero_row < 0) return;
  float* const row = values.data<float>() + init.zero_row * values.row_size();
  std::fill(row, row + values.row_size(), 0.0f);
}

}  // namespace hearth::nn
