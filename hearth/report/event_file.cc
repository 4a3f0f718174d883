#include "hearth/report/event_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "hearth/comm/world.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/file.h"
#include "hearth/report/reporter.h"

namespace hearth::report {
namespace {

// Writes the fields of a protocol buffer.
class Message {
 public:
  Message& number(unsigned field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(unsigned field, double value) { return key(field, 1), raw(value), *this; }
  Message& real(unsigned field, float value) { return key(field, 5), raw(value), *this; }
  Message& bytes(unsigned field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Message& reals(unsigned field, std::span<const double> values) {
    Message packed;
    for (const double value : values) packed.raw(value);
    return bytes(field, packed.text());
  }
  const std::string& text() const { return text_; }

 private:
  void key(unsigned field, unsigned kind) { varint(field << 3 | kind); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  template <class T>
  void raw(T value) {
    std::array<char, sizeof value> bytes;  // little-endian, as the processors are
    std::memcpy(bytes.data(), &value, sizeof value);
    text_.append(bytes.data(), bytes.size());
  }

  std::string text_;
};

// CRC-32C, with the mask that records of TensorFlow have.
std::uint32_t masked_crc(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      entries[i] = i;
      for (int bit = 0; bit < 8; ++bit) entries[i] = entries[i] >> 1 ^ (entries[i] & 1 ? 0x82f63b78u : 0u);
    }
    return entries;
  }();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string record(std::string_view event) {
  const std::string length = little_endian(static_cast<std::uint64_t>(event.size()));
  std::string text = length + little_endian(masked_crc(length));
  text += event;
  return text + little_endian(masked_crc(event));
}

// Fields of tensorflow.Event, Summary and Summary.Value.
constexpr unsigned kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr unsigned kValue = 1, kTag = 1, kSimpleValue = 2, kHistogram = 5, kTensor = 8, kMetadata = 9;

Message event(std::int64_t step) {
  Message message;
  message.real(kWallTime, unix_seconds());
  if (step != 0) message.number(kStep, step);
  return message;
}

std::filesystem::path new_file(const std::filesystem::path& folder) {
  static std::atomic<int> count{0};
  io::create_directories(folder);
  return folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}", static_cast<std::int64_t>(unix_seconds()),
                              comm::host_name(), ::getpid(), count++);
}

// Buckets by the bits of a float: its exponent and the first three of its mantissa. Index 0 has the zeros.
constexpr unsigned kShift = 20;
constexpr std::size_t kBuckets = 0x7f800000u >> kShift;  // of finite numbers
double bucket_limit(std::size_t bucket) {
  return std::bit_cast<float>(std::min(static_cast<std::uint32_t>((bucket + 1) << kShift), 0x7f7fffffu));
}

struct Counts {
  std::vector<double> negative = std::vector<double>(kBuckets), positive = std::vector<double>(kBuckets);
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0, squares = 0;

  void add(float value) {
    if (!std::isfinite(value)) return;
    const std::size_t bucket = (std::bit_cast<std::uint32_t>(value) & 0x7fffffffu) >> kShift;
    (value < 0 ? negative : positive)[bucket] += 1;
    min = std::min(min, double{value});
    max = std::max(max, double{value});
    sum += value;
    squares += double{value} * value;
  }
  void add(const Counts& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      negative[i] += other.negative[i];
      positive[i] += other.positive[i];
    }
    min = std::min(min, other.min);
    max = std::max(max, other.max);
    sum += other.sum;
    squares += other.squares;
  }
};

}  // namespace

Histogram histogram_of(std::span<const float> values) {
  constexpr std::int64_t kChunk = 1 << 20;
  const std::int64_t size = std::ssize(values);
  std::vector<Counts> parts(static_cast<std::size_t>(divide_up(size, kChunk)));
  cpu::parallel_chunks(size, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      parts[static_cast<std::size_t>(begin / kChunk)].add(values[static_cast<std::size_t>(i)]);
  });
  Counts all;
  for (const Counts& part : parts) all.add(part);
  Histogram histogram;
  histogram.sum = all.sum;
  histogram.sum_of_squares = all.squares;
  if (all.min <= all.max) histogram.min = all.min, histogram.max = all.max;
  bool last_is_empty = true;
  const auto take = [&](double limit, double count) {
    if (count == 0 && last_is_empty && !histogram.limits.empty()) {
      histogram.limits.back() = limit;
    } else {
      histogram.limits.push_back(limit);
      histogram.counts.push_back(count);
    }
    last_is_empty = count == 0;
    histogram.count += count;
  };
  // A negative bucket reaches from its limit to the limit of the one before it.
  for (std::size_t i = kBuckets; i-- > 0;) take(i == 0 ? 0.0 : -bucket_limit(i - 1), all.negative[i]);
  for (std::size_t i = 0; i < kBuckets; ++i) take(bucket_limit(i), all.positive[i]);
  if (last_is_empty && histogram.limits.size() > 1) histogram.limits.pop_back(), histogram.counts.pop_back();
  return histogram;
}

EventFile::EventFile(const std::filesystem::path& folder) : file_(new_file(folder)) {
  file_.append(record(event(0).bytes(kFileVersion, "brain.Event:2").text()));
}

void EventFile::add(std::int64_t step, std::string_view what) {
  file_.append(record(event(step).bytes(kSummary, what).text()));
}

void EventFile::add_scalars(std::int64_t step, std::span<const std::pair<std::string, double>> scalars) {
  Message summary;
  for (const auto& [tag, value] : scalars)
    summary.bytes(kValue, Message().bytes(kTag, tag).real(kSimpleValue, static_cast<float>(value)).text());
  add(step, summary.text());
}

// The text plug-in's value: a tensor of one string.
void EventFile::add_text(const std::string& tag, std::string_view markdown) {
  constexpr std::int64_t kStringType = 7;
  const Message plugin = Message().bytes(1, "text");
  const Message shape = Message().bytes(2, Message().number(1, 1).text());
  const Message tensor = Message().number(1, kStringType).bytes(2, shape.text()).bytes(8, markdown);
  const Message value = Message()
                            .bytes(kTag, tag + "/text_summary")
                            .bytes(kTensor, tensor.text())
                            .bytes(kMetadata, Message().bytes(1, plugin.text()).text());
  add(0, Message().bytes(kValue, value.text()).text());
}

void EventFile::add_histogram(std::int64_t step, const std::string& tag, const Histogram& histogram) {
  const Message proto = Message()
                            .real(1, histogram.min)
                            .real(2, histogram.max)
                            .real(3, histogram.count)
                            .real(4, histogram.sum)
                            .real(5, histogram.sum_of_squares)
                            .reals(6, histogram.limits)
                            .reals(7, histogram.counts);
  add(step, Message().bytes(kValue, Message().bytes(kTag, tag).bytes(kHistogram, proto.text()).text()).text());
}

void EventFile::add_restart(std::int64_t step) {
  constexpr std::int64_t kStart = 1;
  file_.append(record(event(step).bytes(kSessionLog, Message().number(1, kStart).text()).text()));
}

}  // namespace hearth::report
