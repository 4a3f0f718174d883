#!/usr/bin/env python3
"""Reads and tokenizes a Parquet file of sentences with labels, in turn with Hearth and with Hugging Face's datasets
(map(batched=True, num_proc=2) and the fast tokenizer), and prints seconds, rows per second and the peak of resident
memory of each run:

    python3 bench/peers/tokenize_parquet.py --hearth build/bin/hearth --model MODEL_FOLDER --rows 1000000 --rounds 3

Hearth's time is that of a whole run_classification with one training step of a small model; that of datasets is the
time of a process that imports, loads the file and maps it. Both begin without cached results. Needs pyarrow, datasets
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

WORDS = ("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they "
         "which one you were all her she there would their we him been has when who will no more if out so what up "
         "said its about than into them can only other time new some could these two may first then do any like my "
         "over such our man me even most made after also well before must through years where much way down should "
         "because each just those people too mister good state very make still own see men work long get here between "
         "wonderful terrible performance director screenplay unforgettable disappointing, nevertheless. brilliant!").split()
PEER = """
import sys
from datasets import load_dataset
from transformers import AutoTokenizer
file, model, cache = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(model, use_fast=True)
assert tokenizer.is_fast
data = load_dataset("parquet", data_files={"train": file}, cache_dir=cache, split="train")
data = data.map(lambda rows: tokenizer(rows["sentence"], truncation=True, max_length=128), batched=True, num_proc=2)
print(len(data), sum(len(ids) for ids in data[:1000]["input_ids"]))
"""


def make_file(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq
    rng = random.Random(0)
    schema = pa.schema([("sentence", pa.string()), ("label", pa.int64())])
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, rows, 100_000):
            count = min(100_000, rows - begin)
            sentences = [" ".join(rng.choices(WORDS, k=rng.randint(20, 40))) for _ in range(count)]
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
        if status != 0:
            output.seek(0)
            sys.exit(f"{' '.join(map(str, command))}\n{output.read().decode()[-3000:]}")
    return seconds, *peaks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", default="build/bin/hearth")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["hearth", "datasets"])
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the file and the results go")
    args = parser.parse_args()
    file = pathlib.Path(args.folder) / f"sentences-{args.rows}.parquet"
    if not file.exists():
        make_file(file, args.rows)
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
