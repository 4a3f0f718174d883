#!/usr/bin/env python3
"""What Hearth and sentence-transformers learn from the same pairs of question and paragraph. It needs no network.

    embedding_learning.py --model MODEL --squad FOLDER --hearth build/bin/hearth [--seeds 42 43 44] [--reranker]
    embedding_learning.py --model MODEL --squad FOLDER --peer cpu|cuda           [--seeds 42 43 44] [--reranker]

MODEL is a folder of a BERT encoder with vocab.txt, such as all-MiniLM-L6-v2; FOLDER has train.json and dev.json of SQuAD.
--peer needs a Python with torch and sentence-transformers 5 or later. Both programs may run at once. Every line of the
output is a JSON object.

Embedding model: MultipleNegativesRankingLoss on the pairs of train.json (--articles: of its first articles), one epoch,
batches of 64, learning rate 2e-5, linear schedule, bf16 (--dtype), 256 tokens; then retrieval of dev.json's paragraphs by
its questions: NDCG@10 and MRR@10 before training and after it, for each seed.

--reranker: also a cross-encoder from the same MODEL on each question with its paragraph (1) and with --negatives (2) other
paragraphs of the article (0), --reranker_epochs (1), batches of 32, learning rate 1e-4, a tenth of the steps as warm-up. It
orders the first 20 paragraphs that the embedding model of the same seed finds for each question of dev.json: MRR@10 before
and after."""
import argparse
import json
import math
import pathlib
import random
import statistics
import tempfile

from embedding_programs import Hearth, Peer, dtype_flags, show, write_pairs, write_records

BATCH, RATE, LENGTH = 64, 2e-5, 256
RERANKER_BATCH, RERANKER_RATE, DEPTH = 32, 1e-4, 20


# Data

def paragraphs(file, articles=None):
    """Per article, its paragraphs as (text, questions)."""
    return [[(each["context"].strip(), [qa["question"].strip() for qa in each["qas"]]) for each in article["paragraphs"]]
            for article in json.loads(file.read_text())["data"][:articles]]


def pairs_of(articles):
    return [(question, text) for article in articles for text, questions in article for question in questions]


def scored_pairs(articles, negatives):
    draw, rows = random.Random(7), []
    for article in articles:
        for text, questions in article:
            others = [other for other, _ in article if other != text]
            for question in questions:
                rows.append((question, text, 1))
                rows += [(question, other, 0) for other in draw.sample(others, min(negatives, len(others)))]
    return rows


class Retrieval:
    """Paragraphs and the questions that they answer."""

    def __init__(self, pairs):
        self.pairs = pairs
        self.documents = list(dict.fromkeys(text for _, text in pairs))
        self.place = {text: i for i, text in enumerate(self.documents)}

    def write(self, folder):
        """As BEIR's files; returns the flags that read them."""
        write_records(folder / "corpus.jsonl", ({"_id": f"d{i}", "text": text} for i, text in enumerate(self.documents)))
        write_records(folder / "queries.jsonl", ({"_id": f"q{i}", "text": q} for i, (q, _) in enumerate(self.pairs)))
        (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(
            f"q{i}\td{self.place[text]}\t1\n" for i, (_, text) in enumerate(self.pairs)))
        return ["--queries_file", folder / "queries.jsonl", "--corpus_file", folder / "corpus.jsonl", "--qrels_file",
                folder / "qrels.tsv"]

    def scores(self, found):
        """`found`: for each pair, places of documents, best first."""
        ranks = [next((rank for rank, place in enumerate(places[:10]) if place == self.place[text]), None)
                 for places, (_, text) in zip(found, self.pairs, strict=True)]
        mean = lambda gain: statistics.mean(0 if rank is None else gain(rank) for rank in ranks)
        return {"ndcg@10": mean(lambda rank: 1 / math.log2(rank + 2)), "mrr@10": mean(lambda rank: 1 / (rank + 1))}


