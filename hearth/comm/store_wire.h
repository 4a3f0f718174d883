#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Encoding of the protocol described in tcp_store.h.
namespace hearth::comm::wire {

enum Operation : std::uint8_t { hello, set, find, add, list, last_will, leave };
enum Status : std::uint8_t { done, absent, refused };

inline constexpr std::string_view kProtocol = "hearth-store-1";
inline constexpr std::size_t kLengthBytes = 4;
inline constexpr std::size_t kMaxKey = 512, kMaxValue = 1 << 20;
inline constexpr std::size_t kMaxRequest = 3 + kMaxKey + kMaxValue, kMaxHello = 1024, kMaxAnswer = 1 << 26;

inline std::string number(std::size_t value, std::size_t bytes) {
  std::string result(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<char>(value >> (8 * i));
  return result;
}

inline std::size_t number(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

inline std::string frame(const std::string& body) { return number(body.size(), kLengthBytes) + body; }

// Reads a message field by field. Reading past its end returns what is left and makes valid() false.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string take(std::size_t bytes) {
    valid_ = valid_ && bytes <= text_.size();
    const std::size_t length = std::min(bytes, text_.size());
    const std::string result(text_.substr(0, length));
    text_.remove_prefix(length);
    return result;
  }
  std::size_t take_number(std::size_t bytes) { return number(take(bytes)); }
  std::string rest() { return take(text_.size()); }
  bool empty() const { return text_.empty(); }
  bool valid() const { return valid_; }

 private:
  std::string_view text_;
  bool valid_ = true;
};

}  // namespace hearth::comm::wire
