#!/usr/bin/env python3
"""Kills trainings at random moments and resumes them: kill.py BUILD FIXTURES COUNT [SEED]. Code 77: gloo was not built.

A trial trains a small model, is killed (SIGKILL to all its processes) or meets a full disk several times, and is resumed
by the same command until it ends. Weights and moments must then have the bits of a run that nothing disturbed, and no
leftover may lie in the output folder. COUNT is the number of disturbances; the seed that is printed repeats them, as far
as the machine's timing does."""

import fcntl
import itertools
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

BUILD, FIXTURES, COUNT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(10**6)
HEARTH = (BUILD / "bin" / "hearth").resolve()
STEPS = 20
LIMIT_SECONDS = 120
TRAIN = ["--max_seq_length", "64", "--doc_stride", "16", "--learning_rate", "1e-3", "--disable_tqdm", "True", "--do_train",
         "--max_steps", str(STEPS), "--logging_steps", "7", "--per_device_train_batch_size", "2"]
TWO_RANKS = ["launch", "--num_processes", "2", "--num_cpu_threads_per_process", "1"]
# Name: words before the command, flags of the training.
KINDS = {
    "one": ([], ["--save_steps", "1", "--num_threads", "1"]),
    "rotation": ([], ["--save_steps", "2", "--save_total_limit", "2", "--num_threads", "1", "--bf16"]),
    "two_ranks": (TWO_RANKS, ["--save_steps", "2", "--save_total_limit", "2"]),  # over shared memory
    "gloo": (TWO_RANKS, ["--save_steps", "2", "--save_total_limit", "2", "--ddp_backend", "gloo"]),
    "sharded": (TWO_RANKS, ["--save_steps", "2", "--sharded_optimizer", "--ddp_backend", "gloo"]),
    "pytorch": (TWO_RANKS, ["--save_steps", "2", "--sharded_optimizer", "--save_format", "pytorch"]),
}


def fail(sentence):
    sys.exit(f"seed {SEED}: {sentence}")


def run(folder, *words):
    result = subprocess.run([HEARTH, *words], cwd=folder, text=True, capture_output=True, timeout=LIMIT_SECONDS)
    if result.returncode != 0:
        fail(f"hearth {' '.join(map(str, words))}\n{result.stdout}{result.stderr}")


