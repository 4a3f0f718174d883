#!/usr/bin/env python3
"""One machine's cores divided among 1, 2, 4, ... ranks: the throughput of each division over that of one rank, and how
much of the communication hides behind backward. ranks.py HEARTH [options]

The batch of all ranks together is the same throughout. Communication is the time that `hearth bench allreduce` takes for
the bytes of a step when nothing else runs; exposed is what the rank that came last waited for it in a step, hidden the
rest. "For slower ranks" is what ranks waited, on average, for the slowest. Over shm gradients are summed where they are,
after backward: all of that is exposed."""

import argparse
import json
import os
import statistics
import subprocess


def measure(hearth, ranks, communication_cores, words, backend):
    launch = [hearth, "launch", "--num_processes", str(ranks)] if ranks > 1 else [hearth]
    if ranks > 1 and communication_cores:
        launch += ["--ccl_worker_count", str(communication_cores)]
    done = subprocess.run(launch + ["bench"] + words + ["--json"] + (["--ddp_backend", backend] if ranks > 1 else []),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [line[line.index("{"):] for line in done.stdout.splitlines() if '{"bench"' in line]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"{' '.join(launch)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hearth")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--batch", type=int, default=48, help="sequences of all ranks together")
    parser.add_argument("--model", default="bert-base")
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--ddp_backend", default="gloo")
    parser.add_argument("--wire", default="fp32")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=2)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--communication_cores", type=int, nargs="+", default=[0, 1], help="of each rank")
    args = parser.parse_args()
    processors = len(os.sched_getaffinity(0))
    settings = [(ranks, cores) for cores in args.communication_cores for ranks in args.ranks
                if (ranks > 1 or cores == 0) and ranks * (1 + cores) <= processors]
    steps, messages = {key: [] for key in settings}, {}
    for _ in range(args.turns):
        for ranks, cores in settings:
            train = ["train", "--model", args.model, "--dtype", args.dtype, "--batch", str(args.batch // ranks),
                     "--steps", str(args.steps), "--warmup", str(args.warmup)]
            if ranks > 1:
                train += ["--ddp_wire_dtype", args.wire]
            steps[ranks, cores].append(measure(args.hearth, ranks, cores, train, args.ddp_backend))
    for ranks, cores in settings:
        if ranks > 1 and args.ddp_backend != "shm":
            size = statistics.mean(turn["bytes_sent_per_step"] for turn in steps[ranks, cores])
            message = ["allreduce", "--sizes", str(int(size)), "--rounds", "3", "--dtype", args.wire]
            messages[ranks, cores] = measure(args.hearth, ranks, cores, message, args.ddp_backend)["seconds"]
    rate = {key: statistics.mean(turn["tokens_per_second"] for turn in turns) for key, turns in steps.items()}
    print("| ranks | communication cores of each | tokens/s | over one rank | communication | exposed | hidden "
          "| for slower ranks |\n|---|---|---|---|---|---|---|---|")
    for key in settings:
        row = f"| {key[0]} | {key[1]} | {rate[key]:.0f} | {rate[key] / rate[settings[0]]:.2f} |"
        if key[0] > 1:
            exposed = statistics.mean(turn["seconds_exposed_per_step"] for turn in steps[key])
            slower = statistics.mean(turn["seconds_waited_per_step"] for turn in steps[key]) - exposed
            message = f"{messages[key]:.3f} s" if key in messages else ""
            hidden = f"{100 * (1 - exposed / messages[key]):.0f}%" if key in messages else ""
            row += f" {message} | {exposed:.3f} s | {hidden} | {slower:.3f} s |"
        else:
            row += " | | | |"
        print(row, flush=True)


if __name__ == "__main__":
    main()
