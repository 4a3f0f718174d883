"""Tokenizers of Hugging Face models, called as in transformers."""

from __future__ import annotations

import os
from typing import Any, Sequence

from .keywords import refuse_others
from .lib import _hearth
from .lib._hearth import Error

# Tokenizers of these families return token_type_ids in transformers.
_WITH_TYPES = ("Bert", "Albert", "Electra", "Deberta", "Funnel", "LayoutLM", "MobileBert", "MPNet", "XLNet")
_WITHOUT_EFFECT = {"use_fast", "trust_remote_code", "local_files_only", "use_auth_token", "legacy", "verbose"}
_SPECIAL = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


class BatchEncoding(dict):
    """What a tokenizer returns: lists or arrays by name."""

    def __init__(self, data: Any = (), sequence_ids: Any = None, word_ids: Any = None, alone: bool = False) -> None:
        super().__init__(data)
        self._sequence_ids = sequence_ids or []
        self._word_ids = word_ids or []
        self._alone = alone

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name} in this batch, which has {', '.join(self)}") from None

    @property
    def data(self) -> dict[str, Any]:
        return self

    def to(self, *_: Any, **__: Any) -> BatchEncoding:
        return self

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        return self._sequence_ids[batch_index]

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """The number of each token's word, for texts that came as lists of words."""
        if not self._word_ids or not self._word_ids[batch_index]:
            raise Error(
                "word_ids() needs texts that come as lists of words: tokenizer(words, is_split_into_words=True)"
            )
        return self._word_ids[batch_index]


