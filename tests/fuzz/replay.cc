// Runs a fuzz target on every file of a corpus, and on mutations of each that are the same in every run: replay CORPUS
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/error.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr int kMutations = 200;  // of each file

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string bytes) {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % std::max<std::size_t>(end, 1)); }

  void change(std::string& bytes) {
    using std::string_view_literals::operator""sv;
    constexpr std::string_view kPieces[] = {
        "null"sv, "-1"sv,   "[]"sv, "{}"sv,   "\"\""sv, "1e999"sv, "18446744073709551616"sv,
        "true"sv, "\x1b"sv, "\0"sv, "\xff"sv, "\n"sv,   "\t"sv,    "\xe2\x80\xae"sv};
    const std::size_t at = below(bytes.size() + 1), length = below(std::min<std::size_t>(bytes.size() - at, 32) + 1);
    switch (below(5)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_());
        break;
      case 1:
        bytes.erase(at, length);
        break;
      case 2:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        break;
      case 3:
        bytes.replace(at, length, kPieces[below(std::size(kPieces))]);
        break;
      default:
        bytes.resize(at);
    }
  }

  std::mt19937_64 random_;
};

// Another exception than Error ends the program; the message and the line before it tell where.
void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(words[1])) files.push_back(entry.path());
  std::ranges::sort(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::ifstream stream(files[i], std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    std::printf("%s\n", files[i].c_str());
    std::fflush(stdout);
    run(bytes);
    Mutator mutated(i);
    for (int mutation = 0; mutation < kMutations; ++mutation) run(mutated(bytes));
  }
  return files.empty() ? 1 : 0;
}
