"""The real huggingface_hub and datasets beside Hearth, against tests/hub/server.py: peers_test.py HEARTH
What they cached we read, what we cached they read, what one uploaded the other downloads."""
import json
import pathlib
import subprocess
import sys
import time
import unittest

import filelock

from hub_case import CONFIG, ENTRY, HEARTH, MODEL, WEIGHTS, HubTest, TrainingTest


class Python:
    def python(self, url, program, **environment):
        """What a Python program prints. huggingface_hub reads its environment when it is imported."""
        ran = subprocess.run([sys.executable, "-c", program], env=self.environment(url, **environment), text=True,
                             capture_output=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.strip()


class Peers(Python, HubTest):
    def test_what_they_cached_we_read(self):
        with self.server() as server:
            theirs = self.python(server.url, f"import huggingface_hub as h; print(h.snapshot_download('{MODEL}'))")
            count = len(server.requests())
            self.assertEqual(self.hearth(server.url, "download", MODEL, HF_HUB_OFFLINE="1"), theirs)
            self.assertEqual(len(server.requests()), count)
            self.assertEqual(self.hearth(server.url, "download", MODEL), theirs)
            self.assertEqual(len(server.downloads()), 1)
        self.assert_whole(theirs)

    def test_what_we_cached_they_read(self):
        with self.server() as server:
            ours = self.hearth(server.url, "download", MODEL)
            self.assertEqual(self.python(server.url, f"import huggingface_hub as h; print(h.snapshot_download('{MODEL}'))"),
                             ours)
            self.assertEqual(len(server.downloads()), 1)
        program = f"""
import huggingface_hub as h
print(h.snapshot_download('{MODEL}'))
print(h.hf_hub_download('{MODEL}', 'config.json'))
found = h.scan_cache_dir()
print(len(found.warnings), [len(repo.revisions) for repo in found.repos])
"""
        self.assertEqual(self.python("http://127.0.0.1:9", program, HF_HUB_OFFLINE="1").splitlines(),
                         [ours, ours + "/config.json", "0 [1]"])

    def test_each_continues_what_the_other_began(self):
        with self.server("--fault", "cut:model.safetensors") as server:
            self.fails(server.url, "download", MODEL)
        part = next(self.entry().glob("blobs/*.incomplete")).stat().st_size
        with self.server() as server:
            self.python(server.url, f"import huggingface_hub as h; print(h.snapshot_download('{MODEL}'))")
            self.assertEqual([row["range"] for row in server.downloads()], [f"bytes={part}-"])

    def test_a_lock_of_theirs_makes_us_wait(self):
        with self.server() as server:
            snapshot = self.hearth(server.url, "download", MODEL)
            blob = (pathlib.Path(snapshot) / "model.safetensors").resolve()
            blob.unlink()
            with filelock.FileLock(self.home / "hub/.locks" / ENTRY / (blob.name + ".lock")):
                waiting = subprocess.Popen([HEARTH, "download", MODEL], env=self.environment(server.url),
                                           stdout=subprocess.DEVNULL)
                time.sleep(1)
                self.assertIsNone(waiting.poll())
                self.assertEqual(len(server.downloads()), 1)
                blob.write_bytes(WEIGHTS)
            self.assertEqual(waiting.wait(30), 0)
            self.assertEqual(len(server.downloads()), 1)

    def test_uploads_both_ways(self):
        source = self.folder / "out"
        (source / "sub").mkdir(parents=True)
        (source / "config.json").write_bytes(CONFIG)
        (source / "sub/model.safetensors").write_bytes(WEIGHTS)
        for options in [[], ["--fault", "multipart"]]:
            with self.server(*options) as server:
                kind = len(options)
                self.hearth(server.url, "upload", f"tester/ours{kind}", str(source), HF_TOKEN="hf_test")
                theirs = self.python(server.url, f"import huggingface_hub as h; print(h.snapshot_download('tester/ours{kind}'))")
                self.assertEqual((pathlib.Path(theirs) / "sub/model.safetensors").read_bytes(), WEIGHTS)
                self.assertEqual((pathlib.Path(theirs) / "config.json").read_bytes(), CONFIG)
                self.python(server.url, f"""
import huggingface_hub as h
h.create_repo('tester/theirs{kind}')
h.upload_folder(repo_id='tester/theirs{kind}', folder_path='{source}')
""", HF_TOKEN="hf_test")
                ours = self.hearth(server.url, "download", f"tester/theirs{kind}")
                self.assertEqual((pathlib.Path(ours) / "sub/model.safetensors").read_bytes(), WEIGHTS)
                # Neither sends again what the other has sent.
                count = len(server.requests(method="PUT"))
                self.hearth(server.url, "upload", f"tester/theirs{kind}", str(source), HF_TOKEN="hf_test")
                self.assertEqual(len(server.requests(method="PUT")), count)

    def test_gated_and_missing_mean_the_same(self):
        self.write("models/towns/gated/config.json", CONFIG)
        (self.root / "access.json").write_text('{"models/towns/gated": "gated"}')
        program = """
import huggingface_hub as h
for name, revision in [('towns/gated', None), ('towns/nothing', None), ('%s', 'v9')]:
    try:
        h.snapshot_download(name, revision=revision)
    except Exception as error:
        print(type(error).__name__)
""" % MODEL
        with self.server() as server:
            self.assertEqual(self.python(server.url, program).split(),
                             ["GatedRepoError", "RepositoryNotFoundError", "RevisionNotFoundError"])

    def test_transformers_loads_what_we_cached(self):
        config = {"model_type": "bert", "vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1,
                  "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 32}
        self.write(f"models/{MODEL}/config.json", json.dumps(config).encode())
        with self.server() as server:
            self.hearth(server.url, "estimate-memory", MODEL, "--seq", "16")
        program = f"from transformers import AutoConfig; print(AutoConfig.from_pretrained('{MODEL}').hidden_size)"
        self.assertEqual(self.python("http://127.0.0.1:9", program, HF_HUB_OFFLINE="1"), "8")


class DataSets(Python, TrainingTest):
    LOAD = "import datasets; found = datasets.load_dataset('towns/words'); print({k: len(v) for k, v in sorted(found.items())})"
    TRAIN = ["run_classification", "--model_name_or_path", "bert-base-uncased", "--dataset_name", "towns/words",
             "--text_column_names", "text", "--do_train", "--do_eval", "--max_steps", "1", "--save_strategy", "no"]

    def setUp(self):
        super().setUp()
        rows = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in [("fine", "good"), ("worse", "bad")])
        self.write("datasets/towns/words/data/train.jsonl", rows.encode() * 4)
        self.write("datasets/towns/words/data/dev.jsonl", rows.encode() * 2)

    def files_sent(self, server):
        return len([row for row in server.requests(method="GET") if row["path"].endswith(".jsonl")])

    def test_what_they_cached_we_read(self):
        with self.server() as server:
            self.assertEqual(self.python(server.url, self.LOAD), "{'train': 8, 'validation': 4}")
            self.hearth(server.url, "download", "bert-base-uncased")
            out = self.train(server.url, *self.TRAIN, HF_DATASETS_OFFLINE="1")
            self.assertEqual(self.files_sent(server), 2)
        self.assertEqual(json.loads((out / "eval_results.json").read_text())["eval_samples"], 4)

    def test_what_we_cached_they_read(self):
        with self.server() as server:
            self.train(server.url, *self.TRAIN)
            self.assertEqual(self.files_sent(server), 2)
            self.assertEqual(self.python(server.url, self.LOAD), "{'train': 8, 'validation': 4}")
            self.assertEqual(self.files_sent(server), 2)

    def test_both_find_the_same_splits(self):
        for number, files in enumerate([
                ["train.jsonl", "test.jsonl"], ["all.jsonl"], ["a/train/x.jsonl", "a/train/y.jsonl", "a/dev/x.jsonl"],
                ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl", "data/odd-00000-of-00001.jsonl"],
                ["my_train_part1.jsonl", "my_train_part2.jsonl", "validation-set.jsonl"], ["trainer.jsonl", "x/eval_1.jsonl"]]):
            for file in files:
                self.write(f"datasets/towns/form{number}/{file}", b'{"text": "a", "label": "b"}\n')
            with self.server() as server:
                program = f"import datasets; print(' '.join(sorted(datasets.load_dataset('towns/form{number}'))))"
                theirs = self.python(server.url, program).split()
                error = self.fails(server.url, "run_classification", "--model_name_or_path", "bert-base-uncased", "--do_predict",
                                   "--test_split_name", "none", "--dataset_name", f"towns/form{number}", "--output_dir", "out")
            self.assertIn(f"has {', '.join(theirs)}", error)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