# Both programs: evaluate(model) -> scores, train(seed) -> model, train_reranker(seed), reranked(model, reranker)

class HearthLearning:
    name = "hearth"

    def __init__(self, args, folder, pairs, scored, retrieval):
        self.args, self.folder, self.retrieval = args, folder, retrieval
        self.hearth = Hearth(args.hearth, args.model, args.threads)
        write_pairs(folder / "train.jsonl", pairs)
        write_records(folder / "scored.jsonl", ({"query": q, "text": t, "label": y} for q, t, y in scored))
        self.evaluation = ["--do_eval", *retrieval.write(folder), "--per_device_eval_batch_size", 64, "--max_seq_length",
                           LENGTH]

    def evaluate(self, model):
        folder = model or self.hearth.train(self.folder / "before", *self.evaluation)
        results = json.loads((folder / "eval_results.json").read_text())
        return {name: results[f"eval_cosine_{name}"] for name in ("ndcg@10", "mrr@10")}

    def train(self, seed):
        return self.hearth.train(
            self.folder / f"embedding{seed}", "--do_train", "--train_file", self.folder / "train.jsonl", "--seed", seed,
            *self.evaluation, *dtype_flags(self.args.dtype), "--per_device_train_batch_size", BATCH, "--learning_rate",
            RATE, "--num_train_epochs", 1)

    def train_reranker(self, seed):
        return self.hearth.train(
            self.folder / f"reranker{seed}", "--cross_encoder", "--do_train", "--train_file", self.folder / "scored.jsonl",
            "--seed", seed, *dtype_flags(self.args.dtype), "--per_device_train_batch_size", RERANKER_BATCH, "--learning_rate",
            RERANKER_RATE, "--warmup_ratio", 0.1, "--num_train_epochs", self.args.reranker_epochs, "--max_seq_length", LENGTH,
            command="run_classification")

    def reranked(self, model, reranker):
        corpus, queries, found = (self.folder / name for name in ("corpus.jsonl", "queries.jsonl", "corpus.npy"))
        flags = ["--model", model, "--file", corpus, "--dtype", self.args.dtype]
        self.hearth.run("embed", *flags, "--output", found)
        nearest = self.hearth.run("search", *flags, "--embeddings", found, "--queries_file", queries, "--top_k", DEPTH).stdout
        ordered = self.hearth.run("rerank", "--model", reranker, "--dtype", self.args.dtype, text=nearest).stdout
        places = lambda lines: [[hit["corpus_id"] for hit in json.loads(line)["results"]] for line in lines.splitlines()]
        return places(nearest), places(ordered)


