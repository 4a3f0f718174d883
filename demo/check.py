#!/usr/bin/env python3
"""Reads train.json and test.json beside this file, checks what README.md promises of them and prints the figures.
Ends with status 1, and a sentence for each kind of violation, if a promise is broken."""

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from generate import generate
from phrases import KEYS, NAMES, RECORDS, answer_pattern, question_pattern, sentence_pattern

FOLDER = Path(__file__).parent
LEAST_CANDIDATES = 4
MOST_BYTES = 1_500_000
SENTENCES = {r.title: [(phrasing, sentence_pattern(phrasing)) for phrasing in r.sentences] for r in RECORDS}
QUESTIONS = {
    r.title: [(x.asked, phrasing, question_pattern(x, phrasing)) for x in r.relations for phrasing in x.questions]
    for r in RECORDS
}

violations = Counter()


def require(condition, promise):
    if not condition:
        violations[promise] += 1
    return condition


@dataclass
class Sentence:
    phrasing: str
    text: str
    start: int
    answers: dict


@dataclass
class Question:
    id: str
    phrasing: str
    kind: str
    key: str
    sentence: int
    sentences: list
    candidates: list


def read_sentences(title, context):
    """The context as a run of known sentences; what does not fit ends it."""
    found, at = [], 0
    while at < len(context):
        matches = [(phrasing, match) for phrasing, pattern in SENTENCES[title] if (match := pattern.match(context, at))]
        if not require(len(matches) == 1, "every context is made of known sentences, each of one phrasing"):
            break
        phrasing, match = matches[0]
        found.append(Sentence(phrasing, match[0], at, match.groupdict()))
        at = match.end() + 1
    return found


def words(text):
    return re.findall(r"\w+", text.lower())


def read_question(title, context, sentences, qa):
    matches = [(kind, p, m["key"]) for kind, p, pattern in QUESTIONS[title] if (m := pattern.fullmatch(qa["question"]))]
    require(len(qa["answers"]) == 1, "every question has one answer")
    text, start = qa["answers"][0]["text"], qa["answers"][0]["answer_start"]
    require(context[start:start + len(text)] == text, "an answer stands where answer_start says")
    around = (" " + context)[start:start + 1] + context[start + len(text):start + len(text) + 1]
    require(not re.search(r"\w", around), "an answer is made of whole words")
    if not require(len(matches) == 1, "every question is of one known phrasing"):
        return None
    kind, phrasing, key = matches[0]
    require(words(context).count(key.lower()) == 1, "a question's key stands exactly once in the context")
    holding = [i for i, s in enumerate(sentences) if s.start <= start < s.start + len(s.text)]
    if not require(len(holding) == 1, "an answer stands in one sentence"):
        return None
    sentence = sentences[holding[0]]
    require(key.lower() in words(sentence.text), "the answer stands in the sentence of the key")
    require(sentence.answers.get(kind) == text, "the answer is what the question's kind and key ask for")
    candidates = re.findall(rf"\b{answer_pattern(kind)}\b", context)
    require(len(set(candidates)) == len(candidates) >= LEAST_CANDIDATES, "a context has four answers of the asked kind")
    return Question(qa["id"], phrasing, kind, key, holding[0], sentences, candidates)


