"""TrainingArguments. Its keywords are the options that hearth/train/training_options.cc declares."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import json
import logging
import os
from typing import Any, Iterator, Literal, Optional

from .lib import _hearth

_DECLARED = _hearth.declared_options()
_OPTIONS: dict[str, dict[str, Any]] = {
    name: option for option in _DECLARED for name in [option["name"], *option["aliases"]]
}
_announced: set[str] = set()


def _words(value: Any) -> list[str]:
    """A value as the words that a command line would have."""
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None or (isinstance(value, (dict, list, tuple)) and not value):
        return ["None"]
    if isinstance(value, dict):
        return [json.dumps(value)]
    if isinstance(value, (list, tuple)):
        return [word for item in value for word in _words(item)]
    if isinstance(value, float):
        return [repr(value)]
    return [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def _value_type(option: dict[str, Any], settings: Any) -> Any:
    """The type of an option's value, which is not None: that of its default, or what `settings` makes of a word."""
    if option["default"] is not None:
        kind = type(option["default"])
    elif option["support"] == "works":
        kind = str
        for word in ["1", *option["choices"]]:
            try:
                settings.set(option["name"], [word])
            except _hearth.Error:
                continue
            kind = type(settings.get(option["name"]))
            break
    elif option["is_switch"]:
        kind = bool if option["support"] == "ignored" else str
    else:
        try:
            settings.set(option["name"], ["one", "two"])
            kind = list
        except _hearth.Error:
            kind = str
    if kind is list:
        return list[str]
    return Literal[tuple(option["choices"])] if option["choices"] else kind


def _as_dataclass() -> Any:
    """A dataclass with a field per option, as HfArgumentParser and dataclasses that are derived need them."""
    settings, fields = _hearth.Settings(), []
    for option in _DECLARED:
        kind, default = _value_type(option, settings), option["default"]
        metadata: dict[str, Any] = {"help": option["help"].replace("%", "%%")}
        if option["aliases"]:
            metadata["aliases"] = [f"--{word}" for name in option["aliases"] for word in (name, name.replace("_", "-"))]
        if option["is_switch"] and option["support"] != "works":
            metadata.update(nargs="?", const=kind(True))  # may stand without a value
        if kind == list[str] and default is not None:
            field = dataclasses.field(default_factory=lambda default=default: list(default), metadata=metadata)
        else:
            field = dataclasses.field(default=default, metadata=metadata)
        fields.append((option["name"], kind if default is not None else Optional[kind], field))
    return dataclasses.make_dataclass("TrainingArguments", fields)


_AS_DATACLASS = _as_dataclass()


class ParallelMode(enum.Enum):
    NOT_DISTRIBUTED = "not_distributed"
    DISTRIBUTED = "distributed"


class _Signature(type):
    """Gives inspect and notebooks the keywords, with their defaults."""

    @property
    def __signature__(cls) -> Any:
        import inspect

        if cls.__init__ is not TrainingArguments.__init__:
            raise AttributeError("__signature__")  # a subclass has its own
        names = [name for name, option in _OPTIONS.items() if option["support"] != "refused"]
        names.remove("output_dir")
        parameters = [inspect.Parameter("output_dir", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
        for name in names:
            default = _OPTIONS[name]["default"]
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
        return inspect.Signature(parameters)


class TrainingArguments(metaclass=_Signature):
    """The Trainer's settings under the names of transformers. Settings for other devices and libraries are accepted
    and have no effect; `print(TrainingArguments.describe())` says what each one does.

    It counts as a dataclass, so that HfArgumentParser takes it, and dataclasses can be derived from it."""

    __dataclass_fields__ = _AS_DATACLASS.__dataclass_fields__
    __dataclass_params__ = _AS_DATACLASS.__dataclass_params__
    __annotations__ = _AS_DATACLASS.__annotations__
    # Switches without effect: HfArgumentParser takes --no_NAME, whatever their default was.
    _negatable = {
        option["name"]
        for option in _DECLARED
        if option["is_switch"] and option["support"] == "ignored" and not option["name"].startswith("no_")
    }

    def __new__(cls, *words: Any, **settings: Any) -> TrainingArguments:
        self = super().__new__(cls)
        object.__setattr__(self, "_settings", _hearth.Settings())
        object.__setattr__(self, "_ignored", {})
        return self

    def __init__(self, output_dir: Any = None, **settings: Any) -> None:
        for name, value in {"output_dir": output_dir, **settings}.items():
            self._set(name, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Dataclasses that are derived call it when their fields are set."""
        for notice in self._settings.notices():
            if notice not in _announced:
                _announced.add(notice)
                _hearth.log_info(notice)
        self._settings.validate()

    def _set(self, name: str, value: Any) -> None:
        option = _OPTIONS.get(name)
        is_optional = option is not None and option["default"] is None and option["support"] == "works"
        if value is None and option is not None and not is_optional:
            return  # as if it were not given
        self._settings.set(name, _words(value))
        if option is not None and option["support"] != "works":
            self._ignored[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _OPTIONS:
            raise AttributeError(f"TrainingArguments has no setting {name}")
        option = _OPTIONS[name]
        if option["support"] != "works":
            return self._ignored.get(name)
        return self._settings.get(option["name"])

    def __setattr__(self, name: str, value: Any) -> None:
        is_of_subclass = name in type(self).__dataclass_fields__ or hasattr(type(self), name) or name.startswith("_")
        if name not in _OPTIONS and is_of_subclass:
            object.__setattr__(self, name, value)
        else:
            self._set(name, value)

    def __dir__(self) -> Iterator[str]:
        return iter([*super().__dir__(), *_OPTIONS])

    def to_dict(self) -> dict[str, Any]:
        return dict(self._settings.values())

    def to_json_string(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def __repr__(self) -> str:
        changed = {name: value for name, value in self.to_dict().items() if value != _OPTIONS[name]["default"]}
        return f"TrainingArguments({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    @staticmethod
    def describe() -> str:
        """A line per setting."""
        return "\n".join(f"{option['name']}: {option['help']}" for option in _hearth.declared_options())

    @property
    def train_batch_size(self) -> int:
        return self.per_device_train_batch_size

    @property
    def eval_batch_size(self) -> int:
        return self.per_device_eval_batch_size

    @property
    def world_size(self) -> int:
        return _hearth.num_processes()

    @property
    def process_index(self) -> int:
        return _hearth.process_index()

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def n_gpu(self) -> int:
        return 0

    @property
    def local_process_index(self) -> int:
        return _hearth.local_process_index()

    @property
    def parallel_mode(self) -> ParallelMode:
        return ParallelMode.DISTRIBUTED if self.world_size > 1 else ParallelMode.NOT_DISTRIBUTED

    @property
    def should_save(self) -> bool:
        return (self.local_process_index if self.save_on_each_node else self.process_index) == 0

    @property
    def should_log(self) -> bool:
        return (self.local_process_index if self.log_on_each_node else self.process_index) == 0

    def get_process_log_level(self) -> int:
        """The level of Python's logging that this process has."""
        name = self.log_level if self.should_log else self.log_level_replica
        named = {"detail": logging.DEBUG, "passive": logging.WARNING}
        return int(named.get(name) or getattr(logging, name.upper()))

    @contextlib.contextmanager
    def main_process_first(self, local: bool = True, desc: str = "work") -> Iterator[None]:
        """The first process, of each host or of all, does something before the others do it."""
        is_first = (self.local_process_index if local else self.process_index) == 0
        try:
            if not is_first:
                self._settings.wait_for_everyone()
            yield
        finally:
            if is_first:
                self._settings.wait_for_everyone()
