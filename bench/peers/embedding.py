#!/usr/bin/env python3
"""Embeddings: Hearth beside sentence-transformers on one machine. It needs no network.

    embedding.py --hearth build/bin/hearth --model MODEL --mode speed
    embedding.py --hearth build/bin/hearth --model MODEL --mode chunks
    embedding.py --hearth build/bin/hearth --model MODEL --mode encode

MODEL is a folder of a BERT encoder with vocab.txt, such as all-MiniLM-L6-v2. Run it with a Python that has torch and
sentence-transformers 5 or later; --python none measures Hearth alone. --threads holds for both. Every line of the output is
a JSON object; the last one has the ratios. embedding_learning.py compares what both learn.

speed     MultipleNegativesRankingLoss on --pairs (256) pairs per step, each text 8 to 128 tokens, bf16 (--dtype), AdamW,
          clipping at 1.0; seconds per step, in turn (--rounds). The peer tokenizes outside of the measured time and uses
          fused AdamW; Hearth's time is the whole step.
chunks    Hearth alone: a step of --pairs (4096) pairs, --mini_batch_size (128) texts at a time; seconds and peak memory.
encode    `hearth embed` and SentenceTransformer.encode on --texts (4000) texts of 8 to 32 tokens, or the first ones of
          --file, one per line; texts per second. Loading the model is not counted."""
import argparse
import json
import pathlib
import random
import re
import resource
import statistics
import tempfile
import time

from embedding_programs import Hearth, Peer, dtype_flags, show, write_pairs


def texts_of_words(model, count, shortest, longest, seed):
    """Texts of so many tokens, special ones included: words that are one token each."""
    draw = random.Random(seed)
    words = [line for line in (model / "vocab.txt").read_text(encoding="utf-8").split("\n") if re.fullmatch("[a-z]{3,}", line)]
    return [" ".join(draw.choices(words, k=draw.randint(shortest, longest) - 2)) for _ in range(count)]


def step_seconds(hearth, folder, file, steps, *flags):
    """Of a step without the first two: the difference of two runs."""
    seconds = {}
    for count in (2, 2 + steps):
        hearth.train(folder, "--do_train", "--train_file", file, "--max_steps", count, *flags)
        seconds[count] = json.loads((folder / "train_results.json").read_text())["train_runtime"]
    return (seconds[2 + steps] - seconds[2]) / steps


def speed(args, folder, hearth, peer):
    shortest, longest, batch = 8, 128, args.pairs or 256
    texts = texts_of_words(args.model, 2 * batch * (args.steps + 2), shortest, longest, 1)
    pairs = list(zip(texts[::2], texts[1::2]))
    write_pairs(folder / "pairs.jsonl", pairs)
    if peer:
        model = peer.model(longest)
        step = peer.trainer(model, peer.ranking_loss(model), 2e-5, 1000, dtype=args.dtype)
        batches = [[peer.features(model, column) for column in zip(*pairs[i:i + batch])] for i in range(0, len(pairs), batch)]
        step([dict(column) for column in batches[0]], None)
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(step_seconds(hearth, folder / "out", folder / "pairs.jsonl", args.steps, *dtype_flags(args.dtype),
                                 "--per_device_train_batch_size", batch, "--max_seq_length", longest,
                                 "--learning_rate", 2e-5))
        show(program="hearth", seconds_per_step=ours[-1])
        if not peer:
            continue
        begin, count = time.perf_counter(), min(args.peer_steps, len(batches))
        for columns in batches[:count]:
            step([dict(column) for column in columns], None)
        theirs.append((time.perf_counter() - begin) / count)
        show(program="sentence-transformers", seconds_per_step=theirs[-1])
    show(mode="speed", pairs=batch, dtype=args.dtype, hearth=statistics.mean(ours),
         **({"peer": statistics.mean(theirs), "times_as_fast": statistics.mean(theirs) / statistics.mean(ours)} if peer else {}))


def chunks(args, folder, hearth, _):
    batch = args.pairs or 4096
    texts = texts_of_words(args.model, 2 * batch * 2, 8, 128, 2)
    write_pairs(folder / "pairs.jsonl", zip(texts[::2], texts[1::2]))
    begin = time.perf_counter()
    hearth.train(folder / "out", "--do_train", "--train_file", folder / "pairs.jsonl", "--max_steps", args.steps,
                 *dtype_flags(args.dtype), "--per_device_train_batch_size", batch, "--mini_batch_size", args.mini_batch_size,
                 "--max_seq_length", 128, "--learning_rate", 2e-5)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    result = json.loads((folder / "out/train_results.json").read_text())
    show(mode="chunks", pairs=batch, mini_batch_size=args.mini_batch_size, dtype=args.dtype, peak_GiB=peak / 2**20,
         seconds_per_step=result["train_runtime"] / args.steps, train_loss=result["train_loss"],
         wall_seconds=time.perf_counter() - begin)


def encode(args, folder, hearth, peer):
    if args.file:
        texts = args.file.read_text(encoding="utf-8").splitlines()[:args.texts]
    else:
        texts = texts_of_words(args.model, args.texts, 8, 32, 3)
    (folder / "texts.txt").write_text("\n".join(texts) + "\n")
    rates = {"hearth": [], "peer": []}
    model = peer.model() if peer else None
    if peer and args.dtype == "bf16":
        model = model.to(peer.torch.bfloat16)
    for _ in range(args.rounds):
        done = hearth.run("embed", "--model", args.model, "--file", folder / "texts.txt", "--output", folder / "e.npy",
                          "--dtype", args.dtype)
        rates["hearth"].append(float(re.search(r"([\d.]+) texts/s", done.stderr + done.stdout)[1]))
        if peer:
            begin = time.perf_counter()
            model.encode(texts, batch_size=32, show_progress_bar=False)
            rates["peer"].append(len(texts) / (time.perf_counter() - begin))
        show(**{name: values[-1] for name, values in rates.items() if values})
    ours = statistics.mean(rates["hearth"])
    theirs = statistics.mean(rates["peer"]) if peer else None
    show(mode="encode", texts=len(texts), dtype=args.dtype, hearth=ours,
         **({"peer": theirs, "times_as_fast": ours / theirs} if peer else {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--mode", choices=["speed", "chunks", "encode"], required=True)
    parser.add_argument("--python", choices=["this", "none"], default="this")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--dtype", choices=["bf16", "fp32"], default="bf16")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--peer_steps", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--mini_batch_size", type=int, default=128)
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--file", type=pathlib.Path)
    args = parser.parse_args()
    peer = Peer(args.model, threads=args.threads) if args.python == "this" and args.mode != "chunks" else None
    with tempfile.TemporaryDirectory() as folder:
        globals()[args.mode](args, pathlib.Path(folder), Hearth(args.hearth, args.model, args.threads), peer)


if __name__ == "__main__":
    main()
