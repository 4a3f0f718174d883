// Small files for each task; labels follow from the words, so that they can be learned.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace hearth {

inline const std::vector<std::string> kPeople{"Elif", "Greta", "Kira", "Bruno", "Pavel"},
    kTowns{"Bergen", "Faro", "Jena"};

template <class Row>
std::string rows(int count, const Row& row) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    text += row(kPeople[at % kPeople.size()], kTowns[at * 7 / 5 % kTowns.size()], i);
  }
  return text;
}

inline std::string pairs(int count) {  // one of two labels for two texts
  return "sentence1,sentence2,label\n" + rows(count, [](const auto& person, const auto& town, int i) {
           const bool same = i % 3 != 0;
           return fmt::format("{} the baker lives in {}.,{} lives in {}.,{}\n", person, town, person,
                              same ? town : "Ipswich", same ? "same" : "other");
         });
}

inline std::string several_labels(int count) {
  return rows(count, [](const auto& person, const auto& town, int i) {
    return fmt::format("{{\"sentence\": \"{} the cooper lives in {}.\", \"label\": [\"{}\"{}]}}\n", person, town, town,
                       i % 2 == 0 ? ", \"even\"" : "");
  });
}

inline std::string scores(int count) {
  return "sentence,label\n" + rows(count, [](const auto& person, const auto& town, int) {
           return fmt::format("{} lives in {}.,{:.2f}\n", person, town, 0.25 * static_cast<double>(town.size()));
         });
}

inline std::string tags(int count) {  // CoNLL
  return rows(count, [](const auto& person, const auto& town, int) {
    return fmt::format("{} B-PER\nthe O\nmiller O\nlives O\nin O\n{} B-LOC\n. O\n\n", person, town);
  });
}

inline std::string texts(int count) {
  return rows(count, [](const auto& person, const auto& town, int) {
    return fmt::format("{} the weaver lives in {}.\n", person, town);
  });
}

inline std::string anchors(int count) {  // pairs of texts that belong together
  return rows(count, [](const auto& person, const auto& town, int i) {
    return fmt::format(
        "{{\"anchor\": \"Where does {} number {} live?\", \"positive\": \"{} the baker lives in {}.\"}}\n", person, i,
        person, town);
  });
}

inline std::string scored_pairs(int count) {
  return "query,text,label\n" + rows(count, [](const auto& person, const auto& town, int i) {
           const bool same = i % 3 != 0;
           return fmt::format("Who lives in {}?,{} lives in {}.,{}\n", town, person, same ? town : "Ipswich",
                              same ? 1 : 0);
         });
}

}  // namespace hearth
