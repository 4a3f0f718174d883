"""The Accelerator: a training loop of one's own, in one process or in many without a change."""

from __future__ import annotations

import contextlib
import enum
import os
from typing import Any, Iterator

from .data import DataLoader
from .keywords import refuse_others
from .lib import _hearth
from .lib._hearth import Error
from .modeling import Loss, Model
from .optim import Optimizer, Scheduler
from .seeds import current_seed


class DistributedType(str, enum.Enum):
    NO = "NO"
    MULTI_CPU = "MULTI_CPU"
    MULTI_GPU = "MULTI_GPU"
    XLA = "XLA"
    TPU = "TPU"


class Accelerator:
    """As in accelerate: prepare() everything, call backward() here, gather_for_metrics() what the ranks predict."""

    device = "cpu"

    def __init__(
        self,
        mixed_precision: Any = None,
        gradient_accumulation_steps: int = 1,
        cpu: bool = True,
        seed: int | None = None,
        **others: Any,
    ) -> None:
        refuse_others("Accelerator", others, {"device_placement", "rng_types", "dynamo_backend", "even_batches"})
        precision = None if mixed_precision is None else str(getattr(mixed_precision, "value", mixed_precision))
        self.mixed_precision = precision or os.environ.get("ACCELERATE_MIXED_PRECISION") or "no"
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._accelerator = _hearth.Accelerator(
            precision, gradient_accumulation_steps, current_seed() if seed is None else seed, alone=False
        )
        self._optimizers: list[Optimizer] = []

    def prepare(self, *objects: Any) -> Any:
        """Models, optimizers, loaders and schedules, in any order; returns them."""
        for kind in (Model, Optimizer, DataLoader, Scheduler):
            for each in objects:
                if not isinstance(each, (Model, Optimizer, DataLoader, Scheduler)):
                    raise Error(
                        "Accelerator.prepare takes Hearth's models, optimizers, DataLoaders and schedules, not "
                        f"{type(each).__module__}.{type(each).__name__}"
                    )
                if isinstance(each, kind):
                    self._prepare(each)
        return objects[0] if len(objects) == 1 else objects

    def _prepare(self, each: Any) -> None:
        if isinstance(each, DataLoader):
            each._loader = self._accelerator.prepare_loader(each._loader)
            return
        each._prepare(self._accelerator)
        if isinstance(each, Optimizer):
            self._optimizers.append(each)

    prepare_model = prepare_optimizer = prepare_data_loader = prepare_scheduler = prepare

    def backward(self, loss: Loss) -> None:
        self._accelerator.backward(loss._loss)

    @contextlib.contextmanager
    def accumulate(self, *models: Any) -> Iterator[None]:
        """Steps of prepared optimizers between two updates do nothing."""
        yield

    @contextlib.contextmanager
    def autocast(self) -> Iterator[None]:
        yield

    @property
    def sync_gradients(self) -> bool:
        return self._accelerator.sync_gradients

    def clip_grad_norm_(self, parameters: Any, max_norm: float) -> float:
        models = {id(parameter.model) for parameter in parameters}
        return max((o.clip_grad_norm(max_norm) for o in self._optimizers if id(o.model) in models), default=0.0)

    def gather(self, values: Any) -> Any:
        return self._gather(values, False)

    def gather_for_metrics(self, values: Any) -> Any:
        """The values of all ranks, without the items that the last round repeats."""
        return self._gather(values, True)

    def _gather(self, values: Any, for_metrics: bool) -> Any:
        if isinstance(values, (list, tuple)):
            return type(values)(self._gather(each, for_metrics) for each in values)
        if isinstance(values, dict):
            return {name: self._gather(each, for_metrics) for name, each in values.items()}
        import numpy

        from .arrays import as_array

        array = numpy.ascontiguousarray(values)
        array = array.reshape(1) if array.ndim == 0 else array
        gathered = self._accelerator.gather(array.tobytes(), for_metrics)
        return as_array(numpy.frombuffer(gathered, dtype=array.dtype).reshape(-1, *array.shape[1:]).copy())

    @property
    def process_index(self) -> int:
        return self._accelerator.process_index

    @property
    def num_processes(self) -> int:
        return self._accelerator.num_processes

    @property
    def is_main_process(self) -> bool:
        return self.process_index == 0

    @property
    def is_local_main_process(self) -> bool:
        return self._accelerator.is_first_of_host

    @property
    def distributed_type(self) -> DistributedType:
        return DistributedType.NO if self.num_processes == 1 else DistributedType.MULTI_CPU

    def wait_for_everyone(self) -> None:
        self._accelerator.wait_for_everyone()

    def print(self, *values: Any, **options: Any) -> None:
        if self.is_main_process:
            print(*values, **options)

    def main_process_first(self) -> Any:
        return self._first(self.is_main_process)

    def local_main_process_first(self) -> Any:
        return self._first(self.is_local_main_process)

    @contextlib.contextmanager
    def _first(self, is_first: bool) -> Iterator[None]:
        if not is_first:
            self.wait_for_everyone()
        yield
        if is_first:
            self.wait_for_everyone()

    def unwrap_model(self, model: Model, **_: Any) -> Model:
        return model

    def end_training(self) -> None:
        self.wait_for_everyone()
