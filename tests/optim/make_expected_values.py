"""Writes expected_values.h: what torch 2.5.1 and transformers 4.52.4 compute. Run: python make_expected_values.py"""

import pathlib

import torch
from transformers.optimization import Adafactor, get_inverse_sqrt_schedule, get_scheduler

ARRAYS = [((4, 6), True), ((4,), False), ((6,), False), ((3, 4), True), ((3, 4), True)]  # shape, decays
STEPS = 6


def numbers(shape, factor, shift, modulus, divisor):
    count = torch.Size(shape).numel()
    values = [((i * factor + shift) % modulus - modulus // 2) / divisor for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).reshape(shape)


def after_steps(make):
    parameters = [torch.nn.Parameter(numbers(shape, 37, 101 * a, 61, 32)) for a, (shape, _) in enumerate(ARRAYS)]
    groups = [
        {"params": [p for p, (_, decays) in zip(parameters, ARRAYS) if decays], "weight_decay": 0.1},
        {"params": [p for p, (_, decays) in zip(parameters, ARRAYS) if not decays], "weight_decay": 0.0},
    ]
    optimizer = make(groups)
    for step in range(1, STEPS + 1):
        for a, p in enumerate(parameters):
            p.grad = numbers(p.shape, 53, 17 * a + 29 * step, 41, 64) * (0.5 if step == 2 else 1)
        for group in optimizer.param_groups:
            group["lr"] = 0.01 / step
        optimizer.step()
    return [value for p in parameters for value in p.detach().flatten().tolist()]


OPTIMIZERS = {
    "kAdamW": lambda groups: torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.999), eps=1e-8),
    "kSgd": lambda groups: torch.optim.SGD(groups, lr=0.01),
    "kSgdMomentum": lambda groups: torch.optim.SGD(groups, lr=0.01, momentum=0.9),
    "kAdafactor": lambda groups: Adafactor(groups, lr=0.01, scale_parameter=False, relative_step=False),
}

WARMUP, TOTAL, LR = 10, 110, 5e-5
SCHEDULE_STEPS = [0, 1, 5, 9, 10, 11, 35, 60, 77, 109, 110, 111, 300]
SCHEDULES = [
    ("linear", {}),
    ("cosine", {}),
    ("cosine", {"num_cycles": 2.0}),
    ("cosine_with_restarts", {}),
    ("cosine_with_restarts", {"num_cycles": 3}),
    ("polynomial", {}),
    ("polynomial", {"power": 2.5, "lr_end": 1e-6}),
    ("constant", {}),
    ("constant_with_warmup", {}),
    ("inverse_sqrt", {}),
    ("inverse_sqrt", {"timescale": 40}),
]


def factors(name, kwargs, warmup):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=LR)
    if "timescale" in kwargs:  # get_scheduler drops it
        scheduler = get_inverse_sqrt_schedule(optimizer, warmup, **kwargs)
    else:
        scheduler = get_scheduler(name, optimizer, warmup, TOTAL, kwargs)
    return [float(scheduler.lr_lambdas[0](step)) for step in SCHEDULE_STEPS]


def cpp(values):
    return ", ".join(repr(value) for value in values)


def row(name, kwargs, warmup):
    options = {"num_cycles": -1, "power": 1.0, "lr_end": 1e-7, "timescale": 0, **kwargs}
    fields = ", ".join(str(value) for value in [warmup, TOTAL, *options.values()])
    return f'    {{"{name}", {fields}, {{{cpp(factors(name, kwargs, warmup))}}}}},\n'


out = "#pragma once\n\n// Written by make_expected_values.py.\n\n#include <array>\n#include <cstdint>\n#include <vector>\n\n"
out += "namespace hearth::optim::expected {\n\n"
for name, make in OPTIMIZERS.items():
    out += f"inline const std::vector<float> {name} = {{{cpp(after_steps(make))}}};\n"
out += f"\ninline constexpr std::array<std::int64_t, {len(SCHEDULE_STEPS)}> kScheduleSteps = {{{cpp(SCHEDULE_STEPS)}}};\n"
out += f"inline constexpr double kInitialLr = {LR!r};\n\n"
out += "struct Schedule {\n  const char* name;\n  std::int64_t warmup_steps, total_steps;\n"
out += "  double num_cycles, power, lr_end;\n  std::int64_t timescale;\n"
out += "  std::array<double, kScheduleSteps.size()> factors;\n};\n"
out += "inline constexpr Schedule kSchedules[] = {\n"
out += "".join(row(name, kwargs, warmup) for name, kwargs in SCHEDULES for warmup in (WARMUP, 0))
out += "};\n\n}  // namespace hearth::optim::expected\n"
pathlib.Path(__file__).with_name("expected_values.h").write_text(out)
