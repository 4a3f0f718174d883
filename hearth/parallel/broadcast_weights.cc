#include "hearth/parallel/broadcast_weights.h"

namespace hearth::parallel {

void broadcast_weights(ParameterStore& parameters, const Team& team) {
  if (team.size() == 1) return;
  team.broadcast(parameters.master());
  for (const auto& parameter : parameters.parameters()) {
    if (parameter->trainable) continue;
    auto type = static_cast<std::int64_t>(parameter->master.type());
    team.group().broadcast(&type, 1, DType::i64, 0)->wait();
    if (static_cast<DType>(type) != parameter->master.type()) parameter->store_as(static_cast<DType>(type));
    team.broadcast(parameter->master);
  }
  // Copies of the weights before. Ranks may share them (SharedCopies), so none rebuilds them in place.
  for (Parameter* parameter : parameters.trainable()) parameter->copies.clear();
  parameters.mark_changed();
}

}  // namespace hearth::parallel
