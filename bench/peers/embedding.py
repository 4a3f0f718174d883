#!/usr/bin/env python3
"""Embeddings: Hearth beside sentence-transformers on one machine. It needs no network.

    embedding.py --hearth build/bin/hearth --model MODEL --mode speed
    embedding.py --hearth build/bin/hearth --model MODEL --mode chunks
    embedding.py --hearth build/bin/hearth --model MODEL --mode encode
    embedding.py --hearth build/bin/hearth --model MODEL --mode learning --squad FOLDER [--seeds 42 43 44] [--rerank]

MODEL is a folder of a BERT encoder with vocab.txt, such as all-MiniLM-L6-v2; FOLDER has train.json and dev.json of SQuAD.
Run it with a Python that has torch and sentence-transformers 5 or later; --python none measures Hearth alone. --threads
holds for both. Every line of the output is a JSON object; the last one has the ratios.

speed     MultipleNegativesRankingLoss on --pairs (256) pairs per step, each text 8 to 128 tokens, bf16 (--dtype), AdamW,
          clipping at 1.0; seconds per step, in turn (--rounds). The peer tokenizes outside of the measured time and uses
          fused AdamW where torch has it; Hearth's time is the whole step.
chunks    Hearth alone: a step of --pairs (4096) pairs, --mini_batch_size (128) texts at a time; seconds and peak memory.
encode    `hearth embed` and SentenceTransformer.encode on --texts (4000) texts of 8 to 32 tokens; texts per second.
          Loading the model is not counted.
learning  pairs of question and paragraph of train.json, one epoch (--epochs), batches of 64 (--pairs), learning rate 2e-5,
          linear schedule; then retrieval of dev.json's paragraphs by its questions: NDCG@10 before and after, for each
          seed and both programs. With --rerank also a cross-encoder on the same pairs and --negatives (3) wrong ones each:
          MRR@10 of the embedding model's first 20 paragraphs, before and after reranking (Hearth alone)."""
import argparse
import contextlib
import json
import math
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def show(**row):
    print(json.dumps(row), flush=True)
    return row


# Data

def texts_of_words(model, count, shortest, longest, seed):
    """Texts of so many tokens, special ones included: words that are one token each."""
    draw = random.Random(seed)
    words = [line for line in (model / "vocab.txt").read_text(encoding="utf-8").split("\n") if re.fullmatch("[a-z]{3,}", line)]
    return [" ".join(draw.choices(words, k=draw.randint(shortest, longest) - 2)) for _ in range(count)]


def write_pairs(file, pairs):
    file.write_text("".join(json.dumps({"anchor": a, "positive": b}) + "\n" for a, b in pairs))


def squad_pairs(file):
    pairs = []
    for article in json.loads(file.read_text())["data"]:
        for paragraph in article["paragraphs"]:
            pairs += [(qa["question"].strip(), paragraph["context"].strip()) for qa in paragraph["qas"]]
    return pairs


def write_corpus(folder, pairs):
    """BEIR's files of retrieval by these pairs."""
    documents = {text: f"d{i}" for i, text in enumerate(dict.fromkeys(text for _, text in pairs))}
    lines = lambda rows: "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "corpus.jsonl").write_text(lines({"_id": name, "text": text} for text, name in documents.items()))
    (folder / "queries.jsonl").write_text(lines({"_id": f"q{i}", "text": q} for i, (q, _) in enumerate(pairs)))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" +
                                      "".join(f"q{i}\t{documents[text]}\t1\n" for i, (_, text) in enumerate(pairs)))


# Hearth

