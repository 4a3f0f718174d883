#pragma once

#include <cstddef>

#include "hearth/base/dtype.h"
#include "hearth/comm/plugin_handle.h"
#include "hearth/comm/process_group.h"

// Reductions of every dtype, made from the few that plug-ins provide (plugin.h). avg is the sum divided by the number
// of ranks, for integers too. bf16 and f16 buffers are cut into one shard per rank; each rank reduces its shard in f32
// in the order of ranks and rounds once.
namespace hearth::comm {

void all_reduce(PluginHandle& handle, void* data, std::size_t count, DType type, ReduceOp op);
void reduce(PluginHandle& handle, void* data, std::size_t count, DType type, ReduceOp op, int root);
void reduce_scatter(PluginHandle& handle, const void* whole, void* part, std::size_t count, DType type, ReduceOp op);

}  // namespace hearth::comm
