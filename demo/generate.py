#!/usr/bin/env python3
"""Writes train.json and test.json, the demo's synthetic question-answering set, beside this file."""

import json
import random
from pathlib import Path
from string import Formatter

from phrases import (
    COUNTS, CROPS, EMBLEMS, FIRST_NAMES, GOODS, INSTRUMENTS, PHRASING_CLASSES, RECORDS, SURNAMES, TOWNS, YEARS, held_out,
    phrasing_class,
)

SEED = 20
TRAIN_CONTEXTS_OF_A_RECORD = 175
TEST_CONTEXTS_OF_A_RECORD = 14
TEST_SHARE_OF_NAMES = 0.15


class Deck:
    """Deals cards in random order, each once before any comes again."""

    def __init__(self, cards, rng):
        self.cards, self.rng, self.pile = list(cards), rng, []

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
    """One of the two splits: its own names, and its own pairs of question and sentence phrasings."""

    def __init__(self, prefix, is_test, names, rng):
        self.prefix, self.is_test, self.rng = prefix, is_test, rng
        first_names, surnames, towns = names
        decks = {
            "first_name": first_names, "surname": surnames, "town": towns, "emblem": EMBLEMS, "instrument": INSTRUMENTS,
            "goods": GOODS, "crop": CROPS, "year": YEARS, "count": COUNTS,
        }
        self.decks = {name: Deck(cards, rng) for name, cards in decks.items()}
        self.serial = 0

    def facts(self, number):
        slots = {name: deck.deal(number) for name, deck in self.decks.items()}
        slots["person"] = [f"{first} {last}" for first, last in zip(slots["first_name"], slots["surname"])]
        return [{name: values[i] for name, values in slots.items()} for i in range(number)]

    def question_phrasings(self, relation, sentence, context_sentences):
        """A test question meets its sentence's phrasing for the first time; a training question meets in its whole
        context only phrasings that it may meet."""
        indices = range(len(relation.questions))
        if self.is_test:
            return [q for q in indices if held_out(q, sentence)]
        return [q for q in indices if not any(held_out(q, s) for s in context_sentences)]

    def paragraph(self, record):
        rng = self.rng
        number = rng.choice((4, 5))
        classes = rng.sample(range(PHRASING_CLASSES), 2)
        usable = [s for s in range(len(record.sentences)) if phrasing_class(s) in classes]
        sentences = [rng.choice(usable) for _ in range(number)]
        facts = self.facts(number)
        text = rng.choice(record.intros) + " " if rng.random() < 0.5 else ""
        starts = []
        for sentence, fact in zip(sentences, facts):
            offsets = slot_offsets(record.sentences[sentence], fact)
            starts.append({slot: len(text) + offset for slot, offset in offsets.items()})
            text += record.sentences[sentence].format(**fact) + " "
        text = text.rstrip()
        questions = []
        for i in rng.sample(range(number), number):
            relation = rng.choice(record.relations)
            phrasing = rng.choice(self.question_phrasings(relation, sentences[i], sentences))
            answer = facts[i][relation.asked]
            self.serial += 1
            questions.append({
                "id": f"{self.prefix}-{self.serial:05d}",
                "question": relation.questions[phrasing].format(**facts[i]),
                "answers": [{"text": answer, "answer_start": starts[i][relation.asked]}],
            })
        return {"context": text, "qas": questions}

    def articles(self, contexts):
        return [{"title": r.title, "paragraphs": [self.paragraph(r) for _ in range(contexts)]} for r in RECORDS]


def write(name, articles):
    text = json.dumps({"version": "1.1", "data": articles}, separators=(",", ":"))
    text = text.replace('{"context"', '\n{"context"').replace('{"id"', '\n {"id"')
    (Path(__file__).parent / name).write_text(text + "\n", encoding="utf-8", newline="\n")


def main():
    rng = random.Random(SEED)
    train_names, test_names = [], []
    for names in (FIRST_NAMES, SURNAMES, TOWNS):
        shuffled = rng.sample(names, len(names))
        cut = int(len(names) * TEST_SHARE_OF_NAMES)
        test_names.append(shuffled[:cut])
        train_names.append(shuffled[cut:])
    write("train.json", Split("train", False, train_names, rng).articles(TRAIN_CONTEXTS_OF_A_RECORD))
    write("test.json", Split("test", True, test_names, rng).articles(TEST_CONTEXTS_OF_A_RECORD))


if __name__ == "__main__":
    main()
