"""Wall time of starting the program, and of importing the Python module where PYTHON has it:

    python3 bench/start.py HEARTH [--python PYTHON] [--rounds 50]

Prints the fastest and the median round in milliseconds, and the load of the machine. The import's figure is the time of
`import hearth` itself, inside a new interpreter; its files are in the system's cache after the first round.
"""

import argparse
import os
import statistics
import subprocess
import time

IMPORT = "import time; begin = time.perf_counter(); import hearth; print(time.perf_counter() - begin)"


def program(*command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def module(python):
    return float(subprocess.run([python, "-c", IMPORT], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hearth")
    parser.add_argument("--python", help="an interpreter that has the module")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    measured = {
        "hearth --version": lambda: program(options.hearth, "--version"),
        "hearth run_glue --help": lambda: program(options.hearth, "run_glue", "--help"),
    }
    if options.python:
        measured["import hearth"] = lambda: module(options.python)
    print(f"load {os.getloadavg()[0]:.2f}, {options.rounds} rounds")
    for name, measure in measured.items():
        measure()
        rounds = sorted(1e3 * measure() for _ in range(options.rounds))
        print(f"{name}: fastest {rounds[0]:.1f} ms, median {statistics.median(rounds):.1f} ms")


if __name__ == "__main__":
    main()
