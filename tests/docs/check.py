#!/usr/bin/env python3
"""Checks the documents against the program: check.py SOURCE PROGRAM.

- Every relative link of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md leads to a file, and its #anchor to a heading.
- Every `hearth COMMAND --flag` in a code block, or in code within a line, names a command and flags that the program has.
- Every message in the tables of docs/troubleshooting.md stands in the source.
"""
import pathlib
import re
import subprocess
import sys


def headings(text):
    """The anchors of a page, as GitHub and MkDocs make them."""
    found = set()
    for line in outside_code(text).splitlines():
        match = re.match(r"#{1,6} (.*)", line)
        if match:
            words = re.sub(r"[`*]|\[|\]\([^)]*\)", "", match[1]).strip().lower()
            found.add(re.sub(r"[ ]", "-", re.sub(r"[^\w\- ]", "", words)))
    return found


def outside_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.S)


def broken_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", outside_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists():
            yield f"{page}: the link {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in headings(file.read_text()):
            yield f"{page}: {file.name} has no heading #{anchor}"


def logical_lines(text):
    """Lines of fenced and indented code, with continued lines joined, and code within lines."""
    fenced = re.findall(r"```[a-z]*\n(.*?)```", text, flags=re.S)
    indented = re.findall(r"^    \S.*(?:\n    .*)*", outside_code(text), flags=re.M)
    for block in fenced + indented:
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    yield from re.findall(r"`([^`\n]*(?:\n[^`\n]+)?)`", outside_code(text))


class Program:
    def __init__(self, path):
        self.path, self.known = path, {}
        self.commands = set(re.findall(r"^  ([a-z][\w-]*) ", self.help(), flags=re.M))
        self.benchmarks = set(re.findall(r"^  ([a-z]+) ", self.help("bench"), flags=re.M))

    def help(self, *words):
        return subprocess.run([self.path, *words, "--help"], capture_output=True, text=True).stdout

    def flags(self, command):
        if command not in self.known:
            words = re.findall(r"--[a-zA-Z][\w-]*", self.help(*command.split()))
            self.known[command] = {word.replace("-", "_") for word in words} | {"__help"}
        return self.known[command]

    def takes(self, command, flag):
        name = flag.replace("-", "_")
        return name in self.flags(command) or name.replace("__no_", "__") in self.flags(command)


def wrong_commands(page, text, program):
    for line in logical_lines(text):
        line = re.split(r"\s#\s|[|;&]", line)[0].strip()
        words = re.sub(r"^.*?(?:^|\s|/)hearth ", "hearth ", line).split() if re.search(r"(^|\s|/)hearth ", line) else []
        if not words or not re.fullmatch(r"[a-z][\w-]*", words[1] if len(words) > 1 else ""):
            continue
        command, flags_of = words[1], [words[1]]
        if command not in program.commands:
            if line.startswith(("hearth", "build/bin/hearth")) and len(words) > 2:
                yield f"{page}: hearth has no command '{command}': {line}"
            continue
        for word in words[2:]:
            if command in ("launch", "bench") and word in program.commands | program.benchmarks:
                flags_of.append(f"bench {word}" if word in program.benchmarks else word)
            flag = re.match(r"--[a-zA-Z][\w-]*", word)
            if flag and not any(program.takes(each, flag[0]) for each in flags_of):
                if command in ("launch", "migrate") and len(flags_of) == 1:
                    continue  # flags of a program of the user's
                yield f"{page}: hearth {command} has no flag {flag[0]}: {line}"


def messages_not_in(source, text):
    literals = "".join(file.read_text() for file in sorted((source / "hearth").rglob("*.cc")))
    literals = re.sub(r'"\s*\n\s*"', "", literals)
    for message in re.findall(r"^\| `([^`]+)`", text, flags=re.M):
        for part in re.split(r"\.\.\.|\{\}|'x'|'--[xy]'|\b[A-Z]\b|HOST|\d+( GiB)?", message):
            if part and len(part.strip()) > 8 and part.strip() not in literals:
                yield f"docs/troubleshooting.md: no source says '{part.strip()}'"


def main():
    source, program = pathlib.Path(sys.argv[1]), Program(sys.argv[2])
    pages = [*sorted((source / "docs").glob("*.md")), *(source / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    faults = []
    for page in (page for page in pages if page.exists()):
        text = page.read_text()
        faults += broken_links(page, text)
        if page.name not in ("migrating.md", "CHANGELOG.md"):  # its commands are run by tests/guides; old ones stay as they were
            faults += wrong_commands(page, text, program)
        if page.name == "troubleshooting.md":
            faults += messages_not_in(source, text)
    print("\n".join(faults) or f"{len(pages)} pages, {len(program.known)} commands")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
