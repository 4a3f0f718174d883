"""python -m hearth COMMAND: the program `hearth` of this installation. `hearth launch script.py` runs this Python."""

import os
import sys

program = os.path.join(os.path.dirname(__file__), "bin", "hearth")
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
os.execv(program, ["hearth", *sys.argv[1:]])
