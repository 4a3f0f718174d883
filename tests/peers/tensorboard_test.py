"""The real TensorBoard reads the event files that Hearth writes, under the names of transformers' TensorBoardCallback. Run
by scripts/test_peers: tensorboard_test.py HEARTH"""

import json
import unittest

import runs  # before torch

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

RUN = (
    f"run_qa --model_name_or_path bert-start --train_file {runs.ROOT}/demo/train.json"
    f" --validation_file {runs.ROOT}/demo/test.json --max_train_samples 64 --max_eval_samples 16 --max_seq_length 128"
    " --doc_stride 32 --max_answer_length 4 --do_train --do_eval --eval_strategy steps --eval_steps 4 --logging_steps 1"
    " --max_steps 8 --save_steps 4 --learning_rate 1e-3 --num_threads 1 --disable_tqdm True --report_to tensorboard jsonl"
)


def setUpModule():
    global hearth
    hearth = runs.Hearth()
    hearth.make_start_models()
    hearth.run(RUN + " --output_dir out --logging_dir events --log_histograms")


def opened(folder):
    accumulator = EventAccumulator(str(hearth.folder / folder), size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    accumulator.Reload()
    return accumulator


class TensorBoard(unittest.TestCase):
    def test_scalars_are_those_of_the_log(self):
        events = opened("events")
        history = json.loads((hearth.folder / "out/trainer_state.json").read_text())["log_history"]
        expected = {}
        for row in history:
            for name, value in row.items():
                if name == "step":
                    continue
                tag = "eval/" + name[5:] if name.startswith("eval_") else "train/" + name
                expected.setdefault(tag, []).append((row["step"], value))
        self.assertIn("train/loss", expected)
        self.assertIn("eval/f1", expected)
        for tag, points in expected.items():
            found = [(event.step, event.value) for event in events.Scalars(tag)]
            # The final evaluation of the program is a row of the events, not of the history.
            self.assertEqual([step for step, _ in points], [step for step, _ in found][: len(points)], tag)
            for (_, value), (_, read) in zip(points, found):
                self.assertAlmostEqual(value, read, delta=1e-6 * max(1, abs(value)), msg=tag)

    def test_texts(self):
        events = opened("events")
        self.assertEqual({"args/text_summary", "model_config/text_summary"}, set(events.Tags()["tensors"]))
        args = json.loads(events.Tensors("args/text_summary")[0].tensor_proto.string_val[0])
        self.assertEqual(1e-3, args["learning_rate"])
        config = json.loads(events.Tensors("model_config/text_summary")[0].tensor_proto.string_val[0])
        self.assertEqual(32, config["hidden_size"])

    def test_histograms(self):
        events = opened("events")
        tags = events.Tags()["histograms"]
        name = "bert.encoder.layer.0.attention.self.query.weight"
        self.assertIn("gradients/" + name, tags)
        points = events.Histograms("weights/" + name)
        self.assertEqual(list(range(1, 9)), [point.step for point in points])
        value = points[0].histogram_value
        self.assertEqual(32 * 32, value.num)
        self.assertEqual(32 * 32, sum(value.bucket))
        self.assertEqual(sorted(value.bucket_limit), list(value.bucket_limit))

    def test_a_resumed_run_replaces_the_steps_that_it_makes_again(self):
        hearth.run(RUN + " --output_dir again --logging_dir again_events")
        hearth.run(RUN + " --output_dir again --logging_dir again_events --resume_from_checkpoint again/checkpoint-4")
        steps = [event.step for event in opened("again_events").Scalars("train/loss")]
        self.assertEqual(list(range(1, 9)), steps)

    def test_the_usual_folder(self):
        hearth.run(RUN + " --output_dir usual")
        (folder,) = (hearth.folder / "usual/runs").iterdir()
        self.assertRegex(folder.name, r"^[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_")
        self.assertIn("train/loss", opened(folder.relative_to(hearth.folder)).Tags()["scalars"])

    def test_the_same_tags_as_transformers(self):
        import transformers
        from transformers.integrations import TensorBoardCallback

        args = transformers.TrainingArguments(str(hearth.folder / "hf"), logging_dir=str(hearth.folder / "hf_events"),
                                              report_to="none", use_cpu=True)
        callback, state = TensorBoardCallback(), transformers.TrainerState(is_world_process_zero=True)
        callback.on_train_begin(args, state, transformers.TrainerControl(),
                                model=transformers.BertModel(transformers.BertConfig(**runs.CONFIGS["bert"] | {"vocab_size": 9})))
        history = json.loads((hearth.folder / "out/trainer_state.json").read_text())["log_history"]
        for row in history:
            state.global_step = row.pop("step")
            callback.on_log(args, state, transformers.TrainerControl(), logs=row)
        callback.on_train_end(args, state, transformers.TrainerControl())
        theirs, ours = opened("hf_events"), opened("events")
        self.assertEqual(set(theirs.Tags()["scalars"]), set(ours.Tags()["scalars"]))
        self.assertEqual(set(theirs.Tags()["tensors"]), set(ours.Tags()["tensors"]))
        for tag in theirs.Tags()["scalars"]:
            expected = [(event.step, event.value) for event in theirs.Scalars(tag)]
            self.assertEqual(expected, [(event.step, event.value) for event in ours.Scalars(tag)][: len(expected)], tag)


if __name__ == "__main__":
    runs.main()
