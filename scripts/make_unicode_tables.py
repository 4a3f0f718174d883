#!/usr/bin/env python3
"""Writes hearth/tokenizer/unicode_tables.h from what the tokenizers library does with every code point.

The library mixes several versions of Unicode, and none of its tables can be read; each is found here by giving the
library texts. Needs tokenizers 0.22.2 and sentencepiece (to compile character maps). Properties that only the functions
of Python's str need come from the Python that runs this script.

    make_unicode_tables.py hearth/tokenizer/unicode_tables.h
"""
import os
import sys
import tempfile
import unicodedata

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Regex, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CHUNK = 4096
NEWLINE = "\n"
HANGUL = range(0xAC00, 0xAC00 + 11172)


def chunks(values):
    for begin in range(0, len(values), CHUNK):
        yield values[begin:begin + CHUNK]


def removed_by(pre_tokenizer):
    """The code points that the pre-tokenizer removes."""
    found = set()
    for chunk in chunks(CODE_POINTS):
        text = "".join(map(chr, chunk))
        kept = set()
        for _, (begin, end) in pre_tokenizer.pre_tokenize_str(text):
            kept.update(range(begin, end))
        found.update(c for i, c in enumerate(chunk) if i not in kept)
    return found


def matched_by(pattern):
    return removed_by(pre_tokenizers.Split(Regex(pattern), "removed"))


def isolated_by(pre_tokenizer):
    """The code points that the pre-tokenizer sets apart from letters on both sides."""
    return {c for c in CODE_POINTS
            if len(pre_tokenizer.pre_tokenize_str("a" + chr(c) + "a")) == 3}


def joined_to_letters(pre_tokenizer):
    return {c for c in CODE_POINTS if len(pre_tokenizer.pre_tokenize_str("a" + chr(c) + "a")) == 1}


def normalized(normalizer):
    """What the normalizer makes of each code point."""
    return {c: normalizer.normalize_str(chr(c)) for c in CODE_POINTS}


def changed(mapping):
    return {c: text for c, text in mapping.items() if text != chr(c)}


def character_map(rules):
    """The precompiled map with these rules, by the library that made those of published models."""
    spell = lambda text: " ".join(f"{ord(c):X}" for c in text)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("rules.tsv"), "w") as file:
            file.writelines(f"{spell(source)}\t{spell(target)}\n" for source, target in rules)
        with open(path("text.txt"), "w") as file:
            file.write("b c d e f g h i\n" * 50)
        sentencepiece.SentencePieceTrainer.train(
            input=path("text.txt"), model_prefix=path("model"), vocab_size=14, hard_vocab_limit=False,
            normalization_rule_tsv=path("rules.tsv"), minloglevel=2)
        proto = sentencepiece_model_pb2.ModelProto()
        with open(path("model.model"), "rb") as file:
            proto.ParseFromString(file.read())
    return normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)


def clusters_with(before, after, ruled, expected):
    """The code points c for which before + c + after ends in `expected`, where a rule replaces `ruled` by Q.

    The map replaces a grapheme cluster of fewer than six bytes by what its beginning is replaced by, dropping the rest,
    and longer clusters character by character. So an accent after a ruled character stays if the cluster begins before.
    """
    normalizer = character_map([(ruled, "Q")])
    found = set()
    for chunk in chunks([c for c in CODE_POINTS if chr(c) not in "\0\r\nQ" + ruled]):
        text = NEWLINE.join(before + chr(c) + after for c in chunk)
        lines = normalizer.normalize_str(text).split(NEWLINE)
        found.update(c for c, line in zip(chunk, lines, strict=True) if line.endswith(expected))
    return found


def grapheme_classes():
    acute, circumflex, virama, ka, kha, joiner = "\u0301", "\u0302", "\u094D", "\u0915", "\u0916", "\u200D"
    stays = "Q" + acute
    extenders = clusters_with("a", "", "a", "Q")
    controls = clusters_with("", acute + circumflex, acute, "Q") | {0, 0xA, 0xD}
    prepends = clusters_with("", "a" + acute, "a", stays)
    consonants = clusters_with("", virama + kha + acute, kha, stays) | {ord(kha)}
    linkers = clusters_with(ka, kha + acute, kha, stays)
    between = clusters_with(ka + virama, kha + acute, kha, stays)
    pictographs = clusters_with("", joiner + "\u2122" + acute, "\u2122", stays) | {0x2122}
    return (extenders, controls, prepends - extenders, consonants, pictographs, linkers & extenders,
            between & extenders)


