"""The installed transformers reads what Hearth writes, and Hearth reads what transformers writes. Run by
scripts/test_peers: peers_test.py HEARTH"""

import logging
import math
import unittest

import runs  # before torch

import torch
import transformers
from transformers.pipelines import SUPPORTED_TASKS


def setUpModule():
    global hearth
    hearth = runs.Hearth()
    hearth.make_start_models()
    for family in runs.CONFIGS:
        version = "pytorch" if transformers.__version__ < "5" else "pytorch_v5"
        hearth.train(f"{family}-start", family, f"--save_format {version}")
        hearth.evaluate(family, f"{family}-answers")


def load(folder):
    model = runs.opened(transformers.AutoModelForQuestionAnswering, folder)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


class Features(torch.utils.data.Dataset):
    """The features that run_qa.py makes of questions whose contexts fit into one window."""

    def __init__(self, records, tokenizer):
        self.rows = []
        for r in records:
            row = tokenizer(r["question"], r["context"], padding="max_length", max_length=runs.LENGTH)
            start, text = r["answers"]["answer_start"][0], r["answers"]["text"][0]
            last = start + len(text) - 1
            row["start_positions"] = row.char_to_token(start, sequence_index=1)
            row["end_positions"] = row.char_to_token(last, sequence_index=1)
            self.rows.append(dict(row))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def trainer(folder, output, **settings):
    """A Trainer with the settings of runs.Hearth.train, and others."""
    model, tokenizer = load(folder)
    arguments = transformers.TrainingArguments(
        str(output),
        per_device_train_batch_size=runs.BATCH,
        learning_rate=runs.LEARNING_RATE,
        weight_decay=runs.WEIGHT_DECAY,
        warmup_steps=runs.WARMUP,
        max_steps=runs.STEPS,
        logging_steps=1,
        save_steps=runs.HALF,
        seed=42,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
        **settings,
    )
    data = Features(runs.read(hearth.folder / "train.json")["data"], tokenizer)
    return transformers.Trainer(model, arguments, train_dataset=data, processing_class=tokenizer)


def state_files(checkpoint):
    return sorted(file for file in checkpoint.iterdir() if file.suffix in (".pt", ".pth"))


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
        self.assertEqual(tokenizer.model_max_length, runs.LENGTH)
        tokens = tokenizer.convert_ids_to_tokens(tokenizer("?")["input_ids"])
        self.assertEqual((tokens[0], tokens[-1]), (tokenizer.cls_token, tokenizer.sep_token))
        self.assertEqual("".join(tokens[1:-1]).lstrip("\u2581"), "?")

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

    @unittest.skipUnless("question-answering" in SUPPORTED_TASKS, "transformers from 5.3 on has no such pipeline")
    def test_pipeline_gives_the_same_answers(self):
        ask = transformers.pipeline("question-answering", model=str(hearth.folder / self.family), device="cpu")
        # The pipeline looks at all tokens, run_qa.py at those with the best logits of start and end.
        hearth.evaluate(self.family, f"{self.family}-of-all", f"--n_best_size {runs.LENGTH}")
        predictions = runs.read(hearth.folder / f"{self.family}-of-all" / "eval_predictions.json")
        for r in runs.read(hearth.folder / "dev.json")["data"]:
            answer = ask(
                question=r["question"],
                context=r["context"],
                max_answer_len=runs.MAX_ANSWER_LENGTH,
                align_to_words=False,
            )
            self.assertEqual(answer["answer"].strip(), predictions[r["id"]].strip())

    def test_hearth_reads_what_transformers_saves(self):
        saved, answers = hearth.folder / f"{self.family}-saved", hearth.folder / f"{self.family}-saved-answers"
        for part in load(hearth.folder / self.family):
            part.save_pretrained(saved)
        hearth.evaluate(saved, answers)
        for file in ("eval_predictions.json", "eval_nbest_predictions.json"):
            self.assertEqual(runs.read(answers / file), runs.read(hearth.folder / f"{self.family}-answers" / file))

    def test_hearth_reads_pytorch_model_bin(self):
        saved, answers = hearth.folder / f"{self.family}-bin", hearth.folder / f"{self.family}-bin-answers"
        for part in load(hearth.folder / self.family):
            part.save_pretrained(saved)
        (saved / "model.safetensors").unlink()
        state_dict = load(hearth.folder / self.family)[0].state_dict()
        torch.save(state_dict, saved / "pytorch_model.bin")
        hearth.evaluate(saved, answers)
        file = "eval_nbest_predictions.json"
        self.assertEqual(runs.read(answers / file), runs.read(hearth.folder / f"{self.family}-answers" / file))

    @unittest.skipUnless(transformers.__version__ < "5", "transformers 5 saves safetensors only")
    def test_hearth_reads_shards_of_pytorch_model_bin(self):
        saved, answers = hearth.folder / f"{self.family}-shards", hearth.folder / f"{self.family}-shards-answers"
        model, tokenizer = load(hearth.folder / self.family)
        model.save_pretrained(saved, safe_serialization=False, max_shard_size="30KB")
        tokenizer.save_pretrained(saved)
        self.assertTrue((saved / "pytorch_model.bin.index.json").exists())
        hearth.evaluate(saved, answers)
        file = "eval_nbest_predictions.json"
        self.assertEqual(runs.read(answers / file), runs.read(hearth.folder / f"{self.family}-answers" / file))

    def test_pytorch_loads_the_files_of_a_checkpoint(self):
        files = state_files(hearth.folder / self.family / f"checkpoint-{runs.HALF}")
        self.assertEqual([file.name for file in files], ["optimizer.pt", "rng_state.pth", "scheduler.pt"])
        for file in files:
            torch.load(file, weights_only=True)
        random = torch.load(files[1], weights_only=True)["cpu"]
        torch.manual_seed(42 + runs.HALF)
        self.assertTrue(torch.equal(torch.get_rng_state(), random))

    def test_trainer_finishes_a_run_of_hearth(self):
        self.trainer_finishes(hearth.folder / self.family, "onwards")

    def test_hearth_finishes_a_run_of_the_trainer(self):
        self.hearth_finishes("trainer")

    def trainer_finishes(self, run, name, **settings):
        output = hearth.folder / f"{self.family}-{name}"
        resumed = trainer(hearth.folder / f"{self.family}-start", output, **settings)
        resumed.train(resume_from_checkpoint=str(run / f"checkpoint-{runs.HALF}"))
        self.expect_continuation(
            of=run / "trainer_state.json", by=output / f"checkpoint-{runs.STEPS}" / "trainer_state.json"
        )

    def hearth_finishes(self, name, flags="", **settings):
        output, onwards = hearth.folder / f"{self.family}-{name}", hearth.folder / f"{self.family}-{name}-onwards"
        trainer(hearth.folder / f"{self.family}-start", output, **settings).train()
        checkpoint = output / f"checkpoint-{runs.HALF}"
        said = hearth.train(f"{self.family}-start", onwards, f"--resume_from_checkpoint {checkpoint} {flags}")
        self.assertNotIn("warning", said)
        self.expect_continuation(
            of=output / f"checkpoint-{runs.STEPS}" / "trainer_state.json", by=onwards / "trainer_state.json"
        )

    def expect_continuation(self, of, by):
        """The log goes on as that of the run that was not interrupted."""
        whole, continued = logged(of, "loss"), logged(by, "loss")
        self.assertEqual(len(continued), runs.STEPS)
        self.assertEqual(continued[: runs.HALF], whole[: runs.HALF])
        for one, other in zip(continued, whole):
            self.assertAlmostEqual(one, other, delta=1e-4)
        for one, other in zip(logged(by, "learning_rate"), logged(of, "learning_rate")):
            self.assertAlmostEqual(one, other, delta=1e-12)


