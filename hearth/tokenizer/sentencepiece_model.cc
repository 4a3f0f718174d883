#include "hearth/tokenizer/sentencepiece_model.h"

#include <cmath>
#include <cstring>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/token_table.h"

namespace hearth::tokenizer {
namespace {

// Reads the fields of a message of protocol buffers, one after the other.
class Message {
 public:
  Message(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = read_varint();
    number_ = key >> 3;
    wire_ = static_cast<Wire>(key & 7u);
    require(number_ > 0, "a field has the number 0");
    switch (wire_) {
      case Wire::varint:
        value_ = read_varint();
        break;
      case Wire::bytes:
        bytes_ = take(read_varint());
        break;
      case Wire::four:
        bytes_ = take(4);
        break;
      case Wire::eight:
        bytes_ = take(8);
        break;
      default:
        require(false, "a field has a type that is not known");
    }
    return true;
  }
  std::uint64_t number() const { return number_; }
  std::int64_t integer() const {
    require(wire_ == Wire::varint, "a field is not a number");
    return static_cast<std::int64_t>(value_);
  }
  std::int64_t integer_within(std::int64_t least, std::int64_t most) const {
    require(least <= integer() && integer() <= most, "a number is out of range");
    return integer();
  }
  std::string_view bytes() const {
    require(wire_ == Wire::bytes, "a field is not a text");
    return bytes_;
  }
  float real() const {
    require(wire_ == Wire::four, "a field is not a real number");
    float value = 0;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    return value;
  }
  void require(bool good, const char* what) const {
    check(good, "{} is not a SentencePiece model, or is damaged: {}", file_, what);
  }

 private:
  enum class Wire { varint = 0, eight = 1, bytes = 2, four = 5 };

  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      require(!rest_.empty(), "it is cut off");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    require(false, "a number is too long");
    return value;
  }
  std::string_view take(std::uint64_t size) {
    require(size <= rest_.size(), "it is cut off");
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  const std::string& file_;
  std::uint64_t number_ = 0, value_ = 0;
  Wire wire_ = Wire::varint;
  std::string_view bytes_;
};

SentencePieceModel::Piece read_piece(Message message) {
  SentencePieceModel::Piece piece;
  while (message.next()) {
    if (message.number() == 1) piece.text = message.bytes();
    if (message.number() == 2) piece.score = message.real();
    if (message.number() == 3) piece.type = static_cast<SentencePieceModel::Type>(message.integer_within(1, 6));
  }
  message.require(io::is_utf8(piece.text) && !piece.text.empty(), "a piece is empty or not UTF-8");
  message.require(std::isfinite(piece.score), "the score of a piece is not a finite number");
  return piece;
}

void read_trainer_spec(Message message, SentencePieceModel& model) {
  while (message.next()) {
    if (message.number() == 3) model.kind = static_cast<SentencePieceModel::Kind>(message.integer_within(1, 4));
    if (message.number() == 40) model.unk_id = static_cast<std::int32_t>(message.integer_within(0, kMaxVocabulary - 1));
    if (message.number() == 45) model.unk_piece = message.bytes();
  }
  message.require(io::is_utf8(model.unk_piece), "the unknown piece is not UTF-8");
}

void read_normalizer_spec(Message message, SentencePieceModel& model) {
  while (message.next())
    if (message.number() == 2) model.character_map = message.bytes();
}

}  // namespace

SentencePieceModel read_sentencepiece_model(const std::filesystem::path& file) {
  const std::string name = file.string(), bytes = io::read_file(file);
  SentencePieceModel model;
  Message message(bytes, name);
  while (message.next()) {
    if (message.number() == 1) model.pieces.push_back(read_piece(Message(message.bytes(), name)));
    if (message.number() == 2) read_trainer_spec(Message(message.bytes(), name), model);
    if (message.number() == 3) read_normalizer_spec(Message(message.bytes(), name), model);
  }
  message.require(!model.pieces.empty(), "it has no pieces");
  message.require(std::ssize(model.pieces) < kMaxVocabulary, "it has too many pieces");
  message.require(model.unk_id < std::ssize(model.pieces), "its unknown piece is not among its pieces");
  return model;
}

}  // namespace hearth::tokenizer