def combining_classes():
    """Classes that the library uses: it reorders a mark behind one of the highest class, U+0345."""
    nfd = normalizers.NFD().normalize_str
    classes = {}
    for c in CODE_POINTS:
        order = unicodedata.combining(chr(c))
        if order == 240 or (order and nfd("\u0345" + chr(c)) != "\u0345" + chr(c)):
            classes[c] = order
    return classes


def compositions(canonical):
    nfc = normalizers.NFC().normalize_str
    pairs = {}
    for c, parts in canonical.items():
        first = nfc(parts[:-1])
        if len(parts) > 1 and len(first) == 1 and nfc(first + parts[-1]) == chr(c):
            pairs[(ord(first), ord(parts[-1]))] = c
    return pairs


def python_final_sigma():
    sigma, final = "\u03a3", "\u03c2"
    cased = {c for c in CODE_POINTS if (chr(c) + sigma).lower()[-1] == final}
    # Behind a cased letter a character that is neither cased nor ignorable keeps the sigma from being final.
    ignorable = {c for c in CODE_POINTS if ("a" + chr(c) + sigma).lower()[-1] == final
                 and ("1" + chr(c) + sigma).lower()[-1] != final}
    return cased, ignorable


def ranges(code_points):
    runs = []
    for c in sorted(code_points):
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    return runs


class Header:
    def __init__(self):
        self.lines = []

    def table(self, comment, declaration, items):
        self.lines += ["", f"// {comment}", declaration + "{"]
        line = "   "
        for item in items:
            if len(line) + len(item) + 2 > 120:
                self.lines.append(line)
                line = "   "
            line += f" {item},"
        self.lines += [line, "};"]

    def ranges(self, comment, name, code_points):
        self.table(comment, f"inline constexpr CodePointRange {name}[] = ",
                   [f"{{0x{first:X}, 0x{last:X}}}" for first, last in ranges(code_points)])

    def mapping(self, comment, name, mapping):
        """Runs of code points in which every `step`th one maps to itself plus `distance`."""
        runs = []
        for c, target in sorted(mapping.items()):
            distance = target - c
            if runs:
                first, last, step, previous = runs[-1]
                if previous == distance and (c - last == step or (first == last and c - last <= 2)):
                    runs[-1] = (first, c, c - last, distance)
                    continue
            runs.append((c, c, 1, distance))
        self.table(comment, f"inline constexpr CodePointMapping {name}[] = ",
                   [f"{{0x{f:X}, 0x{l:X}, {s}, {d}}}" for f, l, s, d in runs])

    def decompositions(self, comment, name, mapping, pool):
        items = []
        for c, parts in sorted(mapping.items()):
            items.append(f"{{0x{c:X}, {pool.place(parts)}, {len(parts)}}}")
        self.table(comment, f"inline constexpr DecompositionEntry {name}[] = ", items)


class Pool:
    """Texts one behind the other; a text that is part of another is stored once."""

    def __init__(self, texts):
        self.text = ""
        for text in sorted(texts, key=lambda t: (-len(t), t)):
            if text not in self.text:
                self.text += text

    def place(self, text):
        return self.text.index(text)


