"""Every head of every model family: the installed transformers opens the folders that Hearth trains and computes the same,
and Hearth computes what transformers does with the folders that transformers saves. Run by scripts/test_peers:
families_test.py HEARTH"""

import json
import logging
import shutil
import sys
import unittest

import runs  # before torch

import torch
import transformers

FIXTURES = runs.ROOT / "tests" / "fixtures" / "families"
sys.path.insert(0, str(FIXTURES))
sys.dont_write_bytecode = True
import make

PEOPLE, TOWNS = ["Elif", "Greta", "Kira", "Bruno"], ["Bergen", "Faro", "Jena"]
TEXTS = ["Elif the baker lives in Bergen.", "Who is it?", "Kira and Bruno came from Faro to Jena, and stayed."]
TOLERANCE = 1e-4


def write_data(folder):
    rows = [(PEOPLE[i % 4], TOWNS[i % 3]) for i in range(24)]
    pairs = ["sentence1,sentence2,label"] + [f"{p} lives in {t}.,{p} is from {t}.,{t}" for p, t in rows]
    tags = [f"{p} B-PER\nlives O\nin O\n{t} B-LOC\n. O\n" for p, t in rows]
    anchors = [json.dumps(dict(anchor=f"Where does {p} live?", positive=f"{p} lives in {t}.")) for p, t in rows]
    records = [dict(id=str(i), context=f"{p} lives in {t}.", question=f"Where does {p} live?",
                    answers=dict(text=[t], answer_start=[len(f"{p} lives in ")])) for i, (p, t) in enumerate(rows)]
    (folder / "pairs.csv").write_text("\n".join(pairs) + "\n")
    (folder / "tags.conll").write_text("\n".join(tags))
    (folder / "texts.txt").write_text("".join(f"{p} lives in {t}.\n" for p, t in rows))
    (folder / "anchors.jsonl").write_text("\n".join(anchors) + "\n")
    (folder / "questions.json").write_text(json.dumps(dict(data=records)))
    (folder / "lines.txt").write_text("\n".join(TEXTS) + "\n")


TASKS = {
    "qa": "run_qa --train_file questions.json --max_seq_length 64 --doc_stride 16",
    "cls": "run_glue --train_file pairs.csv --validation_file pairs.csv --max_seq_length 64",
    "tokcls": "run_ner --train_file tags.conll --max_seq_length 64",
    "mlm": "run_mlm --train_file texts.txt --line_by_line",
    "embedding": "run_embedding --train_file anchors.jsonl --max_seq_length 64",
}


def setUpModule():
    global folder, hearth
    hearth = runs.Hearth()
    folder = hearth.folder
    write_data(folder)
    hearth.run(f"train_tokenizer --files {FIXTURES.parent / 'apps' / 'text.txt'} --vocab_size 200 --output_dir words")


def opened(head, model):
    return runs.opened(make.HEADS[head], model, attn_implementation="eager")


