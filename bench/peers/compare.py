#!/usr/bin/env python3
"""Runs the same BERT training step in PyTorch and in Hearth, in turn, and prints how much faster Hearth is.
README.md beside this file says how to run it and what the modes are."""
import argparse
import datetime
import json
import os
import platform
import random
import select
import signal
import subprocess
import sys
import tempfile
import time

SIZES = {"bert-tiny": (2, 128, 2, 512), "bert-mini": (4, 256, 4, 1024), "bert-small": (4, 512, 8, 2048),
         "bert-medium": (8, 512, 8, 2048), "bert-base": (12, 768, 12, 3072), "bert-large": (24, 1024, 16, 4096)}
# Tried one after the other when PyTorch dies of an illegal instruction.
ONEDNN_CAPS = ["AVX512_CORE_FP16", "AVX512_CORE_BF16", "AVX512_CORE"]
WAYS = ("", "compiled", "ipex", "fastbert")
MEGA_BATCHES = 50  # batches that group_by_length sorts together


class Skipped(Exception):
    pass


class Budget:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return max(0.0, self.end - time.monotonic())

    def need(self, seconds, what):
        if self.left() < seconds:
            raise Skipped("%s would take about %.0f s, %.0f s are left" % (what, seconds, self.left()))


class Torch:
    """The worker process, started again with a lower cap for oneDNN where it dies of an illegal instruction."""

    def __init__(self, python, settings, threads, cap, budget):
        self.command = [python, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_worker.py"),
                        json.dumps(dict(settings, threads=threads))]
        self.threads, self.cap, self.budget, self.deaths = threads, cap, budget, []
        self.process, self.compiled = None, set()  # compiled: (format, for changing lengths)

    def start(self):
        environment = dict(os.environ)
        if self.threads:
            environment["OMP_NUM_THREADS"] = str(self.threads)
        if self.cap:
            environment["ONEDNN_MAX_CPU_ISA"] = self.cap
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.ended()

    def ended(self):
        status = self.process.wait()
        self.process, self.compiled = None, set()
        return status

    def ask(self, request):
        while True:
            if self.process is None:
                self.start()
            try:
                self.process.stdin.write(json.dumps(request) + "\n")
                self.process.stdin.flush()
                ready, _, _ = select.select([self.process.stdout], [], [], self.budget.left())
                if not ready:
                    self.stop()
                    raise Skipped("the time was over before PyTorch was done")
                line = self.process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if line:
                answer = json.loads(line)
                if "error" in answer:
                    raise Skipped("PyTorch: " + answer["error"])
                return answer
            status = self.ended()
            if status != -signal.SIGILL:
                raise Skipped("PyTorch ended with status %d" % status)
            self.deaths.append({"request": request["do"], "format": request.get("format"),
                                "ONEDNN_MAX_CPU_ISA": self.cap, "signal": "SIGILL"})
            lower = ONEDNN_CAPS[ONEDNN_CAPS.index(self.cap) + 1:] if self.cap in ONEDNN_CAPS else ONEDNN_CAPS
            if not lower:
                raise Skipped("PyTorch dies of an illegal instruction under every cap")
            self.cap = lower[0]
            print("  PyTorch died of an illegal instruction; again with ONEDNN_MAX_CPU_ISA=%s" % self.cap, flush=True)


