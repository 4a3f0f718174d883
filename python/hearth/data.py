"""Data of a Trainer: lists, NumPy arrays, pandas, datasets; collators and the DataLoader."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping

from .keywords import refuse_others
from .lib import _hearth
from .lib._hearth import Error
from .seeds import current_seed

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_LABELS = {"label": "labels", "labels": "labels", "label_ids": "labels"}
_LABELS.update({name: name for name in ("start_positions", "end_positions")})


_WITHOUT_EFFECT = {"num_workers", "pin_memory", "persistent_workers", "prefetch_factor", "timeout", "worker_init_fn"}


def _plain(value: Any) -> Any:
    """Arrays and tensors as lists and numbers."""
    return value.tolist() if hasattr(value, "tolist") else value


def columns_of(dataset: Any) -> dict[str, Any]:
    """Columns by name: from datasets.Dataset, pandas.DataFrame, a dict of columns, or anything with rows."""
    if hasattr(dataset, "with_format") and hasattr(dataset, "__len__"):  # datasets.Dataset
        names = dataset.column_names
        used = [name for name in names if name in _INPUTS or name in _LABELS] if "input_ids" in names else names
        return dict(dataset.with_format(None).select_columns(used)[:])
    if isinstance(dataset, Mapping):
        return {name: _plain(values) for name, values in dataset.items()}
    if hasattr(dataset, "iloc"):  # pandas.DataFrame
        return {str(name): dataset[name].tolist() for name in dataset.columns}
    has_items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    rows = [dataset[i] for i in range(len(dataset))] if has_items else list(dataset)
    if not rows:
        return {}
    if not all(isinstance(row, Mapping) for row in rows):
        raise Error(
            "a row of the data is needed as a dict such as {'input_ids': ..., 'labels': ...}, not "
            f"{type(rows[0]).__name__}"
        )
    try:
        return {name: [_plain(row[name]) for row in rows] for name in rows[0]}
    except KeyError as missing:
        raise Error(f"some rows of the data have no {missing}, unlike the first one") from None


def _without_padding(columns: dict[str, Any]) -> tuple[list[list[int]], list[list[int]], list[int]]:
    if "input_ids" not in columns:
        names = ", ".join(columns) or "none"
        raise Error(f"the data has no column input_ids (its columns: {names}); tokenize its texts first")
    ids = [_plain(row) for row in columns["input_ids"]]
    types = [_plain(row) for row in columns.get("token_type_ids", [])]
    lengths = [len(row) for row in ids]
    for i, mask in enumerate(columns.get("attention_mask", [])):
        mask = _plain(mask)
        lengths[i] = sum(mask)
        if 0 in mask[: lengths[i]]:
            raise Error(
                f"attention_mask of row {i} has a 0 in front of a 1; Hearth reads texts that are padded at their end"
            )
    cut = lambda rows: [row[:length] for row, length in zip(rows, lengths)]  # noqa: E731
    return cut(ids), cut(types), lengths


def _labels(columns: dict[str, Any], lengths: list[int], takes_floats: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Labels of whole numbers and of floats: a list of numbers for each row."""
    whole: dict[str, Any] = {}
    real: dict[str, Any] = {}
    for column, name in _LABELS.items():
        if column not in columns:
            continue
        rows = [_plain(value) for value in columns[column]]
        rows = [row if isinstance(row, (list, tuple)) else [row] for row in rows]
        if any(None in row for row in rows):
            raise Error(f"some rows of the data have no {column}")
        if takes_floats or any(isinstance(value, float) for row in rows for value in row):
            real[name] = [[float(value) for value in row] for row in rows]
        else:
            whole[name] = [
                [int(value) for value in (row[:length] if len(row) > 1 else row)] for row, length in zip(rows, lengths)
            ]
    return whole, real