class PeerLearning:
    name = "sentence-transformers"

    def __init__(self, args, folder, pairs, scored, retrieval):
        self.args, self.pairs, self.scored, self.retrieval = args, pairs, scored, retrieval
        self.peer = Peer(args.model, args.peer, args.threads)
        self.torch = self.peer.torch

    def found(self, model, count):
        model.eval()
        encoded = lambda texts: model.encode(texts, batch_size=64, show_progress_bar=False, convert_to_tensor=True,
                                             normalize_embeddings=True)
        scores = encoded([q for q, _ in self.retrieval.pairs]) @ encoded(self.retrieval.documents).T
        return scores.topk(min(count, scores.shape[1]), dim=1).indices.tolist()

    def evaluate(self, model):
        return self.retrieval.scores(self.found(model or self.peer.model(LENGTH), 10))

    def batches(self, rows, size, epochs, seed):
        for epoch in range(epochs):
            order = self.torch.randperm(len(rows), generator=self.torch.Generator().manual_seed(seed + epoch)).tolist()
            for begin in range(0, len(order), size):
                yield list(zip(*(rows[i] for i in order[begin:begin + size])))

    def train(self, seed):
        self.torch.manual_seed(seed)
        model = self.peer.model(LENGTH)
        loss = self.peer.ranking_loss(model)
        step = self.peer.trainer(model, loss, RATE, math.ceil(len(self.pairs) / BATCH), dtype=self.args.dtype)
        for columns in self.batches(self.pairs, BATCH, 1, seed):
            step([self.peer.features(model, column) for column in columns], None)
        return model

    def train_reranker(self, seed):
        self.torch.manual_seed(seed)
        model = self.peer.st.CrossEncoder(self.peer.path, num_labels=1, max_length=LENGTH, device=self.args.peer,
                                          model_kwargs={"dtype": self.torch.float32})
        entropy = self.torch.nn.BCEWithLogitsLoss()

        def loss(queries, texts, labels):
            features = model.tokenizer(list(queries), list(texts), padding=True, truncation=True, max_length=LENGTH,
                                       return_tensors="pt").to(self.args.peer)
            logits = model.model(**features).logits.view(-1)
            return entropy(logits.float(), self.torch.tensor(labels, dtype=self.torch.float32, device=self.args.peer))

        steps = math.ceil(len(self.scored) / RERANKER_BATCH) * self.args.reranker_epochs
        step = self.peer.trainer(model, loss, RERANKER_RATE, steps, math.ceil(steps / 10), self.args.dtype)
        for columns in self.batches(self.scored, RERANKER_BATCH, self.args.reranker_epochs, seed):
            step(*columns)
        return model

    def reranked(self, model, reranker):
        nearest = self.found(model, DEPTH)
        texts = [(q, self.retrieval.documents[place]) for (q, _), places in zip(self.retrieval.pairs, nearest)
                 for place in places]
        reranker.eval()
        scores = iter(reranker.predict(texts, batch_size=64, show_progress_bar=False).tolist())
        ordered = [[place for _, place in sorted(((next(scores), place) for place in places), key=lambda each: -each[0])]
                   for places in nearest]
        return nearest, ordered


def learn(program, args, retrieval):
    show(program=program.name, model="embedding", seed=None, **program.evaluate(None))
    for seed in args.seeds:
        model = program.train(seed)
        show(program=program.name, model="embedding", seed=seed, dtype=args.dtype, **program.evaluate(model))
        if args.reranker:
            before, after = program.reranked(model, program.train_reranker(seed))
            show(program=program.name, model="reranker", seed=seed, dtype=args.dtype,
                 before=retrieval.scores(before)["mrr@10"], after=retrieval.scores(after)["mrr@10"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--squad", type=pathlib.Path, required=True)
    parser.add_argument("--hearth", help="the program")
    parser.add_argument("--peer", choices=["cpu", "cuda"], help="sentence-transformers, on this device")
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    parser.add_argument("--dtype", choices=["bf16", "fp32"], default="bf16")
    parser.add_argument("--articles", type=int, help="train on the first ones alone")
    parser.add_argument("--dev_articles", type=int, help="search in the first ones alone")
    parser.add_argument("--reranker", action="store_true")
    parser.add_argument("--negatives", type=int, default=2)
    parser.add_argument("--reranker_epochs", type=int, default=1)
    parser.add_argument("--threads", type=int)
    args = parser.parse_args()
    if not args.hearth and not args.peer:
        parser.error("give --hearth, --peer or both")
    train, dev = paragraphs(args.squad / "train.json", args.articles), paragraphs(args.squad / "dev.json", args.dev_articles)
    pairs, scored, retrieval = pairs_of(train), scored_pairs(train, args.negatives), Retrieval(pairs_of(dev))
    show(pairs=len(pairs), scored_pairs=len(scored), questions=len(retrieval.pairs), paragraphs=len(retrieval.documents))
    with tempfile.TemporaryDirectory() as folder:
        for wanted, kind in ((args.hearth, HearthLearning), (args.peer, PeerLearning)):
            if wanted:
                learn(kind(args, pathlib.Path(folder), pairs, scored, retrieval), args, retrieval)


if __name__ == "__main__":
    main()