class Hearth:
    def __init__(self, args):
        self.program, self.model, self.threads = args.hearth, args.model, args.threads

    def run(self, *flags, text=None):
        words = [self.program, *map(str, flags)]
        done = subprocess.run(words, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done

    def train(self, folder, *flags, model=None):
        threads = ["--num_threads", self.threads] if self.threads else []
        self.run("run_embedding", "--model_name_or_path", model or self.model, "--output_dir", folder, "--overwrite_output_dir",
                 "--save_strategy", "no", "--disable_tqdm", "--report_to", "none", *threads, *flags)
        return folder

    def step_seconds(self, folder, file, steps, *flags):
        """Of a step without the first two: the difference of two runs."""
        seconds = {}
        for count in (2, 2 + steps):
            self.train(folder, "--do_train", "--train_file", file, "--max_steps", count, *flags)
            seconds[count] = json.loads((folder / "train_results.json").read_text())["train_runtime"]
        return (seconds[2 + steps] - seconds[2]) / steps


def dtype_flags(dtype):
    return [] if dtype == "fp32" else [f"--{dtype}"]


# The peer

class Peer:
    def __init__(self, args):
        import sentence_transformers
        import torch
        self.st, self.torch, self.args = sentence_transformers, torch, args
        if args.threads:
            torch.set_num_threads(args.threads)
        show(peer="sentence-transformers", version=sentence_transformers.__version__, torch=torch.__version__,
             threads=torch.get_num_threads())

    def model(self, length=None):
        model = self.st.SentenceTransformer(str(self.args.model), device="cpu")
        if length:
            model.max_seq_length = length
        return model

    def autocast(self, dtype):
        return (self.torch.autocast("cpu", self.torch.bfloat16) if dtype == "bf16" else contextlib.nullcontext())

    def features(self, model, texts):
        return (getattr(model, "preprocess", None) or model.tokenize)(list(texts))

    def trainer(self, model, rate, steps):
        losses = getattr(self.st, "losses", None) or self.st.sentence_transformer.losses
        loss = losses.MultipleNegativesRankingLoss(model)
        model.train()
        optimizer = self.torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0, fused=True)
        schedule = self.torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0, 1 - step / steps))

        def step(columns, dtype):
            with self.autocast(dtype):
                value = loss(columns, None)
            value.backward()
            self.torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            return float(value.detach())

        return step


# Modes

def speed(args, folder, hearth, peer):
    shortest, longest, batch = 8, 128, args.pairs or 256
    texts = texts_of_words(args.model, 2 * batch * (args.steps + 2), shortest, longest, 1)
    pairs = list(zip(texts[::2], texts[1::2]))
    write_pairs(folder / "pairs.jsonl", pairs)
    if peer:
        model = peer.model(longest)
        step = peer.trainer(model, 2e-5, 1000)
        batches = [[peer.features(model, column) for column in zip(*pairs[i:i + batch])] for i in range(0, len(pairs), batch)]
        step([dict(column) for column in batches[0]], args.dtype)
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(hearth.step_seconds(folder / "out", folder / "pairs.jsonl", args.steps, *dtype_flags(args.dtype),
                                        "--per_device_train_batch_size", batch, "--max_seq_length", longest,
                                        "--learning_rate", 2e-5))
        show(program="hearth", seconds_per_step=ours[-1])
        if not peer:
            continue
        begin, count = time.perf_counter(), min(args.peer_steps, len(batches))
        for columns in batches[:count]:
            step([dict(column) for column in columns], args.dtype)
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


def ndcg_of(results):
    return json.loads((results / "eval_results.json").read_text())["eval_cosine_ndcg@10"]


def peer_ndcg(peer, model, pairs):
    documents = list(dict.fromkeys(text for _, text in pairs))
    place = {text: i for i, text in enumerate(documents)}
    model.eval()
    encoded = lambda texts: peer.torch.tensor(model.encode(texts, batch_size=64, show_progress_bar=False))
    unit = lambda x: peer.torch.nn.functional.normalize(x, dim=1)
    scores = unit(encoded([q for q, _ in pairs])) @ unit(encoded(documents)).T
    best = scores.topk(10, dim=1).indices.tolist()
    return statistics.mean(sum(1 / math.log2(rank + 2) for rank, d in enumerate(row) if d == place[text])
                           for row, (_, text) in zip(best, pairs))


def peer_learning(peer, args, train, dev, seed):
    peer.torch.manual_seed(seed)
    model = peer.model(256)
    batch = args.pairs or 64
    per_epoch = math.ceil(len(train) / batch)
    step = peer.trainer(model, 2e-5, per_epoch * args.epochs)
    for epoch in range(args.epochs):
        generator = peer.torch.Generator().manual_seed(seed + epoch)
        order = peer.torch.randperm(len(train), generator=generator).tolist()
        model.train()
        for begin in range(0, len(order), batch):
            rows = [train[i] for i in order[begin:begin + batch]]
            step([peer.features(model, column) for column in zip(*rows)], args.dtype)
    return peer_ndcg(peer, model, dev)


