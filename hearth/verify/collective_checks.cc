#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/verify/world_check.h"

namespace hearth::verify {
namespace {

using comm::ProcessGroup, comm::ReduceOp;

constexpr std::int64_t kPart = 1001;  // elements
constexpr DType kFormats[] = {DType::f32, DType::bf16, DType::f16};

// Element i of the part that rank `from` has for rank `to`: a small whole number, so that sums do not depend on the
// order.
float number(int from, int to, std::int64_t i) { return 1 + static_cast<float>((from * 3 + to * 5 + i) % 7); }

float reduced(ReduceOp op, int ranks, int to, std::int64_t i) {
  float result = number(0, to, i);
  for (int from = 1; from < ranks; ++from) {
    const float next = number(from, to, i);
    result = op == ReduceOp::min   ? std::min(result, next)
             : op == ReduceOp::max ? std::max(result, next)
                                   : result + next;
  }
  return result;
}

// One operation with one dtype. Buffers hold one part, or one part per rank.
class Trial {
 public:
  Trial(const parallel::Team& team, DType type)
      : group(team.group()), rank(team.rank()), size(team.size()), last(size - 1), format(type) {}

  template <class Value>  // (part, element)
  Tensor filled(int parts, Value&& value) const {
    const Tensor exact({parts * kPart}, DType::f32), tensor({parts * kPart}, format);
    for (int part = 0; part < parts; ++part)
      for (std::int64_t i = 0; i < kPart; ++i) exact.data<float>()[part * kPart + i] = value(part, i);
    kernels::convert(DType::f32, exact.raw(), format, tensor.raw(), exact.size());
    return tensor;
  }
  Tensor zeros(int parts) const { return Tensor::zeros({parts * kPart}, format); }
  // The input of this rank: one part for rank `to`, or one part per rank.
  Tensor part(int to) const {
    return filled(1, [&](int, std::int64_t i) { return number(rank, to, i); });
  }
  Tensor whole() const {
    return filled(size, [&](int to, std::int64_t i) { return number(rank, to, i); });
  }

  template <class Value>
  void expect(const Tensor& got, int parts, Value&& value) {
    const Tensor wanted = filled(parts, value);
    const auto differs = [&](std::size_t byte) {
      return static_cast<const std::uint8_t*>(got.raw())[byte] != static_cast<const std::uint8_t*>(wanted.raw())[byte];
    };
    for (std::size_t byte = 0; byte < wanted.bytes() && complaint.empty(); ++byte)
      if (differs(byte))
        complaint =
            fmt::format("the result in {} is wrong from element {} on", name_of(format), byte / size_of(format));
  }

  ProcessGroup& group;
  const int rank, size, last;
  const DType format;
  std::string complaint;
};

void all_reduce(Trial& trial) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
    const Tensor data = trial.whole();
    trial.group.all_reduce(data.raw(), static_cast<std::size_t>(data.size()), trial.format, op)->wait();
    trial.expect(data, trial.size, [&](int to, std::int64_t i) { return reduced(op, trial.size, to, i); });
  }
}

void reduce(Trial& trial) {
  const Tensor data = trial.part(0);
  trial.group.reduce(data.raw(), kPart, trial.format, ReduceOp::sum, trial.last)->wait();
  if (trial.rank == trial.last)
    trial.expect(data, 1, [&](int, std::int64_t i) { return reduced(ReduceOp::sum, trial.size, 0, i); });
}

void broadcast(Trial& trial) {
  const Tensor data = trial.part(0);
  trial.group.broadcast(data.raw(), kPart, trial.format, trial.last)->wait();
  trial.expect(data, 1, [&](int, std::int64_t i) { return number(trial.last, 0, i); });
}

void all_gather(Trial& trial) {
  const Tensor part = trial.part(0), whole = trial.zeros(trial.size);
  trial.group.all_gather(part.raw(), whole.raw(), kPart, trial.format)->wait();
  trial.expect(whole, trial.size, [](int from, std::int64_t i) { return number(from, 0, i); });
}

void gather(Trial& trial) {
  const Tensor part = trial.part(0), whole = trial.zeros(trial.size);
  trial.group.gather(part.raw(), whole.raw(), kPart, trial.format, trial.last)->wait();
  if (trial.rank == trial.last)
    trial.expect(whole, trial.size, [](int from, std::int64_t i) { return number(from, 0, i); });
}

void scatter(Trial& trial) {
  const Tensor whole = trial.whole(), part = trial.zeros(1);
  trial.group.scatter(whole.raw(), part.raw(), kPart, trial.format, trial.last)->wait();
  trial.expect(part, 1, [&](int, std::int64_t i) { return number(trial.last, trial.rank, i); });
}

void reduce_scatter(Trial& trial) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max}) {
    const Tensor whole = trial.whole(), part = trial.zeros(1);
    trial.group.reduce_scatter(whole.raw(), part.raw(), kPart, trial.format, op)->wait();
    trial.expect(part, 1, [&](int, std::int64_t i) { return reduced(op, trial.size, trial.rank, i); });
  }
}

void all_to_all(Trial& trial) {
  const Tensor in = trial.whole(), out = trial.zeros(trial.size);
  trial.group.all_to_all(in.raw(), out.raw(), kPart, trial.format)->wait();
  trial.expect(out, trial.size, [&](int from, std::int64_t i) { return number(from, trial.rank, i); });
}

void send_and_recv(Trial& trial) {
  if (trial.size == 1) return;
  const int next = (trial.rank + 1) % trial.size, before = (trial.rank + trial.size - 1) % trial.size;
  const Tensor sent = trial.part(next), received = trial.zeros(1);
  const comm::WorkPtr sending = trial.group.send(sent.raw(), kPart, trial.format, next);
  const comm::WorkPtr receiving = trial.group.recv(received.raw(), kPart, trial.format, before);
  sending->wait();
  receiving->wait();
  trial.expect(received, 1, [&](int, std::int64_t i) { return number(before, trial.rank, i); });
}

void barrier(Trial& trial) { trial.group.barrier()->wait(); }

template <void (*operation)(Trial&)>
CheckResult in_all_formats(const parallel::Team& team) {
  CheckResult finding;
  for (const DType format : kFormats) {
    Trial trial(team, format);
    operation(trial);
    if (finding.complaint.empty()) finding.complaint = trial.complaint;
  }
  return finding;
}

}  // namespace

std::vector<WorldCheck> collective_checks() {
  return {{"all_reduce", in_all_formats<all_reduce>},
          {"reduce", in_all_formats<reduce>},
          {"broadcast", in_all_formats<broadcast>},
          {"all_gather", in_all_formats<all_gather>},
          {"gather", in_all_formats<gather>},
          {"scatter", in_all_formats<scatter>},
          {"reduce_scatter", in_all_formats<reduce_scatter>},
          {"all_to_all", in_all_formats<all_to_all>},
          {"send and recv", in_all_formats<send_and_recv>},
          {"barrier", in_all_formats<barrier>}};
}

}  // namespace hearth::verify