def main():
    header = Header()
    spaces = removed_by(pre_tokenizers.WhitespaceSplit())
    assert spaces == matched_by(r"\s"), "the library's regular expressions have other spaces"
    bert = lambda **on: normalizers.BertNormalizer(
        **({"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False} | on))
    header.ranges("White_Space.", "kSpaces", spaces)
    header.ranges("Removed by clean_text of BertNormalizer, except U+0000 and U+FFFD, which it names.", "kControls",
                  {c for c, text in normalized(bert(clean_text=True)).items() if not text} - {0xFFFD} | {0})
    header.ranges("Chinese characters of BertNormalizer.", "kIdeographs",
                  changed(normalized(bert(handle_chinese_chars=True))))
    punctuation = removed_by(pre_tokenizers.Punctuation("removed"))
    header.ranges("Punctuation.", "kPunctuationMarks", punctuation)
    header.ranges("Nonspacing marks, removed by strip_accents of BertNormalizer.", "kNonspacingMarks",
                  {c for c, text in normalized(bert(strip_accents=True)).items() if not text})
    header.ranges("Combining marks, removed by StripAccents.", "kCombiningMarks",
                  {c for c, text in normalized(normalizers.StripAccents()).items() if not text})
    header.ranges(r"\p{L}.", "kLetters", matched_by(r"\p{L}"))
    header.ranges(r"\p{Lu} and \p{Lt}.", "kCapitals", matched_by(r"[\p{Lu}\p{Lt}]"))
    header.ranges(r"\p{Ll}.", "kSmallLetters", matched_by(r"\p{Ll}"))
    header.ranges(r"\p{M}.", "kMarks", matched_by(r"\p{M}"))
    header.ranges(r"\p{N}.", "kNumbers", matched_by(r"\p{N}"))
    header.ranges("Numeric characters of the pre-tokenizer Digits.", "kNumerics",
                  removed_by(pre_tokenizers.Digits(individual_digits=True)) or isolated_by(
                      pre_tokenizers.Digits(individual_digits=True)))
    header.ranges(r"\w of the pre-tokenizer Whitespace and of single_word.", "kWordCharacters",
                  joined_to_letters(pre_tokenizers.Whitespace()))
    lowercase = changed(normalized(normalizers.Lowercase()))
    assert lowercase.pop(0x130) == "i\u0307"
    header.mapping("Lower case; that of U+0130 is two characters.", "kLowercase",
                   {c: ord(text) for c, text in lowercase.items()})

    canonical = {c: t for c, t in changed(normalized(normalizers.NFD())).items() if c not in HANGUL}
    compatible = {c: t for c, t in changed(normalized(normalizers.NFKD())).items() if c not in HANGUL}
    compatible = {c: t for c, t in compatible.items() if canonical.get(c) != t}
    pool = Pool([*canonical.values(), *compatible.values()])
    header.table("Code points of the decompositions below.", "inline constexpr char32_t kDecompositionPool[] = ",
                 [f"0x{ord(c):X}" for c in pool.text])
    header.decompositions("Full canonical decompositions; Hangul is computed.", "kCanonical", canonical, pool)
    header.decompositions("Full compatibility decompositions that differ from them.", "kCompatible", compatible, pool)
    header.table("Pairs that compose; Hangul is computed.", "inline constexpr Composition kCompositions[] = ",
                 [f"{{0x{a:X}, 0x{b:X}, 0x{c:X}}}" for (a, b), c in sorted(compositions(canonical).items())])
    classes = combining_classes()
    runs = []
    for c, order in sorted(classes.items()):
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == order:
            runs[-1][1] = c
        else:
            runs.append([c, c, order])
    header.table("Canonical combining classes other than 0.", "inline constexpr CombiningClass kCombiningClasses[] = ",
                 [f"{{0x{first:X}, 0x{last:X}, {order}}}" for first, last, order in runs])

    extenders, controls, prepends, consonants, pictographs, linkers, between = grapheme_classes()
    header.ranges("Grapheme clusters, as far as clusters of fewer than six bytes depend on them: never begin one.",
                  "kClusterExtenders", extenders)
    header.ranges("Grapheme clusters: always alone.", "kClusterControls", controls)
    header.ranges("Grapheme clusters: joined to what follows.", "kClusterPrepends", prepends)
    header.ranges("Grapheme clusters: consonants of conjuncts.", "kConjunctConsonants", consonants)
    header.ranges("Grapheme clusters: link two consonants.", "kConjunctLinkers", linkers)
    header.ranges("Grapheme clusters: may stand between linker and consonant.", "kConjunctExtenders", between)
    header.ranges("Grapheme clusters: pictographs, joined by U+200D.", "kPictographs", pictographs)

    cased, ignorable = python_final_sigma()
    header.ranges("Python: letters with case.", "kPythonCased", cased)
    header.ranges("Python: characters that str.lower looks past beside a sigma.", "kPythonCaseIgnorable", ignorable)
    header.ranges("Python: str.isalnum.", "kPythonAlphanumeric", {c for c in CODE_POINTS if chr(c).isalnum()})

    with open(sys.argv[1], "w") as file:
        file.write(PREAMBLE + "\n".join(header.lines) + "\n\n}  // namespace hearth::tokenizer\n")


PREAMBLE = """// Written by scripts/make_unicode_tables.py from what Hugging Face's tokenizers library does.
#pragma once

#include <cstdint>

namespace hearth::tokenizer {

struct CodePointRange {
  char32_t first, last;
};
// Every `step`th code point of the range maps to itself plus `distance`.
struct CodePointMapping {
  char32_t first, last;
  char32_t step;
  std::int32_t distance;
};
// The code points [place, place + size) of kDecompositionPool.
struct DecompositionEntry {
  char32_t from;
  std::uint16_t place, size;
};
struct Composition {
  char32_t first, second, composed;
};
struct CombiningClass {
  char32_t first, last;
  std::uint8_t order;
};

// clang-format off"""

if __name__ == "__main__":
    main()
