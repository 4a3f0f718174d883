#!/usr/bin/env python3
"""Prints a header with its comments as Doxygen reads them: doxygen_comments.py FILE. A comment before a declaration
becomes ///, one behind it ///<. Of a page, links to other pages become text: Doxygen reads one page alone."""
import re
import sys

CODE_THEN_COMMENT = re.compile(r'^(.*[;,{)]\s*)// ?(.*)$')
LINK_TO_PAGE = re.compile(r"\[([^]]*)\]\([a-z_]+\.md\)")


def converted(lines):
    trailing = False  # the line before ended in a comment that may go on below
    for line in lines:
        text = line.strip()
        if text.startswith("//"):
            marker = "///<" if trailing and line.startswith(" " * 20) else "///"
            trailing = trailing and marker == "///<"
            yield line.replace("//", marker, 1)
            continue
        match = CODE_THEN_COMMENT.match(line)
        trailing = bool(match) and "{" not in match.group(1).rstrip()[-1:] and not text.startswith("#")
        if trailing:
            yield f"{match.group(1)}///< {match.group(2)}"
        else:
            yield line


text = open(sys.argv[1]).read()
print(LINK_TO_PAGE.sub(r"\1", text) if sys.argv[1].endswith(".md") else "\n".join(converted(text.split("\n"))))
