"""Writes expected_losses.h: losses and gradients of PyTorch in f64. Run: python make_expected_losses.py"""

import pathlib

import torch
from torch.nn import functional as F

ROWS, CLASSES = 5, 3
IGNORED = -100
LABELS = torch.tensor([2, 0, IGNORED, 1, 2])
WEIGHTS = [0.5, 2.0, 3.25]


def numbers(factor, shift, modulus, divisor):
    values = [((i * factor + shift) % modulus - modulus // 2) / divisor for i in range(ROWS * CLASSES)]
    return torch.tensor(values, dtype=torch.float64).reshape(ROWS, CLASSES)


LOGITS = numbers(29, 11, 61, 8)
YES_OR_NO = (numbers(53, 7, 41, 1) > 4).double()
SOFT = numbers(29, 3, 33, 32) + 0.5
MEASURED = numbers(43, 5, 59, 16)


def cross_entropy(logits, smoothing, weighted, gamma):
    weight = torch.tensor(WEIGHTS, dtype=torch.float64) if weighted else None
    if gamma == 0:
        return F.cross_entropy(logits, LABELS, weight=weight, label_smoothing=smoothing, ignore_index=IGNORED)
    p = F.softmax(logits, dim=-1)[torch.arange(ROWS), LABELS.clamp(min=0)]
    losses = (1 - p) ** gamma * F.cross_entropy(logits, LABELS, weight=weight, reduction="none", ignore_index=IGNORED)
    counted = LABELS != IGNORED
    return losses[counted].sum() / (weight[LABELS[counted]].sum() if weighted else counted.sum())


def binary_cross_entropy(logits, targets, weighted, gamma):
    weight = torch.tensor(WEIGHTS, dtype=torch.float64) if weighted else None
    losses = F.binary_cross_entropy_with_logits(logits, targets, pos_weight=weight, reduction="none")
    p = torch.sigmoid(logits)
    return (losses * (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma).mean()


def cpp(values):
    return ", ".join(repr(value) for value in values)


def cells(tensor):
    return f"{{{cpp(tensor.flatten().tolist())}}}"


def outcome(loss_of, *arguments):
    logits = LOGITS.clone().requires_grad_()
    loss = loss_of(logits, *arguments)
    loss.backward()
    return f"{{{loss.item()!r}, {cells(logits.grad)}}}"


def flag(value):
    return "true" if value else "false"


out = "#pragma once\n\n// Written by make_expected_losses.py.\n\n#include <cstdint>\n#include <vector>\n\n"
out += "namespace hearth::kernels::expected {\n\n"
out += f"inline constexpr std::int64_t kRows = {ROWS}, kClasses = {CLASSES};\n"
out += f"inline const std::vector<std::int64_t> kLabels = {{{cpp(LABELS.tolist())}}};\n"
for name, values in [("kLogits", LOGITS), ("kYesOrNo", YES_OR_NO), ("kSoft", SOFT), ("kMeasured", MEASURED)]:
    out += f"inline const std::vector<float> {name} = {cells(values)};\n"
out += f"inline const std::vector<float> kClassWeights = {{{cpp(WEIGHTS)}}};\n\n"
out += "struct Outcome {\n  double loss;\n  std::vector<double> dlogits;\n};\n\n"
out += "struct CrossEntropy {\n  float label_smoothing;\n  bool weighted;\n  float focal_gamma;\n  Outcome outcome;\n};\n"
out += "inline const CrossEntropy kCrossEntropy[] = {\n"
for smoothing, gamma in [(0, 0), (0.125, 0), (0, 2), (0, 0.5)]:
    for weighted in (False, True):
        out += f"{{{smoothing}, {flag(weighted)}, {gamma}, {outcome(cross_entropy, smoothing, weighted, gamma)}}},\n"
out += "};\n\nstruct BinaryCrossEntropy {\n  bool soft, weighted;\n  float focal_gamma;\n  Outcome outcome;\n};\n"
out += "inline const BinaryCrossEntropy kBinaryCrossEntropy[] = {\n"
for soft in (False, True):
    for gamma in (0, 2, 0.5):
        for weighted in (False, True):
            found = outcome(binary_cross_entropy, SOFT if soft else YES_OR_NO, weighted, gamma)
            out += f"{{{flag(soft)}, {flag(weighted)}, {gamma}, {found}}},\n"
out += f"}};\n\ninline const Outcome kMeanSquaredError = {outcome(F.mse_loss, MEASURED)};\n\n"
out += "}  // namespace hearth::kernels::expected\n"
pathlib.Path(__file__).with_name("expected_losses.h").write_text(out)
