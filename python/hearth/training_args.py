"""TrainingArguments. Its keywords are the options that hearth/train/training_options.cc declares."""

from __future__ import annotations

import enum
import json
import os
from typing import Any, Iterator

from .lib import _hearth

_OPTIONS: dict[str, dict[str, Any]] = {}
_announced: set[str] = set()


def _options() -> dict[str, dict[str, Any]]:
    if not _OPTIONS:
        for option in _hearth.declared_options():
            for name in [option["name"], *option["aliases"]]:
                _OPTIONS[name] = option
    return _OPTIONS


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


class _Signature(type):
    """Gives inspect and notebooks the keywords, with their defaults."""

    @property
    def __signature__(cls) -> Any:
        import inspect

        names = [name for name, option in _options().items() if option["support"] != "refused"]
        names.remove("output_dir")
        parameters = [inspect.Parameter("output_dir", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
        for name in names:
            default = _options()[name]["default"]
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
        return inspect.Signature(parameters)


class TrainingArguments(metaclass=_Signature):
    """The Trainer's settings under the names of transformers. Settings for other devices and libraries are accepted
    and have no effect; `print(TrainingArguments.describe())` says what each one does."""

    def __init__(self, output_dir: Any = None, **settings: Any) -> None:
        object.__setattr__(self, "_settings", _hearth.Settings())
        object.__setattr__(self, "_ignored", {})
        for name, value in {"output_dir": output_dir, **settings}.items():
            self._set(name, value)
        for notice in self._settings.notices():
            if notice not in _announced:
                _announced.add(notice)
                _hearth.log_info(notice)
        self._settings.validate()

    def _set(self, name: str, value: Any) -> None:
        option = _options().get(name)
        is_optional = option is not None and option["default"] is None and option["support"] == "works"
        if value is None and option is not None and not is_optional:
            return  # as if it were not given
        self._settings.set(name, _words(value))
        if option is not None and option["support"] != "works":
            self._ignored[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _options():
            raise AttributeError(f"TrainingArguments has no setting {name}")
        option = _options()[name]
        if option["support"] != "works":
            return self._ignored.get(name)
        return self._settings.get(option["name"])

    def __setattr__(self, name: str, value: Any) -> None:
        self._set(name, value)

    def __dir__(self) -> Iterator[str]:
        return iter([*super().__dir__(), *_options()])

    def to_dict(self) -> dict[str, Any]:
        return dict(self._settings.values())

    def to_json_string(self) -> str:
        return json.dumps(self.to_dict(), indent=2)

    def __repr__(self) -> str:
        changed = {name: value for name, value in self.to_dict().items() if value != _options()[name]["default"]}
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
    def should_save(self) -> bool:
        return self.process_index == 0
