"""NumPy arrays with the few methods of torch.Tensor that loops use. Importing it imports NumPy."""

from __future__ import annotations

from typing import Any

import numpy


class Array(numpy.ndarray):
    """An ndarray that also takes torch's `dim` and has torch's no-ops on the CPU."""

    _packed: Any = None  # the batch that it belongs to, while nobody has changed it

    def __array_finalize__(self, source: Any) -> None:
        self._packed = None

    def argmax(self, axis: Any = None, out: Any = None, *, dim: Any = None, keepdim: bool = False, **rest: Any) -> Any:
        return as_array(super().argmax(axis if dim is None else dim, out, keepdims=keepdim, **rest))

    def detach(self) -> Array:
        return self

    def cpu(self) -> Array:
        return self

    def to(self, *_: Any, **__: Any) -> Array:
        return self

    def float(self) -> Array:
        return as_array(self.astype(numpy.float32))

    def long(self) -> Array:
        return as_array(self.astype(numpy.int64))

    def numpy(self) -> numpy.ndarray:
        return self.view(numpy.ndarray)


def as_array(values: Any, packed: Any = None) -> Array:
    """The values as an Array, without a copy where they are an ndarray."""
    array = numpy.asarray(values).view(Array)
    array._packed = packed
    return array


def whole_numbers(values: Any) -> numpy.ndarray:
    return numpy.ascontiguousarray(values, dtype=numpy.int64)


def floats(values: Any) -> numpy.ndarray:
    return numpy.ascontiguousarray(values, dtype=numpy.float32)
