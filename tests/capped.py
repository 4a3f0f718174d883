#!/usr/bin/env python3
"""Runs a test program with a cap on the instruction set: capped.py CAP HEARTH PROGRAM. Code 77: the cap changes nothing on
this processor, where the test without a cap has run the same code."""

import json
import os
import subprocess
import sys


def in_use(hearth):
    env = subprocess.run([hearth, "env", "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(env)["instruction_set_in_use"]


cap, hearth, program = sys.argv[1:]
without_cap = in_use(hearth)
os.environ["HEARTH_MAX_ISA"] = cap
if in_use(hearth) == without_cap:
    print(f"the processor's instruction set is {without_cap}, which a cap of {cap} leaves as it is")
    sys.exit(77)
os.execv(program, [program])
