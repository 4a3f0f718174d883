#include "hearth/parallel/team.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "hearth/base/check.h"
#include "hearth/comm/thread_world.h"

namespace hearth::parallel {
namespace {

constexpr char kSeparator = '\0';

std::string packed(const Team::NamedValues& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + kSeparator + value + kSeparator;
  return text;
}

Team::NamedValues unpacked(std::string_view text) {
  const auto next = [&] {
    const std::string word(text.substr(0, text.find(kSeparator)));
    text.remove_prefix(word.size() + 1);
    return word;
  };
  Team::NamedValues facts;
  while (!text.empty()) {
    std::string name = next();
    facts.emplace_back(std::move(name), next());
  }
  return facts;
}

std::string differences(const Team::NamedValues& first, const Team::NamedValues& other, std::size_t rank) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view mine, std::string_view its) {
    text += fmt::format("{}{} is {} on rank 0, {} on rank {}", text.empty() ? "" : "; ", name,
                        mine.empty() ? "empty" : mine, its.empty() ? "empty" : its, rank);
  };
  for (const auto& [name, value] : first) {
    const auto found = std::ranges::find(other, name, &Team::NamedValues::value_type::first);
    if (found == other.end()) {
      add(name, value, "unknown");
    } else if (found->second != value) {
      add(name, value, found->second);
    }
  }
  return text;
}

}  // namespace

Team::Team() : Team(comm::self_group(), 0) {}

Team::Team(std::shared_ptr<comm::ProcessGroup> group, int local_rank, bool overlaps)
    : group_(std::move(group)), local_rank_(local_rank), overlaps_(overlaps) {}

void Team::barrier() const { group_->barrier()->wait(); }

double Team::smallest(double value) const {
  group_->all_reduce(&value, 1, DType::f64, comm::ReduceOp::min)->wait();
  return value;
}

bool Team::any(bool mine) const {
  if (size() == 1) return mine;
  auto all = static_cast<std::int32_t>(mine);
  group_->all_reduce(&all, 1, DType::i32, comm::ReduceOp::max)->wait();
  return all != 0;
}

void Team::broadcast(const Tensor& values) const {
  group_->broadcast(values.raw(), static_cast<std::size_t>(values.size()), values.type(), 0)->wait();
}

std::string Team::broadcast(std::string text) const {
  auto size = static_cast<std::int64_t>(text.size());
  group_->broadcast(&size, 1, DType::i64, 0)->wait();
  text.resize(static_cast<std::size_t>(size));
  group_->broadcast(text.data(), text.size(), DType::u8, 0)->wait();
  return text;
}

std::vector<std::string> Team::gather(std::string_view text) const {
  const auto ranks = static_cast<std::size_t>(size());
  const auto own_size = static_cast<std::int64_t>(text.size());
  std::vector<std::int64_t> sizes(ranks);
  group_->all_gather(&own_size, sizes.data(), 1, DType::i64)->wait();
  const auto longest = static_cast<std::size_t>(std::ranges::max(sizes));
  std::string part(text), whole;
  part.resize(longest);
  if (is_first()) whole.resize(longest * ranks);
  group_->gather(part.data(), whole.data(), longest, DType::u8, 0)->wait();
  std::vector<std::string> texts;
  for (std::size_t rank = 0; is_first() && rank < ranks; ++rank)
    texts.push_back(whole.substr(rank * longest, static_cast<std::size_t>(sizes[rank])));
  return texts;
}

void Team::check_agreement(const NamedValues& facts) const {
  if (size() == 1) return;
  const std::vector<std::string> all = gather(packed(facts));
  std::string complaint;
  for (std::size_t rank = 1; rank < all.size() && complaint.empty(); ++rank)
    complaint = differences(facts, unpacked(all[rank]), rank);
  complaint = broadcast(std::move(complaint));
  check(complaint.empty(), "the processes disagree: {}; give all of them the same model, data and flags", complaint);
}

}  // namespace hearth::parallel
