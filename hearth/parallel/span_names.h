#pragma once

// The profiler's spans in which a rank waits for the others (base/profiler.h).
namespace hearth::parallel {

inline constexpr const char* kWaitingForGradients = "waiting for gradients";  // GradientReducer::finish
inline constexpr const char* kGatheringWeights = "gathering weights";         // DataParallel::gather_weights

}  // namespace hearth::parallel