def learning(args, folder, hearth, peer):
    train, dev = (squad_pairs(args.squad / name) for name in ("train.json", "dev.json"))
    write_pairs(folder / "train.jsonl", train)
    write_corpus(folder, dev)
    evaluation = ["--do_eval", "--queries_file", folder / "queries.jsonl", "--corpus_file", folder / "corpus.jsonl",
                  "--qrels_file", folder / "qrels.tsv", "--per_device_eval_batch_size", 64, "--max_seq_length", 256]
    before = ndcg_of(hearth.train(folder / "before", *evaluation))
    show(program="hearth", ndcg_before=before)
    if peer:
        show(program="sentence-transformers", ndcg_before=peer_ndcg(peer, peer.model(256), dev))
    ours, theirs = [], []
    for seed in args.seeds:
        ours.append(ndcg_of(hearth.train(
            folder / f"out{seed}", "--do_train", "--train_file", folder / "train.jsonl", *evaluation, *dtype_flags(args.dtype),
            "--per_device_train_batch_size", args.pairs or 64, "--learning_rate", 2e-5, "--num_train_epochs", args.epochs,
            "--seed", seed)))
        show(program="hearth", seed=seed, ndcg=ours[-1])
        if peer:
            theirs.append(peer_learning(peer, args, train, dev, seed))
            show(program="sentence-transformers", seed=seed, ndcg=theirs[-1])
    if args.rerank:
        rerank(args, folder, hearth, train, dev)
    points = {"peer": 100 * statistics.mean(theirs), "difference_in_points": 100 * (statistics.mean(ours) - statistics.mean(theirs))}
    show(mode="learning", before=100 * before, hearth=100 * statistics.mean(ours), **(points if peer else {}))


def mrr(lines, answers):
    ranks = []
    for line in lines:
        found = [hit["text"] for hit in json.loads(line)["results"][:10]]
        wanted = answers[json.loads(line)["query"]]
        ranks.append(next((1 / (i + 1) for i, text in enumerate(found) if text in wanted), 0))
    return statistics.mean(ranks)


def search(hearth, args, folder, model, name, queries, documents, depth):
    corpus, asked = folder / f"{name}_corpus.jsonl", folder / f"{name}_queries.jsonl"
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in documents))
    asked.write_text("".join(json.dumps({"text": text}) + "\n" for text in queries))
    hearth.run("embed", "--model", model, "--file", corpus, "--output", folder / f"{name}.npy", "--dtype", args.dtype)
    return hearth.run("search", "--model", model, "--file", corpus, "--embeddings", folder / f"{name}.npy", "--queries_file",
                      asked, "--top_k", depth, "--dtype", args.dtype).stdout


def rerank(args, folder, hearth, train, dev):
    """Wrong paragraphs of training are found by the embedding model: some of the first ten that are not the right one."""
    model, draw = folder / f"out{args.seeds[0]}", random.Random(7)
    documents = lambda pairs: list(dict.fromkeys(text for _, text in pairs))
    answers = {}
    for question, text in train + dev:
        answers.setdefault(question, set()).add(text)
    rows = []
    for line in search(hearth, args, folder, model, "train", [q for q, _ in train], documents(train), 10).splitlines():
        query, hits = json.loads(line)["query"], json.loads(line)["results"]
        wrong = [hit["text"] for hit in hits if hit["text"] not in answers[query]]
        rows.append((query, next(iter(answers[query])), 1))
        rows += [(query, text, 0) for text in draw.sample(wrong, min(args.negatives, len(wrong)))]
    (folder / "scored.jsonl").write_text("".join(json.dumps({"query": q, "text": t, "label": y}) + "\n" for q, t, y in rows))
    threads = ["--num_threads", args.threads] if args.threads else []
    hearth.run("run_classification", "--cross_encoder", "--model_name_or_path", args.model, "--train_file",
               folder / "scored.jsonl", "--do_train", "--output_dir", folder / "reranker", "--overwrite_output_dir",
               "--save_strategy", "no", "--per_device_train_batch_size", 32, "--learning_rate", 5e-5, "--warmup_ratio", 0.1,
               "--num_train_epochs", args.rerank_epochs, "--max_seq_length", 256, "--disable_tqdm", *threads,
               *dtype_flags(args.dtype))
    found = search(hearth, args, folder, model, "dev", [q for q, _ in dev], documents(dev), 20)
    ordered = hearth.run("rerank", "--model", folder / "reranker", "--dtype", args.dtype, text=found).stdout
    show(mode="rerank", mrr_before=mrr(found.splitlines(), answers), mrr_after=mrr(ordered.splitlines(), answers))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--mode", choices=["speed", "chunks", "encode", "learning"], required=True)
    parser.add_argument("--squad", type=pathlib.Path)
    parser.add_argument("--python", choices=["this", "none"], default="this")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--dtype", choices=["bf16", "fp32"], default="bf16")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--peer_steps", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--mini_batch_size", type=int, default=128)
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rerank_epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    parser.add_argument("--rerank", action="store_true")
    parser.add_argument("--negatives", type=int, default=3)
    args = parser.parse_args()
    if args.mode == "learning" and not args.squad:
        parser.error("--mode learning needs --squad")
    peer = Peer(args) if args.python == "this" and args.mode != "chunks" else None
    with tempfile.TemporaryDirectory() as folder:
        globals()[args.mode](args, pathlib.Path(folder), Hearth(args), peer)


if __name__ == "__main__":
    main()
