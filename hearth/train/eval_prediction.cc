#include "hearth/train/eval_prediction.h"

#include <fmt/ranges.h>

#include <sstream>
#include <vector>

#include "hearth/base/check.h"

namespace hearth {
namespace {

using Values = EvalPrediction::Values;

std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto& [name, rows] : values) names.push_back(name);
  return names;
}

const ItemValues& named(const Values& values, std::string_view name, std::string_view kind) {
  const auto found = values.find(name);
  check(found != values.end(), "[EvalPrediction] there are no {} named {}; the names are: {}", kind, name,
        fmt::join(names_of(values), ", "));
  return found->second;
}

// Where the values of each item begin, and where the last ones end: `rows` rows of `row_size` values, one row per
// sequence or one per token.
std::vector<std::int64_t> bounds_of(std::string_view name, std::int64_t rows, std::int64_t row_size,
                                    const Batch& batch) {
  check(rows == batch.sequences() || rows == batch.tokens(),
        "[EvalPrediction] {} has {} rows, but the batch has {} sequences and {} tokens", name, rows, batch.sequences(),
        batch.tokens());
  std::vector<std::int64_t> bounds = rows == batch.sequences() ? batch.row_starts : batch.starts;
  for (std::int64_t& bound : bounds) bound *= row_size;
  return bounds;
}

template <class T>
void set_rows(ItemValues& to, std::span<const std::int64_t> items, std::span<const std::int64_t> bounds,
              const T* from) {
  for (std::size_t i = 0; i < items.size(); ++i)
    to.set(items[i], std::vector<float>(from + bounds[i], from + bounds[i + 1]));
}

// All ranks have the names of rank 0, so that they gather the same.
void gather_values(Values& values, std::int64_t items, const parallel::Team& team) {
  std::istringstream names(team.broadcast(fmt::format("{}", fmt::join(names_of(values), "\n"))));
  for (std::string name; std::getline(names, name);) values.try_emplace(name, items).first->second.gather(team);
}

}  // namespace

const ItemValues& EvalPrediction::logits(std::string_view name) const { return named(logits_, name, "logits"); }
const ItemValues& EvalPrediction::labels(std::string_view name) const { return named(labels_, name, "labels"); }

void EvalPrediction::add(std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output) {
  const std::int64_t sequences = batch.sequences();
  check(sequences == std::ssize(items), "[EvalPrediction] a batch of {} items has {} sequences", items.size(),
        sequences);
  for (const auto& [name, var] : output.logits) {
    const Tensor& logits = var.value();
    set_rows(logits_.try_emplace(name, items_).first->second, items,
             bounds_of(name, logits.rows(), logits.row_size(), batch), logits.data<float>());
  }
  for (const auto& [name, labels] : batch.labels)
    set_rows(labels_.try_emplace(name, items_).first->second, items, bounds_of(name, std::ssize(labels), 1, batch),
             labels.data());
  for (const auto& [name, targets] : batch.float_labels) {
    check(std::ssize(targets) % sequences == 0, "[EvalPrediction] {} has {} targets for {} sequences", name,
          targets.size(), sequences);
    set_rows(labels_.try_emplace(name, items_).first->second, items,
             bounds_of(name, sequences, std::ssize(targets) / sequences, batch), targets.data());
  }
}

void EvalPrediction::gather(const parallel::Team& team) {
  if (team.size() == 1) return;
  gather_values(logits_, items_, team);
  gather_values(labels_, items_, team);
}

}  // namespace hearth
