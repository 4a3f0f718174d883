"""Compares `hearth train_tokenizer` with Hugging Face's trainers: tokenizer_training_test.py HEARTH PRINT_TOKENS [FILE...]

Trains on the documentation, on random texts of all scripts and on the given files of text. BPE must have the vocabulary and
merges of BpeTrainer; Unigram the pieces of UnigramTrainer, with scores within 1e-9. (The library gives characters that have
lost their pieces scores in random order, 1e-4 apart.) AutoTokenizer of transformers must open every folder and give the ids
that Hearth gives. Needs tokenizers 0.22.2 and transformers 4.57.6.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import tokenizers_test
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

CASES = [("bpe", "RobertaTokenizer", 300), ("bpe", "RobertaTokenizer", 3000), ("bpe", "GPT2Tokenizer", 20000),
         ("unigram", "XLMRobertaTokenizer", 3000), ("unigram", "AlbertTokenizer", 5000),
         ("unigram", "DebertaV2Tokenizer", 10000), ("wordpiece", "BertTokenizer", 3000),
         ("wordpiece", "ElectraTokenizer", 1000), ("wordpiece", "MPNetTokenizer", 1000)]


def train(hearth, kind, tokenizer_class, vocab_size, corpus, folder):
    subprocess.run([hearth, "train_tokenizer", "--type", kind, "--tokenizer_class", tokenizer_class, "--vocab_size",
                    str(vocab_size), "--files", corpus, "--output_dir", folder], check=True, capture_output=True)


def trained_by_library(folder, vocab_size, corpus):
    """The model that the library's trainer makes with the nodes and special tokens of the folder's tokenizer."""
    ours = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    nodes = json.loads(ours.to_str())
    special = [token["content"] for token in sorted(nodes["added_tokens"], key=lambda token: token["id"])]
    is_bpe = nodes["model"]["type"] == "BPE"
    tokenizer = Tokenizer(models.BPE() if is_bpe else models.Unigram())
    if ours.normalizer is not None:
        tokenizer.normalizer = ours.normalizer
    tokenizer.pre_tokenizer = ours.pre_tokenizer
    options = {"vocab_size": vocab_size, "special_tokens": special, "show_progress": False}
    tokenizer.train([corpus], trainers.BpeTrainer(min_frequency=2, **options,
                                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
                    if is_bpe else trainers.UnigramTrainer(unk_token=special[nodes["model"]["unk_id"]], **options))
    return nodes["model"], json.loads(tokenizer.to_str())["model"]


def model_differences(folder, vocab_size, corpus):
    ours, library = trained_by_library(folder, vocab_size, corpus)
    if ours["type"] == "BPE":
        return sum([ours["vocab"] != library["vocab"], ours["merges"] != library["merges"]])
    our_scores = dict(ours["vocab"])
    # The library has pieces that are spelled like a special token twice; their second score is the piece's.
    library_scores = {token: 0 if our_scores.get(token) == 0 else score for token, score in library["vocab"]}
    wrong = len(our_scores.keys() ^ library_scores.keys())
    return wrong + sum(abs(score - library_scores.get(token, score)) > (0.1 if len(token) == 1 else 1e-9)
                       for token, score in our_scores.items())


def id_differences(print_tokens, folder, tokenizer_class):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert type(tokenizer).__name__ == tokenizer_class + "Fast", type(tokenizer)
    generator = random.Random(folder.rsplit("-", 1)[-1])
    texts = [tokenizers_test.random_text(generator) for _ in range(500)]
    path = os.path.join(folder, "texts.txt")
    with open(path, "w") as file:
        file.writelines(json.dumps(text) + "\n" for text in texts)
    lines = subprocess.run([print_tokens, folder, path], check=True, capture_output=True, text=True).stdout.splitlines()
    return sum(json.loads(line)["ids"] != tokenizer(text)["input_ids"] for text, line in zip(texts, lines, strict=True))


def main():
    hearth, print_tokens, *files = sys.argv[1:]
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        corpora = {"documentation": os.path.join(place, "documentation.txt"), "random": os.path.join(place, "random.txt")}
        generator = random.Random(5)
        with open(corpora["documentation"], "w", encoding="utf-8") as file:
            file.write("\n".join(tokenizers_test.LINES) + "\n")
        with open(corpora["random"], "w", encoding="utf-8", newline="") as file:
            file.writelines(tokenizers_test.random_text(generator) + "\n" for _ in range(4000))
        corpora.update({os.path.basename(file): file for file in files})
        for name, corpus in corpora.items():
            for kind, tokenizer_class, vocab_size in CASES:
                # The random texts have some 10,000 characters, all of which a Unigram vocabulary must hold.
                size = 40000 if name == "random" and kind == "unigram" else vocab_size
                folder = os.path.join(place, f"{name}-{tokenizer_class}-{size}")
                train(hearth, kind, tokenizer_class, size, corpus, folder)
                model = 0 if kind == "wordpiece" else model_differences(folder, size, corpus)
                ids = id_differences(print_tokens, folder, tokenizer_class)
                wrong += model + ids
                print(f"{kind} ({tokenizer_class}) of {size} on {name}: {model} differences of the model, {ids} of 500 texts",
                      flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
