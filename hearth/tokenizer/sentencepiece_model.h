#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::tokenizer {

// What a SentencePiece model (a file of the protocol buffer ModelProto) has for tokenizers.
struct SentencePieceModel {
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = Type::normal;
  };
  enum class Kind { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<Piece> pieces;  // by id
  Kind kind = Kind::unigram;
  std::int32_t unk_id = 0;
  std::string unk_piece = "<unk>";
  std::string character_map;  // may be empty
};

// A file that is not such a model is an Error.
SentencePieceModel read_sentencepiece_model(const std::filesystem::path& file);

}  // namespace hearth::tokenizer
