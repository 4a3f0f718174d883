"""Models of Hugging Face folders, called as in transformers."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Iterator, Mapping

from .lib import _hearth
from .lib._hearth import Error
from .seeds import current_seed

_grad_is_off = 0


class no_grad(contextlib.ContextDecorator):
    """Forward passes inside keep nothing for a backward pass and have no dropout."""

    def __enter__(self) -> None:
        global _grad_is_off
        _grad_is_off += 1

    def __exit__(self, *_: Any) -> None:
        global _grad_is_off
        _grad_is_off -= 1


class Config(dict):
    """config.json, also as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"config.json has no {name}") from None

    def to_dict(self) -> dict[str, Any]:
        return dict(self)


class Loss:
    """The loss of a forward pass."""

    def __init__(self, loss: Any, model: Model) -> None:
        self._loss, self._model = loss, model

    def item(self) -> float:
        return self._loss.item()

    __float__ = item

    def backward(self) -> None:
        self._model._accelerator().backward(self._loss)

    def __mul__(self, factor: float) -> Loss:
        return Loss(self._loss.scaled(float(factor)), self._model)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Loss:
        return self if divisor == 1 else self * (1 / divisor)

    def detach(self) -> Any:
        from .arrays import as_array

        return as_array(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec)

    def __repr__(self) -> str:
        return f"Loss({self.item()})"


