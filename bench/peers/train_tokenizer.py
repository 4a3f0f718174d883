"""Times `hearth train_tokenizer` and Hugging Face's trainers in turn: train_tokenizer.py HEARTH TEXT_FILE [COPIES]

Both train on COPIES (20) copies of the lines of the file, with other words in each copy, on two threads: byte-level BPE of
30,000 tokens and Unigram of 8,000. Prints the ratio of the fastest rounds; Hearth's time includes the start of the program
and saving. Needs tokenizers 0.22.2.
"""
import os
import subprocess
import sys
import tempfile
import time

THREADS = 2
ROUNDS = 3
os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(THREADS)
os.environ["TOKENIZERS_PARALLELISM"] = "true"

from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402: reads the variables above


def write_corpus(path, file, copies):
    """Every copy shifts the letters of longer words, so that the number of different words grows with the text."""
    with open(file, encoding="utf-8") as text:
        lines = text.read().split("\n")
    letters = "abcdefghijklmnopqrstuvwxyz"
    with open(path, "w", encoding="utf-8") as corpus:
        for copy in range(copies):
            shift = str.maketrans(letters, letters[copy % 26:] + letters[:copy % 26])
            for line in lines:
                words = (word.translate(shift) if len(word) > 6 else word for word in line.split(" "))
                corpus.write(" ".join(words) + "\n")


def seconds_of_library(kind, folder, corpus):
    ours = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer = Tokenizer(models.BPE() if kind == "bpe" else models.Unigram())
    if ours.normalizer is not None:
        tokenizer.normalizer = ours.normalizer
    tokenizer.pre_tokenizer = ours.pre_tokenizer
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = (trainers.BpeTrainer(vocab_size=30000, min_frequency=2, special_tokens=special, show_progress=False,
                                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet()) if kind == "bpe" else
               trainers.UnigramTrainer(vocab_size=8000, special_tokens=special, unk_token="<unk>", show_progress=False))
    begin = time.perf_counter()
    tokenizer.train([corpus], trainer)
    return time.perf_counter() - begin


def seconds_of_hearth(program, kind, folder, corpus):
    begin = time.perf_counter()
    subprocess.run([program, "train_tokenizer", "--type", kind, "--files", corpus, "--output_dir", folder,
                    "--overwrite_output_dir"], check=True, capture_output=True)
    return time.perf_counter() - begin


def main():
    program, file, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        corpus = os.path.join(place, "corpus.txt")
        write_corpus(corpus, file, int(rest[0]) if rest else 20)
        print(f"{os.path.getsize(corpus) / 1e6:.1f} MB of text")
        for kind in ("bpe", "unigram"):
            folder = os.path.join(place, kind)
            hearth, library = [], []
            for _ in range(ROUNDS):
                hearth.append(seconds_of_hearth(program, kind, folder, corpus))
                library.append(seconds_of_library(kind, folder, corpus))
            print(f"{kind}: {min(library) / min(hearth):.1f} times the library's rate "
                  f"({min(hearth):.2f} s and {min(library):.2f} s)", flush=True)


if __name__ == "__main__":
    main()
