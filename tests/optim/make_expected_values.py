"""Writes expected_values.h: what torch and transformers 4.52.4 compute. Run: python make_expected_values.py"""

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


class AdamWHf(torch.optim.Optimizer):
    """What --optim adamw_hf was: transformers.AdamW with correct_bias, which transformers 4.50 removed."""

    def __init__(self, groups, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(groups, {"lr": 0.01, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                t = state["step"] = state.get("step", 0) + 1
                m = state.setdefault("exp_avg", torch.zeros_like(p)).mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v = state.setdefault("exp_avg_sq", torch.zeros_like(p))
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                step_size = group["lr"] * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
                p.addcdiv_(m, v.sqrt().add_(group["eps"]), value=-step_size)
                p.add_(p, alpha=-group["lr"] * group["weight_decay"])


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., 2023, with the decay first, as bitsandbytes.optim.Lion has it."""

    def __init__(self, groups, betas):
        super().__init__(groups, {"lr": 0.01, "betas": betas})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(torch.sign(beta1 * m + (1 - beta1) * p.grad), alpha=group["lr"])
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


ADAGRAD_ARGS = {"lr_decay": 0.25, "initial_accumulator_value": 0.5, "eps": 1e-3}
RMSPROP_ARGS = {"alpha": 0.9, "eps": 1e-3, "momentum": 0.8}
OPTIMIZERS = {
    "kAdamW": lambda groups: torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.999), eps=1e-8),
    "kSgd": lambda groups: torch.optim.SGD(groups, lr=0.01),
    "kSgdMomentum": lambda groups: torch.optim.SGD(groups, lr=0.01, momentum=0.9),
    "kAdafactor": lambda groups: Adafactor(groups, lr=0.01, scale_parameter=False, relative_step=False),
    "kAdamWHf": AdamWHf,
    "kAdamWHfLargeEps": lambda groups: AdamWHf(groups, betas=(0.8, 0.9), eps=0.1),
    "kAdagrad": lambda groups: torch.optim.Adagrad(groups, lr=0.01),
    "kAdagradArgs": lambda groups: torch.optim.Adagrad(groups, lr=0.01, **ADAGRAD_ARGS),
    "kRmsProp": lambda groups: torch.optim.RMSprop(groups, lr=0.01),
    "kRmsPropArgs": lambda groups: torch.optim.RMSprop(groups, lr=0.01, **RMSPROP_ARGS),
    "kLion": lambda groups: Lion(groups, betas=(0.9, 0.999)),
    "kLionBetas": lambda groups: Lion(groups, betas=(0.8, 0.9)),
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
    ("cosine_with_min_lr", {"min_lr_rate": 0.1}),
    ("cosine_with_min_lr", {"min_lr": 2e-5, "num_cycles": 1.5}),
    ("warmup_stable_decay", {"num_decay_steps": 40}),
    ("warmup_stable_decay", {"num_decay_steps": 105, "num_cycles": 1.5}),
    ("warmup_stable_decay", {"num_decay_steps": 0}),
    *(
        ("warmup_stable_decay", {"num_decay_steps": 30, "num_stable_steps": 26, "min_lr_ratio": 0.2, **types})
        for types in (
            {"warmup_type": "linear", "decay_type": "linear"},
            {"warmup_type": "cosine", "decay_type": "1-sqrt"},
            {"warmup_type": "1-sqrt", "decay_type": "cosine"},
        )
    ),
]

PLATEAU_METRICS = [3, 2, 2.1, 2.05, 1.9, 1.9, 1.9999, float("nan"), 1.8999, 1.91, 1.5, 1.6, 1.7, 1.4999]
PLATEAU_METRICS += [1.8, 1.9, 2, 2, 2, 3.0002, 3.2, 3.1, 3.25, 3.5, 3.4]
PLATEAUS = [
    {},
    {"patience": 2},
    {"patience": 0, "factor": 0.5},
    {"patience": 0, "mode": "max", "factor": 0.3},
    {"patience": 1, "threshold": 0.2, "factor": 0.7},
    {"patience": 1, "threshold": 0.2, "threshold_mode": "abs"},
    {"patience": 0, "threshold": 0.2, "threshold_mode": "abs", "mode": "max", "factor": 0.9},
    {"patience": 0, "factor": 0.5, "cooldown": 2},
    {"patience": 0, "factor": 0.5, "min_lr": 7e-6},
    {"patience": 0, "factor": 0.9, "eps": 4e-6},
    {"patience": 0, "factor": 0.9, "eps": 6e-6},
]


def sgd():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=LR)


def factors(name, kwargs, warmup):
    optimizer = sgd()
    if "timescale" in kwargs:  # get_scheduler drops it
        scheduler = get_inverse_sqrt_schedule(optimizer, warmup, **kwargs)
    else:
        scheduler = get_scheduler(name, optimizer, warmup, TOTAL, kwargs)
    return [float(scheduler.lr_lambdas[0](step)) for step in SCHEDULE_STEPS]


def cpp(values):
    return ", ".join(repr(value) for value in values)


def cpp_fields(values):
    return ", ".join("{}" if v is None else f'"{v}"' if isinstance(v, str) else str(v) for v in values)


def plateau_row(kwargs):
    optimizer = sgd()
    scheduler = get_scheduler("reduce_lr_on_plateau", optimizer, WARMUP, TOTAL, kwargs)
    rates = []
    for metric in PLATEAU_METRICS:
        scheduler.step(metric)
        rates.append(optimizer.param_groups[0]["lr"])
    options = {"mode": "min", "factor": 0.1, "patience": 10, "threshold": 1e-4, "threshold_mode": "rel"}
    options |= {"cooldown": 0, "min_lr": 0, "eps": 1e-8, **kwargs}
    return f"    {{{{{cpp_fields(options.values())}}}, {{{cpp(rates)}}}}},\n"


def row(name, kwargs, warmup):
    given = dict(kwargs)
    least = given.pop("min_lr", 0) / LR or given.pop("min_lr_rate", 0) or given.pop("min_lr_ratio", 0)
    defaults = {"num_cycles": -1, "power": 1.0, "lr_end": 1e-7, "timescale": 0, "min_factor": least}
    defaults |= {"num_decay_steps": None, "num_stable_steps": None, "warmup_type": "linear", "decay_type": "cosine"}
    fields = cpp_fields([warmup, TOTAL, *{**defaults, **given}.values()])
    return f'    {{{{"{name}", {fields}}}, {{{cpp(factors(name, kwargs, warmup))}}}}},\n'


out = "#pragma once\n\n// Written by make_expected_values.py.\n\n"
out += "#include <array>\n#include <cstdint>\n#include <limits>\n#include <vector>\n\n"
out += '#include "hearth/optim/plateau.h"\n#include "hearth/optim/schedule.h"\n\n'
out += "namespace hearth::optim::expected {\n\n"
for name, make in OPTIMIZERS.items():
    out += f"inline const std::vector<float> {name} = {{{cpp(after_steps(make))}}};\n"
out += f"\ninline constexpr std::array<std::int64_t, {len(SCHEDULE_STEPS)}> kScheduleSteps = {{{cpp(SCHEDULE_STEPS)}}};\n"
out += f"inline constexpr double kInitialLr = {LR!r};\n\n"
out += "struct Schedule {\n  ScheduleOptions options;\n  std::array<double, kScheduleSteps.size()> factors;\n};\n"
out += "inline const Schedule kSchedules[] = {\n"
out += "".join(row(name, kwargs, warmup) for name, kwargs in SCHEDULES for warmup in (WARMUP, 0))
metrics = cpp(PLATEAU_METRICS).replace("nan", "std::numeric_limits<double>::quiet_NaN()")
out += f"}};\n\ninline constexpr std::array<double, {len(PLATEAU_METRICS)}> kPlateauMetrics = {{{metrics}}};\n"
out += "// The learning rate after each of the metrics.\n"
out += "struct ReducedOnPlateau {\n  PlateauOptions options;\n"
out += "  std::array<double, kPlateauMetrics.size()> learning_rates;\n};\n"
out += "inline const ReducedOnPlateau kPlateaus[] = {\n"
out += "".join(plateau_row(kwargs) for kwargs in PLATEAUS)
out += "};\n\n}  // namespace hearth::optim::expected\n"
pathlib.Path(__file__).with_name("expected_values.h").write_text(out)
