"""The seed of new weights, dropout and the order of data where a call names none."""

from __future__ import annotations

_seed = 42


def set_seed(seed: int, deterministic: bool = False) -> None:
    """As in transformers; Hearth is always deterministic."""
    global _seed
    _seed = int(seed)


def current_seed() -> int:
    return _seed
