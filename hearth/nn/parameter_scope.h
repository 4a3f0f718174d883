#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "hearth/autograd/parameter.h"
#include "hearth/base/api.h"

namespace hearth::nn {

// The initial values of a parameter that no checkpoint provides: a constant, or a normal distribution.
struct Init {
  enum class Kind { constant, normal } kind = Kind::constant;
  float value = 0;             // the constant, or the standard deviation
  std::int64_t zero_row = -1;  // of a matrix: this row is zero, as that of the padding token in an embedding

  static Init zeros() { return {.value = 0}; }
  static Init ones() { return {.value = 1}; }
  static Init normal(float deviation, std::int64_t zero_row = -1) {
    return {.kind = Kind::normal, .value = deviation, .zero_row = zero_row};
  }
};

// Collects the parameters, their initial values and the dropout sites of a model while its layers are built.
struct ModelBuilder {
  ParameterStore parameters;
  std::map<std::string, Init, std::less<>> inits;  // by parameter name
  std::uint32_t dropout_sites = 0;
};

// A prefix of Hugging Face parameter names, for example "bert.encoder.layer.0". Layers create their parameters through
// it, so loading, saving and initialising all use the same names.
class HEARTH_API ParameterScope {
 public:
  explicit ParameterScope(ModelBuilder& builder, std::string path = {}) : builder_(&builder), path_(std::move(path)) {}

  ParameterScope operator/(std::string_view name) const { return ParameterScope(*builder_, name_of(name)); }

  Parameter& parameter(std::string_view name, Shape shape, Init init, bool is_norm = false) const;
  // Several named parameters of one shape as one Parameter, stacked along the first axis.
  Parameter& stacked(std::initializer_list<std::string_view> names, std::string_view leaf, Shape shape,
                     Init init) const;
  std::uint32_t dropout_site() const { return builder_->dropout_sites++; }

 private:
  std::string name_of(std::string_view name) const;

  ModelBuilder* builder_;
  std::string path_;
};

// Fills `values`, the parameter of that name, with its initial values, which depend on (seed, name) alone.
HEARTH_API void initialise(const ModelBuilder& builder, const std::string& name, const Tensor& values,
                           std::uint64_t seed);

}  // namespace hearth::nn
