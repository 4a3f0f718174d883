#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hearth {

// The known name that `name` most likely stands for, "" where none is near. In this order: a misspelling (few inserted,
// deleted, replaced or swapped letters for its length), initials (lr: learning_rate), a name that has all its words
// (epochs: num_train_epochs). The first of equals. Case and what is neither letter nor digit do not count.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

// The end of an error: "; did you mean NAME?", "" for "".
std::string did_you_mean(std::string_view nearest_name);

}  // namespace hearth
