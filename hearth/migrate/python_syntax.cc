#include "hearth/migrate/python_syntax.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "hearth/migrate/migration.h"

namespace hearth::migrate {
namespace {

struct Token {
  enum class Kind { name, number, text, sign, line_end } kind;
  std::size_t begin = 0, end = 0;
  std::string value;  // of a text: without quotes
};
using Tokens = std::span<const Token>;

bool is_name_part(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> tokens() {
    std::vector<Token> result;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\\') {
        ++at_;
      } else {
        Token token{kind_of(c), at_, at_, ""};
        read(token);
        token.end = at_;
        if (token.value.empty() && token.kind != Token::Kind::text)
          token.value = text_.substr(token.begin, at_ - token.begin);
        if (token.kind == Token::Kind::number) std::erase(token.value, '_');
        result.push_back(std::move(token));
      }
    }
    return result;
  }

 private:
  static Token::Kind kind_of(char c) {
    if (c == '\n') return Token::Kind::line_end;
    if (c == '"' || c == '\'') return Token::Kind::text;
    if (std::isdigit(static_cast<unsigned char>(c))) return Token::Kind::number;
    return is_name_part(c) ? Token::Kind::name : Token::Kind::sign;
  }

  void read(Token& token) {
    if (token.kind == Token::Kind::text) return read_text(token);
    if (token.kind == Token::Kind::sign || token.kind == Token::Kind::line_end) {
      at_ += text_.substr(at_).starts_with("**") ? 2 : 1;
      return;
    }
    const std::size_t begin = at_;
    const auto is_exponent_sign = [&] {
      return token.kind == Token::Kind::number && (text_[at_] == '-' || text_[at_] == '+') &&
             (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    };
    while (at_ < text_.size() &&
           (is_name_part(text_[at_]) || is_exponent_sign() || (token.kind == Token::Kind::number && text_[at_] == '.')))
      ++at_;
    const bool is_prefix = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && at_ - begin <= 2;
    if (!is_prefix) return;  // r"", f"", b""
    token.kind = Token::Kind::text;
    has_expressions_ = text_.substr(begin, at_ - begin).find_first_of("fF") != std::string_view::npos;
    read_text(token);
  }

  void read_text(Token& token) {
    const std::string_view rest = text_.substr(at_);
    const bool is_triple = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    const std::string_view quote = rest.substr(0, is_triple ? 3 : 1);
    at_ += quote.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(quote)) {
      if (!is_triple && text_[at_] == '\n') break;  // not closed: the line ends it
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      token.value += text_[at_++];
    }
    if (text_.substr(at_).starts_with(quote)) at_ += quote.size();
    if (std::exchange(has_expressions_, false)) token.kind = Token::Kind::sign;  // no literal
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_expressions_ = false;
};

bool is_sign(const Token& token, std::string_view sign) {
  return token.kind == Token::Kind::sign && token.value == sign;
}
bool opens(const Token& token) { return is_sign(token, "(") || is_sign(token, "[") || is_sign(token, "{"); }
bool closes(const Token& token) { return is_sign(token, ")") || is_sign(token, "]") || is_sign(token, "}"); }

std::optional<std::vector<std::string>> literal(Tokens tokens) {
  using Kind = Token::Kind;
  std::string minus;
  if (tokens.size() == 2 && is_sign(tokens[0], "-") && tokens[1].kind == Kind::number) {
    minus = "-";
    tokens = tokens.subspan(1);
  }
  if (tokens.size() == 1) {
    const Token& token = tokens[0];
    if (token.kind == Kind::text || token.kind == Kind::number || token.value == "True" || token.value == "False")
      return std::vector{minus + token.value};
    return token.value == "None" ? std::optional(std::vector<std::string>{}) : std::nullopt;
  }
  if (tokens.size() < 2 || !is_sign(tokens.front(), "[") || !is_sign(tokens.back(), "]")) return std::nullopt;
  std::vector<std::string> words;
  for (const Token& token : tokens.subspan(1, tokens.size() - 2)) {
    if (is_sign(token, ",")) continue;
    if (token.kind != Kind::text && token.kind != Kind::number) return std::nullopt;
    words.push_back(token.value);
  }
  return words;
}

class CallReader {
 public:
  explicit CallReader(std::string_view script) : script_(script), tokens_(Lexer(script).tokens()) {}

