#!/usr/bin/env python3
"""Checks the screen of a real terminal, with tmux as the terminal: bar.py BUILD FIXTURES. Code 77: there is no tmux.

Trains a small model in windows of several widths. A training that would take hours is watched until its bar has moved,
and ended with Ctrl-C; a short one is looked at after its end."""

import glob
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

BUILD, FIXTURES = sys.argv[1:3]
HEARTH = os.path.join(BUILD, "bin", "hearth")
DIFFERENT_BARS = 4
LIMIT_SECONDS = 60
LEFTOVER_SECONDS = 10
DONE = "the command has ended"
# Parts of a bar: a line that holds one of them and is no whole bar is a leftover.
PARTS = re.compile(r"training +(\||\d+%)|evaluating +(\||\d+%)|\d\d left|elapsed|tokens/s|matmul speed")
# Without percent where the number of rows is not known.
BAR = re.compile(r"(training|evaluating|tokenising \S+) (\|[#-]+\| )?( *\d+% \d+/\d+(, | \[)|\d+ \[)[\d:]+ (elapsed|left).*")


class Window:
    """A command in a terminal of its own."""

    count = 0

    def __init__(self, folder, columns, command, **variables):
        self.columns = columns
        Window.count += 1
        self.base = ["tmux", "-L", f"bar{Window.count}", "-f", "/dev/null"]
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("TMUX", "OMP_", "NO_COLOR", "COLUMNS", "RANK", "WORLD", "LOCAL_"))}
        self.environment.update(TMUX_TMPDIR=folder, HEARTH_CACHE=os.path.join(folder, "cache"), HF_HOME=folder,
                                LC_ALL="C.UTF-8", **variables)
        script = f"trap : INT; {shlex.join(command)}; echo; echo {DONE}; sleep 1000"
        self.tmux("new-session", "-d", "-x", str(columns), "-y", "24", "sh", "-c", script)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")

    def tmux(self, *words):
        return subprocess.run(self.base + list(words), env=self.environment, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def lines(self, *flags):
        """All lines from the first on, those that have left the screen too."""
        return self.tmux("capture-pane", "-p", "-S", "-", *flags).rstrip("\n").split("\n")

    def resize(self, columns):
        self.columns = columns
        self.tmux("resize-window", "-x", str(columns))

    def find_bar(self, title):
        """The bar with this title, or "", and what is wrong with it."""
        # The terminal wraps finished bars, such as those of tokenising, when it gets narrower.
        training = itertools.dropwhile(lambda line: "Running training" not in line, self.lines())
        lines = list(itertools.takewhile(lambda line: not line.endswith("Summary"), training))
        shown = [line for line in lines if PARTS.search(line) and not line.startswith(("[0] {", "{"))]
        for line in shown:
            if not BAR.fullmatch(line) or len(line) >= self.columns:
                return "", f"this is no whole bar: {line!r}"
        bars = [line for line in shown if line.startswith(title + " ")]
        return bars[0] if bars else "", "more than one bar" if len(bars) > 1 else ""

    def check(self, title):
        """One bar with this title at most, which fits its line, and no leftover of another. The screen may be seen
        just before a bar is drawn again; a real leftover stays."""
        limit = time.monotonic() + LEFTOVER_SECONDS
        while True:
            bar, fault = self.find_bar(title)
            if not fault:
                return bar
            if time.monotonic() > limit:
                sys.exit(f"{self.columns} columns: {fault}\n" + "\n".join(self.lines()))
            time.sleep(0.1)

    def wait_for(self, condition, what):
        limit = time.monotonic() + LIMIT_SECONDS
        while not condition():
            if time.monotonic() > limit:
                sys.exit(f"{self.columns} columns: waited in vain for {what}\n" + "\n".join(self.lines()))
            time.sleep(0.05)

    def is_done(self):
        return DONE in self.lines()

    def has_log_row(self):
        return any(line.startswith(("[0] {", "{")) for line in self.lines())

    def interrupt(self):
        self.tmux("send-keys", "C-c")
        self.wait_for(self.is_done, "the end after Ctrl-C")


def run(*words):
    result = subprocess.run([HEARTH, *words], text=True, capture_output=True)
    if result.returncode != 0:
        sys.exit(f"hearth {' '.join(words)}\n{result.stdout}{result.stderr}")


class Training:
    """Commands that train a small model."""

    def __init__(self, folder):
        os.environ["HEARTH_CACHE"] = os.path.join(folder, "cache")
        tokenizer, model = os.path.join(folder, "tokenizer"), os.path.join(folder, "model")
        run("train_tokenizer", "--vocab_size", "200", "--output_dir", tokenizer, "--files", f"{FIXTURES}/text.txt")
        run("init_model", "--tokenizer", tokenizer, "--output_dir", model, "--config", f"{FIXTURES}/config.json")
        self.words = ["run_qa", "--model_name_or_path", model, "--train_file", f"{FIXTURES}/train.json",
                      "--validation_file", f"{FIXTURES}/dev.json", "--max_seq_length", "64", "--doc_stride", "16",
                      "--num_threads", "1", "--do_train", "--do_eval", "--save_strategy", "no",
                      "--overwrite_output_dir", "--output_dir", os.path.join(folder, "out")]

    def endless(self):
        """Trains until Ctrl-C."""
        return [*self.words, "--max_steps", "10000000", "--logging_steps", "400"]

    def short(self):
        return [*self.words, "--max_steps", "20", "--logging_steps", "5"]


def watch_it_move(window, resize_to=None):
    """Sees several different bars between log rows, at both widths, then ends the training."""
    for columns in (window.columns, resize_to):
        if columns is None:
            continue
        if columns != window.columns:
            window.resize(columns)
        different = set()

        def has_moved():
            different.add(window.check("training"))
            return len(different - {""}) >= DIFFERENT_BARS

        window.wait_for(has_moved, "the bar to move")
        window.wait_for(window.has_log_row, "a log row")
        window.check("training")
    window.interrupt()


def watch_it_end(window):
    window.wait_for(window.is_done, "the end of training")
    for title in ("training", "evaluating"):
        if "100%" not in window.check(title):
            sys.exit(f"{window.columns} columns: the bar of {title} does not end at 100%\n" + "\n".join(window.lines()))


def check_logs(folder):
    for name in glob.glob(os.path.join(folder, "*.log")):
        with open(name) as file:
            text = file.read()
        if re.search(r"[\x00-\x09\x0b-\x1f]", text):
            sys.exit(f"{name} holds control characters: {text!r}")
    with open(os.path.join(folder, "rank_0.stderr.log")) as file:
        if "training: 100% " not in file.read():
            sys.exit("rank 0's log does not say that training is done")


def before_examples(lines):
    """The help without its examples, which stay on one line each so that they can be copied."""
    return [line.rstrip() for line in itertools.takewhile(lambda line: line.rstrip() != "Examples:", lines)]


def check_help(folder):
    for columns in (50, 80):
        with Window(folder, columns, [HEARTH, "run_qa", "--help"]) as window:
            window.wait_for(window.is_done, "the help")
            joined, shown = (before_examples(lines) for lines in (window.lines("-J"), window.lines()))
            if joined != shown:
                sys.exit(f"--help at {columns} columns is wrapped by the terminal\n" + "\n".join(joined))


def check_colours(folder):
    red = "\x1b[31merror:"
    for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Window(folder, 80, [HEARTH, "trian"], **variables) as window:
            window.wait_for(window.is_done, "the error")
            if any(red in line for line in window.lines("-e")) != coloured:
                sys.exit(f"with {variables} the error should {'' if coloured else 'not '}be red: {window.lines('-e')}")


def main():
    if shutil.which("tmux") is None:
        print("tmux is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        check_help(folder)
        check_colours(folder)
        training = Training(folder)
        for columns, resize_to in ((50, None), (80, None), (200, 50)):
            with Window(folder, columns, [HEARTH, *training.endless()]) as window:
                watch_it_move(window, resize_to)
            with Window(folder, columns, [HEARTH, *training.short()]) as window:
                watch_it_end(window)
        if not os.path.exists(os.path.join(BUILD, "lib", "hearth", "libhearth_comm_gloo.so")):
            print("the plug-in gloo was not built: hearth launch is not tried")
            return
        logs = os.path.join(folder, "logs")
        launch = [HEARTH, "launch", "--num_processes", "2", "--log_dir", logs]
        with Window(folder, 80, [*launch, *training.endless()]) as window:
            watch_it_move(window, 50)
        with Window(folder, 80, [*launch, *training.short()]) as window:
            watch_it_end(window)
        check_logs(logs)


main()
