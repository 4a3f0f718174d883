import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy
import pytest

import hearth
from conftest import pairs, program


def sha256(folder):
    return hashlib.sha256(pathlib.Path(folder, "model.safetensors").read_bytes()).hexdigest()


def accuracy(prediction):
    logits, labels = prediction
    return {"accuracy": float((logits.argmax(-1) == labels).mean())}


def settings(folder, **more):
    return hearth.TrainingArguments(
        str(folder),
        **{
            "num_train_epochs": 2,
            "learning_rate": 1e-3,
            "logging_steps": 2,
            "save_strategy": "no",
            "disable_tqdm": True,
            **more,
        },
    )


@pytest.mark.parametrize("precision", [{}, {"bf16": True}], ids=["fp32", "bf16"])
def test_the_bits_of_the_command_line(folder, tokenizer, rows, tmp_path, precision):
    data = tmp_path / "train.csv"
    lines = [f"{row['sentence1']},{row['sentence2']},{row['label']}" for row in pairs(24)]
    data.write_text("\n".join(["sentence1,sentence2,label", *lines]) + "\n")
    words = ["--num_train_epochs", "2", "--learning_rate", "1e-3", "--save_strategy", "no", "--max_seq_length", "64"]
    program("run_glue", "--model_name_or_path", folder, "--train_file", data, "--validation_file", data, "--do_train",
            "--output_dir", tmp_path / "program", *words, *(["--bf16"] if precision else []))  # fmt: skip

    model = hearth.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
    trainer = hearth.Trainer(model, settings(tmp_path / "python", **precision), train_dataset=rows(24))
    trainer.train()
    trainer.save_model()
    assert sha256(tmp_path / "python") == sha256(tmp_path / "program")


def test_training_evaluation_and_prediction(classifier, tokenizer, rows, tmp_path):
    trainer = hearth.Trainer(
        classifier,
        settings(tmp_path / "out", num_train_epochs=12, eval_strategy="epoch"),
        train_dataset=rows(48),
        eval_dataset=rows(15),
        processing_class=tokenizer,
        data_collator=hearth.DataCollatorWithPadding(tokenizer),
        compute_metrics=accuracy,
    )
    result = trainer.train()
    assert result.global_step == 72 and result.metrics["train_loss"] == result.training_loss
    metrics = trainer.evaluate()
    assert metrics["eval_accuracy"] > 0.8  # two thirds have one label
    output = trainer.predict(rows(15))
    assert output.predictions.shape == (15, 2) and output.label_ids.tolist() == [row["label"] for row in pairs(15)]
    assert output.metrics["test_accuracy"] == metrics["eval_accuracy"]
    assert [row for row in trainer.state.log_history if "eval_accuracy" in row][-1]["step"] == 72
    trainer.save_model(tmp_path / "saved")
    assert {"config.json", "model.safetensors", "tokenizer.json", "training_args.json"} <= set(
        os.listdir(tmp_path / "saved")
    )
    again = hearth.AutoModelForSequenceClassification.from_pretrained(tmp_path / "saved")
    batch = tokenizer.pad(rows(4), return_tensors="np")
    assert numpy.array_equal(again(**batch).logits, classifier(**batch).logits)


def test_data_of_every_form_gives_the_same_bits(folder, rows, tmp_path):
    import pandas

    plain = rows(16)
    padded = [
        {
            "input_ids": row["input_ids"] + [0] * 5,
            "token_type_ids": row["token_type_ids"] + [0] * 5,
            "attention_mask": row["attention_mask"] + [0] * 5,
            "label": numpy.int64(row["labels"]),
        }
        for row in plain
    ]
    columns = {name: [row[name] for row in plain] for name in plain[0]}
    forms = {"rows": plain, "padded": padded, "columns": columns, "pandas": pandas.DataFrame(columns)}
    try:
        import datasets

        forms["datasets"] = datasets.Dataset.from_dict({**columns, "text": ["left alone"] * 16})
        forms["torch"] = forms["datasets"].with_format("torch")
        forms["stream"] = forms["datasets"].to_iterable_dataset()
    except ImportError:
        pass
    digests = set()
    for name, data in forms.items():
        model = hearth.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
        trainer = hearth.Trainer(model, settings(tmp_path / name), train_dataset=data)
        trainer.train()
        trainer.save_model()
        digests.add(sha256(tmp_path / name))
    assert len(digests) == 1