def read(file):
    questions, texts = [], []
    for article in json.loads((FOLDER / file).read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            sentences = read_sentences(article["title"], paragraph["context"])
            asked = [read_question(article["title"], paragraph["context"], sentences, qa) for qa in paragraph["qas"]]
            questions += [question for question in asked if question]
            order = sorted(question.sentence for question in asked if question)
            require(order == list(range(len(sentences))), "every sentence of a context is asked about once")
            texts += [paragraph["context"], *(qa["question"] for qa in paragraph["qas"])]
    require(len({question.id for question in questions}) == len(questions), "ids are unique")
    return questions, texts


def names_in(texts):
    """Every capitalised word but the closed class of keys and the words that begin a sentence or question."""
    phrasings = [phrasing for r in RECORDS for phrasing in r.sentences]
    phrasings += [phrasing for r in RECORDS for relation in r.relations for phrasing in relation.questions]
    known = {word for phrasing in phrasings for word in re.findall(r"\w+", re.sub(r"\{\w+\}", " ", phrasing))}
    known |= {key for keys in KEYS.values() for key in keys}
    return {word for text in texts for word in re.findall(r"\b[A-Z]\w*", text)} - known


def known_pieces(name, names):
    """Whether some cut parts the name into the beginning of one of the names and the ending of another."""
    return any(any(n.startswith(name[:cut]) for n in names) and any(n.endswith(name[cut:]) for n in names)
               for cut in range(2, len(name) - 1))


def shares(counter):
    return ", ".join(f"{name} {100 * count / counter.total():.1f}%" for name, count in sorted(counter.items()))


def best_guess(train, test):
    """Exact match, with no question, of the kind and sentence that training asks about most often."""
    guess, _ = Counter((q.kind, q.sentence) for q in train).most_common(1)[0]
    return 100 * sum((q.kind, q.sentence) == guess for q in test) / len(test)


def main():
    (train, train_texts), (test, test_texts) = read("train.json"), read("test.json")
    for file, text in generate().items():
        require((FOLDER / file).read_bytes() == text.encode(), "generate.py makes the same bytes again")
    size = sum((FOLDER / file).stat().st_size for file in ("train.json", "test.json"))
    require(size <= MOST_BYTES, "both files together have at most 1.5 MB")

    train_names, test_names = names_in(train_texts), names_in(test_texts)
    require(test_names and not train_names & test_names, "no name of the test split occurs in training")
    require(test_names <= set(NAMES["who"] + NAMES["where"]), "every name is a person's or a town's")
    require(all(known_pieces(name, train_names) for name in test_names), "unseen names are made of pieces of seen ones")

    met = {(q.phrasing, sentence.phrasing) for q in train for sentence in q.sentences}
    asked = {(q.phrasing, q.sentences[q.sentence].phrasing) for q in test}
    require(not met & asked, "no test question meets its sentence in a pair of phrasings that training has")
    require({q for q, _ in asked} <= {q for q, _ in met}, "every test question's phrasing occurs in training")
    told = {sentence.phrasing for q in test for sentence in q.sentences}
    require(told <= {s for _, s in met}, "every test sentence's phrasing occurs in training")

    by_kind = 100 * sum(1 / len(q.candidates) for q in test) / len(test)
    blind = 100 * sum(1 / sum(len(s.answers) for s in q.sentences) for q in test) / len(test)
    require(by_kind <= 100 / LEAST_CANDIDATES, "picking by the answer's kind finds at most a quarter")

    for name, questions, texts in (("train", train, train_texts), ("test", test, test_texts)):
        print(f"{name}: {len(questions)} questions, {len(texts) - len(questions)} contexts, "
              f"{len(words(' '.join(texts)))} words, {len(set(words(' '.join(texts))))} different")
        print(f"  kinds: {shares(Counter(q.kind for q in questions))}")
        print(f"  sentence asked about: {shares(Counter(q.sentence + 1 for q in questions))}")
        print(f"  candidates of the asked kind: {shares(Counter(len(q.candidates) for q in questions))}")
    print(f"bytes: {size}")
    print(f"names: {len(train_names)} in training, {len(test_names)} in test, {len(train_names & test_names)} in both")
    print(f"pairs of question and sentence phrasing: {len(met)} met in training, {len(asked)} asked in test, "
          f"{len(met & asked)} in both")
    print(f"longest answer: {max(len(words(q.sentences[q.sentence].answers[q.kind])) for q in train + test)} words")
    print(f"exact match of guessing on test: by the answer's kind {by_kind:.1f}, with no question {blind:.1f}, "
          f"with no question but training's favourite kind and sentence {best_guess(train, test):.1f}")
    for promise, count in violations.items():
        print(f"BROKEN {count} times: {promise}", file=sys.stderr)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
