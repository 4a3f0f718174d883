#!/usr/bin/env python3
"""all_reduce through Hearth's plug-ins and bare, in turn: compare.py ROW|all BUILD BACKENDS, after `make test`.

A ratio is Hearth's mean time over the bare call's mean; in brackets the lowest and highest of single turns."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "plugins"))
import matrix  # noqa: E402: beside the tests, whose launchers these are

RANKS, BYTES, TURNS, ROUNDS = 2, 400_000_000, 5, 3
PROGRAM = os.path.join(matrix.BUILD, "bin", "hearth")
MULTIARCH = "/usr/lib/x86_64-linux-gnu"
BACKEND_LIBRARIES = os.path.join(matrix.BACKENDS, "lib")
INTEL_FLAGS = [f"-I{matrix.BACKENDS}/include", f"-L{BACKEND_LIBRARIES}", f"-Wl,-rpath,{BACKEND_LIBRARIES}"]

# Source and compiler flags of the bare program, launcher of the job, --ddp_backend, and further variables.
ROWS = {
    "gloo": ("gloo.cc", ["-lgloo"], matrix.PLAIN, "gloo", {}),
    "mpich": ("mpi.cc", ["-I/usr/include/x86_64-linux-gnu/mpich", "-lmpich"], matrix.MPICH, "mpi", {}),
    "openmpi": ("mpi.cc", [f"-I{MULTIARCH}/openmpi/include", "-DOMPI_SKIP_MPICXX", f"-L{MULTIARCH}/openmpi/lib", "-lmpi"],
                matrix.OPENMPI, "mpi", {}),
    "intel": ("mpi.cc", ["-DMPICH_SKIP_MPICXX", *INTEL_FLAGS, "-lmpi"], matrix.INTEL, "mpi", {}),
    "ccl_mpi": ("ccl.cc", [*INTEL_FLAGS, "-lccl"], matrix.INTEL, "ccl", {"CCL_ATL_TRANSPORT": "mpi"}),
    "ccl_ofi": ("ccl.cc", [*INTEL_FLAGS, "-lccl"], matrix.PLAIN, "ccl", {"CCL_ATL_TRANSPORT": "ofi"}),
}
# Paths that the plug-in of oneCCL finds by itself.
BARE_CCL = {"FI_PROVIDER_PATH": BACKEND_LIBRARIES, "LD_LIBRARY_PATH": BACKEND_LIBRARIES, "I_MPI_ROOT": matrix.BACKENDS}


def output_of(launcher, command, extra):
    """The output of a job of RANKS processes."""
    base = matrix.environment(extra)
    if launcher:
        jobs = [(launcher + ["-n", str(RANKS)] + command, base)]
    else:
        jobs = [(command, {**base, "RANK": str(r), "WORLD_SIZE": str(RANKS), "LOCAL_RANK": str(r),
                           "LOCAL_WORLD_SIZE": str(RANKS), "CCL_PROCESS_LAUNCHER": "none", "CCL_LOCAL_RANK": str(r),
                           "CCL_LOCAL_SIZE": str(RANKS)}) for r in range(RANKS)]
    running = [subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.DEVNULL) for words, environment in jobs]
    texts = [job.communicate()[0] for job in running]
    if any(job.returncode != 0 for job in running):
        sys.exit(f"{' '.join(jobs[0][0])}: status {[job.returncode for job in running]}")
    return "".join(texts)


def bare(program, launcher, extra):
    with tempfile.TemporaryDirectory() as meeting:
        text = output_of(launcher, [program, str(BYTES), str(ROUNDS), meeting], extra)
    return [float(line) for line in text.splitlines() if line.replace(".", "").isdigit()]


def hearth(launcher, backend, extra):
    """Its mean."""
    text = output_of(launcher, [PROGRAM, "bench", "allreduce", "--sizes", str(BYTES), "--rounds", str(ROUNDS), "--warmup",
                                "1", "--ddp_backend", backend, "--json"], extra)
    return next(json.loads(line)["seconds"] for line in text.splitlines() if line.startswith("{"))


def compare(row):
    source, flags, launcher, backend, extra = ROWS[row]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "bare")
        subprocess.run(["g++", "-O2", "-std=c++17", f"{HERE}/{source}", "-o", program] + flags, check=True)
        own = {**extra, **(BARE_CCL if backend == "ccl" else {})}
        turns = [(statistics.mean(bare(program, launcher, own)), hearth(launcher, backend, extra)) for _ in range(TURNS)]
    bares, hearths = zip(*turns)
    ratios = [ours / theirs for theirs, ours in turns]
    print(f"| {row} | {statistics.mean(bares):.3f} s | {statistics.mean(hearths):.3f} s | "
          f"{statistics.mean(hearths) / statistics.mean(bares):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |", flush=True)


if __name__ == "__main__":
    print(f"all_reduce of {BYTES // 10**6} MB of f32 between {RANKS} ranks, {TURNS} turns of {ROUNDS} rounds\n\n"
          "| | bare | Hearth | ratio |\n|---|---|---|---|")
    for name in ROWS if matrix.ROW == "all" else [matrix.ROW]:
        compare(name)
