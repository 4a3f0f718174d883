"""A small model and small data, made by Hearth itself."""

import pathlib
import subprocess
import sys

import pytest

import hearth

PEOPLE, TOWNS = ["Elif", "Greta", "Kira", "Bruno", "Pavel"], ["Bergen", "Faro", "Jena"]
CONFIG = pathlib.Path(__file__).parents[1] / "fixtures" / "apps" / "config.json"


def pairs(count):
    """Two sentences, and whether they name the same town."""
    rows = []
    for i in range(count):
        person, town, same = PEOPLE[i % 5], TOWNS[i * 7 // 5 % 3], i % 3 != 0
        rows.append(
            {
                "sentence1": f"{person} the baker lives in {town}.",
                "sentence2": f"{person} lives in {town if same else 'Ipswich'}.",
                "label": int(same),
            }
        )
    return rows


def program(*words, **options):
    """Runs the command `hearth` of this installation."""
    return subprocess.run(
        [sys.executable, "-m", "hearth", *map(str, words)], check=True, capture_output=True, text=True, **options
    ).stdout


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a model that has random weights, and its tokenizer."""
    root = tmp_path_factory.mktemp("model")
    text = root / "text.txt"
    sentences = [row[key] for row in pairs(60) for key in ("sentence1", "sentence2")]
    text.write_text("\n".join(sentences + ["Where does Elif live? PER LOC weaver miller"]))
    tokenizer, model = root / "tokenizer", root / "model"
    hearth.main(["train_tokenizer", "--files", str(text), "--output_dir", str(tokenizer), "--vocab_size", "300"])
    hearth.main(
        [
            "init_model",
            "--config",
            str(CONFIG),
            "--tokenizer",
            str(tokenizer),
            "--output_dir",
            str(model),
            "--seed",
            "7",
        ]
    )
    return str(model)


@pytest.fixture
def tokenizer(folder):
    return hearth.AutoTokenizer.from_pretrained(folder)


@pytest.fixture
def classifier(folder):
    return hearth.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)


@pytest.fixture
def rows(tokenizer):
    """Tokenized pairs."""

    def make(count):
        examples = pairs(count)
        encoded = tokenizer(
            [row["sentence1"] for row in examples],
            [row["sentence2"] for row in examples],
            truncation=True,
            max_length=64,
        )
        return [
            {**{name: encoded[name][i] for name in encoded}, "labels": example["label"]}
            for i, example in enumerate(examples)
        ]

    return make
