"""Callbacks of a Trainer, as in transformers."""

from __future__ import annotations

from typing import Any, Callable


class TrainerState:
    """How far a run is. `log_history` has the rows that were logged."""

    def __init__(self) -> None:
        self.global_step = 0
        self.max_steps = 0
        self.num_train_epochs = 0
        self.epoch: float | None = None
        self.best_metric: float | None = None
        self.best_model_checkpoint: str | None = None
        self.log_history: list[dict[str, Any]] = []
        self.is_world_process_zero = True
        self.is_local_process_zero = True

    def update(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, value)


class TrainerControl:
    """What callbacks ask for: they set members to True."""

    def __init__(self) -> None:
        self.should_training_stop = False
        self.should_epoch_stop = False
        self.should_evaluate = False
        self.should_save = False
        self.should_log = False


class TrainerCallback:
    """Code of one's own at the events of a run. kwargs have model, processing_class, and logs or metrics."""

    def on_init_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_epoch_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_step_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_epoch_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_log(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...
    def on_train_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> Any: ...


class EarlyStoppingCallback(TrainerCallback):
    """The settings early_stopping_patience and early_stopping_threshold, as a callback."""

    def __init__(self, early_stopping_patience: int = 1, early_stopping_threshold: float = 0.0) -> None:
        self.early_stopping_patience = early_stopping_patience
        self.early_stopping_threshold = early_stopping_threshold


_REQUESTS = ("should_training_stop", "should_evaluate", "should_save", "should_log")
_PAYLOAD = {"on_log": "logs", "on_evaluate": "metrics"}


class CallbackHandler:
    """Hands the events of the library to the callbacks that have code for them."""

    def __init__(
        self,
        callbacks: list[TrainerCallback],
        args: Any,
        state: TrainerState,
        objects: dict[str, Any],
        refresh: Callable[[], None],
    ) -> None:
        self.callbacks, self.args, self.state, self.objects, self.refresh = callbacks, args, state, objects, refresh
        self.control = TrainerControl()

    def wanted(self) -> bool:
        return bool(self.callbacks)

    def call(self, event: str, **payload: Any) -> None:
        for callback in self.callbacks:
            if getattr(type(callback), event, None) is getattr(TrainerCallback, event):
                continue  # it has no code for this event
            result = getattr(callback, event)(self.args, self.state, self.control, **self.objects, **payload)
            if isinstance(result, TrainerControl):
                self.control = result

    def __call__(self, event: str, progress: dict[str, Any], asked: dict[str, bool], metrics: dict[str, Any]) -> None:
        self.state.update(progress)
        if event in _PAYLOAD or event in ("on_save", "on_train_end"):
            self.refresh()
        for name in _REQUESTS:
            setattr(self.control, name, asked[name])
        self.control.should_epoch_stop = False
        self.call(event, **({_PAYLOAD[event]: metrics} if event in _PAYLOAD else {}))
        for name in _REQUESTS:
            asked[name] = bool(getattr(self.control, name))
