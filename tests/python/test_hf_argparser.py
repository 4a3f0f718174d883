"""Words and files become dataclasses, as transformers' parser makes them where it is installed."""

import dataclasses
import enum
import json
import os
import sys
import unittest.mock
from dataclasses import dataclass, field
from typing import List, Literal, Optional, Union

import pytest

import hearth
from conftest import program
from hearth.hf_argparser import HfArg


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(str, enum.Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class ModelArguments:
    model_name_or_path: str = field(metadata={"help": "folder or name, 100%% needed"})
    revision: Optional[str] = None
    use_fast: bool = True
    trust: bool = False
    cached: Optional[bool] = None
    checked: Optional[bool] = True
    seed_of_head: Union[int, str] = 3
    token: Union[dict, str, None] = None
    threads: "int | None" = None


@dataclass
class DataArguments:
    files: List[str] = field(default_factory=lambda: ["a", "b"])
    lengths: Optional[List[int]] = None
    share: float = field(default=0.5, metadata={"aliases": ["--part", "-p"]})
    colour: Colour = Colour.RED
    size: Size = "small"
    mode: Literal["fast", "exact", 3] = "fast"
    limit: int = HfArg(default=7, aliases="--most", help="at most so many")
    derived: int = field(default=0, init=False)

    def __post_init__(self):
        self.colour = Colour(self.colour)
        self.derived = self.limit + 1


CLASSES = (ModelArguments, DataArguments)
NEEDED = ["--model_name_or_path", "here"]
LINES = [
    "",
    "--revision main --use_fast --trust",
    "--use_fast False --trust yes --cached 0 --checked n",
    "--no_use_fast --no_checked --cached T",
    "--no-use-fast --use_fast true",
    "--use-fast=no --seed-of-head 12 --token abc --threads 4",
    "--files x --lengths 1 2 3 --share 1e-3",
    "--files x y z --part .25 --colour blue --size large --mode exact",
    "-p 2 --mode 3 --most 9 --limit 10 --files=one",
    "--revision a --revision b --thr 2",
]


def both():
    transformers = pytest.importorskip("transformers")
    return hearth.HfArgumentParser(CLASSES), transformers.HfArgumentParser(CLASSES)


@pytest.mark.parametrize("line", LINES)
def test_words_are_parsed_as_by_transformers(line):
    ours, theirs = (parser.parse_args_into_dataclasses(NEEDED + line.split()) for parser in both())
    assert ours == theirs
    for one, other in zip(ours, theirs):
        for name, value in vars(other).items():
            assert type(getattr(one, name)) is type(value), name


@pytest.mark.parametrize(
    "line",
    [
        "--trust maybe",
        "--share much",
        "--colour green",
        "--size medium",
        "--mode 4",
        "--lengths 1 b",
        "--files",
        "--cached",
        "--lim",
        "--no_trust --model_name_or_path",
    ],
)
def test_mistakes_end_the_program_as_with_transformers(line, capsys):
    for parser in both():
        with pytest.raises(SystemExit) as end:
            parser.parse_args_into_dataclasses(NEEDED + line.split())
        assert end.value.code == 2
    errors = [text.split(": error: ")[1] for text in capsys.readouterr().err.splitlines() if ": error: " in text]
    assert len(errors) == 2 and errors[0].split(":")[0] == errors[1].split(":")[0]  # they name the same flag


def test_flags_and_help_are_those_of_transformers():
    flags = []
    for parser in both():
        flags.append({word: (action.dest, action.nargs) for action in parser._actions for word in action.option_strings})
    assert flags[0] == flags[1]
    assert "folder or name, 100% needed" in " ".join(both()[0].format_help().split())


def test_words_that_no_flag_takes():
    for parser in both():
        with pytest.raises(ValueError, match=r"not used by the HfArgumentParser: \['--typo', '1', 'loose'\]"):
            parser.parse_args_into_dataclasses(NEEDED + ["--typo", "1", "loose"])
        *_, rest = parser.parse_args_into_dataclasses(NEEDED + ["--typo", "1"], return_remaining_strings=True)
        assert rest == ["--typo", "1"]
    with pytest.raises(hearth.Error):
        hearth.HfArgumentParser(CLASSES).parse_args_into_dataclasses(NEEDED + ["--typo"])


def test_arguments_beside_the_dataclasses():
    for parser in both():
        parser.add_argument("--more", type=int, default=1)
        *_, others = parser.parse_args_into_dataclasses(NEEDED + ["--more", "5"])
        assert vars(others) == {"more": 5}


def test_files_of_words(tmp_path, monkeypatch):
    script, chosen = tmp_path / "script.py", tmp_path / "chosen.txt"
    (tmp_path / "script.args").write_text("--model_name_or_path file\n--limit 1 --trust")
    chosen.write_text("--limit 2 --share 0.75")
    monkeypatch.setattr(sys, "argv", [str(script), "--threads", "3"])
    results = []
    for parser in both():
        results.append(
            (
                parser.parse_args_into_dataclasses(),
                parser.parse_args_into_dataclasses(["--revision", "r", "--config", str(chosen)], args_file_flag="--config"),
                parser.parse_args_into_dataclasses(NEEDED, args_filename=str(chosen)),
                parser.parse_args_into_dataclasses(NEEDED, look_for_args_file=False),
            )
        )
    assert results[0] == results[1]
    assert results[0][0][0].threads == 3 and results[0][1][1].limit == 2 and results[0][2][0].trust is False


def test_files_of_settings(tmp_path):
    pytest.importorskip("yaml")
    settings = {"model_name_or_path": "here", "lengths": [1, 2], "colour": "blue", "share": 0.1, "cached": None}
    plain, other = tmp_path / "settings.json", tmp_path / "settings.yaml"
    plain.write_text(json.dumps(settings))
    other.write_text("model_name_or_path: here\nlengths: [1, 2]\ncolour: blue\nshare: 0.1\ncached: null\n")
    for parser in both():
        found = parser.parse_dict(settings)
        assert found == parser.parse_json_file(str(plain)) == parser.parse_yaml_file(other)
        assert found[1].lengths == [1, 2] and found[1].colour is Colour.BLUE
        with pytest.raises(ValueError, match=r"keys are not used by the HfArgumentParser: \['typo'\]"):
            parser.parse_dict({**settings, "typo": 1})
        assert parser.parse_dict({**settings, "typo": 1}, allow_extra_keys=True) == found


def test_a_broken_file_is_one_sentence(tmp_path):
    file = tmp_path / "settings.json"
    for text, sentence in [("{", "cannot be read"), ("[1]", "must have names with values, not a list")]:
        file.write_text(text)
        with pytest.raises(hearth.Error, match=sentence) as failure:
            hearth.HfArgumentParser(CLASSES).parse_json_file(file)
        assert str(file) in str(failure.value) and "\n" not in str(failure.value)


def test_types_that_one_word_cannot_have():
    @dataclass
    class Wrong:
        value: Union[int, float, None] = None

    with pytest.raises(hearth.Error, match="value: .* has several types"):
        hearth.HfArgumentParser(Wrong)


@pytest.mark.parametrize(
    "line",
    [
        "--output_dir out",
        "--output_dir out --learning_rate 3e-5 --num_train_epochs 2 --per-device-train-batch-size 4 --bf16 --do_train",
        "--output-dir=out --eval_strategy steps --eval_steps 10 --save_strategy no --logging_steps 5 --seed 7 --do_eval yes",
        "--output_dir out --lr_scheduler_type cosine --warmup_ratio 0.1 --weight_decay 0.01 --optim adafactor --max_steps 3",
        "--output_dir out --disable_tqdm True --save_total_limit 2 --label_smoothing_factor 0.1 --load_best_model_at_end False",
        "--output_dir out --no_dataloader_pin_memory --remove_unused_columns False --dataloader_num_workers 2",
    ],
)
def test_training_arguments_are_parsed_as_by_transformers(line):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.HfArgumentParser(transformers.TrainingArguments)
    # Its default of --optim depends on the version of torch.
    words = ["--optim", "adamw_torch", *line.split(), "--report_to", "none", "--use_cpu"]
    with unittest.mock.patch.dict(os.environ):  # TrainingArguments of transformers writes the precision there
        (real,) = theirs.parse_args_into_dataclasses(words)
    (args,) = hearth.HfArgumentParser(hearth.TrainingArguments).parse_args_into_dataclasses(words)
    names = "output_dir learning_rate num_train_epochs per_device_train_batch_size bf16 do_train do_eval eval_steps seed"
    names += " warmup_ratio weight_decay max_steps save_total_limit label_smoothing_factor load_best_model_at_end"
    for name in names.split():
        expected = getattr(real, name)
        assert getattr(args, name) == expected, name
    for name in ("eval_strategy", "save_strategy", "lr_scheduler_type", "optim"):
        assert getattr(args, name) == getattr(real, name).value


def test_three_classes_and_a_trainer(tmp_path, classifier, rows):
    parser = hearth.HfArgumentParser((*CLASSES, hearth.TrainingArguments))
    words = f"--output_dir {tmp_path} --max_steps 2 --per_device_train_batch_size 4 --disable_tqdm True --use_ipex"
    model_args, data_args, training_args = parser.parse_args_into_dataclasses(NEEDED + words.split() + ["--limit", "8"])
    assert (model_args.model_name_or_path, data_args.derived, training_args.use_ipex) == ("here", 9, True)
    trainer = hearth.Trainer(classifier, training_args, train_dataset=rows(8))
    assert trainer.train().global_step == 2
    settings = {"model_name_or_path": "here", "output_dir": str(tmp_path), "learning_rate": 1e-4, "report_to": []}
    assert parser.parse_dict(settings)[2].learning_rate == 1e-4


def test_switches_without_effect_and_refused_flags():
    parser = hearth.HfArgumentParser(hearth.TrainingArguments)
    (args,) = parser.parse_args_into_dataclasses(["--output_dir", "out", "--no_save_safetensors", "--label_names", "a", "b"])
    assert args.save_safetensors is False and args.label_names == ["a", "b"]
    for words in (["--deepspeed", "zero.json"], ["--adafactor"]):
        with pytest.raises(hearth.Error, match=words[0].strip("-")):
            parser.parse_args_into_dataclasses(["--output_dir", "out", *words])
    (args,) = parser.parse_args_into_dataclasses(["--output_dir", "out", "--evaluation_strategy", "epoch"])
    assert args.eval_strategy == "epoch"


def test_training_arguments_count_as_a_dataclass():
    args = hearth.TrainingArguments("out", learning_rate=1e-4)
    assert dataclasses.is_dataclass(hearth.TrainingArguments) and dataclasses.asdict(args)["learning_rate"] == 1e-4
    other = dataclasses.replace(args, seed=9)
    assert (other.output_dir, other.learning_rate, other.seed) == ("out", 1e-4, 9)


def test_dataclasses_may_be_derived_from_training_arguments():
    @dataclass
    class Arguments(hearth.TrainingArguments):
        alpha: float = field(default=0.5, metadata={"help": "of the loss"})
        learning_rate: float = 1e-3

    (args,) = hearth.HfArgumentParser(Arguments).parse_args_into_dataclasses(["--output_dir", "out", "--alpha", "2"])
    assert (args.alpha, args.output_dir, args.learning_rate, args.seed) == (2.0, "out", 1e-3, 42)
    args.alpha = 3.0
    args.seed = 5
    assert (args.alpha, args.to_dict()["seed"]) == (3.0, 5)
    with pytest.raises(hearth.Error, match="exclude each other"):
        Arguments("out", fp16=True, bf16=True)
    with pytest.raises(hearth.Error, match="learning_rat"):
        args.learning_rat = 1


def test_what_scripts_ask_the_arguments(tmp_path):
    args = hearth.TrainingArguments(str(tmp_path), log_level="info")
    assert (args.should_log, args.should_save, args.local_process_index, args.parallel_mode.value) == (
        True,
        True,
        0,
        "not_distributed",
    )
    assert args.get_process_log_level() == 20 and hearth.TrainingArguments("out").get_process_log_level() == 30
    with args.main_process_first(desc="tokenizing"):
        pass


def test_the_first_process_goes_first(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pathlib, time\n"
        "from hearth import HfArgumentParser, TrainingArguments\n"
        "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
        "made = pathlib.Path(args.output_dir) / 'made'\n"
        "with args.main_process_first():\n"
        "    if args.process_index == 0:\n"
        "        time.sleep(0.3)\n"
        "        made.touch()\n"
        "    print(args.process_index, args.parallel_mode.value, made.exists(), flush=True)\n"
    )
    printed = program("launch", "--num_processes", "2", script, "--output_dir", tmp_path)
    assert "0 distributed True" in printed and "1 distributed True" in printed
