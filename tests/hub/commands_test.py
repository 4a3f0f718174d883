"""`hearth download` and `hearth upload` against tests/hub/server.py: commands_test.py HEARTH
What ends in the cache and on the server, and every way in which a transfer can fail. Python's standard library alone."""
import concurrent.futures
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import unittest

from hub_case import CONFIG, ENTRY, HERE, MODEL, WEIGHTS, HubTest


class Download(HubTest):
    def test_fills_the_cache_as_huggingface_hub_does(self):
        with self.server() as server:
            snapshot = pathlib.Path(self.hearth(server.url, "download", MODEL))
            self.assert_whole(snapshot)
            commit = snapshot.name
            self.assertEqual(snapshot, self.entry() / "snapshots" / commit)
            self.assertEqual((self.entry() / "refs/main").read_text(), commit)
            self.assertEqual(os.readlink(snapshot / "model.safetensors").split("/")[:3], ["..", "..", "blobs"])
            self.assertEqual(os.readlink(snapshot / "1_Pooling/config.json").split("/")[:4], ["..", "..", "..", "blobs"])
            locks = {path.stem for path in (self.home / "hub/.locks" / ENTRY).glob("*.lock")}
            self.assertEqual(locks, set(self.blobs()))
            self.assertEqual(len(server.downloads()), 1)
            self.assertEqual(self.hearth(server.url, "download", MODEL), str(snapshot))
            self.assertEqual(len(server.downloads()), 1)
            other = self.hearth(server.url, "download", MODEL, "--revision", "v2")
            self.assertEqual((pathlib.Path(other) / "config.json").read_bytes(), CONFIG + b"\n")
            self.assertEqual(self.hearth(server.url, "download", MODEL, "--revision", commit), str(snapshot))
        self.assertEqual(self.hearth(server.url, "download", MODEL, HF_HUB_OFFLINE="1"), str(snapshot))

    def test_takes_the_files_that_are_asked_for(self):
        with self.server() as server:
            snapshot = pathlib.Path(self.hearth(server.url, "download", MODEL, "--include", "*.json", "--exclude", "1_*"))
            self.assertEqual([path.name for path in snapshot.iterdir()], ["config.json"])
            self.hearth(server.url, "download", MODEL, "vocab.txt")
            self.assertEqual(sorted(path.name for path in snapshot.iterdir()), ["config.json", "vocab.txt"])
            self.assertIn("has no file that was asked for", self.fails(server.url, "download", MODEL, "nothing.txt"))

    def test_commands_download_only_what_they_need(self):
        with self.server() as server:
            self.write(f"models/{MODEL}/config.json", json.dumps({
                "model_type": "bert", "vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1,
                "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 32,
                "type_vocab_size": 2}).encode())
            self.hearth(server.url, "estimate-memory", MODEL, "--seq", "16")
            self.assertEqual(len(self.blobs()), 1)
            count = len(server.requests())
            self.hearth(server.url, "estimate-memory", MODEL, "--seq", "16")
            self.assertEqual(len(server.requests()), count)  # the cache comes first

    def test_old_short_names(self):
        self.write("models/google-bert/bert-base-uncased/config.json", CONFIG)
        (self.root / "renamed.json").write_text(json.dumps({"models/bert-base-uncased": "models/google-bert/bert-base-uncased",
                                                            "models/old/name": f"models/{MODEL}"}))
        with self.server() as server:
            self.assertIn("models--google-bert--bert-base-uncased", self.hearth(server.url, "download", "bert-base-uncased"))
            self.assertIn("models--old--name", self.hearth(server.url, "download", "old/name"))

    def test_continues_where_a_former_process_stopped(self):
        with self.server() as server:
            snapshot = self.hearth(server.url, "download", MODEL)
        blob = (pathlib.Path(snapshot) / "model.safetensors").resolve()
        blob.unlink()
        blob.with_name(blob.name + ".incomplete").write_bytes(WEIGHTS[:1000])
        with self.server() as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))
            self.assertEqual([row["range"] for row in server.downloads()], ["bytes=1000-"])
        blob.unlink()
        blob.with_name(blob.name + ".incomplete").write_bytes(WEIGHTS[:1000])
        with self.server("--fault", "no_range") as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))
        blob.unlink()
        blob.with_name(blob.name + ".incomplete").write_bytes(WEIGHTS + b"more")
        with self.server() as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))

    def test_a_cut_transfer_is_continued(self):
        with self.server("--fault", "cut:model.safetensors:2") as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))
            half = len(WEIGHTS) // 2
            self.assertEqual([row["range"] for row in server.downloads()],
                             [None, f"bytes={half}-", f"bytes={half + half // 2}-"])

    def test_a_transfer_that_never_ends_leaves_nothing_to_be_trusted(self):
        with self.server("--fault", "cut:model.safetensors") as server:
            self.assertIn("was cut", self.fails(server.url, "download", MODEL))
            error = self.fails(server.url, "classify", "--model", MODEL, "--text", "a")
            self.assertIn("the model of that name could not be fetched from the Hub: ", error)
            self.assertIn("was cut", error)
        self.assertFalse(list(self.entry().glob("snapshots/*/model.safetensors")))
        self.assertFalse((self.entry() / "refs/main").exists())
        with self.server() as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))

    def test_wrong_checksums(self):
        for file, kind in [("model.safetensors", "SHA-256"), ("config.json", "Git id")]:
            with self.server("--fault", f"corrupt:{file}") as server:
                error = self.fails(server.url, "download", MODEL, file)
                self.assertIn(f"{file} of the model {MODEL} arrived damaged: its {kind} is", error)
            self.assertEqual(self.blobs(), [])
        with self.server() as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))

    def test_errors_that_pass(self):
        with self.server("--fault", "error:/api/models:1", "--fault", "error:/cdn/:1") as server:
            self.assert_whole(self.hearth(server.url, "download", MODEL))
        with self.server("--fault", "error:/api/models") as server:
            self.assertIn("answers 500", self.fails(server.url, "download", "towns/other"))

    def test_missing_private_and_gated_repositories(self):
        self.write("models/towns/gated/config.json", CONFIG)
        self.write("models/towns/private/config.json", CONFIG)
        (self.root / "access.json").write_text('{"models/towns/gated": "gated", "models/towns/private": "private"}')
        with self.server() as server:
            self.assertIn("the model towns/nothing is not on " + server.url, self.fails(server.url, "download", "towns/nothing"))
            self.assertIn("check the name and the rights of your token",
                          self.fails(server.url, "download", "towns/nothing", "--token", "hf_test"))
            self.assertIn(f"the model {MODEL} has no revision v3",
                          self.fails(server.url, "download", MODEL, "--revision", "v3"))
            self.assertIn("for a private one give a token", self.fails(server.url, "download", "towns/private"))
            self.assertIn("the model towns/gated is gated: ask for access", self.fails(server.url, "download", "towns/gated"))
            self.assertIn("the account of this token is not let in",
                          self.fails(server.url, "download", "towns/gated", HF_TOKEN="hf_other"))
            self.assertIn("does not accept the token", self.fails(server.url, "download", MODEL, HF_TOKEN="hf_wrong"))
            self.assertIn("the data set towns/tiny-bert is not on",
                          self.fails(server.url, "download", MODEL, "--repo_type", "dataset"))
            self.assertIn("is not the name of a repository", self.fails(server.url, "download", "../../etc"))
            self.assertFalse((self.home / "hub/models--towns--gated").exists())

    def test_tokens(self):
        self.write("models/towns/gated/config.json", CONFIG)
        self.write("models/towns/gated/model.safetensors", WEIGHTS)
        (self.root / "access.json").write_text('{"models/towns/gated": "gated"}')
        (self.home).mkdir()
        (self.home / "token").write_text("hf_test\n")
        (self.folder / "elsewhere").write_text("hf_test")
        for number, (words, variables) in enumerate([
                (["--token", "hf_test"], {"HF_TOKEN": "hf_wrong"}), ([], {"HF_TOKEN": "hf_test"}),
                ([], {"HUGGING_FACE_HUB_TOKEN": "hf_test"}), ([], {}),
                ([], {"HF_TOKEN_PATH": str(self.folder / "elsewhere")})]):
            with self.server() as server:
                self.hearth(server.url, "download", "towns/gated", "--cache_dir", str(self.folder / f"cache{number}"),
                            *words, **variables)
                # The storage of large files is another host: it must not see the token.
                self.assertEqual({row["authorization"] for row in server.requests(cdn=True)}, {None})
                self.assertEqual({row["authorization"] for row in server.requests(cdn=False)}, {"Bearer hf_test"})

    def test_no_network(self):
        error = self.fails("http://127.0.0.1:9", "download", MODEL)
        self.assertIn("cannot reach http://127.0.0.1:9", error)
        self.assertIn("cannot reach http://no-such-host.invalid:80", self.fails("http://no-such-host.invalid", "download", MODEL))
        self.assertIn("HF_HUB_OFFLINE forbids", self.fails("http://127.0.0.1:9", "download", MODEL, HF_HUB_OFFLINE="YES"))

    def test_certificates(self):
        tls = [str(HERE / "tls/certificate.pem"), str(HERE / "tls/key.pem")]
        with self.server("--tls", *tls) as server:
            self.assertTrue(server.url.startswith("https:"))
            error = self.fails(server.url, "download", MODEL, "--token", "hf_test")
            self.assertIn("cannot be trusted", error)
            self.assertEqual(server.requests(), [])
            for variable in ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]:
                self.assert_whole(self.hearth(server.url, "download", MODEL, **{variable: tls[0]}))
            # The certificate names 127.0.0.1 alone.
            self.assertIn("cannot be trusted", self.fails(server.url.replace("127.0.0.1", "localhost"), "download",
                                                          MODEL, SSL_CERT_FILE=tls[0]))
            self.assertIn("SSL_CERT_FILE is set to /nowhere, which does not exist",
                          self.fails(server.url, "download", MODEL, SSL_CERT_FILE="/nowhere"))

    def test_proxies(self):
        with self.server() as server:
            self.assert_whole(self.hearth("http://hub.invalid", "download", MODEL, "config.json", "vocab.txt",
                                          "model.safetensors", http_proxy=server.url, no_proxy="127.0.0.1"))
            self.assertTrue(server.requests(proxied=True))

    def test_a_full_disk(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with self.server() as server:
            error = self.hearth(server.url, "download", MODEL, status=1, before=small_files)
            self.assertRegex(error, "Cannot write .*incomplete: .*the same command continues the download")
            self.assertFalse(list(self.entry().glob("snapshots/*/model.safetensors")))
            self.assert_whole(self.hearth(server.url, "download", MODEL))
            self.assertEqual(server.downloads()[-1]["range"], "bytes=50000-")

    def test_names_that_lead_out_of_the_cache(self):
        with self.server("--fault", "outside") as server:
            error = self.fails(server.url, "download", MODEL)
            self.assertIn("lists the file '../../../outside.txt', which would lie outside the cache folder", error)
        with self.server("--fault", "etag:config.json") as server:
            error = self.fails(server.url, "download", MODEL, "config.json")
            self.assertIn("'../../../outside', which cannot name a file in the cache", error)
        self.assertEqual([path for path in self.folder.rglob("*outside*")], [])

    def test_two_processes_at_once(self):
        with self.server("--fault", "slow") as server, concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [pool.submit(self.hearth, server.url, "download", MODEL) for _ in range(4)]
            for run in runs:
                self.assert_whole(run.result())
            self.assertEqual(len(server.downloads()), 1)


class Upload(HubTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "out"
        for name, contents in [("config.json", CONFIG), ("README.md", b"# A model\n"), ("empty.bin", b""),
                               ("model.safetensors", WEIGHTS), ("sub/notes.txt", "Grüße\n".encode()),
                               (".git/HEAD", b"ref"), ("checkpoint-1/optimizer.pt", b"state")]:
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_bytes(contents)

    def uploaded(self, name, revision=""):
        folder = self.root / "models" / (name + revision)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
                if path.is_file() and path.name != ".gitattributes"}

    def upload(self, server, *words, **environment):
        return self.hearth(server.url, "upload", *words, HF_TOKEN="hf_test", **environment)

    def test_a_folder_becomes_a_commit(self):
        expected = {"config.json": CONFIG, "README.md": b"# A model\n", "model.safetensors": WEIGHTS, "empty.bin": b"",
                    "sub/notes.txt": "Grüße\n".encode()}
        for options in [[], ["--fault", "multipart"]]:
            with self.server(*options) as server:
                url = self.upload(server, "tester/new", str(self.source), "--exclude", "checkpoint-*", "--commit_message",
                                  "End of training")
                self.assertIn("/tester/new/commit/", url)
                self.assertEqual(self.uploaded("tester/new"), expected)
                self.assertEqual({row["authorization"] for row in server.requests(cdn=True)}, {None})
                # What is there already is not sent again.
                count = len(server.requests(method="PUT"))
                self.assertIn("/tree/main", self.upload(server, "tester/new", str(self.source), "--exclude", "checkpoint-*"))
                self.assertEqual(len(server.requests(method="PUT")), count)
                snapshot = self.hearth(server.url, "download", "tester/new")
                self.assertEqual((pathlib.Path(snapshot) / "model.safetensors").read_bytes(), WEIGHTS)
            subprocess.run(["rm", "-rf", str(self.root / "models/tester")], check=True)

    def test_places_and_revisions(self):
        with self.server() as server:
            self.upload(server, "short", str(self.source / "config.json"))  # below the owner of the token
            self.assertEqual(self.uploaded("tester/short"), {"config.json": CONFIG})
            self.upload(server, "tester/short", str(self.source), "deep/er/", "--include", "*.json")
            self.assertEqual(self.uploaded("tester/short")["deep/er/config.json"], CONFIG)
            self.upload(server, "tester/short", str(self.source / "README.md"), "--revision", "branch")
            self.assertIn("README.md", self.uploaded("tester/short", "@branch"))
            self.assertNotIn("README.md", self.uploaded("tester/short"))
            self.upload(server, "tester/data", str(self.source), "--repo_type", "dataset", "--private")
            self.assertTrue((self.root / "datasets/tester/data/config.json").exists())
            self.assertIn("not on", self.fails(server.url, "download", "tester/data", "--repo_type", "dataset"))

    def test_refusals(self):
        with self.server("--fault", "reject") as server:
            self.assertIn("uploading needs a token", self.fails(server.url, "upload", MODEL, str(self.source)))
            self.assertIn("answers 403", self.fails(server.url, "upload", MODEL, str(self.source), HF_TOKEN="hf_other"))
            self.assertIn("neither a folder nor a file",
                          self.fails(server.url, "upload", MODEL, "/nowhere", HF_TOKEN="hf_test"))
            before = self.uploaded(MODEL)
            (self.source / "model.safetensors").write_bytes(WEIGHTS + b"new")
            self.assertIn("the object was not uploaded",
                          self.fails(server.url, "upload", MODEL, str(self.source), HF_TOKEN="hf_test"))
            self.assertEqual(self.uploaded(MODEL), before)
            self.assertIn("HF_HUB_OFFLINE forbids to upload", self.fails(
                server.url, "upload", MODEL, str(self.source), HF_TOKEN="hf_test", HF_HUB_OFFLINE="1"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