class Bert(Exchange, unittest.TestCase):
    family = "bert"

    def test_runs_with_other_optimizers_pass_over_and_back(self):
        for optim in ("sgd", "adagrad", "rmsprop", "adafactor"):
            with self.subTest(optim=optim):
                run = hearth.folder / f"bert-{optim}"
                hearth.train("bert-start", run, f"--save_format pytorch --optim {optim}")
                self.trainer_finishes(run, f"{optim}-onwards", optim=optim)
                self.hearth_finishes(f"{optim}-trainer", f"--optim {optim}", optim=optim)

    def test_the_state_of_loss_scaling_is_that_of_grad_scaler(self):
        hearth.train("bert-start", "bert-fp16", "--save_format pytorch --fp16")
        stored = torch.load(hearth.folder / "bert-fp16" / f"checkpoint-{runs.HALF}" / "scaler.pt", weights_only=True)
        scaler = torch.amp.GradScaler("cpu")
        scaler.load_state_dict(stored)
        self.assertEqual(scaler.state_dict(), {key: stored[key] for key in scaler.state_dict()})
        self.assertEqual(scaler.get_growth_factor(), 2.0)

    def test_a_plateau_is_that_of_pytorch(self):
        flags = "--lr_scheduler_type reduce_lr_on_plateau --validation_file dev.json --eval_strategy steps"
        flags += " --eval_steps 2 --metric_for_best_model f1 --warmup_steps 0"
        hearth.train("bert-start", "bert-plateau", f"--save_format pytorch {flags}")
        stored = torch.load(
            hearth.folder / "bert-plateau" / f"checkpoint-{runs.HALF}" / "scheduler.pt", weights_only=True
        )
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=runs.LEARNING_RATE)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        self.assertLessEqual(set(plateau.state_dict()), set(stored))
        plateau.load_state_dict(stored)
        plateau.step(1.0)


class DistilBert(Exchange, unittest.TestCase):
    family = "distilbert"


class Roberta(Exchange, unittest.TestCase):
    family = "roberta"


@unittest.skipUnless(transformers.__version__ < "5", "its tokenizer in transformers 5 has one </s> between two texts")
class XlmRoberta(Exchange, unittest.TestCase):
    family = "xlm-roberta"


class Electra(Exchange, unittest.TestCase):
    family = "electra"


class Albert(Exchange, unittest.TestCase):
    family = "albert"


if __name__ == "__main__":
    runs.main()