class ModelOutput(dict):
    """loss and logits, by name, as attributes and in order."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        if name == "loss":
            return None
        raise AttributeError(f"this output has no {name}; it has {', '.join(self)}")

    def __getitem__(self, key: Any) -> Any:
        return list(self.values())[key] if isinstance(key, (int, slice)) else super().__getitem__(key)


class Parameter:
    """A parameter under its Hugging Face name. `data` and `grad` are views of the library's memory."""

    def __init__(self, model: Model, name: str, data: Any, requires_grad: bool, decays: bool) -> None:
        from .arrays import as_array

        is_array = hasattr(data, "dtype") and hasattr(data, "sum")
        self.model, self.name, self.data = model, name, as_array(data) if is_array else data
        self.requires_grad, self.decays = requires_grad, decays
        self._grad: Any = None

    @property
    def grad(self) -> Any:
        from .arrays import as_array

        if self._grad is None:
            grad = self.model._model.gradient(self.name)
            self._grad = None if grad is None else as_array(grad)
        return self._grad

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    def numel(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    def __repr__(self) -> str:
        return f"Parameter({self.name}, {self.shape})"


def packed_batch(arrays: Mapping[str, Any], model: Any = None, first_sample: int = 0) -> Any:
    """A packed batch of padded arrays under transformers' names."""
    from .arrays import floats, whole_numbers
    from .data import _LABELS, takes_floats

    if arrays.get("input_ids") is None:
        raise Error(f"a batch needs input_ids; it has {', '.join(arrays) or 'nothing'}")
    labels: dict[str, Any] = {}
    float_labels: dict[str, Any] = {}
    for column, name in _LABELS.items():
        values = arrays.get(column)
        if values is None:
            continue
        kind = getattr(getattr(values, "dtype", None), "kind", None)
        is_float = takes_floats(model) or kind == "f" or "float" in str(getattr(values, "dtype", ""))
        (float_labels if is_float else labels)[name] = (floats if is_float else whole_numbers)(values)
    optional = {name: arrays.get(name) for name in ("attention_mask", "token_type_ids")}
    whole = {name: None if values is None else whole_numbers(values) for name, values in optional.items()}
    return _hearth.pack(
        whole_numbers(arrays["input_ids"]),
        whole["attention_mask"],
        whole["token_type_ids"],
        labels,
        float_labels,
        first_sample,
    )


class Model:
    """A pretrained model with a head."""

    device = "cpu"

    def __init__(self, model: Any, name: str = "") -> None:
        self._model = model
        self.name_or_path = name
        self.config = Config(model.config())
        labels = model.label_names
        self.config.update(
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
        )
        self.training = False
        self._prepared: Any = None  # by the Accelerator in use
        self._used_accelerator: Any = None

    @property
    def head(self) -> str:
        return self._model.head

    @property
    def num_labels(self) -> int:
        return self.config["num_labels"]

    def _accelerator(self) -> Any:
        """The one that prepared the model, or one of its own for loops without an Accelerator."""
        if self._used_accelerator is None:
            self._prepare(_hearth.Accelerator("no", 1, current_seed(), alone=True))
        return self._used_accelerator

    def _prepare(self, accelerator: Any) -> None:
        self._used_accelerator = accelerator
        self._prepared = accelerator.prepare_model(self._model)

    def train(self, mode: bool = True) -> Model:
        self.training = mode
        return self

    def eval(self) -> Model:
        return self.train(False)

    def to(self, *_: Any, **__: Any) -> Model:
        return self

    def __call__(self, **batch: Any) -> ModelOutput:
        """One forward pass: input_ids, attention_mask, token_type_ids and labels as (rows, length) arrays or lists."""
        self._accelerator()
        packed = self._whole_batch(batch)
        if packed is None:
            packed = packed_batch(batch, self)
        if self.training and not _grad_is_off:
            self._prepared.train()
        else:
            self._prepared.eval()
        loss, logits = self._prepared(packed)
        from .arrays import as_array

        output = ModelOutput() if loss is None else ModelOutput(loss=Loss(loss, self))
        output.update((name, as_array(values)) for name, values in logits.items())
        return output

    forward = __call__

    @staticmethod
    def _whole_batch(batch: Mapping[str, Any]) -> Any:
        """The DataLoader's batch, if all of its arrays are given unchanged."""
        packed = getattr(batch.get("input_ids"), "_packed", None)
        if packed is None or any(getattr(values, "_packed", None) is not packed for values in batch.values()):
            return None
        return packed if set(packed.array_names()) == set(batch) else None

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        for name, *rest in self._model.named_parameters():
            yield name, Parameter(self, name, *rest)

    def parameters(self) -> list[Parameter]:
        return [parameter for _, parameter in self.named_parameters()]

    def num_parameters(self, only_trainable: bool = False) -> int:
        return self._model.element_count(only_trainable)

    def state_dict(self) -> dict[str, Any]:
        """The weights by name, as views of the library's memory."""
        return {name: parameter.data for name, parameter in self.named_parameters()}

    def load_state_dict(self, weights: Mapping[str, Any]) -> None:
        from .arrays import floats

        missing = [name for name, *_ in self._model.named_parameters() if name not in weights]
        if missing:
            raise Error(
                f"load_state_dict: the weights lack {', '.join(missing[:5])}{', ...' if len(missing) > 5 else ''}"
            )
        for name, values in weights.items():
            self._model.set_parameter(name, floats(values))

    def mark_changed(self) -> None:
        """To be called after weights were changed through their arrays: copies in other dtypes are out of date."""
        self._model.mark_changed()

    def save_pretrained(self, save_directory: Any, **_: Any) -> None:
        os.makedirs(save_directory, exist_ok=True)
        self._model.save(os.fspath(save_directory))

    def __repr__(self) -> str:
        return f"{self._model.architecture}({self.name_or_path!r}, {self.num_parameters():,} parameters)"


def _overrides(fields: Mapping[str, Any]) -> str:
    import json

    def text(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    return ",".join(f"{name}={text(value)}" for name, value in fields.items())


# Keywords of transformers that say how weights are held or where they go; Hearth trains f32 masters on the CPU.
_WITHOUT_EFFECT = {
    "return_dict", "torch_dtype", "dtype", "device_map", "low_cpu_mem_usage", "trust_remote_code", "use_safetensors",
    "attn_implementation", "local_files_only", "from_tf", "use_auth_token", "add_pooling_layer", "label2id",
    "finetuning_task",
}  # fmt: skip


def _load_settings(
    folder: str,
    num_labels: int | None = None,
    id2label: Mapping[Any, str] | None = None,
    problem_type: str | None = None,
    ignore_mismatched_sizes: bool = False,
    freeze: Any = (),
    freeze_layers: int | None = None,
    seed: int | None = None,
    config: Any = None,
    **fields: Any,
) -> Any:
    if config is not None:
        raise Error("config=... is not supported: give num_labels, id2label and fields of config.json as keywords")
    settings = _hearth.LoadSettings()
    if id2label is not None:
        settings.labels = [id2label[i] if i in id2label else id2label[str(i)] for i in range(len(id2label))]
    elif num_labels is not None and num_labels != _label_count(_hearth.config_of(folder)):
        settings.labels = [f"LABEL_{i}" for i in range(num_labels)]
    settings.problem_type = problem_type
    settings.seed = current_seed() if seed is None else seed
    settings.ignore_mismatched_sizes = ignore_mismatched_sizes
    settings.config_overrides = _overrides({k: v for k, v in fields.items() if k not in _WITHOUT_EFFECT})
    settings.freeze([freeze] if isinstance(freeze, str) else list(freeze), freeze_layers)
    return settings


class _AutoModel:
    _head = ""

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: Any,
        cache_dir: Any = None,
        token: Any = None,
        revision: str | None = None,
        **settings: Any,
    ) -> Model:
        """The model of a folder, or of a name on the Hub. Keywords: num_labels, id2label, problem_type,
        ignore_mismatched_sizes; seed of a new head; freeze (parameters by name) and freeze_layers (the first N layers);
        all others are fields of config.json, such as hidden_dropout_prob."""
        name = os.fspath(pretrained_model_name_or_path)
        given = token if isinstance(token, str) else ""
        folder = _hearth.find_model(name, False, os.fspath(cache_dir or ""), given, revision or "")
        return Model(_hearth.Model.load(folder, cls._head, _load_settings(folder, **settings)), name)

    @classmethod
    def from_config(cls, folder: Any, **settings: Any) -> Model:
        """A model with new weights, by the config.json of a folder. Keywords are those of from_pretrained."""
        name = os.fspath(folder)
        return Model(_hearth.Model.initialised(name, cls._head, _load_settings(name, **settings)), name)


def _label_count(config: Any) -> int:
    return len(config["id2label"]) if config.get("id2label") else config.get("num_labels", 2)


class AutoModelForSequenceClassification(_AutoModel):
    _head = "sequence classification"


class AutoModelForTokenClassification(_AutoModel):
    _head = "token classification"


class AutoModelForQuestionAnswering(_AutoModel):
    _head = "question answering"


class AutoModelForMaskedLM(_AutoModel):
    _head = "masked language modelling"


class AutoModel(_AutoModel):
    """The backbone alone, for pipeline("feature-extraction")."""

    _head = "embeddings"