class Training:
    """One kind of training, with what it gives undisturbed."""

    def __init__(self, folder, kind):
        self.folder, self.kind = folder, kind
        before, flags = KINDS[kind]
        self.words = [*before, "run_qa", "--model_name_or_path", "model", "--train_file", FIXTURES.resolve() / "train.json",
                      *TRAIN, *flags, "--output_dir"]
        begin = time.monotonic()
        run(folder, *self.words, self.output("whole"))
        self.seconds = time.monotonic() - begin
        self.expected = self.result("whole")

    def output(self, name):
        return f"{self.kind}_{name}"

    def result(self, name):
        output = self.folder / self.output(name)
        last = output / f"checkpoint-{STEPS}"
        states = ["optimizer.pt", "scheduler.pt"] if self.kind == "pytorch" else ["optimizer.safetensors", "scheduler.json"]
        return {file.name: file.read_bytes() for file in (output / "model.safetensors", last / "model.safetensors",
                                                           *(last / state for state in states))}

    def start(self, name, prepare=None):
        with open(self.folder / "log", "a") as log:
            return subprocess.Popen([HEARTH, *self.words, self.output(name)], cwd=self.folder, stdout=log, stderr=log,
                                    start_new_session=True, preexec_fn=prepare)

    def files(self, name):
        output = self.folder / self.output(name)
        return os.listdir(output) if output.is_dir() else []

    def last_step(self, name):
        return max((int(file[11:]) for file in self.files(name) if file.startswith("checkpoint-")), default=0)

    def is_saving(self, name):
        return any(file.startswith(".") and file != ".hearth.lock" for file in self.files(name))

    def kill_at_random(self, name):
        """False: the run had ended before."""
        process = self.start(name)
        limit = time.monotonic() + random.uniform(0, self.seconds)
        while process.poll() is None and time.monotonic() < limit:
            time.sleep(0.001)
        return self.kill(process, name)

    def kill_in_a_save(self, name):
        """Kills a little after a save was seen to begin; false: the run had ended before."""
        step = random.randint(min(self.last_step(name), STEPS - 1), STEPS - 1)  # an earlier run may have saved its last step
        process = self.start(name)
        while process.poll() is None and not (self.last_step(name) >= step and self.is_saving(name)):
            time.sleep(0.0002)
        time.sleep(random.uniform(0, 0.005))
        return self.kill(process, name)

    def kill(self, process, name):
        ended = process.poll() is not None
        if not ended:
            os.killpg(process.pid, signal.SIGKILL)  # the launcher; its guard then kills the ranks
        process.wait(timeout=LIMIT_SECONDS)
        self.wait_until_free(name)
        return not ended

    def wait_until_free(self, name):
        """The ranks of a killed launcher end a moment later, and hold the folder until then."""
        lock = self.folder / self.output(name) / ".hearth.lock"
        limit = time.monotonic() + LIMIT_SECONDS
        while lock.exists():
            try:
                with open(lock) as file:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except (BlockingIOError, FileNotFoundError):
                if time.monotonic() > limit:
                    fail(f"{self.kind}: a killed run still holds its folder")
                time.sleep(0.01)

    def fill_disk(self, name):
        """Runs with a limit on the size of files that the model or the moments exceed, as on a full disk."""
        size = random.choice([1000, 50_000, 150_000])

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

        return self.start(name, limit_files).wait(timeout=LIMIT_SECONDS) != 0

    def finish(self, name):
        if self.start(name).wait(timeout=LIMIT_SECONDS) != 0:
            fail(f"{self.kind} did not resume\n{(self.folder / 'log').read_text()[-4000:]}")

    def check(self, name):
        for file, contents in self.result(name).items():
            if contents != self.expected[file]:
                fail(f"{self.kind}: {file} differs from that of the undisturbed run")
        leftovers = [file for file in os.listdir(self.folder / self.output(name)) if file.startswith(".")]
        if leftovers:
            fail(f"{self.kind}: {', '.join(leftovers)} was left")


def main():
    if not (BUILD / "lib" / "hearth" / "libhearth_comm_gloo.so").exists():
        print("the plug-in gloo was not built")
        sys.exit(77)
    random.seed(SEED)
    print(f"seed {SEED}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["HEARTH_CACHE"] = str(folder / "cache")
        run(folder, "train_tokenizer", "--vocab_size", "200", "--output_dir", "tokenizer", "--files",
            FIXTURES.resolve() / "text.txt")
        run(folder, "init_model", "--tokenizer", "tokenizer", "--output_dir", "model", "--config",
            FIXTURES.resolve() / "config.json")
        trainings = {}
        disturb = {"killed": Training.kill_at_random, "killed in a save": Training.kill_in_a_save,
                   "disk full": Training.fill_disk}
        done = dict.fromkeys(disturb, 0)
        for trial in itertools.count():
            if trial >= len(KINDS) and sum(done.values()) >= COUNT:
                break
            kind = list(KINDS)[trial % len(KINDS)]
            if kind not in trainings:
                trainings[kind] = Training(folder, kind)
            training, trial_name = trainings[kind], str(trial)
            for _ in range(random.randint(1, 2)):
                what = random.choice(list(done))
                done[what] += disturb[what](training, trial_name)
            training.finish(trial_name)
            training.check(trial_name)
            subprocess.run(["rm", "-rf", folder / training.output(trial_name)], check=True)
        print(f"{trial} trainings, {done}: every one ended with the bits of an undisturbed run")


main()
