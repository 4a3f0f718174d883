"""The installed sentence-transformers reads what Hearth writes, and Hearth reads what it writes; both learn the same from
the same batches. Run by scripts/test_peers: embedding_test.py HEARTH"""

import json
import random
import shutil
import unittest

import runs  # before torch

import numpy
import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer, losses
from sentence_transformers.models import Normalize, Pooling, Transformer

TEXTS = ["Elif lives in Bergen.", "The baker of Faro sells bread, and the mail comes twice a day.", "Jena", "Who is it?",
         "Where does the miller live, and why does nobody know?"]
TOLERANCE = 1e-4
STEPS, BATCH, RATE = 5, 8, 1e-3


def setUpModule():
    global hearth, folder
    transformers.logging.set_verbosity_error()
    hearth = runs.Hearth()
    folder = hearth.folder
    hearth.make_start_models()
    (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n")


def write_records(name, columns, labels=None):
    """40 records of random words of the tokenizer's own texts; labels(draw) makes the label of one."""
    draw = random.Random(name)
    words = " ".join(r["context"] for r in runs.read(folder / "train.json")["data"]).split()
    rows = []
    for _ in range(STEPS * BATCH):
        row = {column: " ".join(draw.choices(words, k=draw.randint(2, 12))) for column in columns}
        if labels:
            row["label"] = labels(draw)
        rows.append(row)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def embeddings(model, flags=""):
    hearth.run(f"embed --model {model} --file texts.txt --output out.npy {flags}")
    return numpy.load(folder / "out.npy")


def close(test, ours, theirs):
    test.assertEqual(ours.shape, theirs.shape)
    test.assertLess(float(numpy.abs(ours - theirs).max()), TOLERANCE)


class Folders(unittest.TestCase):
    def test_sentence_transformers_opens_a_trained_model(self):
        write_records("pairs", ["anchor", "positive"])
        for name, flags in [("mean", ""), ("several", "--pooling cls,max,weightedmean --normalize"),
                            ("prompts", "--model_prompts {\"query\":\"find:\",\"document\":\"text:\"} --pooling lasttoken")]:
            hearth.run(f"run_embedding --model_name_or_path bert-start --do_train --train_file pairs.jsonl --max_steps 3"
                       f" --output_dir {name} --save_strategy no --disable_tqdm True --max_seq_length 20 {flags}")
            model = SentenceTransformer(str(folder / name), device="cpu")
            self.assertEqual(model.max_seq_length, 20)
            close(self, embeddings(name), model.encode(TEXTS))
            if name == "prompts":
                close(self, embeddings(name, "--prompt_name query"), model.encode_query(TEXTS))
                close(self, embeddings(name, "--prompt_name document --truncate_dim 8 --normalize"),
                      model.encode_document(TEXTS, truncate_dim=8, normalize_embeddings=True))

    def test_models_of_every_family(self):
        write_records("pairs", ["anchor", "positive"])
        for family in runs.CONFIGS:
            with self.subTest(family=family):
                hearth.run(f"run_embedding --model_name_or_path {family}-start --do_train --train_file pairs.jsonl"
                           f" --max_steps 3 --output_dir {family} --save_strategy no --disable_tqdm True --max_seq_length 40")
                model = SentenceTransformer(str(folder / family), device="cpu")
                close(self, embeddings(family), model.encode(TEXTS))
                model.save(str(folder / f"{family}-saved"))
                close(self, embeddings(f"{family}-saved"), model.encode(TEXTS))

    def test_hearth_opens_its_models(self):
        for mode in Pooling.POOLING_MODES:
            modules = [Transformer(str(folder / "bert-start")), Pooling(32, mode), Normalize()]
            model = SentenceTransformer(modules=modules, prompts={"query": "find: "}, device="cpu")
            model.save(str(folder / f"theirs-{mode}"))
            close(self, embeddings(f"theirs-{mode}"), model.encode(TEXTS))
            close(self, embeddings(f"theirs-{mode}", "--prompt_name query"), model.encode(TEXTS, prompt_name="query"))

    def test_prompts_that_pooling_leaves_out(self):
        modules = [Transformer(str(folder / "bert-start")), Pooling(32, "mean", include_prompt=False)]
        model = SentenceTransformer(modules=modules, prompts={"query": "find it: "}, device="cpu")
        model.save(str(folder / "left-out"))
        close(self, embeddings("left-out", "--prompt_name query"), model.encode(TEXTS, prompt_name="query"))

    def test_the_layout_before_5_4(self):
        old = folder / "old"
        shutil.copytree(folder / "bert-start", old)
        (old / "1_Pooling").mkdir()
        (old / "modules.json").write_text(json.dumps(
            [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
             for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])]))
        (old / "1_Pooling/config.json").write_text(json.dumps(
            {"word_embedding_dimension": 32, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
             "pooling_mode_max_tokens": True, "pooling_mode_mean_sqrt_len_tokens": False}))
        (old / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9, "do_lower_case": False}))
        close(self, embeddings("old"), SentenceTransformer(str(old), device="cpu").encode(TEXTS))

    def test_cross_encoders(self):
        write_records("scored", ["query", "text"], lambda draw: draw.randint(0, 1))
        hearth.run("run_classification --cross_encoder --model_name_or_path bert-start --do_train --train_file scored.jsonl"
                   " --max_steps 3 --output_dir ce --save_strategy no --disable_tqdm True --max_seq_length 24")
        CrossEncoder(str(folder / "bert-start"), num_labels=1, device="cpu").save(str(folder / "their-ce"))
        for name in ("ce", "their-ce"):
            theirs = CrossEncoder(str(folder / name), device="cpu").predict([(TEXTS[3], text) for text in TEXTS])
            (found,) = hearth.printed("rerank", "--model", name, "--query", TEXTS[3], "--file", "texts.txt")
            ours = {hit["corpus_id"]: hit["score"] for hit in found["results"]}
            close(self, numpy.array([ours[i] for i in range(len(TEXTS))]), numpy.array(theirs))


