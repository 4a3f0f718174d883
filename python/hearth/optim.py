"""Optimizers and learning-rate schedules."""

from __future__ import annotations

from typing import Any

from .keywords import refuse_others
from .lib import _hearth
from .lib._hearth import Error


def _model_and_decay(params: Any, weight_decay: float) -> tuple[Any, float, bool]:
    """The model of the parameters, its weight decay, and whether that is for all of them. Parameters are one list, or
    groups with weight decays of their own."""
    given = list(params)
    groups: list[dict[str, Any]] = given if given and isinstance(given[0], dict) else [{"params": given}]
    decay: dict[str, float] = {
        p.name: group.get("weight_decay", weight_decay) for group in groups for p in group["params"]
    }
    models = {id(p.model): p.model for group in groups for p in group["params"]}
    if len(models) != 1:
        raise Error("an optimizer needs the parameters of one model: model.parameters()")
    (model,) = models.values()
    every = {p.name: p for p in model.parameters() if p.requires_grad}
    if missing := [name for name in every if name not in decay]:
        raise Error(
            f"the optimizer is not given {missing[0]}: give all parameters, and freeze those that are not to be "
            "trained (from_pretrained(..., freeze=...))"
        )
    values = {decay[name] for name in every}
    if len(values) == 1:
        return model, values.pop(), True
    decayed = {decay[name] for name, p in every.items() if p.decays}
    spared = {decay[name] for name, p in every.items() if not p.decays}
    if len(decayed) != 1 or spared != {0}:
        raise Error(
            "weight decay may be one for all parameters, or 0 for all biases and LayerNorm weights and one for the "
            "others"
        )
    return model, decayed.pop(), False


class Optimizer:
    """Updates the parameters of a model. `name` is one of those of TrainingArguments(optim=...)."""

    def __init__(
        self,
        params: Any,
        name: str,
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        model, decay, all_parameters = _model_and_decay(params, weight_decay)
        self.model = model
        self._optimizer = _hearth.Optimizer.make(model._model, name, lr, betas[0], betas[1], eps, decay, all_parameters)
        self._prepared: Any = None

    def _prepare(self, accelerator: Any) -> None:
        self._prepared = accelerator.prepare_optimizer(self._optimizer)

    def _ready(self) -> Any:
        if self._prepared is None:
            self._prepare(self.model._accelerator())
        return self._prepared

    def step(self) -> None:
        self._ready().step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        self._ready().zero_grad()

    def clip_grad_norm(self, max_norm: float) -> float:
        return self._ready().clip_grad_norm(max_norm)

    @property
    def step_was_skipped(self) -> bool:
        return self._ready().step_was_skipped

    @property
    def lr(self) -> float:
        return self._optimizer.lr

    @lr.setter
    def lr(self, value: float) -> None:
        self._optimizer.lr = value

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return [{"lr": self.lr, "params": self.model.parameters()}]


class AdamW(Optimizer):
    """torch.optim.AdamW with its defaults: weight decay of all parameters."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        **others: Any,
    ) -> None:
        refuse_others("AdamW", others, {"foreach", "fused", "capturable"})
        super().__init__(params, "adamw_torch", lr, betas, eps, weight_decay)


class Scheduler:
    """Sets the learning rate of an optimizer with every step()."""

    def __init__(self, optimizer: Optimizer, name: str, warmup_steps: int, total_steps: int) -> None:
        self._schedule = _hearth.LrScheduler(optimizer._optimizer, name, warmup_steps, total_steps)
        self._prepared: Any = None

    def _prepare(self, accelerator: Any) -> None:
        self._prepared = accelerator.prepare_scheduler(self._schedule)

    def step(self) -> None:
        (self._prepared or self._schedule).step()

    def get_last_lr(self) -> list[float]:
        return [self._schedule.lr]


def get_scheduler(
    name: Any, optimizer: Optimizer, num_warmup_steps: int | None = 0, num_training_steps: int | None = 0, **others: Any
) -> Scheduler:
    refuse_others("get_scheduler", others, set())
    return Scheduler(optimizer, getattr(name, "value", name), num_warmup_steps or 0, num_training_steps or 0)


def get_linear_schedule_with_warmup(optimizer: Optimizer, num_warmup_steps: int, num_training_steps: int) -> Scheduler:
    return Scheduler(optimizer, "linear", num_warmup_steps, num_training_steps)