def test_a_collator_in_python(folder, tokenizer, rows, tmp_path):
    plain, calls = rows(16), []

    def collate(features):
        calls.append(len(features))
        return tokenizer.pad(features, return_tensors="np")

    digests = set()
    for name, collator in (("own", collate), ("none", None)):
        model = hearth.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
        trainer = hearth.Trainer(model, settings(tmp_path / name), train_dataset=plain, data_collator=collator)
        trainer.train()
        trainer.save_model()
        digests.add(sha256(tmp_path / name))
    assert set(calls) == {8} and len(digests) == 1


class Recorder(hearth.TrainerCallback):
    def __init__(self):
        self.events, self.logs = [], []

    def on_train_begin(self, args, state, control, **kwargs):
        assert kwargs["model"] is not None and args.num_train_epochs == 2 and state.max_steps == 4
        self.events.append("train_begin")

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.events.append("epoch_begin")

    def on_step_begin(self, args, state, control, **kwargs):
        self.events.append("step_begin")

    def on_step_end(self, args, state, control, **kwargs):
        self.events.append(f"step_end {state.global_step}")

    def on_epoch_end(self, args, state, control, **kwargs):
        self.events.append("epoch_end")

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.logs.append(logs)
        assert state.log_history[-1]["step"] == state.global_step

    def on_train_end(self, args, state, control, **kwargs):
        self.events.append("train_end")


def test_callbacks_see_the_run(classifier, rows, tmp_path):
    recorder = Recorder()
    hearth.Trainer(classifier, settings(tmp_path), train_dataset=rows(16), callbacks=[recorder]).train()
    epoch = lambda first: [
        "epoch_begin",
        "step_begin",
        f"step_end {first}",
        "step_begin",
        f"step_end {first + 1}",
        "epoch_end",
    ]
    assert recorder.events == ["train_begin", *epoch(1), *epoch(3), "train_end"]
    assert [sorted(row)[:3] for row in recorder.logs[:2]] == [["epoch", "grad_norm", "learning_rate"]] * 2


