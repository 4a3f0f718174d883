#pragma once

// The profiler's spans in which a rank exchanges data with the others or waits for them (base/profiler.h).
namespace hearth::parallel {

inline constexpr const char* kWaitingForGradients = "waiting for gradients";  // GradientReducer::finish
inline constexpr const char* kSummingGradients = "summing gradients";         // the same, in shared memory
inline constexpr const char* kGatheringWeights = "gathering weights";         // ShardedOptimizer::step

}  // namespace hearth::parallel
