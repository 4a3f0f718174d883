"""The installed transformers reads what Hearth writes, and Hearth reads what transformers writes. Run by
scripts/test_peers: peers_test.py HEARTH"""

import logging
import math
import os
import pathlib
import sys
import tempfile
import unittest

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")

import torch
import transformers

import runs

VERSION = int(transformers.__version__.split(".")[0])


def setUpModule():
    global place, hearth
    place = tempfile.TemporaryDirectory()
    hearth = runs.Hearth(PROGRAM, pathlib.Path(place.name))
    hearth.make_start_models()
    for family in runs.CONFIGS:
        hearth.train(f"{family}-start", family)
        hearth.evaluate(family, f"{family}-answers")


def tearDownModule():
    place.cleanup()


def load(folder):
    """Model and tokenizer; the model must have found exactly the tensors that it has."""
    model, found = transformers.AutoModelForQuestionAnswering.from_pretrained(folder, output_loading_info=True)
    for keys in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not found[keys], f"{folder}: {keys} {found[keys]}"
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


class Features(torch.utils.data.Dataset):
    """The features that run_qa.py makes of questions whose contexts fit into one window."""

    def __init__(self, records, tokenizer):
        self.rows = []
        for r in records:
            row = tokenizer(r["question"], r["context"], padding="max_length", max_length=128)
            start, text = r["answers"]["answer_start"][0], r["answers"]["text"][0]
            last = start + len(text) - 1
            row["start_positions"] = row.char_to_token(start, sequence_index=1)
            row["end_positions"] = row.char_to_token(last, sequence_index=1)
            self.rows.append(dict(row))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def trainer(folder, output):
    """A Trainer with the settings of runs.Hearth.train."""
    model, tokenizer = load(folder)
    arguments = transformers.TrainingArguments(
        str(output),
        per_device_train_batch_size=runs.BATCH,
        learning_rate=runs.LEARNING_RATE,
        max_steps=runs.STEPS,
        logging_steps=1,
        save_steps=runs.HALF,
        seed=42,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
    )
    data = Features(runs.read(hearth.folder / "train.json")["data"], tokenizer)
    return transformers.Trainer(model, arguments, train_dataset=data, processing_class=tokenizer)


def logged(state_file, key):
    return [row[key] for row in runs.read(state_file)["log_history"] if "loss" in row]


class Exchange:
    """The tests; `family` is that of the model."""

    def test_model_and_tokenizer_load_without_a_complaint(self):
        transformers.logging.enable_propagation()
        with self.assertNoLogs("transformers", logging.WARNING):
            model, tokenizer = load(hearth.folder / self.family)
        self.assertEqual(model.config.model_type, self.family)
        self.assertTrue(tokenizer.is_fast)
        self.assertEqual(tokenizer.model_max_length, 128)
        self.assertEqual(tokenizer.convert_ids_to_tokens(tokenizer("?")["input_ids"]), ["[CLS]", "?", "[SEP]"])

    def test_logits_are_those_of_the_n_best_answers(self):
        model, tokenizer = load(hearth.folder / self.family)
        n_best = runs.read(hearth.folder / f"{self.family}-answers" / "eval_nbest_predictions.json")
        for r in runs.read(hearth.folder / "dev.json")["data"]:
            inputs = tokenizer(r["question"], r["context"], return_tensors="pt", return_offsets_mapping=True)
            offsets = inputs.pop("offset_mapping")[0].tolist()
            context = [i for i, sequence in enumerate(inputs.sequence_ids(0)) if sequence == 1]
            with torch.no_grad():
                output = model(**inputs)
            starts, ends = output.start_logits[0].tolist(), output.end_logits[0].tolist()
            for answer in n_best[r["id"]]:
                spans = [
                    max(abs(starts[i] - answer["start_logit"]), abs(ends[j] - answer["end_logit"]))
                    for i in context
                    for j in context[context.index(i) :]
                    if r["context"][offsets[i][0] : offsets[j][1]] == answer["text"]
                ]
                self.assertLess(min(spans, default=math.inf), 1e-5, answer)

    @unittest.skipIf(VERSION >= 5, "transformers 5 has no question-answering pipeline")
    def test_pipeline_gives_the_same_answers(self):
        ask = transformers.pipeline("question-answering", model=str(hearth.folder / self.family), device="cpu")
        predictions = runs.read(hearth.folder / f"{self.family}-answers" / "eval_predictions.json")
        for r in runs.read(hearth.folder / "dev.json")["data"]:
            answer = ask(
                question=r["question"],
                context=r["context"],
                max_answer_len=runs.MAX_ANSWER_LENGTH,
                align_to_words=False,
            )
            self.assertEqual(answer["answer"], predictions[r["id"]].strip())

    def test_hearth_reads_what_transformers_saves(self):
        saved, answers = hearth.folder / f"{self.family}-saved", hearth.folder / f"{self.family}-saved-answers"
        for part in load(hearth.folder / self.family):
            part.save_pretrained(saved)
        hearth.evaluate(saved, answers)
        for file in ("eval_predictions.json", "eval_nbest_predictions.json"):
            self.assertEqual(runs.read(answers / file), runs.read(hearth.folder / f"{self.family}-answers" / file))

    def test_trainer_resumes_a_checkpoint_of_hearth(self):
        output = hearth.folder / f"{self.family}-onwards"
        resumed = trainer(hearth.folder / f"{self.family}-start", output)
        resumed.train(resume_from_checkpoint=str(hearth.folder / self.family / f"checkpoint-{runs.HALF}"))
        self.expect_continuation(
            of=hearth.folder / self.family / "trainer_state.json",
            by=output / f"checkpoint-{runs.STEPS}" / "trainer_state.json",
        )

    def test_hearth_resumes_a_checkpoint_of_the_trainer(self):
        output, onwards = hearth.folder / f"{self.family}-trainer", hearth.folder / f"{self.family}-trainer-onwards"
        trainer(hearth.folder / f"{self.family}-start", output).train()
        checkpoint = output / f"checkpoint-{runs.HALF}"
        said = hearth.train(f"{self.family}-start", onwards, f"--resume_from_checkpoint {checkpoint}")
        self.assertIn("optimizer.pt, which only PyTorch reads", said)
        whole, continued = output / f"checkpoint-{runs.STEPS}" / "trainer_state.json", onwards / "trainer_state.json"
        self.expect_continuation(of=whole, by=continued)
        self.assertEqual(logged(continued, "learning_rate"), logged(whole, "learning_rate"))

    def expect_continuation(self, of, by):
        """The log goes on, and the first new step has the weights and the batch of the run that was not interrupted."""
        whole, continued = logged(of, "loss"), logged(by, "loss")
        self.assertEqual(len(continued), runs.STEPS)
        self.assertEqual(continued[: runs.HALF], whole[: runs.HALF])
        self.assertAlmostEqual(continued[runs.HALF], whole[runs.HALF], delta=1e-4)


class Bert(Exchange, unittest.TestCase):
    family = "bert"


class DistilBert(Exchange, unittest.TestCase):
    family = "distilbert"


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    print(f"transformers {transformers.__version__}, torch {torch.__version__}", flush=True)
    transformers.logging.disable_progress_bar()
    unittest.main(verbosity=2, buffer=True)
