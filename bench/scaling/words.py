#!/usr/bin/env python3
"""How many different words the ranks of a job use in a step, for measured.json: words.py VOCAB.TXT SQUAD.JSON. Needs the
package tokenizers."""

import json
import random
import statistics
import sys

from tokenizers import BertWordPieceTokenizer

from model import RANKS

BATCH, LONGEST, SPECIAL = 12, 384, 3  # batch per rank; tokens of a sequence, and of them [CLS] and two [SEP]


def main(vocabulary, squad):
    tokenizer = BertWordPieceTokenizer(vocabulary, lowercase=True)
    with open(squad) as file:
        paragraphs = [paragraph for article in json.load(file)["data"] for paragraph in article["paragraphs"]]
    contexts = [tokenizer.encode(p["context"], add_special_tokens=False).ids for p in paragraphs]
    pairs = [(question["question"], context) for p, context in zip(paragraphs, contexts) for question in p["qas"]]
    random.seed(1)
    for ranks in RANKS:
        counts = []
        for _ in range(5):
            sample = random.sample(pairs, min(len(pairs), BATCH * ranks))
            words = {"[CLS]", "[SEP]"}
            for question, context in sample:
                ids = tokenizer.encode(question, add_special_tokens=False).ids
                words.update(ids + context[:LONGEST - SPECIAL - len(ids)])
            counts.append(len(words))
        print(f"{ranks} ranks, {len(sample)} questions: {statistics.mean(counts):.0f} words", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