def test_a_callback_stops_the_run_and_its_exception_ends_it(classifier, rows, tmp_path):
    class Stop(hearth.TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            control.should_training_stop = state.global_step == 3
            return control

    result = hearth.Trainer(classifier, settings(tmp_path), train_dataset=rows(16), callbacks=[Stop]).train()
    assert result.global_step == 3

    class Fail(hearth.TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            raise ZeroDivisionError("of the callback")

    with pytest.raises(ZeroDivisionError, match="of the callback"):
        hearth.Trainer(classifier, settings(tmp_path), train_dataset=rows(16), callbacks=[Fail]).train()


def test_early_stopping_is_a_setting(classifier, rows, tmp_path):
    args = settings(
        tmp_path, num_train_epochs=50, eval_strategy="epoch", metric_for_best_model="accuracy", learning_rate=0.0
    )
    trainer = hearth.Trainer(
        classifier, args, train_dataset=rows(16), eval_dataset=rows(8), compute_metrics=accuracy,
        callbacks=[hearth.EarlyStoppingCallback(early_stopping_patience=2)],
    )  # fmt: skip
    assert trainer.train().global_step == 6


def test_ctrl_c_saves_and_the_resumed_run_has_the_same_bits(folder, rows, tmp_path):
    script = tmp_path / "train.py"
    (tmp_path / "rows.json").write_text(json.dumps(rows(32)))
    script.write_text(textwrap.dedent(f"""
        import json, os, signal, sys, hearth
        class Interrupt(hearth.TrainerCallback):
            def on_step_end(self, args, state, control, **kwargs):
                if state.global_step == 5 and sys.argv[2] == "interrupted":
                    os.kill(os.getpid(), signal.SIGINT)
        args = hearth.TrainingArguments(sys.argv[1], num_train_epochs=3, save_strategy="no", disable_tqdm=True)
        model = hearth.AutoModelForSequenceClassification.from_pretrained({folder!r}, num_labels=2)
        rows = json.load(open({str(tmp_path / "rows.json")!r}))
        trainer = hearth.Trainer(model, args, train_dataset=rows, callbacks=[Interrupt])
        try:
            trainer.train(resume_from_checkpoint=sys.argv[2] == "resumed")
        except KeyboardInterrupt:
            print("interrupted at", trainer.state.global_step)
            sys.exit(75)
        trainer.save_model()
        """))

    def run(output, kind):
        heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # also where the tests run in the background
        return subprocess.run([sys.executable, script, tmp_path / output, kind], capture_output=True, text=True, preexec_fn=heard)

    assert run("whole", "whole").returncode == 0
    interrupted = run("stopped", "interrupted")
    assert interrupted.returncode == 75 and "interrupted at 6" in interrupted.stdout, interrupted
    assert (tmp_path / "stopped" / "checkpoint-6").is_dir()
    assert run("stopped", "resumed").returncode == 0
    assert sha256(tmp_path / "stopped") == sha256(tmp_path / "whole")


def test_two_processes(folder, rows, tmp_path):
    (tmp_path / "rows.json").write_text(json.dumps(rows(32)))
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(f"""
        import json, hearth
        class Say(hearth.TrainerCallback):
            def on_train_end(self, args, state, control, **kwargs):
                print("first" if state.is_world_process_zero else "second", "of", args.world_size, flush=True)
        args = hearth.TrainingArguments({str(tmp_path / "out")!r}, num_train_epochs=2, per_device_train_batch_size=4)
        model = hearth.AutoModelForSequenceClassification.from_pretrained({folder!r}, num_labels=2)
        rows = json.load(open({str(tmp_path / "rows.json")!r}))
        count = lambda prediction: {{"count": len(prediction.label_ids)}}
        trainer = hearth.Trainer(model, args, train_dataset=rows, eval_dataset=rows, callbacks=[Say], compute_metrics=count)
        print("steps", trainer.train().global_step, "rows", trainer.evaluate()["eval_count"])
        """))
    printed = program("launch", "--num_processes", "2", script)
    assert "first of 2" in printed and "second of 2" in printed and printed.count("steps 8 rows 32") == 2, printed
    assert (tmp_path / "out" / "checkpoint-8" / "model.safetensors").exists()


@pytest.mark.parametrize("hook", ["compute_loss", "training_step", "get_train_dataloader", "evaluate", "save_model"])
def test_a_hook_that_would_not_be_called_is_refused(classifier, tmp_path, hook):
    own = type("OwnTrainer", (hearth.Trainer,), {hook: lambda self, *args: None})
    with pytest.raises(hearth.Error, match=f"^OwnTrainer.{hook} would not be called while the model trains"):
        own(classifier, settings(tmp_path))


def test_a_trainer_may_have_members_of_its_own(classifier, tmp_path):
    class LoggingTrainer(hearth.Trainer):
        def __init__(self, *args):
            self.log = print
            super().__init__(*args)

    assert LoggingTrainer(classifier, settings(tmp_path)).log is print


def test_mistakes_are_sentences(classifier, tmp_path):
    with pytest.raises(hearth.Error, match="the data has no column input_ids"):
        hearth.Trainer(classifier, settings(tmp_path), train_dataset=[{"text": "a", "label": 1}]).train()
    with pytest.raises(hearth.Error, match="needs a train_dataset"):
        hearth.Trainer(classifier, settings(tmp_path)).train()
    with pytest.raises(hearth.Error, match="there is no checkpoint"):
        data = [{"input_ids": [2, 5, 3], "labels": 1}]
        hearth.Trainer(classifier, settings(tmp_path), train_dataset=data).train(resume_from_checkpoint=True)


def test_masked_language_modelling_tags_and_spans(folder, tokenizer, tmp_path):
    texts = [row["sentence1"] for row in pairs(16)]
    encoded = tokenizer(texts, truncation=True, max_length=32)
    masked = hearth.Trainer(
        hearth.AutoModelForMaskedLM.from_pretrained(folder),
        settings(tmp_path / "mlm"),
        train_dataset=dict(encoded),
        data_collator=hearth.DataCollatorForLanguageModeling(tokenizer),
    )
    assert masked.train().training_loss > 0

    words = [text.rstrip(".").split() for text in texts]
    encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=32)
    labels = [[-100 if word is None else word % 3 for word in encoded.word_ids(i)] for i in range(len(words))]
    tagger = hearth.Trainer(
        hearth.AutoModelForTokenClassification.from_pretrained(folder, id2label={0: "O", 1: "B-PER", 2: "B-LOC"}),
        settings(tmp_path / "ner"),
        train_dataset={**encoded, "labels": labels},
    )
    tagger.train()
    output = tagger.predict({**encoded, "labels": labels})
    assert output.predictions.shape[0] == 16 and output.predictions.shape[2] == 3
    assert output.label_ids.shape == output.predictions.shape[:2]

    spans = tokenizer(["Where does Elif live?"] * 16, texts, truncation="only_second", max_length=48)
    positions = {"start_positions": [8] * 16, "end_positions": [9] * 16}
    answering = hearth.Trainer(
        hearth.AutoModelForQuestionAnswering.from_pretrained(folder),
        settings(tmp_path / "qa"),
        train_dataset={**spans, **positions},
    )
    answering.train()
    start, end = answering.predict(dict(spans)).predictions
    assert start.shape == end.shape and start.shape[0] == 16


