#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::comm {

// What a rank says that ends because another one failed: "rank 3 failed: SENTENCE".
std::string failure_sentence(int rank, std::string_view sentence);
// The rank that such a text begins with; nothing where it is another text.
std::optional<int> failed_rank(std::string_view text);

}  // namespace hearth::comm
