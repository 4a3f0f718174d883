"""Times Hearth's tokenizers and Hugging Face's library in turn: tokenize_lines.py HEARTH TEXT_FILE FOLDER...

Each FOLDER has a tokenizer.json. Both tokenize the lines of the file, without special tokens, on two threads. Prints the
ratio of the fastest rounds.
"""
import json
import os
import subprocess
import sys
import time

THREADS = 2
ROUNDS = 5
os.environ["RAYON_NUM_THREADS"] = str(THREADS)
os.environ["TOKENIZERS_PARALLELISM"] = "true"

from tokenizers import Tokenizer  # noqa: E402: reads the variables above


def seconds_of_library(tokenizer, lines):
    begin = time.perf_counter()
    tokenizer.encode_batch(lines, add_special_tokens=False)
    return time.perf_counter() - begin


def seconds_of_hearth(program, folder, file):
    run = subprocess.run([program, "bench", "tokenize", "--model", folder, "--file", file, "--rounds", "3", "--threads",
                          str(THREADS), "--json"], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return next(row["seconds"] for row in rows if row["work"] == "tokens" and row["threads"] == THREADS)


def main():
    program, file, *folders = sys.argv[1:]
    with open(file, encoding="utf-8") as text:
        lines = text.read().split("\n")
    for folder in folders:
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        library, hearth = [], []
        for _ in range(ROUNDS):
            library.append(seconds_of_library(tokenizer, lines))
            hearth.append(seconds_of_hearth(program, folder, file))
        print(f"{os.path.basename(folder)}: {min(library) / min(hearth):.1f} times the library's rate "
              f"({min(hearth):.4f} s and {min(library):.3f} s)")


if __name__ == "__main__":
    main()
