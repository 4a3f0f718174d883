"""What the tests of the Hub share: a server (server.py) with a small model, and runs of the program against it."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEARTH = sys.argv[1]
CONFIG, VOCAB, WEIGHTS = b'{"model_type": "bert"}\n', b"[PAD]\n[UNK]\n", bytes(range(256)) * 400
MODEL, ENTRY = "towns/tiny-bert", "models--towns--tiny-bert"


class Answer:
    """The URL and the requests of a server that runs."""

    def __init__(self, url, log):
        self.url, self.log = url, log

    def requests(self, **wanted):
        rows = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [row for row in rows if all(row[key] == value for key, value in wanted.items())]

    def downloads(self):
        return self.requests(method="GET", cdn=True)


class HubTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root, self.home = self.folder / "root", self.folder / "home"
        self.write(f"models/{MODEL}/config.json", CONFIG)
        self.write(f"models/{MODEL}/vocab.txt", VOCAB)
        self.write(f"models/{MODEL}/model.safetensors", WEIGHTS)
        self.write(f"models/{MODEL}/1_Pooling/config.json", b"{}")
        self.write(f"models/{MODEL}@v2/config.json", CONFIG + b"\n")

    def write(self, name, contents):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents)

    @contextlib.contextmanager
    def server(self, *options):
        log = self.folder / "log"
        log.write_text("")
        command = [sys.executable, str(HERE / "server.py"), "--root", str(self.root), "--log", str(log), *options]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield Answer(process.stdout.readline().strip(), log)
            process.stdin.close()

    def environment(self, url, **more):
        ours = ("HF_", "HUGGING", "TRANSFORMERS", "SSL_CERT", "REQUESTS_CA", "CURL_CA")
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(ours) and "proxy" not in name.lower()}
        return kept | {"HF_HOME": str(self.home), "HF_ENDPOINT": url} | more

    def hearth(self, url, *words, status=0, before=None, **environment):
        """The output of the command; its error where it must fail with `status`."""
        ran = subprocess.run([HEARTH, *words], env=self.environment(url, **environment), text=True, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran.stderr if status else ran.stdout.strip()

    def fails(self, url, *words, **environment):
        error = self.hearth(url, *words, status=1, **environment)
        lines = [line for line in error.splitlines() if "error:" in line]
        self.assertEqual(len(lines), 1, error)
        return lines[0]

    def entry(self):
        return self.home / "hub" / ENTRY

    def blobs(self):
        return sorted(path.name for path in (self.entry() / "blobs").glob("*"))

    def assert_whole(self, snapshot):
        for name, contents in [("config.json", CONFIG), ("vocab.txt", VOCAB), ("model.safetensors", WEIGHTS)]:
            self.assertEqual((pathlib.Path(snapshot) / name).read_bytes(), contents)
        self.assertFalse([name for name in self.blobs() if name.endswith(".incomplete")])


class TrainingTest(HubTest):
    """With a small model that can be trained, under the names google-bert/bert-base-uncased and -cased."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = pathlib.Path(folder.name)
        fixtures = HERE.parent / "fixtures/apps"
        for output, words in [
                ("tokenizer", ["train_tokenizer", "--files", str(fixtures / "text.txt"), "--vocab_size", "300"]),
                ("model", ["init_model", "--config", str(fixtures / "config.json"), "--tokenizer", str(cls.made / "tokenizer")])]:
            subprocess.run([HEARTH, *words, "--output_dir", str(cls.made / output)], check=True, capture_output=True)

    def setUp(self):
        super().setUp()
        for name in ["google-bert/bert-base-uncased", "google-bert/bert-base-cased"]:
            shutil.copytree(self.made / "model", self.root / "models" / name)

    def train(self, url, *words, **environment):
        """Runs a training command; returns its output folder."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.hearth(url, *words, "--output_dir", str(out), HEARTH_CACHE=str(self.folder / "features"), **environment)
        return out
