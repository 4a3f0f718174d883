"""Keywords of other libraries."""

from __future__ import annotations

from typing import Any, Mapping

from .lib._hearth import Error


def refuse_others(call: str, given: Mapping[str, Any], without_effect: set[str]) -> None:
    """An Error for a keyword that would change what happens, rather than how fast or where."""
    for name, value in given.items():
        if name not in without_effect and value not in (None, False):
            raise Error(f"{call}: {name}={value!r} is not supported; leave it out")