class Family:
    """The tests; `family` is that of the models."""

    @classmethod
    def setUpClass(cls):
        config = runs.read(FIXTURES / "models" / f"{cls.family}-qa" / "config.json")
        config["max_position_embeddings"] = 80
        (folder / f"{cls.family}.json").write_text(json.dumps(config))
        own = FIXTURES / "tokenizers" / cls.family
        hearth.run(f"init_model --config {cls.family}.json --tokenizer {own if own.exists() else 'words'}"
                   f" --output_dir {cls.family}-start")
        for head, task in TASKS.items():
            hearth.run(f"{task} --model_name_or_path {cls.family}-start --do_train --max_steps 3 --learning_rate 1e-2"
                       f" --save_strategy no --disable_tqdm True --num_threads 1 --output_dir {cls.family}-{head}")

    def verify(self, head, model, name, seed):
        """`hearth verify` on a golden whose config.json and weights are those of the folder `model`."""
        golden = folder / f"verify-{name}" / "models" / name
        golden.mkdir(parents=True)
        for file in ("config.json", "model.safetensors"):
            shutil.copy(model / file, golden / file)
        torch.manual_seed(seed)  # of the batch
        trained = opened(head, golden)
        make.write_golden(head, trained, golden, lr=1e-4)  # a loss near zero would say nothing
        hearth.run(f"verify --quiet --num_threads 1 {golden.parent.parent}")
        return trained

    def test_each_computes_what_the_other_has_trained(self):
        for head in TASKS:
            with self.subTest(head=head):
                name, theirs = f"{self.family}-{head}", folder / f"{self.family}-{head}-theirs"
                trained = self.verify(head, folder / name, name, seed=1)  # ten more steps in PyTorch
                self.assertEqual(type(trained).__name__, runs.read(folder / name / "config.json")["architectures"][0])
                trained.save_pretrained(theirs)
                self.verify(head, theirs, f"{name}-theirs", seed=2)

    def test_a_new_model_has_the_defaults_of_the_config_class(self):
        sizes = (dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24) if self.family == "distilbert" else
                 dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24))
        hearth.run(f"run_mlm --model_type {self.family} --tokenizer_name {self.family}-start --train_file texts.txt"
                   f" --line_by_line --do_train --max_steps 1 --save_strategy no --disable_tqdm True --num_threads 1"
                   f" --config_overrides {','.join(f'{key}={value}' for key, value in sizes.items())}"
                   f" --output_dir {self.family}-new")
        ours = runs.read(folder / f"{self.family}-new" / "config.json")
        theirs = make.FAMILIES[self.family][0](**sizes).to_diff_dict()
        theirs["architectures"] = [type(opened("mlm", folder / f"{self.family}-new")).__name__]
        for key in theirs.keys() - {"transformers_version"}:
            self.assertEqual(ours[key], theirs[key], key)

    def test_tokenizers_are_the_same(self):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / f"{self.family}-cls")
        again = transformers.AutoTokenizer.from_pretrained(folder / f"{self.family}-start")
        self.assertEqual(type(tokenizer), type(transformers.AutoTokenizer.from_pretrained(folder / f"{self.family}-qa")))
        for text in TEXTS:
            self.assertEqual(tokenizer(text, TEXTS[0]), again(text, TEXTS[0]))

    def test_text_classification_pipeline(self):
        model = folder / f"{self.family}-cls"
        ask = transformers.pipeline("text-classification", model=str(model), device="cpu", top_k=None)
        self.assertEqual(set(ask.model.config.id2label.values()), set(TOWNS))
        ours = hearth.printed("classify", "--model", str(model), "--file", "lines.txt", "--top_k", "0")
        for line, scores in zip(ours, ask(TEXTS)):
            found = {each["label"]: each["score"] for each in line["scores"]}
            self.assertEqual(set(found), set(TOWNS))
            for score in scores:
                self.assertAlmostEqual(found[score["label"]], score["score"], delta=TOLERANCE)

    def test_token_classification_pipeline(self):
        model = folder / f"{self.family}-tokcls"
        for strategy in ("none", "simple", "first"):
            tag = transformers.pipeline("token-classification", model=str(model), device="cpu",
                                        aggregation_strategy=strategy)
            for text in TEXTS:
                (ours,) = hearth.printed("tag", "--model", str(model), "--text", text, "--aggregation_strategy", strategy)
                theirs = tag(text)
                self.assertEqual(len(ours), len(theirs), (strategy, ours, theirs))
                for one, other in zip(ours, theirs):
                    for key in other:
                        if key == "score":
                            self.assertAlmostEqual(one[key], float(other[key]), delta=TOLERANCE)
                        else:
                            self.assertEqual(one[key], other[key], (strategy, key, ours, theirs))

    def test_fill_mask_pipeline(self):
        fill = transformers.pipeline("fill-mask", model=str(folder / f"{self.family}-mlm"), device="cpu")
        found = fill(f"Elif lives in {fill.tokenizer.mask_token}.")
        self.assertEqual(len(found), 5)


class Bert(Family, unittest.TestCase):
    family = "bert"


class DistilBert(Family, unittest.TestCase):
    family = "distilbert"


class Roberta(Family, unittest.TestCase):
    family = "roberta"


class XlmRoberta(Family, unittest.TestCase):
    family = "xlm-roberta"


class Electra(Family, unittest.TestCase):
    family = "electra"


class Albert(Family, unittest.TestCase):
    family = "albert"


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    logging.disable(logging.WARNING)
    runs.main()
