#!/usr/bin/env python3
"""Writes data_way.svg and step.svg, the diagrams of docs/architecture.md."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
STYLE = ('<style>.b{fill:#ffccbc;stroke:#d84315}.t{fill:#222}.m{fill:#888;font-size:11px}.a{stroke:#888;fill:none;'
         'marker-end:url(#h)}.c{fill:#cfd8dc;stroke:#607d8b}.l{fill:#888}</style>'
         '<defs><marker id="h" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
         '<path d="M0,0 L7,3 L0,6" fill="#888"/></marker></defs>')


def svg(name, width, height, parts):
    (HERE / name).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                             f'font-family="sans-serif" font-size="13">\n{STYLE}\n' + "\n".join(parts) + "\n</svg>\n")


def box(x, y, width, text, module="", kind="b"):
    centre = x + width / 2
    return (f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="34" rx="5"/>'
            f'<text class="t" x="{centre}" y="{y + 21}" text-anchor="middle">{text}</text>'
            f'<text class="m" x="{centre}" y="{y + 49}" text-anchor="middle">{module}</text>')


def arrow(x1, y1, x2, y2):
    return f'<path class="a" d="M{x1},{y1} L{x2},{y2}"/>'


def data_way():
    rows = [[("files or Hub", "hub, data"), ("tokens", "tokenizer"), ("features", "tasks"), ("packed batch", "data, tensor")],
            [("update", "optim"), ("all-reduce", "parallel, comm"), ("backward", "autograd"), ("forward, loss", "models, nn, ops, kernels")],
            [("log, evaluate", "train, metrics"), ("checkpoint, model", "train, io"), ("predictions", "tasks")]]
    parts = []
    for row, boxes in enumerate(rows):
        y = 12 + 92 * row
        for column, (text, module) in enumerate(boxes):
            parts.append(box(12 + 180 * column, y, 140, text, module))
    for column in range(3):
        parts.append(arrow(152 + 180 * column, 29, 190 + 180 * column, 29))   # left to right
        parts.append(arrow(192 + 180 * column, 121, 154 + 180 * column, 121))  # right to left
    parts += [arrow(622, 66, 622, 102), arrow(82, 158, 82, 194), arrow(152, 213, 190, 213), arrow(332, 213, 370, 213)]
    svg("data_way.svg", 720, 260, parts)


def step():
    parts, y = [], 14
    for label, row in (("compute", 0), ("communication", 1)):
        parts.append(f'<text class="l" x="8" y="{y + 22 + 62 * row}">{label}</text>')
    x = 120
    for text, width in (("forward", 130), ("backward, layer 12 ... 1", 250), ("wait", 40), ("update", 90)):
        parts.append(box(x, y, width - 4, text, kind="b" if text != "wait" else "c"))
        x += width
    for bucket in range(5):
        parts.append(box(278 + 55 * bucket, y + 62, 50, f"{bucket + 1}", kind="c"))
    parts.append(f'<text class="m" x="278" y="{y + 116}">buckets of gradients, each sent as soon as backward has completed it'
                 '</text>')
    svg("step.svg", 720, 140, parts)


data_way()
step()
