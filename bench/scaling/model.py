#!/usr/bin/env python3
"""Predicts the step time of data-parallel training on larger clusters: the latency-bandwidth model of docs/scaling.md,
from the figures of measured.json beside this file.

    model.py               prints the tables
    model.py --write FILE  puts them into FILE between its two marks
    model.py --check FILE  ends with status 1 if other tables stand there"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

FIGURES = json.loads((Path(__file__).parent / "measured.json").read_text())
RANKS = (4, 16, 64, 256, 1024)
GBITS = (10, 25, 100)
BUCKETS_MIB = (1, 5, 25, 100, 1000)
FIRST_BUCKET = 1 << 20
HIDDEN = 768  # numbers of a word's embedding
BEGIN, END = "<!-- tables of bench/scaling/model.py -->\n", "<!-- end of tables -->\n"


def figure(name):
    return FIGURES[name]["value"]


@dataclass
class Setting:
    gbits: float
    bucket_mib: float = 25
    wire_bytes: int = 4  # of a gradient
    sharded: bool = False
    rank_limit: bool = False  # a rank moves no more bytes than measured with gloo

    def seconds(self, passes, numbers, width, ranks):
        """A ring of (ranks - 1) messages a pass: all_reduce makes two passes, reduce_scatter and all_gather one."""
        bandwidth = self.gbits * 1e9 / 8 * figure("link_share")
        if self.rank_limit:
            bandwidth = min(bandwidth, figure("rank_bytes_per_second"))
        latency = figure("message_seconds") + figure("link_latency_seconds")
        return passes * ((ranks - 1) / ranks * numbers * width / bandwidth + (ranks - 1) * latency)

    def buckets(self):
        """Numbers of parameters, in the order in which backward completes their gradients, without the words."""
        left, size = figure("parameters") - figure("word_numbers"), FIRST_BUCKET / 4
        most = self.bucket_mib * (1 << 20) / 4
        while left > 0:
            yield min(size, left)
            left -= size
            size = min(max(left / 2, most / 4), most)

    def step(self, alone, ranks):
        """Seconds of a step that takes `alone` on one rank: (in all, of communication, of it not hidden)."""
        backward = alone * figure("backward_share")
        late = figure("parameters_complete_last")
        early = figure("parameters") - late
        done = sent_at = communication = 0.0
        for numbers in self.buckets():
            done += numbers
            ready = backward * min(1.0, done / early)
            seconds = self.seconds(1 if self.sharded else 2, numbers, self.wire_bytes, ranks)
            sent_at = max(sent_at, ready) + seconds
            communication += seconds
        used = figure(f"words_used_by_{ranks}") * HIDDEN
        passes, numbers = (1, figure("word_numbers")) if self.sharded and 2 * used >= figure("word_numbers") else (2, used)
        words = self.seconds(passes, numbers, self.wire_bytes, ranks)
        communication += words
        exposed = max(0.0, sent_at - backward) + words
        if self.sharded:  # the new weights, after the update
            weights = sum(self.seconds(1, numbers, 4, ranks) for numbers in [*self.buckets(), figure("word_numbers")])
            communication += weights
            exposed += weights
        return alone + exposed, communication, exposed


def table(header, rows, align="---:"):
    lines = [header, ["---"] + [align] * (len(header) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + "\n"


def cell(setting, alone, ranks):
    seconds = setting.step(alone, ranks)[0]
    return f"{seconds:.3g} s, {100 * alone / seconds:.0f}%"


def hidden(setting, alone, ranks):
    _, communication, exposed = setting.step(alone, ranks)
    return f"{100 * (1 - exposed / communication):.0f}%"


def tables():
    machines = FIGURES["steps"]
    fast = min(machines, key=lambda machine: machine["seconds"])
    ranks_header = [f"{n} ranks" for n in RANKS]

    text = "### Step time and efficiency\n\nBuckets of 25 MiB, f32 on the wire.\n\n"
    text += table(
        ["machine of a rank, link", *ranks_header],
        [
            [f"{m['machine']}, {g} Gbit/s"] + [cell(Setting(g), m["seconds"], n) for n in RANKS]
            for m in machines
            for g in GBITS
        ],
    )
    text += "### Communication hidden behind backward\n\nThe same settings.\n\n"
    text += table(
        ["machine of a rank, link", *ranks_header],
        [
            [f"{m['machine']}, {g} Gbit/s"] + [hidden(Setting(g), m["seconds"], n) for n in RANKS]
            for m in machines
            for g in GBITS
        ],
    )
    text += f"### Bucket size\n\n{fast['machine']}, 25 Gbit/s, f32 on the wire.\n\n"
    text += table(
        ["`--ddp_bucket_cap_mb`", *ranks_header],
        [[f"{b}"] + [cell(Setting(25, bucket_mib=b), fast["seconds"], n) for n in RANKS] for b in BUCKETS_MIB],
    )
    ways = (
        ("f32", {}),
        ("bf16 (`--ddp_wire_dtype bf16`)", {"wire_bytes": 2}),
        ("f32, `--sharded_optimizer`", {"sharded": True}),
        ("bf16, `--sharded_optimizer`", {"wire_bytes": 2, "sharded": True}),
    )
    text += f"### bf16 on the wire, and sharding\n\n{fast['machine']}, buckets of 25 MiB.\n\n"
    text += table(
        ["gradients, link", *ranks_header],
        [
            [f"{name}, {g} Gbit/s"] + [cell(Setting(g, **way), fast["seconds"], n) for n in RANKS]
            for g in GBITS
            for name, way in ways
        ],
    )
    limit = figure("rank_bytes_per_second") / 1e9
    text += f"### Where a rank moves no more than {limit:.2g} GB/s\n\n"
    text += f"{fast['machine']}, any link from {limit * 8 / figure('link_share'):.2g} Gbit/s on, buckets of 25 MiB.\n\n"
    text += table(
        ["gradients", *ranks_header],
        [
            [name] + [cell(Setting(GBITS[-1], rank_limit=True, **way), fast["seconds"], n) for n in RANKS]
            for name, way in ways
        ],
    )
    text += "### Figures that went in\n\n"
    steps = [[m["machine"], f"{m['seconds']} s per step", "measured", m["from"]] for m in machines]
    others = [f for name, f in FIGURES.items() if name != "steps"]
    rows = steps + [[f["what"], f"{f['value']:,} {f['unit']}".strip(), f["kind"], f["from"]] for f in others]
    text += table(["figure", "value", "", "from"], rows, align="---")
    return text


def main(words):
    if not words:
        print(tables(), end="")
        return 0
    way, path = words[0], Path(words[1])
    text = path.read_text()
    before, rest = text.split(BEGIN)
    made = before + BEGIN + "\n" + tables() + END + rest.split(END)[1]
    if way == "--write":
        path.write_text(made)
    elif made != text:
        print(f"{path} does not hold the tables that bench/scaling/model.py makes; run it with --write {path}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