  std::vector<PythonCall> calls() const {
    std::vector<PythonCall> result;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      const bool is_definition = i > 0 && (tokens_[i - 1].value == "def" || tokens_[i - 1].value == "class");
      if (tokens_[i].kind == Token::Kind::name && is_sign(tokens_[i + 1], "(") && !is_definition)
        result.push_back(call_at(i));
    }
    return result;
  }

 private:
  PythonCall call_at(std::size_t i) const {
    std::size_t first = i;
    while (first >= 2 && is_sign(tokens_[first - 1], ".") && tokens_[first - 2].kind == Token::Kind::name) first -= 2;
    PythonCall call;
    for (std::size_t part = first; part <= i; ++part) call.name += tokens_[part].value;
    call.line = line_of(script_, tokens_[i].begin);
    read_arguments(call, i + 2);
    return call;
  }

  // From behind the opening parenthesis.
  void read_arguments(PythonCall& call, std::size_t i) const {
    std::vector<Token> own;
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (depth == 0 && (is_sign(token, ")") || is_sign(token, ","))) {
        add_argument(call, own);
        own.clear();
        if (is_sign(token, ")")) return;
        continue;
      }
      depth += opens(token) ? 1 : closes(token) ? -1 : 0;
      const bool marks_a_new_line = is_sign(token, "+") && own.empty();  // a line of a diff
      if (token.kind != Token::Kind::line_end && !marks_a_new_line) own.push_back(token);
    }
  }

  void add_argument(PythonCall& call, Tokens tokens) const {
    if (tokens.empty()) return;
    PythonArgument argument;
    argument.line = line_of(script_, tokens[0].begin);
    if (is_sign(tokens[0], "**")) {
      argument.name = "**";
      tokens = tokens.subspan(1);
    } else if (tokens.size() > 1 && tokens[0].kind == Token::Kind::name && is_sign(tokens[1], "=")) {
      argument.name = tokens[0].value;
      tokens = tokens.subspan(2);
    }
    if (!tokens.empty()) {
      argument.text = script_.substr(tokens.front().begin, tokens.back().end - tokens.front().begin);
      std::ranges::replace(argument.text, '\n', ' ');
    }
    argument.words = literal(tokens);
    call.arguments.push_back(std::move(argument));
  }

  std::string_view script_;
  std::vector<Token> tokens_;
};

}  // namespace

const PythonArgument* PythonCall::find(std::string_view argument) const {
  const auto found = std::ranges::find(arguments, argument, &PythonArgument::name);
  return found == arguments.end() ? nullptr : &*found;
}

std::string PythonCall::word_at(std::size_t place) const {
  for (const PythonArgument& argument : arguments) {
    if (!argument.name.empty() || place-- > 0) continue;
    return argument.words && argument.words->size() == 1 ? argument.words->front() : "";
  }
  return "";
}

std::vector<PythonCall> find_calls(std::string_view script) { return CallReader(script).calls(); }

std::vector<PythonImport> find_imports(std::string_view script) {
  const std::vector<Token> tokens = Lexer(script).tokens();
  std::vector<PythonImport> result;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool begins_line = i == 0 || tokens[i - 1].kind == Token::Kind::line_end;
    if (!begins_line || (tokens[i].value != "import" && tokens[i].value != "from")) continue;
    std::string module;
    for (std::size_t part = i + 1; part < tokens.size(); ++part) {
      const bool is_part = tokens[part].kind == Token::Kind::name || is_sign(tokens[part], ".");
      const bool is_word = tokens[part].value == "import" || tokens[part].value == "as";
      if (!is_part || is_word) break;
      module += tokens[part].value;
    }
    result.push_back({module, line_of(script, tokens[i].begin)});
  }
  return result;
}

}  // namespace hearth::migrate
