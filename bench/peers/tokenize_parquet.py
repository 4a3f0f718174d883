#!/usr/bin/env python3
"""Reads and tokenizes a Parquet file of sentences with labels, in turn with Hearth and with Hugging Face's datasets
(map(batched=True, num_proc=2) and the fast tokenizer), and prints seconds, rows per second and the peak of resident
memory of each run:

    python3 bench/peers/tokenize_parquet.py --hearth build/bin/hearth --model MODEL_FOLDER --rows 1000000 --rounds 3

Hearth's time is that of a whole run_classification with one training step of a small model; that of datasets is the
time of load_dataset and map alone, without the start of Python and the imports. Both begin without cached results. Needs pyarrow, datasets
and transformers; MODEL_FOLDER holds a BERT tokenizer and a small model."""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PEER = """
import sys, time
from datasets import load_dataset
from transformers import AutoTokenizer
file, model, cache = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(model, use_fast=True)
assert tokenizer.is_fast
begin = time.perf_counter()
data = load_dataset("parquet", data_files={"train": file}, cache_dir=cache, split="train")
data = data.map(lambda rows: tokenizer(rows["sentence"], truncation=True, max_length=128), batched=True, num_proc=2)
print("seconds", time.perf_counter() - begin)
"""


def text_of(path):
    """The words of a text file, or of words made of syllables whose frequencies fall as those of a language do."""
    if path:
        return pathlib.Path(path).read_text(encoding="utf-8").split()
    rng = random.Random(1)
    words = ["".join(rng.choices(["ka", "ter", "lin", "o", "bra", "sen", "u", "mi", "pol", "ing", "ed"], k=rng.randint(1, 5)))
             for _ in range(30_000)]
    return rng.choices(words, [1 / (rank + 1) for rank in range(len(words))], k=1_000_000)


def make_file(path, rows, text):
    import pyarrow as pa
    import pyarrow.parquet as pq
    rng, words = random.Random(0), text_of(text)

    def sentence():
        length = rng.randint(20, 40)
        begin = rng.randrange(len(words) - length)
        return " ".join(words[begin:begin + length])

    schema = pa.schema([("sentence", pa.string()), ("label", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, rows, 100_000):
            count = min(100_000, rows - begin)
            sentences = [sentence() for _ in range(count)]
            labels = [rng.randint(0, 1) for _ in range(count)]
            writer.write_table(pa.table({"sentence": sentences, "label": labels}, schema=schema))


def children(pid):
    try:
        kids = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(kid) for kid in kids] + [grandkid for kid in kids for grandkid in children(int(kid))]


def memory(pid, field):
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0


def run(command, environment):
    """Seconds, and the peaks in MiB of the resident memory and of its part that is not of files, over all processes."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=output, stderr=subprocess.STDOUT)
        peaks, done = [0.0, 0.0], threading.Event()

        def watch():
            while not done.wait(0.05):
                pids = [process.pid] + children(process.pid)
                for i, field in enumerate(("VmRSS", "RssAnon")):
                    peaks[i] = max(peaks[i], sum(memory(pid, field) for pid in pids))

        watcher = threading.Thread(target=watch)
        watcher.start()
        status = process.wait()
        seconds = time.perf_counter() - begin
        done.set()
        watcher.join()
        output.seek(0)
        text = output.read().decode()
        if status != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{text[-3000:]}")
    own = [line.split()[1] for line in text.splitlines() if line.startswith("seconds ")]
    return float(own[-1]) if own else seconds, *peaks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", default="build/bin/hearth")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--text", help="text file whose sentences are used; without it, made of syllables")
    parser.add_argument("--only", choices=["hearth", "datasets"])
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the file and the results go")
    args = parser.parse_args()
    file = pathlib.Path(args.folder) / f"sentences-{args.rows}-{pathlib.Path(args.text or 'made').stem}.parquet"
    if not file.exists():
        make_file(file, args.rows, args.text)
    print(f"{args.rows} rows, {file.stat().st_size / 2**20:.0f} MiB")
    seconds = {}
    for _ in range(args.rounds):
        for name in ("hearth", "datasets"):
            if args.only not in (None, name):
                continue
            with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
                hearth = [args.hearth, "run_classification", "--do_train", "--max_steps", "1", "--save_strategy", "no",
                          "--model_name_or_path", args.model, "--train_file", str(file), "--max_seq_length", "128",
                          "--output_dir", scratch + "/out"]
                peer = [sys.executable, "-c", PEER, str(file), args.model, scratch]
                took, resident, own = run(hearth if name == "hearth" else peer,
                                          {"HEARTH_CACHE": scratch, "HF_HOME": scratch, "HF_HUB_OFFLINE": "1"})
            seconds.setdefault(name, []).append(took)
            print(f"{name:9} {took:7.1f} s {args.rows / took:9.0f} rows/s  peak resident {resident:6.0f} MiB, of which "
                  f"not of files {own:6.0f} MiB", flush=True)
    if len(seconds) == 2:
        ratios = [peer / own for own, peer in zip(seconds["hearth"], seconds["datasets"])]
        print(f"Hearth is {statistics.median(ratios):.2f} times as fast (median of {len(ratios)} pairs)")


if __name__ == "__main__":
    main()
