#!/usr/bin/env python3
"""Several ways to train, compared step by step on a machine whose speed changes: each program trains one step while the
others are stopped, in turn, so that all of them meet the same moments.

    in_turn.py [--rounds N] [--seconds S] NAME=COMMAND NAME=COMMAND ...

COMMAND runs `hearth bench train`, under any launcher on this host:

    in_turn.py one="taskset -c 0,1 hearth bench train --batch 12" \\
               two="taskset -c 0,1 hearth launch --num_processes 2 bench train --batch 6"

All of them are in memory at the same time. Printed are each one's mean and spread, how many times as fast as the first
it was (mean against mean, median against median), and the least and the most of single rounds. A batch is taken to be
the same work for all. For several ranks, the last two columns are the mean seconds per step that a rank waited: for
communication that was not hidden behind backward, and for slower ranks."""

import argparse
import json
import os
import shlex
import signal
import statistics
import subprocess
import time

MARK = "HEARTH_BENCH_TURN"


class Program:
    def __init__(self, name, command, options, port):
        self.name, self.seconds, self.waited, self.exposed = name, [], 0, 0
        self.mark = f"{os.getpid()}.{port}"
        environment = {**os.environ, MARK: self.mark, "MASTER_PORT": str(port)}
        try:
            self.process = subprocess.Popen(shlex.split(command) + ["--json", "--in_turn"] + options, env=environment,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise SystemExit(f"{name} cannot be started: {error}")

    # Until the program has stopped before a step; reads how long those before took.
    def wait(self):
        for line in self.process.stdout:
            if '"train, in turn"' in line:
                done = json.loads(line[line.index("{"):])
                self.seconds, self.waited, self.exposed = (done[key] for key in
                                                           ("seconds", "seconds_waited", "seconds_exposed"))
                return
        raise SystemExit(f"{self.name} ended before its turn")

    def members(self):
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if f"{MARK}={self.mark}".encode() in file.read().split(b"\0"):
                        found.append(int(entry))
            except OSError:
                pass
        return found

    def signal(self, number):
        for member in self.members():
            try:
                os.kill(member, number)
            except ProcessLookupError:
                pass

    # The first rank stops by itself; the others, and a launcher that looks after them, are stopped here.
    def take_turn(self):
        self.signal(signal.SIGCONT)
        self.wait()
        time.sleep(0.01)
        self.signal(signal.SIGSTOP)

    def end(self):
        self.signal(signal.SIGKILL)
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=2, help="steps that do not count")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new round after so long")
    args = parser.parse_args()
    start = time.monotonic()
    programs = []
    try:
        options = ["--steps", str(args.rounds + 1), "--warmup", str(args.warmup)]
        for port, program in enumerate(args.programs, 20000 + os.getpid() % 10000):  # below those that systems hand out
            name, _, command = program.partition("=")
            if not command:
                parser.error(f"'{program}' is not NAME=COMMAND")
            programs.append(Program(name, command, options, port))
            programs[-1].take_turn()
        for done in range(args.rounds):
            if time.monotonic() - start > args.seconds and done > 0:
                break
            for program in programs if done % 2 == 0 else reversed(programs):
                program.take_turn()
    finally:
        for program in programs:
            program.end()
    first = programs[0].seconds
    print("| | steps | seconds per step | least to most | over the first | of medians | of single rounds "
          "| exposed | for slower ranks |\n|---|---|---|---|---|---|---|---|---|")
    for program in programs:
        own = program.seconds
        rounds = [a / b for a, b in zip(first, own)]
        print(f"| {program.name} | {len(own)} | {statistics.mean(own):.4g} | {min(own):.4g} to {max(own):.4g} "
              f"| {statistics.mean(first) / statistics.mean(own):.3f} "
              f"| {statistics.median(first) / statistics.median(own):.3f} | {min(rounds):.2f} to {max(rounds):.2f} "
              f"| {program.exposed / len(own):.3f} | {(program.waited - program.exposed) / len(own):.3f} |")


if __name__ == "__main__":
    main()
