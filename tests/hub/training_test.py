"""Training commands with names of the Hub in place of folders and files, against tests/hub/server.py: training_test.py HEARTH
Online and offline, alone and with two ranks, and --push_to_hub. Python's standard library alone."""
import json
import sys
import unittest

from hub_case import HERE, TrainingTest

FIXTURES = HERE.parent / "fixtures/hub"
SQUAD, MRPC, CONLL = ((FIXTURES / f"{name}.parquet").read_bytes() for name in ["squad", "mrpc", "conll2003"])
PAIRS = [{"premise": "the ferry was late", "hypothesis": other, "label": label}
         for other, label in [("the boat was late", 1), ("it snowed in the town", 0)] * 8]
STEPS = ["--do_train", "--max_steps", "2", "--save_strategy", "no", "--per_device_train_batch_size", "2"]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


class Training(TrainingTest):
    def setUp(self):
        super().setUp()
        card = "---\nconfigs:\n- config_name: plain_text\n  data_files:\n  - split: train\n    path: plain_text/train-*\n" \
               "  - split: validation\n    path: plain_text/validation-*\n---\n"
        self.write("datasets/rajpurkar/squad/README.md", card.encode())
        for split in ["train", "validation"]:
            self.write(f"datasets/rajpurkar/squad/plain_text/{split}-00000-of-00002.parquet", SQUAD)
            self.write(f"datasets/rajpurkar/squad/plain_text/{split}-00001-of-00002.parquet", SQUAD)
            self.write(f"datasets/nyu-mll/glue/mrpc/{split}-00000-of-00001.parquet", MRPC)
        for split in ["train", "validation_matched", "validation_mismatched"]:
            self.write(f"datasets/nyu-mll/glue/mnli/{split}-00000-of-00001.jsonl", lines(PAIRS))
        self.write("datasets/nyu-mll/glue/README.md", b"---\nconfigs:\n" + b"".join(
            b"- config_name: %s\n  data_files:\n%s" % (task, b"".join(
                b"  - split: %s\n    path: %s/%s-*\n" % (split, task, split) for split in splits))
            for task, splits in [(b"mrpc", [b"train", b"validation"]),
                                 (b"mnli", [b"train", b"validation_matched", b"validation_mismatched"])]) + b"---\n")
        self.write("datasets/eriktks/conll2003/conll2003.py", b"raise SystemExit('never run')\n")
        for split in ["train", "validation"]:
            self.write(f"datasets/eriktks/conll2003@refs%2Fconvert%2Fparquet/conll2003/{split}/0000.parquet", CONLL)

    def test_names_online_then_offline(self):
        qa = ["run_qa", "--model_name_or_path", "google-bert/bert-base-uncased", "--dataset_name", "squad",
              "--max_seq_length", "48", "--doc_stride", "8", "--do_eval", *STEPS]
        glue = ["run_glue", "--model_name_or_path", "bert-base-uncased", "--task_name", "mrpc", "--max_seq_length", "32",
                "--do_eval", *STEPS]
        ner = ["run_ner", "--model_name_or_path", "bert-base-cased", "--dataset_name", "conll2003", "--do_eval", *STEPS]
        with self.server() as server:
            for words in [qa, glue, ner]:
                out = self.train(server.url, *words)
                self.assertTrue((out / "model.safetensors").exists())
                self.assertTrue((out / "eval_results.json").exists())
            labels = json.loads((out / "config.json").read_text())["id2label"]
            self.assertEqual(labels["5"], "B-LOC")  # names of the Parquet file
            self.assertEqual(len(server.downloads()), 5)  # the weights of two models, one blob per data set
            count = len(server.requests())
            for words in [qa, glue, ner]:
                self.train(server.url, *words)
            self.assertEqual(len(server.requests()), count)  # the cache comes first
        for words in [qa, glue, ner]:
            self.train("http://127.0.0.1:9", *words, HF_HUB_OFFLINE="1")

    def test_the_card_names_model_and_data(self):
        with self.server() as server:
            out = self.train(server.url, "run_qa", "--model_name_or_path", "bert-base-uncased", "--dataset_name", "squad",
                             "--max_seq_length", "48", "--doc_stride", "8", "--do_eval", *STEPS)
        card = (out / "README.md").read_text()
        self.assertIn('datasets:\n- "squad"\n', card)
        self.assertIn("on the squad dataset", card)
        self.assertNotIn(str(self.home), card)

    def test_mnli_has_two_sets(self):
        with self.server() as server:
            out = self.train(server.url, "run_glue", "--model_name_or_path", "bert-base-uncased", "--task_name", "mnli",
                             "--max_seq_length", "32", "--do_eval", *STEPS)
        self.assertIn("eval_accuracy_mm", json.loads((out / "eval_results.json").read_text()))

    def test_two_ranks_download_once(self):
        with self.server("--fault", "slow") as server:
            self.train(server.url, "launch", "--num_processes", "2", "--main_process_port", "0", "run_glue",
                       "--model_name_or_path", "bert-base-uncased", "--task_name", "mrpc", "--max_seq_length", "32", *STEPS)
            self.assertEqual(len(server.downloads()), 2)  # weights and data
            configs = [row for row in server.requests(method="GET") if row["path"].endswith("/config.json")]
            self.assertEqual(len(configs), 1)

    def test_nlp_example_without_flags(self):
        with self.server() as server:
            output = self.hearth(server.url, "nlp_example")
        epochs = [line.split(":")[0] for line in output.splitlines() if line.startswith("epoch ")]
        self.assertEqual(epochs, ["epoch 0", "epoch 1", "epoch 2"])

    def test_a_folder_of_ones_own(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "train.csv").write_text("text,label\nfine,good\nworse,bad\n" * 4)
        (data / "dev.csv").write_text("text,label\nfine,good\nworse,bad\n")
        with self.server() as server:
            out = self.train(server.url, "run_classification", "--model_name_or_path", "bert-base-uncased",
                             "--dataset_name", str(data), "--text_column_names", "text", "--do_eval", *STEPS)
        self.assertTrue((out / "eval_results.json").exists())

    def test_errors(self):
        start = ["run_qa", "--model_name_or_path", "bert-base-uncased", "--output_dir", str(self.folder / "out"), "--dataset_name"]
        with self.server() as server:
            self.assertIn("--do_predict needs the split test, and the data set squad has train, validation",
                          self.fails(server.url, *start, "squad", "--do_predict"))
            self.assertIn("choose one of mrpc, mnli with --dataset_config_name",
                          self.fails(server.url, *start, "glue", "--do_train"))
            self.assertIn("the data set towns/nothing is not on", self.fails(server.url, *start, "towns/nothing", "--do_train"))
            self.write("datasets/towns/pictures/a.png", b"")
            self.assertIn("has no files of records", self.fails(server.url, *start, "towns/pictures", "--do_train"))
        self.assertIn("HF_DATASETS_OFFLINE forbids", self.fails(
            "http://127.0.0.1:9", *start, "squad_v2", "--do_train", HF_DATASETS_OFFLINE="1"))
        self.assertFalse((self.folder / "out").exists())

    def test_push_to_hub(self):
        start = ["run_qa", "--model_name_or_path", "bert-base-uncased", "--dataset_name", "squad", "--max_seq_length", "48",
                 "--doc_stride", "8", "--do_train", "--max_steps", "2", "--save_steps", "1", "--push_to_hub"]
        with self.server() as server:
            out = self.train(server.url, *start, "--hub_model_id", "tester/mine", "--hub_strategy", "checkpoint",
                             "--hub_always_push", "--hub_private_repo", "--hub_token", "hf_test")
            pushed = self.root / "models/tester/mine"
            for name in ["model.safetensors", "config.json", "README.md", "tokenizer.json", "train_results.json"]:
                self.assertEqual((pushed / name).read_bytes(), (out / name).read_bytes())
            self.assertEqual((pushed / "last-checkpoint/optimizer.safetensors").read_bytes(),
                             (out / "checkpoint-2/optimizer.safetensors").read_bytes())
            self.assertFalse((pushed / "checkpoint-2").exists())
            self.assertEqual(len([row for row in server.requests() if "/commit/" in row["path"]]), 5)
            self.assertNotIn("hf_test", (out / "training_args.json").read_text())
            self.train(server.url, *start, "--hub_strategy", "end", HF_TOKEN="hf_test")
            self.assertTrue((self.root / "models/tester/out/model.safetensors").exists())
            # Found before training.
            for token, sentence in [("", "uploading needs a token"), ("hf_other", "answers 403")]:
                self.assertIn(sentence, self.fails(server.url, *start, "--output_dir", str(self.folder / "new"),
                                                   "--hub_model_id", "tester/other", HF_TOKEN=token))
                self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
