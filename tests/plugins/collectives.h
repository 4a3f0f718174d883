#pragma once

#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "hearth/comm/process_group.h"

// Every operation of a group in every format, against what plain loops give. The numbers are small and whole, so that
// the results are exact in whatever order they are combined.
namespace hearth::comm {

template <typename T>
class Collectives {
 public:
  explicit Collectives(ProcessGroup& group) : group_(group), rank_(group.rank()), size_(group.size()) {}

  void run(std::size_t count) {
    count_ = count;
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg})
      reductions(op);
    for (const int root : roots()) rooted(root);
    all();
    messages();
  }

 private:
  using Values = std::vector<T>;
  static constexpr DType kType = dtype_of<T>;

  static double value(int rank, std::size_t i) { return 1 + (rank + static_cast<int>(i % 17)) % 3; }
  // Element i of the part that rank `from` has for rank `to`.
  static double value(int from, int to, std::size_t i) { return value(from + to, i + static_cast<std::size_t>(to)); }

  double combined(ReduceOp op, std::size_t i) const {
    double result = value(0, i);
    for (int r = 1; r < size_; ++r) {
      const double next = value(r, i);
      result = op == ReduceOp::prod  ? result * next
               : op == ReduceOp::min ? std::min(result, next)
               : op == ReduceOp::max ? std::max(result, next)
                                     : result + next;
    }
    if (op != ReduceOp::avg) return result;
    return std::is_integral_v<T> ? std::trunc(result / size_) : result / size_;
  }

  static T number(double value) {
    if constexpr (sizeof(T) == 2)
      return T(static_cast<float>(value));
    else
      return static_cast<T>(value);
  }
  static double number_of(T value) {
    if constexpr (sizeof(T) == 2)
      return static_cast<float>(value);
    else
      return static_cast<double>(value);
  }

  template <typename Expected>
  void expect(const char* what, const T* got, std::size_t count, Expected&& expected) const {
    constexpr double kRounding = sizeof(T) == 2 ? 1.0 / 128 : 1e-6;  // of an average; all else is whole
    for (std::size_t i = 0; i < count; ++i) {
      const double want = expected(i), have = number_of(got[i]);
      if (std::abs(have - want) <= (want == std::trunc(want) ? 0 : kRounding * want)) continue;
      throw std::runtime_error(std::string(what) + " of " + std::to_string(count_) + " " + std::string(name_of(kType)) +
                               " on rank " + std::to_string(rank_) + ": element " + std::to_string(i) + " is " +
                               std::to_string(have) + ", not " + std::to_string(want));
    }
  }

  template <typename Value>
  static Values filled(std::size_t count, Value&& value) {
    Values values(count + 1);  // never a null pointer
    for (std::size_t i = 0; i < count; ++i) values[i] = number(value(i));
    return values;
  }
  Values mine() const {
    return filled(count_, [&](std::size_t i) { return value(rank_, i); });
  }
  Values nothing(int parts = 1) const { return Values(count_ * static_cast<std::size_t>(parts) + 1); }
  // One part per rank, each the numbers that `from` reduces.
  Values whole() const {
    return filled(count_ * size_, [&](std::size_t i) { return value(rank_, i); });
  }
  std::set<int> roots() const { return {0, size_ - 1}; }
  T* place(Values& values) const { return values.data() + static_cast<std::size_t>(rank_) * count_; }

  void reductions(ReduceOp op) {
    Values data = mine();
    group_.all_reduce(data.data(), count_, kType, op)->wait();
    expect("all_reduce", data.data(), count_, [&](std::size_t i) { return combined(op, i); });

    for (const int root : roots()) {
      data = mine();
      group_.reduce(data.data(), count_, kType, op, root)->wait();
      if (rank_ == root) expect("reduce", data.data(), count_, [&](std::size_t i) { return combined(op, i); });
    }

    const auto of_my_part = [&](std::size_t i) { return combined(op, static_cast<std::size_t>(rank_) * count_ + i); };
    Values all = whole(), part = nothing();
    group_.reduce_scatter(all.data(), part.data(), count_, kType, op)->wait();
    expect("reduce_scatter", part.data(), count_, of_my_part);
    group_.reduce_scatter(all.data(), place(all), count_, kType, op)->wait();
    expect("reduce_scatter in place", place(all), count_, of_my_part);
  }

  void rooted(int root) {
    Values data = mine();
    group_.broadcast(data.data(), count_, kType, root)->wait();
    expect("broadcast", data.data(), count_, [&](std::size_t i) { return value(root, i); });

    const auto from_each = [&](std::size_t i) { return value(static_cast<int>(i / count_), i % count_); };
    Values part = mine(), all = nothing(size_);
    group_.gather(part.data(), rank_ == root ? all.data() : nullptr, count_, kType, root)->wait();
    if (rank_ == root) expect("gather", all.data(), count_ * size_, from_each);

    Values parts = filled(count_ * size_, [&](std::size_t i) { return value(root, int(i / count_), i % count_); });
    Values received = nothing();
    group_.scatter(rank_ == root ? parts.data() : nullptr, received.data(), count_, kType, root)->wait();
    expect("scatter", received.data(), count_, [&](std::size_t i) { return value(root, rank_, i); });
  }

  void all() {
    const auto from_each = [&](std::size_t i) { return value(static_cast<int>(i / count_), i % count_); };
    Values part = mine(), all = nothing(size_);
    group_.all_gather(part.data(), all.data(), count_, kType)->wait();
    expect("all_gather", all.data(), count_ * size_, from_each);
    all = nothing(size_);
    std::copy_n(part.data(), count_, place(all));
    group_.all_gather(place(all), all.data(), count_, kType)->wait();
    expect("all_gather in place", all.data(), count_ * size_, from_each);

    Values in = filled(count_ * size_, [&](std::size_t i) { return value(rank_, int(i / count_), i % count_); });
    Values out = nothing(size_);
    group_.all_to_all(in.data(), out.data(), count_, kType)->wait();
    expect("all_to_all", out.data(), count_ * size_,
           [&](std::size_t i) { return value(static_cast<int>(i / count_), rank_, i % count_); });
    group_.barrier()->wait();
  }

  // Round the ring, two messages each way, received in the other order of their tags.
  void messages() {
    const int to = (rank_ + 1) % size_, from = (rank_ + size_ - 1) % size_;
    if (size_ == 1) return;
    Values first = mine(), second = filled(count_, [&](std::size_t i) { return value(rank_, from, i); });
    Values got_first = nothing(), got_second = nothing();
    const WorkPtr works[] = {
        group_.recv(got_second.data(), count_, kType, from, 2), group_.send(first.data(), count_, kType, to, 1),
        group_.send(second.data(), count_, kType, to, 2), group_.recv(got_first.data(), count_, kType, from, 1)};
    for (const WorkPtr& work : works) work->wait();
    const int before = (from + size_ - 1) % size_;
    expect("the first message", got_first.data(), count_, [&](std::size_t i) { return value(from, i); });
    expect("the second message", got_second.data(), count_, [&](std::size_t i) { return value(from, before, i); });

    if (rank_ == 0) group_.send(first.data(), count_, kType, size_ - 1, 3)->wait();  // one way alone
    if (rank_ < size_ - 1) return;
    group_.recv(got_first.data(), count_, kType, 0, 3)->wait();
    expect("the third message", got_first.data(), count_, [&](std::size_t i) { return value(0, i); });
  }

  ProcessGroup& group_;
  const int rank_, size_;
  std::size_t count_ = 0;
};

template <typename T>
void check_collectives(ProcessGroup& group) {
  for (const std::size_t count : {0, 1, 13, 1001}) Collectives<T>(group).run(count);
}

inline void check_collectives(ProcessGroup& group) {
  check_collectives<float>(group);
  check_collectives<double>(group);
  check_collectives<BFloat16>(group);
  check_collectives<Float16>(group);
  check_collectives<std::int32_t>(group);
  check_collectives<std::int64_t>(group);
  check_collectives<std::uint8_t>(group);
  for (const std::size_t count : {20'011, 100'003}) Collectives<float>(group).run(count);  // beyond what goes at once
}

}  // namespace hearth::comm