def test_the_peer_opens_the_model(classifier, tokenizer, rows, tmp_path):
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    trainer = hearth.Trainer(classifier, settings(tmp_path), train_dataset=rows(16), processing_class=tokenizer)
    trainer.train()
    trainer.save_model()
    peer = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    batch = tokenizer.pad(rows(4), return_tensors="np")
    with torch.no_grad():
        theirs = peer(**{name: torch.tensor(values) for name, values in batch.items()}).logits.numpy()
    assert numpy.allclose(classifier.eval()(**batch).logits, theirs, atol=1e-5)
    assert (
        transformers.AutoTokenizer.from_pretrained(tmp_path)("Elif lives")["input_ids"]
        == tokenizer("Elif lives")["input_ids"]
    )


def test_other_threads_run_while_it_trains(classifier, rows, tmp_path):
    import threading
    import time

    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    trainer = hearth.Trainer(classifier, settings(tmp_path, num_train_epochs=30), train_dataset=rows(48))
    trainer._ready()
    thread.start()
    trainer.train()
    counted = counts[0]
    stop.set()
    thread.join()
    assert counted > 10


def test_settings_that_change_between_two_runs_count(classifier, rows, tmp_path):
    trainer = hearth.Trainer(classifier, settings(tmp_path), train_dataset=rows(16))
    assert trainer.train().global_step == 4
    trainer.args.max_steps = 3
    assert trainer.train().global_step == 3


def test_a_trainer_that_nobody_needs_is_freed(classifier, rows, tmp_path):
    import gc
    import weakref

    trainer = hearth.Trainer(
        classifier, settings(tmp_path), train_dataset=rows(8), callbacks=[Recorder()], compute_metrics=accuracy
    )
    trainer.save_model(tmp_path / "saved")
    freed = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert freed() is None