class Tokenizer:
    """A tokenizer of a model folder. Texts of a list are tokenized on all threads."""

    padding_side = "right"
    is_fast = True

    def __init__(self, folder: str, name: str = "") -> None:
        self.name_or_path = name or folder
        self._folder = folder
        self._texts = _hearth.Tokenizer.load(folder, False)
        self._words: Any = None  # for lists of words, loaded when one comes
        self._vocabulary: dict[str, int] = {}
        self.model_max_length: int = self._texts.model_max_length
        family = self._texts.tokenizer_class
        types = ["token_type_ids"] if family.startswith(_WITH_TYPES) or not family else []
        self.model_input_names = ["input_ids", *types, "attention_mask"]

    @classmethod
    def from_pretrained(
        cls,
        name: Any,
        cache_dir: Any = None,
        token: Any = None,
        revision: str | None = None,
        model_max_length: int | None = None,
        **others: Any,
    ) -> Tokenizer:
        """The tokenizer of a folder, or of a name on the Hub."""
        refuse_others("AutoTokenizer.from_pretrained", others, _WITHOUT_EFFECT)
        given = token if isinstance(token, str) else ""
        folder = _hearth.find_model(os.fspath(name), True, os.fspath(cache_dir or ""), given, revision or "")
        tokenizer = cls(folder, os.fspath(name))
        tokenizer.model_max_length = model_max_length or tokenizer.model_max_length
        return tokenizer

    def _with_words(self) -> Any:
        if self._words is None:
            self._words = _hearth.Tokenizer.load(self._folder, True)
        return self._words

    def __call__(
        self,
        text: Any,
        text_pair: Any = None,
        padding: Any = False,
        truncation: Any = False,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        add_special_tokens: bool = True,
        **others: Any,
    ) -> BatchEncoding:
        refuse_others("a tokenizer", others, {"verbose"})
        if not add_special_tokens:
            raise Error("add_special_tokens=False is not supported: use tokenize() for tokens without special ones")
        alone = isinstance(text, str) or (is_split_into_words and bool(text) and isinstance(text[0], str))
        texts = [text] if alone else list(text)
        pairs = [] if text_pair is None else [text_pair] if alone else list(text_pair)
        options = _hearth.EncodeOptions()
        strategy = getattr(truncation, "value", truncation)
        if strategy in (True, "longest_first", "only_first", "only_second"):
            options.max_length = min(max_length or self.model_max_length, _hearth.UNLIMITED)
            options.truncation = "longest_first" if strategy is True else strategy
        elif strategy not in (False, None, "do_not_truncate"):
            raise Error(f"truncation={strategy!r} is none of True, False, 'longest_first', 'only_first', 'only_second'")
        options.stride = stride
        options.overflowing = return_overflowing_tokens
        as_lists = [list(each) if is_split_into_words else [self._text(each)] for each in texts]
        pair_lists = [list(each) if is_split_into_words else [self._text(each)] for each in pairs]
        tokenizer = self._with_words() if is_split_into_words else self._texts
        encoded = tokenizer.encode(as_lists, pair_lists, is_split_into_words, options)

        ids = encoded["input_ids"]
        result = {"input_ids": ids}
        wants_types = (
            "token_type_ids" in self.model_input_names if return_token_type_ids is None else return_token_type_ids
        )
        if wants_types:
            result["token_type_ids"] = encoded["token_type_ids"]
        if return_attention_mask is not False:
            result["attention_mask"] = [[1] * len(row) for row in ids]
        if return_special_tokens_mask:
            result["special_tokens_mask"] = [[int(s is None) for s in row] for row in encoded["sequence_ids"]]
        if return_offsets_mapping:
            result["offset_mapping"] = encoded["offset_mapping"]
        if return_overflowing_tokens:
            result["overflow_to_sample_mapping"] = encoded["overflow_to_sample_mapping"]
        result = self._padded(result, padding, max_length, pad_to_multiple_of, encoded)
        if alone and return_tensors is None and not return_overflowing_tokens:
            result = {name: values[0] for name, values in result.items()}
        if return_tensors is not None:
            result = _as_tensors(result, return_tensors)
        return BatchEncoding(result, encoded["sequence_ids"], encoded["word_ids"], alone)

    @staticmethod
    def _text(text: Any) -> str:
        if not isinstance(text, str):
            raise Error(f"a text is needed, not {type(text).__name__}: {text!r}")
        return text

    def _padded(
        self, rows: dict[str, Any], padding: Any, max_length: int | None, multiple: int | None, encoded: Any = None
    ) -> dict[str, Any]:
        strategy = getattr(padding, "value", padding)
        if strategy in (False, None, "do_not_pad"):
            return rows
        if strategy not in (True, "longest", "max_length"):
            raise Error(f"padding={strategy!r} is none of True, False, 'longest' and 'max_length'")
        lengths = [len(row) for row in rows["input_ids"]]
        length = max(lengths, default=0)
        if strategy == "max_length":
            length = max_length or min(self.model_max_length, 1 << 20)
        if multiple:
            length = -(-length // multiple) * multiple
        fill = {"input_ids": self.pad_token_id or 0, "special_tokens_mask": 1, "offset_mapping": (0, 0), "labels": -100}
        padded = {}
        for name, values in rows.items():
            if not values or not isinstance(values[0], (list, tuple)) or len(values[0]) != lengths[0]:
                padded[name] = values
                continue
            padded[name] = [list(row) + [fill.get(name, 0)] * (length - len(row)) for row in values]
        if encoded is not None:
            for name in ("sequence_ids", "word_ids"):
                encoded[name] = [row + [None] * (length - len(row)) if row else row for row in encoded[name]]
        return padded

    def pad(
        self,
        encoded_inputs: Any,
        padding: Any = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        return_tensors: str | None = None,
        **_: Any,
    ) -> BatchEncoding:
        """Pads a list of examples, or lists by name."""
        from .data import columns_of

        rows = {name: list(values) for name, values in columns_of(encoded_inputs).items()}
        if "attention_mask" not in rows:
            rows["attention_mask"] = [[1] * len(row) for row in rows["input_ids"]]
        if "label" in rows:
            rows["labels"] = rows.pop("label")
        rows = self._padded(rows, padding, max_length, pad_to_multiple_of)
        return BatchEncoding(rows if return_tensors is None else _as_tensors(rows, return_tensors))

    def encode(self, text: Any, text_pair: Any = None, **options: Any) -> list[int]:
        return self(text, text_pair, **options)["input_ids"]

    def tokenize(self, text: str) -> list[str]:
        encoding = self(text)
        return [self._texts.token(i) for i, s in zip(encoding["input_ids"], encoding.sequence_ids()) if s is not None]

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **_: Any) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else [int(i) for i in token_ids]
        return self._texts.decode(ids, skip_special_tokens)

    def batch_decode(self, sequences: Any, skip_special_tokens: bool = False, **_: Any) -> list[str]:
        return [self.decode(ids, skip_special_tokens) for ids in sequences]

    def convert_ids_to_tokens(self, ids: Any) -> Any:
        return self._texts.token(ids) if isinstance(ids, int) else [self._texts.token(int(i)) for i in ids]

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        known = self.get_vocab()
        one = lambda token: known.get(token, self.unk_token_id)  # noqa: E731
        return one(tokens) if isinstance(tokens, str) else [one(token) for token in tokens]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        return self._texts.joined(list(tokens))

    def get_vocab(self) -> dict[str, int]:
        if not self._vocabulary:
            self._vocabulary = {self._texts.token(i): i for i in range(self._texts.vocab_size)}
        return self._vocabulary

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        return self._texts.special_tokens(pair)

    @property
    def all_special_ids(self) -> list[int]:
        return self._texts.special_ids()

    @property
    def vocab_size(self) -> int:
        return self._texts.vocab_size

    def __len__(self) -> int:
        return self._texts.vocab_size

    def __getattr__(self, name: str) -> Any:
        for special in _SPECIAL:
            if name == f"{special}_token_id":
                return self._texts.special(special)
            if name == f"{special}_token":
                token = self._texts.special(special)
                return None if token is None else self._texts.token(token)
        raise AttributeError(f"Tokenizer has no {name}")

    def save_pretrained(self, save_directory: Any, **_: Any) -> None:
        os.makedirs(save_directory, exist_ok=True)
        self._texts.save(os.fspath(save_directory))

    def __repr__(self) -> str:
        return f"Tokenizer({self.name_or_path!r}, vocab_size={self.vocab_size})"

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self._folder, "name": self.name_or_path, "model_max_length": self.model_max_length}

    def __setstate__(self, state: dict[str, Any]) -> None:  # datasets.map hashes and copies the tokenizer
        self.__init__(state["folder"], state["name"])  # type: ignore[misc]
        self.model_max_length = state["model_max_length"]


def _as_tensors(rows: dict[str, Any], kind: str) -> dict[str, Any]:
    from .arrays import as_array

    result = {}
    for name, values in rows.items():
        if values and isinstance(values[0], (list, tuple)) and len({len(row) for row in values}) > 1:
            raise Error(f"{name} has rows of different lengths, which no array can hold: give padding=True")
        result[name] = as_array(values)
    if kind == "np" or kind == "pt":  # Array has what loops ask of torch.Tensor
        return result
    raise Error(f"return_tensors={kind!r} is neither 'np' nor 'pt'")


class AutoTokenizer:
    """As in transformers: AutoTokenizer.from_pretrained(name)."""

    from_pretrained = Tokenizer.from_pretrained
