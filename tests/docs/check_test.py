#!/usr/bin/env python3
"""Tests of check.py: it finds each kind of fault."""
import pathlib
import tempfile
import unittest

import check


class FakeProgram(check.Program):
    """A program with the commands train (--steps) and launch (--num_processes)."""

    def __init__(self):
        self.known = {"train": {"__steps"}, "launch": {"__num_processes"}}
        self.commands, self.benchmarks = {"train", "launch"}, set()


class Links(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            (page.parent / "other.md").write_text("# A title, with `code`\n")
            return list(check.broken_links(page, text))

    def test_good_ones(self):
        self.assertEqual(self.faults("[a](other.md) [b](other.md#a-title-with-code) [c](mailto:x) ```\n[d](nowhere.md)\n```"), [])

    def test_missing_file(self):
        self.assertEqual(len(self.faults("[a](nowhere.md)")), 1)

    def test_missing_heading(self):
        self.assertEqual(len(self.faults("[a](other.md#another)")), 1)


class Commands(unittest.TestCase):
    def faults(self, text):
        return list(check.wrong_commands(pathlib.Path("page.md"), text, FakeProgram()))

    def test_good_ones(self):
        self.assertEqual(self.faults("```\nhearth train --steps 3 \\\n  --steps 4  # --other\n```\n"
                                     "`hearth launch --num-processes 2 train --steps 3` or `hearth launch own.py --its_flag`"), [])

    def test_unknown_command(self):
        self.assertEqual(len(self.faults("```\nhearth tarin --steps 3\n```")), 1)

    def test_unknown_flag_on_a_continued_line(self):
        self.assertEqual(len(self.faults("```\nhearth train \\\n  --stepz 3\n```")), 1)

    def test_unknown_flag_behind_launch(self):
        self.assertEqual(len(self.faults("    hearth launch train --stepz 3")), 1)


class Messages(unittest.TestCase):
    def test_only_messages_of_the_source_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder)
            (source / "hearth").mkdir()
            (source / "hearth" / "a.cc").write_text('fail("the folder {} exists and "\n     "is not empty");')
            good, bad = "| `the folder ... exists and is not empty` |", "| `the folder ... is already there` |"
            self.assertEqual(list(check.messages_not_in(source, good)), [])
            self.assertEqual(len(list(check.messages_not_in(source, bad))), 1)


if __name__ == "__main__":
    unittest.main()