class Training(unittest.TestCase):
    """Losses of the first steps, without dropout, in the order of the data."""

    def compare(self, name, columns, loss, labels=None, flags=""):
        rows = write_records(name, columns, labels)
        hearth.run(f"run_embedding --model_name_or_path bert-start --do_train --train_file {name}.jsonl --output_dir {name}"
                   f" --per_device_train_batch_size {BATCH} --max_steps {STEPS} --learning_rate {RATE} --logging_steps 1"
                   f" --lr_scheduler_type constant --train_sampling_strategy sequential --save_strategy no"
                   f" --disable_tqdm True {flags}")
        ours = [row["loss"] for row in runs.read(folder / name / "trainer_state.json")["log_history"] if "loss" in row]
        model = SentenceTransformer(str(folder / "bert-start"), device="cpu")
        model.train()
        function = loss(model)
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0)
        theirs = []
        for begin in range(0, len(rows), BATCH):
            batch = rows[begin:begin + BATCH]
            features = [(getattr(model, "preprocess", None) or model.tokenize)([row[c] for row in batch]) for c in columns]
            value = function(features, torch.tensor([row["label"] for row in batch]) if labels else None)
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            theirs.append(float(value.detach()))
        self.assertEqual(len(ours), len(theirs))
        for step, (a, b) in enumerate(zip(ours, theirs)):
            self.assertLess(abs(a - b), 2e-4 * max(1, abs(b)), f"{name}, step {step}: {ours} {theirs}")

    def test_ranking(self):
        self.compare("mnr", ["a", "b"], losses.MultipleNegativesRankingLoss)
        self.compare("mnr_hard", ["a", "b", "c", "d"], losses.MultipleNegativesRankingLoss)
        self.compare("mnr_cached", ["a", "b"], lambda model: losses.CachedMultipleNegativesRankingLoss(model, mini_batch_size=3),
                     flags="--loss CachedMultipleNegativesRankingLoss --mini_batch_size 3")

    def test_matryoshka(self):
        self.compare("matryoshka", ["a", "b"],
                     lambda model: losses.MatryoshkaLoss(model, losses.MultipleNegativesRankingLoss(model), [32, 16, 4]),
                     flags="--matryoshka_dims 32,16,4")

    def test_scored_pairs(self):
        score = lambda draw: round(draw.random(), 2)
        self.compare("cosine", ["a", "b"], losses.CosineSimilarityLoss, score, "--loss CosineSimilarityLoss")
        self.compare("cosent", ["a", "b"], losses.CoSENTLoss, score)

    def test_contrastive(self):
        label = lambda draw: draw.randint(0, 1)
        self.compare("contrastive", ["a", "b"], losses.ContrastiveLoss, label, "--loss ContrastiveLoss")
        self.compare("online", ["a", "b"], losses.OnlineContrastiveLoss, label, "--loss OnlineContrastiveLoss")

    def test_triplets(self):
        self.compare("triplet", ["a", "b", "c"], losses.TripletLoss, flags="--loss TripletLoss")

    def test_teachers(self):
        scores = lambda draw: [round(draw.uniform(-1, 5), 2) for _ in range(2)]
        self.compare("margin", ["a", "b", "c"], losses.MarginMSELoss, scores, "--loss MarginMSELoss")
        self.compare("distill", ["a", "b", "c"], losses.DistillKLDivLoss, scores, "--loss DistillKLDivLoss")


if __name__ == "__main__":
    runs.main()
