"""pipeline(...) for the tasks that Hearth's models have, and SentenceTransformer."""

from __future__ import annotations

import os
from typing import Any, Callable

from .keywords import refuse_others
from .lib import _hearth
from .lib._hearth import Error
from .modeling import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    Model,
    no_grad,
)
from .tokenization import Tokenizer


class _Pipeline:
    _auto: Any = AutoModel

    def __init__(self, model: Any, tokenizer: Any, **options: Any) -> None:
        self.model: Model = model if isinstance(model, Model) else self._auto.from_pretrained(model)
        self.tokenizer: Tokenizer = (
            tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.from_pretrained(tokenizer)
        )
        self.folder = model if isinstance(model, str) and os.path.isdir(model) else ""
        self.options = options

    def __call__(self, inputs: Any, **options: Any) -> Any:
        """One text gives one result, a list of texts a list of them."""
        alone = isinstance(inputs, (str, dict))
        results = self._run([inputs] if alone else list(inputs), {**self.options, **options})
        return results[0] if alone else results

    def _run(self, inputs: list[Any], options: dict[str, Any]) -> list[Any]:
        raise NotImplementedError


class TextClassificationPipeline(_Pipeline):
    _auto = AutoModelForSequenceClassification

    def __call__(self, inputs: Any, **options: Any) -> Any:
        results = super().__call__(inputs, **options)
        alone = isinstance(inputs, (str, dict))
        return [results] if alone and "top_k" not in {**self.options, **options} else results

    def _run(self, inputs: list[Any], options: dict[str, Any]) -> list[Any]:
        pairs = [one if isinstance(one, dict) else {"text": one} for one in inputs]
        second = [one["text_pair"] for one in pairs if one.get("text_pair")]
        if second and len(second) != len(pairs):
            raise Error("some of the texts have a text_pair and some have none: classify them apart")
        classifier = _hearth.TextClassifier(
            self.model._model,
            self.tokenizer._texts,
            options.get("max_length") or _longest(self),
            options.get("batch_size", 32),
        )
        all_scores = classifier.classify([one["text"] for one in pairs], second)
        if "top_k" not in options:
            return [scores[0] for scores in all_scores]
        count = options["top_k"]
        return [scores if count is None else scores[:count] for scores in all_scores]


class TokenClassificationPipeline(_Pipeline):
    _auto = AutoModelForTokenClassification

    def _run(self, inputs: list[Any], options: dict[str, Any]) -> list[Any]:
        return _hearth.entities(
            self.model._model, self.tokenizer._texts, inputs,
            options.get("aggregation_strategy", "none"), options.get("stride") or 0, options.get("batch_size", 8),
        )  # fmt: skip


class QuestionAnsweringPipeline(_Pipeline):
    _auto = AutoModelForQuestionAnswering

    def __call__(self, *inputs: Any, question: Any = None, context: Any = None, **options: Any) -> Any:
        if inputs:
            return super().__call__(*inputs, **options)
        if isinstance(question, str):
            return super().__call__({"question": question, "context": context}, **options)
        contexts = [context] * len(question) if isinstance(context, str) else context
        return super().__call__([{"question": q, "context": c} for q, c in zip(question, contexts)], **options)

    def _run(self, inputs: list[Any], options: dict[str, Any]) -> list[Any]:
        count = options.get("top_k", 1)
        known = ("max_seq_len", "doc_stride", "max_answer_len", "handle_impossible_answer")
        given = {name: options[name] for name in known if options.get(name) is not None}
        results = [
            _hearth.answers(
                self.model._model, self.tokenizer._texts, one["question"], one["context"], self.folder, given, count
            )
            for one in inputs
        ]
        return [found[0] for found in results] if count == 1 else results


