#!/usr/bin/env python3
"""Runs the commands of docs/getting_started.md, sections 2 to 4, as a newcomer would: getting_started.py SOURCE PROGRAM."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

page = (pathlib.Path(sys.argv[1]) / "docs" / "getting_started.md").read_text()
sections = page[page.index("## 2."):page.index("## 5.")]
script = "set -e\n" + "".join(re.findall(r"```\n(.*?)```", sections, flags=re.S))
with tempfile.TemporaryDirectory() as folder:
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.argv[2]).parent}:{os.environ['PATH']}", "HEARTH_CACHE": folder}
    run = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
print(run.stdout)
answered = "complaint" in run.stdout.rstrip().splitlines()[-1]
print("the text was classified as a complaint" if answered else "the last line names no complaint")
sys.exit(run.returncode or not answered)
