"""The Trainer."""

from __future__ import annotations

import os
import weakref
from typing import Any, Callable, Iterator, NamedTuple

from .callbacks import CallbackHandler, EarlyStoppingCallback, TrainerCallback, TrainerControl, TrainerState
from .data import takes_floats, to_dataset
from .lib import _hearth
from .lib._hearth import Error
from .training_args import TrainingArguments


class TrainOutput(NamedTuple):
    global_step: int
    training_loss: float
    metrics: dict[str, float]


class PredictionOutput(NamedTuple):
    predictions: Any
    label_ids: Any
    metrics: dict[str, float]


class EvalPrediction:
    """Logits and labels of an evaluation, for compute_metrics. Rows of different lengths are filled up with -100."""

    def __init__(self, predictions: Any, label_ids: Any) -> None:
        self.predictions, self.label_ids = predictions, label_ids

    def __iter__(self) -> Iterator[Any]:
        return iter((self.predictions, self.label_ids))

    def __getitem__(self, index: int) -> Any:
        return (self.predictions, self.label_ids)[index]


# Methods that subclasses of the Trainer of transformers override. The library's Trainer, which trains in C++, would not
# call them.
_HOOKS = (
    "_get_train_sampler",
    "_save",
    "_save_checkpoint",
    "compute_loss",
    "compute_loss_context_manager",
    "create_optimizer",
    "create_optimizer_and_scheduler",
    "create_scheduler",
    "evaluate",
    "evaluation_loop",
    "get_eval_dataloader",
    "get_test_dataloader",
    "get_train_dataloader",
    "log",
    "optimizer_step",
    "prediction_step",
    "save_model",
    "training_step",
)