def takes_floats(model: Any) -> bool:
    """Whether the model's labels are numbers to meet or a yes or no for each label, rather than classes."""
    if model is None or model.head != "sequence classification":
        return False
    problem = model.config.get("problem_type")
    return problem in ("regression", "multi_label_classification") or (problem is None and model.num_labels == 1)


def to_dataset(dataset: Any, model: Any = None, collator: Any = None) -> Any:
    """The library's own form of a dataset."""
    if dataset is None or isinstance(dataset, _hearth.Dataset):
        return dataset
    if collator is not None and not isinstance(collator, _Collator) and collator is not default_data_collator:
        return _collated_in_python(dataset, collator, model)
    columns = columns_of(dataset)
    ids, types, lengths = _without_padding(columns)
    if isinstance(collator, DataCollatorForLanguageModeling) and collator.mlm:
        return _hearth.masked_dataset(
            ids, types, collator.tokenizer._texts, collator.mlm_probability, False, collator.seed or current_seed()
        )
    whole, real = _labels(columns, lengths, takes_floats(model))
    return _hearth.token_dataset(ids, types, whole, real)


def _collated_in_python(dataset: Any, collate: Callable[[list[Any]], Any], model: Any) -> Any:
    from .modeling import packed_batch

    rows = dataset if hasattr(dataset, "__getitem__") else list(dataset)
    lengths = [
        len(rows[i]["input_ids"]) if isinstance(rows[i], Mapping) and "input_ids" in rows[i] else 1
        for i in range(len(rows))
    ]

    def make(items: list[int], first_sample: int) -> Any:
        return packed_batch(dict(collate([rows[i] for i in items])), model, first_sample)

    return _hearth.python_dataset(lengths, make)


class _Collator:
    """Batches are packed: nothing has to be padded."""

    def __init__(self, tokenizer: Any = None, **settings: Any) -> None:
        self.tokenizer = tokenizer
        self.settings = settings

    def __call__(self, features: list[Any]) -> Any:
        return self.tokenizer.pad(features, return_tensors="np")


class DataCollatorWithPadding(_Collator):
    """Accepted for scripts of transformers."""


class DataCollatorForTokenClassification(_Collator):
    """Accepted for scripts of transformers."""


class DataCollatorForLanguageModeling(_Collator):
    """Masks tokens anew in every epoch, a function of (seed, epoch, row)."""

    def __init__(
        self, tokenizer: Any, mlm: bool = True, mlm_probability: float = 0.15, seed: int | None = None, **settings: Any
    ) -> None:
        super().__init__(tokenizer, **settings)
        if not mlm:
            raise Error("mlm=False trains decoders, which Hearth does not have")
        self.mlm, self.mlm_probability, self.seed = mlm, mlm_probability, seed


def default_data_collator(features: list[Any], return_tensors: str = "np") -> dict[str, Any]:
    """Arrays of rows that have one length."""
    from .arrays import as_array

    return {_LABELS.get(name, name): as_array(values) for name, values in columns_of(features).items()}


class DataLoader:
    """The batches of a dataset; `for batch in loader` is one epoch. Batches are made ahead on a thread."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        collate_fn: Any = None,
        drop_last: bool = False,
        seed: int | None = None,
        **others: Any,
    ) -> None:
        refuse_others("DataLoader", others, _WITHOUT_EFFECT)
        self.dataset, self.batch_size = dataset, batch_size
        self._loader = _hearth.DataLoader(
            to_dataset(dataset, None, collate_fn),
            batch_size,
            shuffle,
            current_seed() if seed is None else seed,
            drop_last,
        )

    def __len__(self) -> int:
        return len(self._loader)

    def set_epoch(self, epoch: int) -> None:
        self._loader.set_epoch(epoch)

    def __iter__(self) -> Iterator[Any]:
        from .arrays import as_array
        from .tokenization import BatchEncoding

        batches = self._loader.begin()
        while True:
            try:
                packed = batches.__next__()
            except StopIteration:
                return
            yield BatchEncoding({name: as_array(values, packed) for name, values in packed.arrays().items()})
