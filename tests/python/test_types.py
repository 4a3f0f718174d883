"""Type checkers know the settings."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")


def checked(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text)
    words = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(script)]
    return subprocess.run(words, capture_output=True, text=True).stdout


def test_keywords_and_members_of_training_arguments(tmp_path):
    found = checked(
        tmp_path,
        "from hearth import Trainer, TrainingArguments\n"
        "args = TrainingArguments('out', learning_rate=3e-5, lr_scheduler_kwargs={'num_cycles': 2}, use_ipex=True)\n"
        "rate: str = args.learning_rate\n"
        "wrong = TrainingArguments('out', learning_rat=1)\n",
    )
    assert 'script.py:3: error: Incompatible types in assignment (expression has type "float"' in found
    assert 'script.py:4: error: Unexpected keyword argument "learning_rat"' in found
    assert "Found 2 errors" in found


def test_dataclasses_derived_from_training_arguments(tmp_path):
    found = checked(
        tmp_path,
        "from dataclasses import dataclass\n"
        "from hearth import HfArgumentParser, TrainingArguments\n"
        "@dataclass\n"
        "class Mine(TrainingArguments):\n"
        "    alpha: float = 0.5\n"
        "mine = Mine('out', alpha=1.0, learning_rate=1e-4)\n"
        "(parsed,) = HfArgumentParser(Mine).parse_args_into_dataclasses()\n"
        "wrong: str = mine.alpha\n",
    )
    assert "script.py:8: error: Incompatible types in assignment" in found and "Found 1 error" in found, found
