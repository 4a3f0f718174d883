#pragma once

namespace hearth::tokenizer {

// The value that Hugging Face's library has for a number of a JSON file whose nearest double is `value`: it divides the
// digits by a power of ten, which rounds twice. Scores of Unigram models decide between cuts that are equally good but
// for rounding ("1 11 11" and "11 11 1"), so the last bit counts.
double library_number(double value);

}  // namespace hearth::tokenizer
