#!/usr/bin/env python3
"""Writes speed.svg: seconds per step of docs/performance.md, 16 AMX cores, every position, 2026-11-18."""
import pathlib

ROWS = [("Hearth", 0.353, "#d84315"), ("PyTorch 2.11, compiled", 1.954, "#78909c"), ("PyTorch 2.11, eager", 4.544, "#78909c")]
WIDTH, LEFT, BAR, STEP = 720, 190, 26, 40
scale = (WIDTH - LEFT - 160) / max(seconds for _, seconds, _ in ROWS)
parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {STEP * len(ROWS) + 10}" width="{WIDTH}" '
         'font-family="sans-serif" font-size="15">']
for i, (name, seconds, colour) in enumerate(ROWS):
    y = 8 + i * STEP
    length = seconds * scale
    factor = "" if i == 0 else f" ({seconds / ROWS[0][1]:.1f} times)"
    parts.append(f'<text x="{LEFT - 10}" y="{y + 18}" text-anchor="end" fill="#888">{name}</text>'
                 f'<rect x="{LEFT}" y="{y}" width="{length:.0f}" height="{BAR}" rx="3" fill="{colour}"/>'
                 f'<text x="{LEFT + length + 8:.0f}" y="{y + 18}" fill="#888">{seconds:.2f} s{factor}</text>')
pathlib.Path(__file__).with_name("speed.svg").write_text("\n".join(parts) + "\n</svg>\n")