class FillMaskPipeline(_Pipeline):
    _auto = AutoModelForMaskedLM

    def _run(self, inputs: list[Any], options: dict[str, Any]) -> list[Any]:
        return [self._fill(text, options.get("top_k", 5)) for text in inputs]

    def _fill(self, text: str, count: int) -> list[Any]:
        import numpy

        encoding = self.tokenizer(text, truncation=True, max_length=_longest(self))
        ids = list(encoding["input_ids"])
        masks = [i for i, token in enumerate(ids) if token == self.tokenizer.mask_token_id]
        if not masks:
            raise Error(f"the text has no {self.tokenizer.mask_token} to fill: {text}")
        with no_grad():
            logits = self.model(**{name: [values] for name, values in encoding.items()}).logits[0]
        results = []
        for mask in masks:
            scores = numpy.exp(logits[mask] - logits[mask].max()).astype(numpy.float64)
            scores /= scores.sum()
            found = []
            for token in numpy.argsort(-scores, kind="stable")[:count]:
                filled = [*ids[:mask], int(token), *ids[mask + 1 :]]
                sequence = self.tokenizer.decode(filled, skip_special_tokens=len(masks) == 1)
                found.append(
                    {
                        "score": float(scores[token]),
                        "token": int(token),
                        "token_str": self.tokenizer.decode([int(token)]),
                        "sequence": sequence,
                    }
                )
            results.append(found)
        return results[0] if len(results) == 1 else results


class FeatureExtractionPipeline(_Pipeline):
    """The hidden states of the last layer for each token, special ones included: lists of shape (1, tokens, hidden)."""

    def _run(self, inputs: list[Any], options: dict[str, Any]) -> list[Any]:
        from .modeling import packed_batch

        results = []
        for text in inputs:
            encoding = self.tokenizer(text, truncation=True, max_length=_longest(self))
            packed = packed_batch({name: [values] for name, values in encoding.items()})
            states: Any = _hearth.hidden_states(self.model._model, packed)
            results.append(states if options.get("return_tensors") else states.tolist())
        return results


def _longest(pipeline: _Pipeline) -> int:
    return min(pipeline.model._model.max_positions, pipeline.tokenizer.model_max_length)


_TASKS: dict[str, Callable[..., _Pipeline]] = {
    "text-classification": TextClassificationPipeline,
    "sentiment-analysis": TextClassificationPipeline,
    "token-classification": TokenClassificationPipeline,
    "ner": TokenClassificationPipeline,
    "question-answering": QuestionAnsweringPipeline,
    "fill-mask": FillMaskPipeline,
    "feature-extraction": FeatureExtractionPipeline,
}


def pipeline(task: str, model: Any = None, tokenizer: Any = None, device: Any = None, **options: Any) -> Any:
    """A function from texts to results with the keys of transformers' pipelines. `model` is a folder, a name on the Hub
    or a Model, which needs its tokenizer beside it."""
    if task not in _TASKS:
        raise Error(f"there is no pipeline '{task}'; there are {', '.join(_TASKS)}")
    if model is None:
        raise Error(f"pipeline('{task}') needs a model: a folder, a name on the Hub or a Model")
    if tokenizer is None and isinstance(model, Model):
        tokenizer = model.name_or_path
    model = os.fspath(model) if isinstance(model, os.PathLike) else model
    return _TASKS[task](model, tokenizer if tokenizer is not None else model, **options)


class SentenceTransformer:
    """Embeddings as sentence-transformers computes them: of a folder, or of a name on the Hub."""

    def __init__(self, model_name_or_path: Any, truncate_dim: int | None = None, **others: Any) -> None:
        refuse_others("SentenceTransformer", others, {"device", "local_files_only"})
        self._folder = _hearth.find_model(os.fspath(model_name_or_path))
        self._truncate_dim = truncate_dim
        self._embedders: dict[bool, Any] = {}

    def encode(self, sentences: Any, prompt: str = "", normalize_embeddings: bool = False, **others: Any) -> Any:
        refuse_others("encode", others, {"batch_size", "show_progress_bar", "convert_to_numpy", "device"})
        if normalize_embeddings not in self._embedders:
            self._embedders[normalize_embeddings] = _hearth.Embedder(
                self._folder, None, normalize_embeddings, self._truncate_dim
            )
        alone = isinstance(sentences, str)
        embeddings = self._embedders[normalize_embeddings].embed([sentences] if alone else list(sentences), prompt)
        return embeddings[0] if alone else embeddings
