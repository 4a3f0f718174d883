"""The blocks of docs/migrating.md: `<!-- KIND NAME -->` stands before each. KIND is old (a command for other programs), run
(what to type now) or output (what that prints)."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "migrating.md"
BLOCK = re.compile(r"<!-- (old|run|output) (\S+) -->\n```\w*\n(.*?)```", re.S)


def blocks(kind):
    return {name: text for of_kind, name, text in BLOCK.findall(PAGE.read_text()) if of_kind == kind}


def unmarked():
    """Blocks with commands of Hearth that have no mark, so that nothing would run them."""
    rest = BLOCK.sub("", PAGE.read_text())
    return [block for block in re.findall(r"```.*?```", rest, re.S) if "hearth" in block]


def with_three_words_changed(command):
    """The changes that docs/migrating.md promises are enough."""
    command = re.sub(r"python3? (?:\S+/)?(run_\w+)\.py", r"hearth \1", command)
    return re.sub(r"\baccelerate\b", "hearth", command).replace("examples/nlp_example.py", "nlp_example")
