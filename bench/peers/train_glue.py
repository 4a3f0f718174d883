#!/usr/bin/env python3
"""Trains a model on a GLUE task with the Hugging Face Trainer and prints the scores of the validation file, for the
comparison of quality in docs/quality.md: train_glue.py MODEL TASK TRAIN.tsv DEV.tsv [--lines N] [--seeds 42 43 44] ...
TASK is sst2 or mrpc."""
import argparse
import json
import tempfile

import numpy
import torch
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, BertTokenizerFast, DataCollatorWithPadding,
                          Trainer, TrainingArguments)

COLUMNS = {"sst2": ("sentence", None, "label"), "mrpc": ("#1 String", "#2 String", "Quality")}


def read(file, task, lines):
    with open(file, encoding="utf-8-sig", newline="") as stream:
        rows = [line.rstrip("\r\n").split("\t") for line in stream]
    header, rows = rows[0], rows[1:][:lines]
    first, second, label = (None if name is None else header.index(name) for name in COLUMNS[task])
    return [(row[first], None if second is None else row[second], int(row[label])) for row in rows]


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows, tokenizer):
        firsts, seconds, self.labels = zip(*rows)
        pairs = (list(firsts),) if seconds[0] is None else (list(firsts), list(seconds))
        self.encoded = tokenizer(*pairs, truncation=True, max_length=128)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {**{key: values[i] for key, values in self.encoded.items()}, "labels": self.labels[i]}


def scores(prediction):
    chosen, truth = numpy.argmax(prediction.predictions, axis=1), prediction.label_ids
    hits = int(((chosen == 1) & (truth == 1)).sum())
    return {"accuracy": float((chosen == truth).mean()),
            "f1": 2 * hits / max(1, int((chosen == 1).sum() + (truth == 1).sum()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("task", choices=sorted(COLUMNS))
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--lines", type=int)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    args = parser.parse_args()
    try:
        tokenizer = AutoTokenizer.from_pretrained(args.model)
    except (OSError, ValueError):
        tokenizer = BertTokenizerFast(vocab_file=args.model + "/vocab.txt")
    train, dev = (Rows(read(file, args.task, lines), tokenizer)
                  for file, lines in ((args.train, args.lines), (args.dev, None)))
    results = []
    for seed in args.seeds:
        with tempfile.TemporaryDirectory() as folder:
            settings = TrainingArguments(output_dir=folder, per_device_train_batch_size=args.batch, seed=seed,
                                         num_train_epochs=args.epochs, learning_rate=args.lr, save_strategy="no",
                                         report_to=[], use_cpu=True, disable_tqdm=True, logging_strategy="no")
            torch.manual_seed(seed)
            model = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=2, dtype=torch.float32)
            trainer = Trainer(model=model, args=settings, train_dataset=train, eval_dataset=dev,
                              data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=scores)
            trainer.train()
            found = trainer.evaluate()
        results.append({"seed": seed, "accuracy": found["eval_accuracy"], "f1": found["eval_f1"]})
        print(json.dumps(results[-1]), flush=True)
    print(json.dumps({name: sum(row[name] for row in results) / len(results) for name in ("accuracy", "f1")}))


if __name__ == "__main__":
    main()