class Trainer:
    """Trains a model as the Trainer of transformers does: the same arguments, order of data, schedule and files."""

    def __init__(
        self,
        model: Any = None,
        args: TrainingArguments | None = None,
        data_collator: Any = None,
        train_dataset: Any = None,
        eval_dataset: Any = None,
        processing_class: Any = None,
        model_init: Callable[[], Any] | None = None,
        compute_metrics: Callable[[EvalPrediction], dict[str, float]] | None = None,
        callbacks: list[Any] | None = None,
        optimizers: tuple[Any, Any] = (None, None),
        preprocess_logits_for_metrics: Callable[[Any, Any], Any] | None = None,
        tokenizer: Any = None,
    ) -> None:
        for hook in _HOOKS:
            if getattr(type(self), hook, None) is not getattr(Trainer, hook, None):
                raise Error(
                    f"{type(self).__name__}.{hook} would not be called while the model trains, because C++ makes the steps: "
                    "use a callback, write a loop with Accelerator (docs/python.md) or a loss in C++ (docs/library.md)"
                )
        if tuple(optimizers) != (None, None):
            raise Error(
                "Trainer(optimizers=...) is not supported: name the optimizer and the schedule in TrainingArguments, "
                "or write a loop with Accelerator"
            )
        if model is None and model_init is not None:
            model = model_init()
        if model is None:
            raise Error("Trainer needs a model, such as AutoModelForSequenceClassification.from_pretrained(...)")
        self.model = model
        self.args = args if args is not None else TrainingArguments()
        self.data_collator = data_collator
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.processing_class = processing_class if processing_class is not None else tokenizer
        self.compute_metrics = compute_metrics
        self.preprocess_logits_for_metrics = preprocess_logits_for_metrics
        self.state, self.control = TrainerState(), TrainerControl()
        self._callbacks: list[TrainerCallback] = []
        self._job: Any = None
        self._job_settings: dict[str, Any] = {}
        self._datasets: dict[int, tuple[Any, Any]] = {}
        for callback in callbacks or []:
            self.add_callback(callback)
        self._handler().call("on_init_end")

    @property
    def tokenizer(self) -> Any:
        return self.processing_class

    def add_callback(self, callback: Any) -> None:
        """A TrainerCallback or its class."""
        callback = callback() if isinstance(callback, type) else callback
        if isinstance(callback, EarlyStoppingCallback):
            self.args.early_stopping_patience = callback.early_stopping_patience
            self.args.early_stopping_threshold = callback.early_stopping_threshold
        else:
            self._callbacks.append(callback)
        self._job = None

    def _handler(self) -> CallbackHandler:
        trainer: Any = weakref.ref(self)  # the library's object must not keep this one alive
        objects = {"model": self.model, "processing_class": self.processing_class, "tokenizer": self.processing_class}
        return CallbackHandler(self._callbacks, self.args, self.state, objects, lambda: trainer()._refresh())

    def _dataset(self, dataset: Any) -> Any:
        """The library's form of a dataset, made once."""
        if id(dataset) not in self._datasets:
            self._datasets[id(dataset)] = (dataset, to_dataset(dataset, self.model, self.data_collator))
        return self._datasets[id(dataset)][1]

    def _ready(self) -> Any:
        settings = self.args.to_dict()
        if self._job is None or settings != self._job_settings:
            self._job_settings = settings
            self.args._settings.validate()
            handler = self._handler()
            scores: Any = weakref.WeakMethod(self._scores)
            save_beside: Any = weakref.WeakMethod(self._save_beside)
            self._job = _hearth.Job(
                self.model._model,
                self.args._settings,
                self._dataset(self.train_dataset),
                self._dataset(self.eval_dataset),
                self.model.num_labels if self.model.head == "token classification" else 0,
                handler if handler.wanted() else None,
                (lambda values: scores()(values)) if self.compute_metrics is not None else None,
                lambda folder: save_beside()(folder),
            )
        return self._job

    def _refresh(self) -> None:
        if self._job is not None:
            self.state.update(self._job.state() | {"is_world_process_zero": self.is_world_process_zero()})

    def _save_beside(self, folder: str) -> None:
        if self.processing_class is not None:
            self.processing_class.save_pretrained(folder)

    def _values(self, values: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Any, Any]:
        import numpy

        logits, labels = values
        if not takes_floats(self.model):
            labels = {name: rows.astype(numpy.int64) for name, rows in labels.items()}
        labels = {name: rows[:, 0] if rows.ndim == 2 and rows.shape[1] == 1 else rows for name, rows in labels.items()}
        only = lambda arrays: arrays[0] if len(arrays) == 1 else tuple(arrays) or None  # noqa: E731
        return only(list(logits.values())), only(list(labels.values()))

    def _scores(self, values: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, float]:
        predictions, labels = self._values(values)
        if self.preprocess_logits_for_metrics is not None:
            predictions = self.preprocess_logits_for_metrics(predictions, labels)
        scores = self.compute_metrics(EvalPrediction(predictions, labels))  # type: ignore[misc]
        return {name.removeprefix("eval_"): value for name, value in scores.items()}

    def train(self, resume_from_checkpoint: Any = None) -> TrainOutput:
        """Trains to the end. True resumes from the last checkpoint in output_dir. Ctrl-C saves a checkpoint first."""
        if self.train_dataset is None:
            raise Error("Trainer.train needs a train_dataset")
        job = self._ready()
        given = resume_from_checkpoint
        resume = None if not given else "True" if given is True else os.fspath(given)
        try:
            metrics = job.train(resume)
        finally:
            self._refresh()
        return TrainOutput(self.state.global_step, metrics["train_loss"], metrics)

    def evaluate(self, eval_dataset: Any = None) -> dict[str, float]:
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        if dataset is None:
            raise Error("Trainer.evaluate needs an eval_dataset")
        metrics = self._ready().evaluate(self._dataset(dataset))
        self._refresh()
        return metrics

    def predict(self, test_dataset: Any, metric_key_prefix: str = "test") -> PredictionOutput:
        values, metrics = self._ready().predict(self._dataset(test_dataset), metric_key_prefix)
        return PredictionOutput(*self._values(values), metrics)

    def save_model(self, output_dir: Any = None) -> None:
        """config.json, model.safetensors, the tokenizer and training_args.json."""
        folder = os.fspath(output_dir if output_dir is not None else self.args.output_dir)
        os.makedirs(folder, exist_ok=True)
        self._ready().save_model(folder)

    def save_state(self) -> None:
        """trainer_state.json in output_dir."""
        self._ready().save_state(self.args.output_dir)

    def log_metrics(self, split: str, metrics: dict[str, float]) -> None:
        print(_hearth.metrics_block(split, metrics), end="")

    def save_metrics(self, split: str, metrics: dict[str, float]) -> None:
        _hearth.save_metrics(self.args.output_dir, split, metrics)

    def is_world_process_zero(self) -> bool:
        return _hearth.process_index() == 0
