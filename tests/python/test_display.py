"""Lines go to Python's streams, progress in a notebook to an HTML bar."""

import subprocess
import sys
import types

import hearth
from hearth import display


def test_lines_go_to_the_stdout_of_python(folder, capsys):
    hearth.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
    assert "newly initialised" in capsys.readouterr().out


def test_a_bar_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, bar):
            shown.append(("update", bar))

    fake = types.ModuleType("IPython.display")
    fake.HTML = lambda text: text
    fake.display = lambda bar, display_id: shown.append(("new", bar)) or Handle()
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    bar = display.NotebookBar()
    bar("training", 5, 10, 61, 61, ["loss <1.5>"], False)
    bar("training", 10, 10, 122, 0, ["loss 0.5"], True)
    bar("evaluating", 1, 2, 1, 1, [], False)
    assert [kind for kind, _ in shown] == ["new", "update", "new"]
    assert 'value="5" max="10"' in shown[0][1] and "training 50%" in shown[0][1] and "loss &lt;1.5&gt;" in shown[0][1]


def test_the_program_is_in_the_package():
    words = [sys.executable, "-m", "hearth", "--version"]
    assert subprocess.run(words, capture_output=True, text=True).stdout == f"hearth {hearth.__version__}\n"


def test_a_command_of_the_program_that_fails_is_an_exception():
    import pytest

    with pytest.raises(hearth.Error, match="is not a command"):
        hearth.main(["run_everything"])
    with pytest.raises(hearth.UsageError, match="--model is needed"):
        hearth.main(["classify"])
