#!/usr/bin/env python3
"""Fine-tunes a model on MRPC with Accelerate, with the hyper-parameters of its example nlp_example.py, from local files, once
per seed. The counterpart of `hearth nlp_example`. README.md beside this file says how to run it."""
import argparse
import csv
import json
import os

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.utils import set_seed
from torch.utils.data import DataLoader
from transformers import (AutoModelForSequenceClassification, BertTokenizerFast, DataCollatorWithPadding,
                          get_linear_schedule_with_warmup)

BATCH, EVAL_BATCH, WARMUP_STEPS = 16, 32, 100


def encoded(path, tokenizer):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    items = []
    for row in rows:
        item = dict(tokenizer(row["#1 String"], row["#2 String"], truncation=True, max_length=512))
        item["labels"] = int(row["Quality"])
        items.append(item)
    return items


def scores(truth, predicted):
    right = sum(t == p for t, p in zip(truth, predicted))
    both = sum(t == p == 1 for t, p in zip(truth, predicted))
    return {"accuracy": right / len(truth), "f1": 2 * both / (sum(truth) + sum(predicted))}


def train(accelerator, args, seed, tokenizer, train_items, eval_items):
    set_seed(seed)
    collate = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8 if accelerator.mixed_precision != "no" else None)
    train_loader = DataLoader(train_items, shuffle=True, collate_fn=collate, batch_size=BATCH * args.as_ranks, drop_last=True)
    eval_loader = DataLoader(eval_items, collate_fn=collate, batch_size=EVAL_BATCH)
    model = AutoModelForSequenceClassification.from_pretrained(args.model_name_or_path, dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    schedule = get_linear_schedule_with_warmup(optimizer, WARMUP_STEPS, len(train_items) // BATCH * args.num_epochs)
    model, optimizer, train_loader, eval_loader, schedule = accelerator.prepare(model, optimizer, train_loader,
                                                                               eval_loader, schedule)
    for epoch in range(args.num_epochs):
        model.train()
        for batch in train_loader:
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            for _ in range(args.as_ranks):
                schedule.step()
            optimizer.zero_grad()
        model.eval()
        predicted, truth = [], []
        for batch in eval_loader:
            with torch.no_grad():
                logits = model(**batch).logits
            labels, references = accelerator.gather_for_metrics((logits.argmax(dim=-1), batch["labels"]))
            predicted += labels.tolist()
            truth += references.tolist()
        row = {"seed": seed, "epoch": epoch, "pairs": len(truth), **scores(truth, predicted)}
        accelerator.print(json.dumps(row), flush=True)
    accelerator.free_memory()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model_name_or_path", required=True)
    parser.add_argument("--train_file", required=True)
    parser.add_argument("--validation_file", required=True)
    parser.add_argument("--mixed_precision", choices=["no", "fp16", "bf16"])
    parser.add_argument("--cpu", action="store_true", help="although there is a GPU")
    parser.add_argument("--seeds", type=int, nargs="+", default=[42])
    parser.add_argument("--num_epochs", type=int, default=3)
    parser.add_argument("--as_ranks", type=int, default=1, help="one process that trains as so many ranks together do: batches "
                        "of so many times 16, and so many steps of the schedule per update")
    args = parser.parse_args()
    handlers = []
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:  # the ranks may share one GPU, which NCCL refuses
        handlers = [InitProcessGroupKwargs(backend="gloo")]
        os.environ["ACCELERATE_BYPASS_DEVICE_MAP"] = "true"
    accelerator = Accelerator(cpu=args.cpu or not torch.cuda.is_available(), mixed_precision=args.mixed_precision,
                              kwargs_handlers=handlers)
    tokenizer = BertTokenizerFast(os.path.join(args.model_name_or_path, "vocab.txt"))
    train_items, eval_items = encoded(args.train_file, tokenizer), encoded(args.validation_file, tokenizer)
    for seed in args.seeds:
        train(accelerator, args, seed, tokenizer, train_items, eval_items)


main()
