"""The commands of the program, in this process."""

from __future__ import annotations

import os
import sys
from typing import Any, Iterable

from .lib import _hearth


def main(words: Iterable[Any]) -> int:
    """hearth.main(["run_qa", "--train_file", ...]): runs a command and returns its exit status, 0 or 75. Errors are
    exceptions."""
    sys.stdout.flush()
    return _hearth.main([os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words])
