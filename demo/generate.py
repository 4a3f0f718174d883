#!/usr/bin/env python3
"""Writes train.json and test.json, the demo's synthetic question-answering set, beside this file."""

import json
import random
from pathlib import Path
from string import Formatter

from phrases import KEYS, NAMES, PHRASING_CLASSES, RECORDS, answer, held_out, key_in_question

SEED = 20
TRAIN_CONTEXTS_OF_A_RECORD = 225
TEST_CONTEXTS_OF_A_RECORD = 14
TEST_SHARE_OF_NAMES = 0.15
FACTS = (4, 5)


class Deck:
    """Deals cards in random order, each once before any comes again, and none twice in a hand."""

    def __init__(self, cards, rng):
        self.cards, self.rng, self.pile = cards, rng, []

    def deal(self, number):
        hand = []
        while len(hand) < number:
            if not self.pile:
                self.pile = self.rng.sample(self.cards, len(self.cards))
            card = self.pile.pop()
            if card not in hand:
                hand.append(card)
        return hand


def slot_offsets(phrasing, fact):
    """Where each slot's value begins in the sentence that the phrasing makes of the fact."""
    offsets, length = {}, 0
    for literal, slot, _, _ in Formatter().parse(phrasing):
        length += len(literal)
        if slot:
            offsets[slot] = length
            length += len(fact[slot])
    return offsets


class Split:
    """One of the two splits, with its own names and its own pairs of question and sentence phrasings."""

    def __init__(self, split, names, rng):
        self.split, self.rng, self.questions = split, rng, 0
        self.names = {kind: Deck(names[kind], rng) for kind in NAMES}
        self.keys = {kind: Deck(keys, rng) for kind, keys in KEYS.items()}

    def sentences(self, record, number):
        """Phrasings of two classes only: so there are questions that never meet any phrasing of the context."""
        classes = self.rng.sample(range(PHRASING_CLASSES), 2)
        usable = [s for s in range(len(record.sentences)) if s % PHRASING_CLASSES in classes]
        return [self.rng.choice(usable) for _ in range(number)]

    def question_phrasings(self, relation, sentence, sentences):
        """A test question's phrasing has never met its sentence's phrasing in any training context."""
        indices = range(len(relation.questions))
        if self.split == "test":
            return [q for q in indices if held_out(q, sentence)]
        return [q for q in indices if not any(held_out(q, s) for s in sentences)]

    def paragraph(self, record):
        number = self.rng.choice(FACTS)
        sentences = self.sentences(record, number)
        keys = {kind: deck.deal(number) for kind, deck in self.keys.items()}
        names = {kind: deck.deal(number) for kind, deck in self.names.items()}
        text, questions = "", []
        for i, sentence in enumerate(sentences):
            fact = {kind: answer(kind, names[kind][i], keys[kind][i]) for kind in KEYS}
            offsets = slot_offsets(record.sentences[sentence], fact)
            relation = self.rng.choice(record.relations)
            phrasing = self.rng.choice(self.question_phrasings(relation, sentence, sentences))
            key = keys[relation.asked][i]
            self.questions += 1
            questions.append({
                "id": f"{self.split}-{self.questions}",
                "question": relation.questions[phrasing].format(key=key_in_question(relation.asked, key)),
                "answers": [{"text": fact[relation.asked], "answer_start": len(text) + offsets[relation.asked]}],
            })
            text += record.sentences[sentence].format(**fact) + " "
        return {"context": text.rstrip(), "qas": questions}

    def articles(self, contexts):
        return [{"title": r.title, "paragraphs": [self.paragraph(r) for _ in range(contexts)]} for r in RECORDS]


def split_names(rng):
    """People and towns are parted between the splits; looks, numbers and days are in both."""
    names = {"train": dict(NAMES), "test": dict(NAMES)}
    for kind in ("who", "where"):
        shuffled = rng.sample(NAMES[kind], len(NAMES[kind]))
        cut = int(len(shuffled) * TEST_SHARE_OF_NAMES)
        names["test"][kind], names["train"][kind] = shuffled[:cut], shuffled[cut:]
    return names


def squad(articles):
    """SQuAD v1.1 JSON with a context or a question a line."""
    text = json.dumps({"version": "1.1", "data": articles}, separators=(",", ":"))
    return text.replace('{"context"', '\n{"context"').replace('{"id"', '\n {"id"') + "\n"


def generate():
    """The text of each file."""
    rng = random.Random(SEED)
    names = split_names(rng)
    train = Split("train", names["train"], rng).articles(TRAIN_CONTEXTS_OF_A_RECORD)
    test = Split("test", names["test"], rng).articles(TEST_CONTEXTS_OF_A_RECORD)
    return {"train.json": squad(train), "test.json": squad(test)}


if __name__ == "__main__":
    for file, text in generate().items():
        (Path(__file__).parent / file).write_text(text, encoding="utf-8", newline="\n")
