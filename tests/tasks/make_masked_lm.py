#!/usr/bin/env python3
"""Makes tests/fixtures/masked_lm: a text, a tiny BERT with its tokenizer, and what transformers 4.57 computes from them.

- masks.json: sequences as its two collators mask them, for a few seeds.
- curve.json: the loss of each of 50 steps of its Trainer without dropout, and the evaluation after them. The masks are
  those that Hearth documents: the collator's for a batch of one sequence, seeded with philox(seed, epoch, sequence).

Usage: make_masked_lm.py FOLDER, with torch, transformers, accelerate and tokenizers installed.
"""
import itertools
import json
import math
import os
import random
import sys

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import (BertConfig, BertForMaskedLM, BertTokenizerFast, DataCollatorForLanguageModeling,
                          DataCollatorForWholeWordMask, Trainer, TrainerCallback, TrainingArguments, set_seed)

SEED, STEPS, LENGTH, BATCH, RATE = 42, 50, 32, 8, 2e-3
SPLIT = 5  # per cent of the lines, from the first on, are for evaluation
EVALUATION_EPOCH = -1

PEOPLE = ["Elif", "Greta", "Kira", "Bruno", "Pavel", "Noor"]
CRAFTS = {"baker": "bread", "weaver": "cloth", "cooper": "barrels", "smith": "nails", "potter": "bowls"}
TOWNS = {"Bergen": "north", "Faro": "south", "Jena": "east", "Galway": "west"}


def text():
    """Sentences whose words determine each other: the craft the goods, the town the quarter."""
    chooser = random.Random(1)
    lines = []
    for person, craft, town in itertools.islice(itertools.cycle(itertools.product(PEOPLE, CRAFTS, TOWNS)), 400):
        lines.append(chooser.choice([
            f"{person} the {craft} of {town} sells {CRAFTS[craft]} in the {TOWNS[town]}.",
            f"In {town}, which lies in the {TOWNS[town]}, {person} makes {CRAFTS[craft]} as a {craft}.",
            f"The {craft} {person} makes {CRAFTS[craft]}.",
        ]))
    return lines


def philox(counter, key):
    """base/random.h: Philox 4x32 with 7 rounds."""
    for _ in range(7):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def mask_seed(epoch, item):
    words = [part for number in (epoch, item, SEED) for part in (number & 0xFFFFFFFF, (number >> 32) & 0xFFFFFFFF)]
    return philox(words[:4], words[4:])[0]


def masked(collator_class, tokenizer, ids, seed, **options):
    collator = collator_class(tokenizer, seed=seed, **options)
    collator.generator = torch.Generator().manual_seed(seed)  # of a seed of 0 too
    batch = collator([{"input_ids": ids}])
    return batch["input_ids"][0].tolist(), batch["labels"][0].tolist()


def sequences(tokenizer, lines):
    """run_mlm.py without --line_by_line."""
    found = []
    for begin in range(0, len(lines), 1000):
        ids = [i for row in tokenizer(lines[begin:begin + 1000])["input_ids"] for i in row]
        found += [ids[at:at + LENGTH] for at in range(0, len(ids) // LENGTH * LENGTH, LENGTH)]
    return found


def write(path, value):
    with open(path, "w") as file:
        file.write(json.dumps(value) + "\n")


def masks(tokenizer, rows):
    cases = []
    for seed, (probability, whole) in enumerate([(0.15, False), (0.15, True), (0.4, False), (0.4, True), (0.9, False)]):
        for row in rows[:6]:
            special = [tokenizer.unk_token_id, tokenizer.mask_token_id, tokenizer.pad_token_id]
            ids = row[:20] + (special if seed % 2 == 0 else []) + row[20:]
            collator = DataCollatorForWholeWordMask if whole else DataCollatorForLanguageModeling
            number = seed * 1000 + len(cases)
            inputs, labels = masked(collator, tokenizer, ids, number, mlm_probability=probability)
            cases.append({"seed": number, "probability": probability, "whole_words": whole, "ids": ids,
                          "masked": inputs, "labels": labels})
    return cases


class Masked(torch.utils.data.Dataset):
    """Sequences under masks that depend on the epoch."""

    def __init__(self, tokenizer, rows, epoch):
        self.tokenizer, self.rows, self.epoch = tokenizer, rows, epoch

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, item):
        ids, labels = masked(DataCollatorForLanguageModeling, self.tokenizer, self.rows[item],
                             mask_seed(self.epoch, item))
        return {"input_ids": ids, "attention_mask": [1] * len(ids), "labels": labels}


class NextEpoch(TrainerCallback):
    def __init__(self, data):
        self.data = data

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.data.epoch = round(state.epoch)


class LossTrainer(Trainer):
    losses = []

    def training_step(self, *args, **kwargs):
        loss = super().training_step(*args, **kwargs)
        self.losses.append(loss.item())
        return loss


def curve(folder, tokenizer, lines):
    first = round(SPLIT * len(lines) / 100)
    train, evaluation = sequences(tokenizer, lines[first:]), sequences(tokenizer, lines[:first])
    data = Masked(tokenizer, train, 0)
    trainer = LossTrainer(
        model=BertForMaskedLM.from_pretrained(folder), train_dataset=data, callbacks=[NextEpoch(data)],
        args=TrainingArguments(output_dir="/tmp/masked_lm_curve", max_steps=STEPS, per_device_train_batch_size=BATCH,
                               learning_rate=RATE, seed=SEED, use_cpu=True, report_to=[], save_strategy="no",
                               disable_tqdm=True),
        data_collator=lambda items: {key: torch.tensor([item[key] for item in items]) for key in items[0]})
    trainer.train()
    model = trainer.model.eval()
    losses, found, count = 0, 0, 0
    with torch.no_grad():
        held_out = Masked(tokenizer, evaluation, EVALUATION_EPOCH)
        for begin in range(0, len(held_out), 8):
            items = [held_out[i] for i in range(begin, min(begin + 8, len(held_out)))]
            batch = trainer.data_collator(items)
            output = model(**batch)
            chosen = batch["labels"] != -100
            found += (output.logits.argmax(-1) == batch["labels"])[chosen].sum().item()
            count += chosen.sum().item()
            losses += output.loss.item() * len(items)
    loss = losses / len(held_out)
    return {"train_sequences": len(train), "eval_sequences": len(evaluation), "losses": LossTrainer.losses,
            "eval_loss": loss, "eval_accuracy": found / count, "perplexity": math.exp(loss),
            "flags": f"--max_seq_length {LENGTH} --max_steps {STEPS} --per_device_train_batch_size {BATCH} "
                     f"--learning_rate {RATE} --seed {SEED} --validation_split_percentage {SPLIT}"}


def main(folder):
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    lines = text()
    with open(f"{folder}/text.txt", "w") as file:
        file.write("".join(line + "\n" for line in lines))
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(lines, vocab_size=120, min_frequency=1, show_progress=False)
    vocabulary = sorted(pieces.get_vocab(), key=pieces.get_vocab().get)
    with open(f"{folder}/vocab.txt", "w") as file:
        file.write("".join(token + "\n" for token in vocabulary))
    tokenizer = BertTokenizerFast(f"{folder}/vocab.txt", model_max_length=64)
    set_seed(SEED)
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                               intermediate_size=64, max_position_embeddings=64, hidden_dropout_prob=0,
                               attention_probs_dropout_prob=0)).save_pretrained(folder)
    write(f"{folder}/masks.json", masks(tokenizer, sequences(tokenizer, lines)))
    write(f"{folder}/curve.json", curve(folder, tokenizer, lines))


main(sys.argv[1])
