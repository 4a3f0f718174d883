#!/usr/bin/env python3
"""Writes bar.svg: the screen of a terminal of 100 columns while the demo's model trains: make_bar.py HEARTH DEMO_OUTPUT.

DEMO_OUTPUT is the folder that `make demo` wrote, build/demo."""
import html
import pathlib
import subprocess
import sys
import tempfile
import time

hearth, demo = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
here = pathlib.Path(__file__).resolve().parent
train = here.parents[1] / "demo" / "train.json"
tmux = ["tmux", "-L", "picture", "-f", "/dev/null"]
with tempfile.TemporaryDirectory() as folder:
    command = (f"{hearth} run_qa --model_name_or_path {demo}/start --train_file {train} --do_train --learning_rate 7e-4 "
               f"--max_seq_length 128 --doc_stride 32 --num_train_epochs 5 --logging_steps 50 --save_strategy no "
               f"--output_dir {folder}/out 2>&1")
    subprocess.run([*tmux, "new-session", "-d", "-x", "100", "-y", "30", "sh", "-c", command], check=True)
    for _ in range(240):
        time.sleep(0.5)
        lines = subprocess.run([*tmux, "capture-pane", "-p"], stdout=subprocess.PIPE, text=True).stdout.rstrip().split("\n")
        if sum(line.startswith("{") for line in lines) >= 3 and lines[-1].startswith("training"):
            break
    subprocess.run([*tmux, "kill-server"], check=True)
shown = [line for line in lines if line.startswith(("{", "training"))][-4:]
rows = "".join(f'<text x="14" y="{28 + 20 * i}" xml:space="preserve">{html.escape(line)}</text>\n' for i, line in enumerate(shown))
height = 24 + 20 * len(shown)
(here / "bar.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 870 {height}" width="870" font-family="monospace" font-size="14" '
    f'fill="#e0e0e0">\n<rect width="870" height="{height}" rx="6" fill="#263238"/>\n{rows}</svg>\n')
print("\n".join(shown))
