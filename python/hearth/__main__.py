"""python -m hearth COMMAND: the program `hearth` of this installation."""

import os
import sys

program = os.path.join(os.path.dirname(__file__), "bin", "hearth")
os.execv(program, ["hearth", *sys.argv[1:]])
