#include "hearth/launch/place/cpu_list.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/split.h"
#include "hearth/base/whole_number.h"

namespace hearth::launch {
namespace {

constexpr int kMost = 1 << 20;

int number_of(std::string_view word, std::string_view text, std::string_view label) {
  const std::optional<int> number = whole_number<int>(word, 0);
  check(number && *number < kMost, "{}: '{}' is not a list of numbers and ranges such as 0-3,8", label, text);
  return *number;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text, std::string_view label) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const int first = number_of(part.substr(0, dash), text, label);
    const int last = dash == part.npos ? first : number_of(part.substr(dash + 1), text, label);
    check(first <= last, "{}: the range '{}' runs backwards", label, part);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::string cpu_list_text(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += end - i == 1 ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace hearth::launch
