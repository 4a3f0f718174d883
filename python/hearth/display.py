"""Where progress bars and lines appear: in a notebook as HTML, otherwise on Python's own streams."""

from __future__ import annotations

import atexit
import html
import sys
from typing import Any

from .lib import _hearth


def in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class NotebookBar:
    """Redraws one HTML bar per job of the library."""

    def __init__(self) -> None:
        self._title = ""
        self._handle: Any = None

    def __call__(
        self, title: str, done: int, total: int, seconds: int, seconds_left: int, details: list[str], ended: bool
    ) -> None:
        from IPython.display import HTML, display

        share = f"{100 * done // total}%" if total > 0 else ""
        times = f"{_duration(seconds)}, {_duration(seconds_left)} left" if not ended else _duration(seconds)
        text = " · ".join([f"{title} {share}", f"{done}/{total}", times, *details])
        bar = HTML(
            f'<div><progress value="{done}" max="{max(total, 1)}" style="width:20em"></progress> '
            f"<code>{html.escape(text)}</code></div>"
        )
        if self._handle is None or self._title != title:
            self._title, self._handle = title, display(bar, display_id=True)
        else:
            self._handle.update(bar)
        if ended:
            self._handle = None


def _line(descriptor: int, text: str) -> bool:
    """Writes to sys.stdout or sys.stderr; a terminal is left to the library, which knows where its bar is."""
    stream = sys.stdout if descriptor == 1 else sys.stderr
    is_original = stream is (sys.__stdout__ if descriptor == 1 else sys.__stderr__)
    if stream is None or (is_original and stream.isatty()):
        return False
    stream.write(text + "\n")
    stream.flush()
    return True


def show_output_in_python() -> None:
    _hearth.set_sink(NotebookBar() if in_notebook() else None, _line)
    atexit.register(_hearth.set_sink, None, None)