class Hearth:
    def __init__(self, program, options, budget):
        self.program, self.options, self.budget, self.cost = program, options, budget, {}

    def run(self, words):
        command = [self.program, "bench"] + words + ["--json", "--threads", str(self.options.threads)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=self.budget.left())
        except subprocess.TimeoutExpired:
            raise Skipped("the time was over before Hearth was done")
        if done.returncode != 0:
            raise Skipped("Hearth: " + done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def steps(self, dtype, groups, real_lengths):
        o = self.options
        words = ["train", "--model", o.model, "--head", o.head, "--batch", str(o.batch), "--seq", str(o.seq),
                 "--dtype", dtype, "--steps", str(len(groups)), "--warmup", str(o.hearth_warmup)]
        if not real_lengths:
            return self.run(words)[0]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            # Hearth takes its groups in order, the warm-up's first.
            for lengths in [groups[i % len(groups)] for i in range(o.hearth_warmup)] + groups:
                file.write("".join("%d\n" % length for length in lengths))
            file.flush()
            return self.run(words + ["--lengths", file.name])[0]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def parse_peer(name):
    """'bf16-compiled' -> ('bf16', 'compiled'), 'bf16' -> ('bf16', '')"""
    dtype, _, way = name.partition("-")
    return dtype, way


def make_groups(options, mode, count):
    """Lengths of the sequences of each batch, and what PyTorch pads them to (None: the longest of the batch)."""
    if mode == "all":
        return [[options.seq] * options.batch] * count, options.seq
    with open(options.lengths) as file:
        lengths = [min(int(line), options.seq) for line in file if line.strip()]
    if mode in ("padded", "longest"):
        groups = [lengths[i:i + options.batch] for i in range(0, len(lengths) - options.batch + 1, options.batch)]
        return [groups[i % len(groups)] for i in range(count)], options.seq if mode == "padded" else None
    # group_by_length: shuffled, sorted within mega-batches; of an epoch's batches, evenly spaced ones by length.
    random.Random(42).shuffle(lengths)
    batches = []
    mega = options.batch * MEGA_BATCHES
    for i in range(0, len(lengths), mega):
        piece = sorted(lengths[i:i + mega], reverse=True)
        batches += [piece[j:j + options.batch] for j in range(0, len(piece) - options.batch + 1, options.batch)]
    batches.sort(key=sum)
    groups = [batches[(2 * i + 1) * len(batches) // (2 * count)] for i in range(count)]
    random.Random(42).shuffle(groups)
    return groups, None


def compare_steps(options, mode, peers, workers, hearth, budget):
    """Rounds of Hearth in each format and PyTorch in each way; ratios of their seconds per step."""
    print("\n%s" % MODES[mode], flush=True)
    groups, pad_to = make_groups(options, mode, options.batches or options.rounds * options.steps)
    seconds, skipped, rows = {}, {}, {}
    dtypes = sorted({parse_peer(peer)[0] for peer in peers})

    def ask_peer(peer, some):
        dtype, way = parse_peer(peer)
        return workers[way].ask({"do": "steps", "format": dtype, "way": way, "groups": some, "pad_to": pad_to,
                                 "pad_unit": 64 if way == "fastbert" else 1})

    def part_of(number):
        return [groups[i % len(groups)] for i in range(number * options.steps, (number + 1) * options.steps)]

    cost = {}
    for peer in peers:
        try:
            dtype, way = parse_peer(peer)
            compiled, kind, ready = way == "compiled", (dtype, pad_to is None), workers[way].compiled
            budget.need(options.compile_reserve if compiled and kind not in ready else 10, peer)
            # A compiled one compiles at its first step and, where lengths change, again until it knows them all.
            warmup = groups if compiled and pad_to is None else [groups[0]] * (1 + compiled)
            cost[peer] = min(ask_peer(peer, warmup)["seconds"])
            if compiled:
                ready.add(kind)
        except Skipped as reason:
            skipped[peer] = str(reason)
    for number in range(options.rounds):
        part = part_of(number)
        for dtype in dtypes:
            name = "hearth " + dtype
            try:
                budget.need(hearth.cost.get((mode, dtype), 5), name)
                start = time.monotonic()
                row = hearth.steps(dtype, part, mode != "all")
                hearth.cost[(mode, dtype)] = time.monotonic() - start
                rows[name] = row
                seconds.setdefault(name, {})[number] = row["seconds_per_step"]
            except Skipped as reason:
                skipped[name] = str(reason)
        for peer in peers:
            if peer in skipped:
                continue
            try:
                budget.need(cost[peer] * len(part), peer)
                seconds.setdefault("torch " + peer, {})[number] = mean(ask_peer(peer, part)["seconds"])
            except Skipped as reason:
                skipped[peer] = str(reason)

    result = {"mode": mode, "groups": groups, "pad_to": pad_to, "skipped": skipped, "hearth": rows,
              "seconds_per_step": {name: list(rounds.values()) for name, rounds in seconds.items()}, "ratios": {}}
    for name, rounds in seconds.items():
        values = list(rounds.values())
        tokens = sum(sum(sum(group) for group in part_of(number)) for number in rounds) / options.steps
        note = ", %.0f%% of the GEMM ceiling" % (100 * rows[name]["share_of_ceiling"]) if name in rows else ""
        if name.endswith("-fastbert"):
            note = ", forward and backward only"
        print("  %-22s %8.3f s per step (%.3f to %.3f), %.0f real tokens/s%s" %
              (name, mean(values), min(values), max(values), tokens / sum(values), note), flush=True)
    for peer in peers:
        ours, theirs = seconds.get("hearth " + parse_peer(peer)[0], {}), seconds.get("torch " + peer, {})
        both = sorted(set(ours) & set(theirs))
        if not both:
            continue
        ratio = mean(theirs[i] for i in both) / mean(ours[i] for i in both)
        single = [theirs[i] / ours[i] for i in both]
        result["ratios"][peer] = {"ratio": ratio, "lowest": min(single), "highest": max(single)}
        print("  Hearth is %.2f times as fast as PyTorch %s (%.2f to %.2f in single rounds)" %
              (ratio, peer, min(single), max(single)), flush=True)
    for name, reason in skipped.items():
        print("  %s: not measured, %s" % (name, reason), flush=True)
    return result


def compare_products(options, torch, hearth, budget):
    print("\n%s" % MODES["products"], flush=True)
    hidden, intermediate = SIZES[options.model][1], SIZES[options.model][3]
    layers = [(3 * hidden, hidden), (hidden, hidden), (intermediate, hidden), (hidden, intermediate)]
    result = {"mode": "products", "tokens": options.batch * options.seq, "formats": {}, "skipped": {}}
    for dtype in options.product_formats.split(","):
        rounds = []
        try:
            for _ in range(options.rounds):
                budget.need(5, "products")
                lines = hearth.run(["gemm", "--model", options.model, "--tokens", str(options.batch * options.seq),
                                    "--dtype", dtype, "--rounds", "3"])
                ours = {line["pass"]: line["gflops_mean"] for line in lines
                        if line["layer"] == "all" and line["chosen"]}
                theirs = torch.ask({"do": "products", "format": dtype, "tokens": options.batch * options.seq,
                                    "layers": layers, "seconds": 0.1})
                rounds.append({name: (ours[name], theirs[name]["gflops"]) for name in ours})
        except Skipped as reason:
            result["skipped"][dtype] = str(reason)
            print("  %s: not measured, %s" % (dtype, reason), flush=True)
        if not rounds:
            continue
        result["formats"][dtype] = rounds
        for name in rounds[0]:
            ours, theirs = (mean(each[name][i] for each in rounds) for i in (0, 1))
            single = [each[name][0] / each[name][1] for each in rounds]
            print("  %-5s %-16s hearth %8.1f, torch %8.1f GFLOP/s: %.2f times (%.2f to %.2f)" %
                  (dtype, name, ours, theirs, ours / theirs, min(single), max(single)), flush=True)
    return result


MODES = {"products": "matrix products: F.linear, its input gradient, its weight gradient",
         "all": "every position computed",
         "padded": "real lengths, PyTorch pads to the full sequence (run_qa's default)",
         "longest": "real lengths, PyTorch pads to the longest of a batch",
         "grouped": "real lengths, PyTorch with group_by_length pads to the longest of a batch"}


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", required=True, help="the hearth program")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch")
    parser.add_argument("--ipex_python", help="the Python that has IPEX, for -ipex and -fastbert; --python otherwise")
    parser.add_argument("--model", default="bert-base", choices=sorted(SIZES))
    parser.add_argument("--head", default="qa", choices=["qa", "classification", "mlm"])
    parser.add_argument("--fused", action="store_true", help="PyTorch updates with fused AdamW")
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--seq", type=int, default=384)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--lengths", help="lengths of real sequences, one per line; needed by padded, longest and grouped")
    parser.add_argument("--modes", default="products,all,padded,grouped", help="of " + ", ".join(MODES))
    parser.add_argument("--peers", default="bf16,bf16-compiled",
                        help="fp32, bf16, fp16, each as it is or with -compiled, -ipex, -fastbert")
    parser.add_argument("--other_peers", default="fp32,fp16", help="in mode all alone, last, while time is left")
    parser.add_argument("--product_formats", default="bf16,fp32")
    parser.add_argument("--rounds", type=int, default=2, help="of Hearth and every peer in turn")
    parser.add_argument("--steps", type=int, default=2, help="timed steps of a round")
    parser.add_argument("--batches", type=int, default=0,
                        help="different batches, which the timed steps repeat in order; 0: a new one for every step")
    parser.add_argument("--hearth_warmup", type=int, default=1, help="steps before Hearth's timed ones, every round")
    parser.add_argument("--budget", type=float, default=500, help="seconds for everything")
    parser.add_argument("--compile_reserve", type=float, default=120, help="seconds that torch.compile must have left")
    parser.add_argument("--onednn_max_cpu_isa", default="", help="ONEDNN_MAX_CPU_ISA for PyTorch from the beginning")
    parser.add_argument("--output", help="JSON file for everything measured")
    options = parser.parse_args()
    options.modes = options.modes.split(",")
    unknown = [mode for mode in options.modes if mode not in MODES]
    if unknown:
        parser.error("unknown mode %s; there are %s" % (unknown[0], ", ".join(MODES)))
    if not options.lengths and {"padded", "longest", "grouped"} & set(options.modes):
        parser.error("the modes padded, longest and grouped need --lengths")
    for peer in filter(None, (options.peers + "," + options.other_peers).split(",")):
        if parse_peer(peer)[0] not in ("fp32", "bf16", "fp16") or parse_peer(peer)[1] not in WAYS:
            parser.error("unknown peer %s; --help lists them" % peer)
    return options


def main():
    options = parse_options()
    budget = Budget(options.budget)
    settings = {"sizes": SIZES[options.model], "head": options.head, "fused": options.fused}
    torch, ipex = (Torch(python, settings, options.threads, options.onednn_max_cpu_isa, budget)
                   for python in (options.python, options.ipex_python or options.python))
    # IPEX changes PyTorch's own operations, so it gets a process to itself.
    workers = {"": torch, "compiled": torch, "ipex": ipex, "fastbert": ipex}
    hearth = Hearth(options.hearth, options, budget)
    report = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "command": sys.argv,
              "processor": processor(), "threads": options.threads, "model": options.model, "batch": options.batch,
              "seq": options.seq, "head": options.head, "fused": options.fused, "results": []}
    print("%s, %d threads, %s, %s, batch %d, sequence %d" %
          (report["processor"], options.threads, options.model, options.head, options.batch, options.seq), flush=True)
    try:
        report["torch"] = torch.ask({"do": "describe"})
        print("PyTorch %(torch)s (%(capability)s) with %(model)s" % report["torch"], flush=True)
    except Skipped as reason:
        report["torch"] = {"error": str(reason)}
        print("without PyTorch: %s" % reason, flush=True)
    peers = [peer for peer in options.peers.split(",") if peer]
    for mode in options.modes:
        if mode == "products":
            report["results"].append(compare_products(options, torch, hearth, budget))
        else:
            report["results"].append(compare_steps(options, mode, peers, workers, hearth, budget))
    others = [peer for peer in options.other_peers.split(",") if peer]
    if others and "all" in options.modes:
        report["results"].append(compare_steps(options, "all", others, workers, hearth, budget))
    torch.stop()
    ipex.stop()
    report["deaths"] = torch.deaths + ipex.deaths
    report["onednn_max_cpu_isa_at_end"] = {"torch": torch.cap, "ipex": ipex.cap}
    if options.output:
        with open(options.output, "w") as file:
            json.dump(report, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
