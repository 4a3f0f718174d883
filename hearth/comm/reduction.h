#pragma once

#include <cstddef>

#include "hearth/base/dtype.h"
#include "hearth/comm/engine.h"
#include "hearth/comm/process_group.h"

// Reductions in every format by engines that know those of plugin.h. avg is the sum divided by the number of ranks, of
// whole numbers too. bf16 and f16 go in shards to one rank each, which reduces them in f32 in the order of ranks and
// rounds once.
namespace hearth::comm {

void all_reduce(Engine& engine, void* data, std::size_t count, DType type, ReduceOp op);
void reduce(Engine& engine, void* data, std::size_t count, DType type, ReduceOp op, int root);
void reduce_scatter(Engine& engine, const void* whole, void* part, std::size_t count, DType type, ReduceOp op);

}  // namespace hearth::comm
