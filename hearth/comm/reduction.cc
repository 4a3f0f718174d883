#include "hearth/comm/reduction.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace hearth::comm {
namespace {

// A 16-bit all_reduce goes through the buffer in blocks of this size, to bound its scratch memory.
constexpr std::size_t kBlockBytes = std::size_t{8} << 20;

bool is_half(DType type) { return type == DType::bf16 || type == DType::f16; }

HearthCommType wire_type(DType type) {
  switch (type) {
    case DType::f32:
      return HEARTH_F32;
    case DType::f64:
      return HEARTH_F64;
    case DType::i32:
      return HEARTH_I32;
    case DType::i64:
      return HEARTH_I64;
    default:
      return HEARTH_U8;
  }
}

HearthCommOp wire_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return HEARTH_PROD;
    case ReduceOp::min:
      return HEARTH_MIN;
    case ReduceOp::max:
      return HEARTH_MAX;
    default:
      return HEARTH_SUM;
  }
}

template <class T>
void divide_as(void* data, std::size_t count, int divisor) {
  for (T& value : std::span(static_cast<T*>(data), count)) value = static_cast<T>(value / static_cast<T>(divisor));
}

void divide(void* data, std::size_t count, DType type, int divisor) {
  switch (type) {
    case DType::f32:
      return divide_as<float>(data, count, divisor);
    case DType::f64:
      return divide_as<double>(data, count, divisor);
    case DType::i32:
      return divide_as<std::int32_t>(data, count, divisor);
    case DType::i64:
      return divide_as<std::int64_t>(data, count, divisor);
    default:
      return divide_as<std::uint8_t>(data, count, divisor);
  }
}

template <class Half, class Combine>
void combine_shards(const Half* shards, int ranks, std::size_t count, Half* result, float divisor, Combine combine) {
  constexpr std::size_t kChunk = 1024;
  std::array<float, kChunk> sums;
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t length = std::min(kChunk, count - begin);
    for (std::size_t i = 0; i < length; ++i) sums[i] = static_cast<float>(shards[begin + i]);
    for (int rank = 1; rank < ranks; ++rank) {
      const Half* shard = shards + static_cast<std::size_t>(rank) * count + begin;
      for (std::size_t i = 0; i < length; ++i) sums[i] = combine(sums[i], static_cast<float>(shard[i]));
    }
    for (std::size_t i = 0; i < length; ++i) result[begin + i] = Half(sums[i] / divisor);
  }
}

template <class Half>
void combine_shards(const Half* shards, int ranks, std::size_t count, Half* result, ReduceOp op) {
  const auto with = [&](float divisor, auto combine) {
    combine_shards(shards, ranks, count, result, divisor, combine);
  };
  switch (op) {
    case ReduceOp::sum:
      return with(1, [](float a, float b) { return a + b; });
    case ReduceOp::avg:
      return with(static_cast<float>(ranks), [](float a, float b) { return a + b; });
    case ReduceOp::prod:
      return with(1, [](float a, float b) { return a * b; });
    case ReduceOp::min:
      return with(1, [](float a, float b) { return b < a ? b : a; });
    case ReduceOp::max:
      return with(1, [](float a, float b) { return a < b ? b : a; });
  }
}

// `shards` holds one shard per rank. `result` may be one of them.
void combine_shards(const void* shards, int ranks, std::size_t count, void* result, DType type, ReduceOp op) {
  if (type == DType::bf16)
    combine_shards(static_cast<const BFloat16*>(shards), ranks, count, static_cast<BFloat16*>(result), op);
  else
    combine_shards(static_cast<const Float16*>(shards), ranks, count, static_cast<Float16*>(result), op);
}

using Bytes = std::vector<std::byte>;

// `count` is a multiple of the number of ranks.
void all_reduce_half_block(PluginHandle& handle, std::byte* data, std::size_t count, DType type, ReduceOp op,
                           Bytes& scratch) {
  const std::size_t shard = count / static_cast<std::size_t>(handle.size()), bytes = shard * size_of(type);
  scratch.resize(count * size_of(type));
  handle.call(&HearthCommPlugin::all_to_all, data, scratch.data(), bytes);
  std::byte* own = data + static_cast<std::size_t>(handle.rank()) * bytes;
  combine_shards(scratch.data(), handle.size(), shard, own, type, op);
  handle.call(&HearthCommPlugin::all_gather, own, data, bytes);
}

void all_reduce_half(PluginHandle& handle, std::byte* data, std::size_t count, DType type, ReduceOp op) {
  const std::size_t ranks = static_cast<std::size_t>(handle.size()), width = size_of(type);
  const std::size_t shard = std::max<std::size_t>(1, std::min(kBlockBytes, handle.max_message_bytes()) / width / ranks);
  Bytes scratch;
  for (; count >= ranks;) {
    const std::size_t block = std::min(shard * ranks, count / ranks * ranks);
    all_reduce_half_block(handle, data, block, type, op, scratch);
    data += block * width;
    count -= block;
  }
  if (count == 0) return;
  Bytes padded(ranks * width);
  std::memcpy(padded.data(), data, count * width);
  all_reduce_half_block(handle, padded.data(), ranks, type, op, scratch);
  std::memcpy(data, padded.data(), count * width);
}

}  // namespace

void all_reduce(PluginHandle& handle, void* data, std::size_t count, DType type, ReduceOp op) {
  if (handle.size() == 1) return;
  if (is_half(type)) return all_reduce_half(handle, static_cast<std::byte*>(data), count, type, op);
  handle.call(&HearthCommPlugin::all_reduce, data, count, wire_type(type), wire_op(op));
  if (op == ReduceOp::avg) divide(data, count, type, handle.size());
}

void reduce(PluginHandle& handle, void* data, std::size_t count, DType type, ReduceOp op, int root) {
  if (handle.size() == 1) return;
  if (is_half(type)) {
    if (handle.rank() == root) return all_reduce(handle, data, count, type, op);
    Bytes copy(count * size_of(type));
    if (count > 0) std::memcpy(copy.data(), data, copy.size());
    return all_reduce(handle, copy.data(), count, type, op);
  }
  handle.call(&HearthCommPlugin::reduce, data, count, wire_type(type), wire_op(op), root);
  if (op == ReduceOp::avg && handle.rank() == root) divide(data, count, type, handle.size());
}

void reduce_scatter(PluginHandle& handle, const void* whole, void* part, std::size_t count, DType type, ReduceOp op) {
  if (is_half(type)) {
    Bytes shards(static_cast<std::size_t>(handle.size()) * count * size_of(type));
    handle.call(&HearthCommPlugin::all_to_all, whole, shards.data(), count * size_of(type));
    return combine_shards(shards.data(), handle.size(), count, part, type, op);
  }
  handle.call(&HearthCommPlugin::reduce_scatter, whole, part, count, wire_type(type), wire_op(op));
  if (op == ReduceOp::avg) divide(part, count, type, handle.size());
}

}  // namespace hearth::comm
