#!/usr/bin/env python3
"""One row of the matrix of backends and launchers: matrix.py ROW BUILD BACKENDS. `list` instead of a row names them all.

Each row starts real processes with a real launcher; a launcher that cannot start is a failure. The checks are in
worker.cc."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROW, BUILD, BACKENDS = (sys.argv + ["", "", ""])[1:4]
WORKER = os.path.join(BUILD, "bin", "plugin_worker")
SECONDS = 240

MPICH = ["mpirun.mpich"]
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
INTEL = [os.path.join(BACKENDS, "bin", "mpirun")]
PLAIN = []
FAR_AWAY = {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}  # each rank on a host of its own

OF_MPICH = ["loaded=libmpich.so.12", "absent=libmpi.so", "absent=libgloo.so", "absent=libccl.so"]
OF_OPENMPI = ["loaded=libmpi.so.40", "absent=libmpich.so", "absent=libgloo.so", "absent=libccl.so"]
OF_INTEL = ["loaded=libmpi.so.12", "loaded=libfabric.so.1", "absent=libmpich.so", "absent=libccl.so"]
OF_GLOO = ["loaded=libgloo.so.0", "absent=libmpi.so", "absent=libmpich.so", "absent=libccl.so"]
OF_SHM = ["loaded=libhearth_comm_shm.so", "absent=libmpi.so", "absent=libmpich.so", "absent=libgloo.so",
          "absent=libccl.so"]
OF_CCL = ["loaded=libccl.so.1", "loaded=libfabric.so.1", "absent=libgloo.so", "absent=libmpich.so"]
OVER_MPI = OF_CCL + ["loaded=libmpi.so.12"]
OVER_OFI = OF_CCL + ["loaded=libtcp-fi.so"]


def free_port():
    """A port below the range that the system assigns from, so that no other program gets it before the job does."""
    for port in random.sample(range(15000, 32000), 1000):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
                return port
            except OSError:  # in use
                pass
    sys.exit("no port is free")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_where_libraries_crash():
    """MPICH, Intel MPI and oneCCL end with a segmentation fault in processes that ThreadSanitizer watches, also in jobs
    of one rank; Open MPI, gloo and shm do not."""
    if re.search("mpich|intel|ccl|two_mpis", ROW) and "-fsanitize=thread" in open(f"{BUILD}/CMakeCache.txt").read():
        skip("ThreadSanitizer does not run with MPICH, Intel MPI and oneCCL")


def environment(extra):
    """Variables of the launcher that the tests themselves run under must not leak into the job."""
    leaks = ("PMI", "OMPI_", "MPI_", "I_MPI_", "FI_", "CCL_", "SLURM_", "HYDRA_", "HEARTH_PLUGIN_PATH")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(leaks)}
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "LD_LIBRARY_PATH", "VIRTUAL_ENV"):
        clean.pop(name, None)
    clean.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), OMP_NUM_THREADS="1", CCL_WORKER_COUNT="1")
    # Intel's mpirun is a script that starts the first mpiexec.hydra of PATH.
    clean["PATH"] = os.path.join(BACKENDS, "bin") + ":" + clean.get("PATH", "/usr/bin:/bin")
    # MPI and oneCCL keep memory and unload their modules, so that LeakSanitizer cannot tell whose memory it is. One row
    # loads a library before that of AddressSanitizer.
    clean["ASAN_OPTIONS"] = "detect_leaks=0:verify_asan_link_order=0"
    clean.update(extra)
    return clean


def rank_variables(rank, size):
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size)}


def plain_ranks(size, arguments, base, users=None):
    """The started ranks, by default of this user."""
    return [subprocess.Popen([WORKER] + arguments, env={**base, **rank_variables(r, size)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, user=users[r] if users else None)
            for r in range(size)]


def start(launcher, size, arguments, extra):
    """The exit status and the output of a job."""
    base = environment(extra)
    if launcher:
        commands = [(launcher + ["-n", str(size), WORKER] + arguments, {})]
    else:
        commands = [([WORKER] + arguments, {**rank_variables(r, size), **extra}) for r in range(size)]
    with tempfile.TemporaryFile("w+") as output:
        jobs = [subprocess.Popen(command, env={**base, **own}, stdout=output, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, start_new_session=True) for command, own in commands]
        try:
            # All ranks, or all but the last where that one is to fail.
            status = max(abs(job.wait(SECONDS)) for job in jobs[:-1] or jobs) or abs(jobs[-1].wait(SECONDS))
        finally:
            for job in jobs:
                if job.poll() is None:
                    os.killpg(job.pid, signal.SIGKILL)
        output.seek(0)
        return status, output.read()


def works(launcher, sizes, backend, libraries, limited=False, says="", **extra):
    for size in sizes:
        arguments = [backend] + libraries + (["limit=4096"] if limited or size == 1 else [])
        status, output = start(launcher, size, arguments, extra)
        if status != 0 or output.count("all is well") != size or says not in output:
            sys.exit(f"{' '.join(launcher) or 'plain processes'}, {size} ranks of {arguments}, {extra}: "
                     f"status {status}\n{output}")


def refuses(launcher, backend, sentence, **extra):
    status, output = start(launcher, 2, [backend], extra)
    if status == 0 or sentence not in output:
        sys.exit(f"{launcher} with {backend} and {extra} should have failed with {sentence!r}: status {status}\n{output}")


def ends(launcher, backend, fault, says="", **extra):
    """A rank that is stopped or killed ends the others, within the time-out of the worker and a few seconds."""
    started = time.monotonic()
    status, output = start(launcher, 3, [backend, f"fault={int(fault)}"], extra)
    took = time.monotonic() - started
    if status == 0 or took > 25 or "the fault comes now" not in output or says not in output:
        sys.exit(f"{launcher} with {backend} and {fault.name}: status {status} after {took:.0f} s\n{output}")


def refuses_the_plugin_of(other, launcher, own, sentence):
    """Another MPI's plug-in in the place of the launcher's own."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(f"{BUILD}/lib/hearth/libhearth_comm_mpi_{other}.so"),
                   f"{folder}/libhearth_comm_mpi_{own}.so")
        refuses(launcher, "mpi", sentence, HEARTH_PLUGIN_PATH=folder)


def shared_memory():
    """Kilobytes of shared memory on this machine, and the files that have a name."""
    with open("/proc/meminfo") as file:
        used = next(int(line.split()[1]) for line in file if line.startswith("Shmem:"))
    return used, sorted(os.listdir("/dev/shm"))


def leaves_nothing():
    """All ranks are killed at once, in the midst of the work, with memory in common."""
    _, before = shared_memory()
    jobs = plain_ranks(3, ["shm", "hold=64"], environment({}))
    try:
        for job in jobs:
            while b"holding" not in job.stdout.readline():
                if job.poll() is not None:
                    sys.exit(f"a rank ended with status {job.returncode}")
        during, names = shared_memory()
        if names != before:
            sys.exit(f"the job has made files: {names}, before {before}")
    finally:
        for job in jobs:
            job.kill()
            job.wait()
    for _ in range(100):
        after, names = shared_memory()
        if after < during - 150 * 1024 and names == before:
            return
        time.sleep(0.1)
    sys.exit(f"{after} kB of shared memory after the job, {during} while it ran; files {names}, before {before}")


def two_jobs():
    """Of one user, at the same time."""
    jobs = [plain_ranks(2, ["shm"], environment({})) for _ in range(2)]
    for job in jobs[0] + jobs[1]:
        output, _ = job.communicate(timeout=SECONDS)
        if job.returncode != 0 or b"all is well" not in output:
            sys.exit(f"status {job.returncode}\n{output.decode()}")


def other_user_refused():
    """The second rank runs as another user."""
    if os.geteuid() != 0:
        skip("it takes root to start a rank as another user")
    first, second = plain_ranks(2, ["shm"], environment({}), users=[None, 65534])
    output = second.communicate(timeout=SECONDS)[0].decode() + first.communicate(timeout=SECONDS)[0].decode()
    sentence = "which another user runs: run all ranks as one user, or use --ddp_backend gloo"
    if 0 in (first.returncode, second.returncode) or sentence not in output or "rank 1 failed" not in output:
        sys.exit(f"the second rank should have said {sentence!r}\n{output}")


def setvars():
    """A shell that sources what `hearth env --setvars` prints finds Intel's mpirun, and libccl."""
    script = f'eval "$({BUILD}/bin/hearth env --setvars)" && command -v mpirun && ls "$LD_LIBRARY_PATH/libccl.so.1"'
    clean = {**environment({}), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-ec", script], env=clean, capture_output=True, text=True)
    if done.returncode != 0 or os.path.join(BACKENDS, "bin", "mpirun") not in done.stdout:
        sys.exit(f"status {done.returncode}: {done.stdout}{done.stderr}")


ROWS = {
    "setvars": setvars,
    "gloo": lambda: works(PLAIN, [1, 2, 3, 4, 5], "gloo", OF_GLOO),
    "gloo_limited": lambda: works(PLAIN, [3], "gloo", OF_GLOO, limited=True),
    "gloo_mpich": lambda: works(MPICH, [2], "gloo", OF_GLOO),
    "gloo_openmpi": lambda: works(OPENMPI, [2], "gloo", OF_GLOO),
    "gloo_intel": lambda: works(INTEL, [2], "gloo", OF_GLOO),
    "shm": lambda: works(PLAIN, [1, 2, 3, 4, 5], "shm", OF_SHM),
    "shm_limited": lambda: works(PLAIN, [3], "shm", OF_SHM, limited=True),
    "shm_mpich": lambda: works(MPICH, [2], "shm", OF_SHM),
    "shm_openmpi": lambda: works(OPENMPI, [2], "shm", OF_SHM),
    "shm_intel": lambda: works(INTEL, [2], "shm", OF_SHM),
    "mpich": lambda: works(MPICH, [1, 2, 3, 4, 5], "mpi", OF_MPICH),
    "mpich_limited": lambda: works(MPICH, [3], "mpi", OF_MPICH, limited=True),
    "openmpi": lambda: works(OPENMPI, [1, 2, 3, 4, 5], "mpi", OF_OPENMPI),
    "openmpi_limited": lambda: works(OPENMPI, [3], "mpi", OF_OPENMPI, limited=True),
    "intel": lambda: works(INTEL, [1, 2, 3], "mpi", OF_INTEL),
    "intel_limited": lambda: works(INTEL, [3], "mpi", OF_INTEL, limited=True),
    "ccl_mpi_intel": lambda: works(INTEL, [2], "ccl", OVER_MPI, says="oneCCL over mpi"),
    "ccl_limited": lambda: works(INTEL, [2], "ccl", OVER_MPI, limited=True),
    "ccl_ofi_intel": lambda: works(INTEL, [2], "ccl", OVER_OFI, says="oneCCL over ofi", CCL_ATL_TRANSPORT="ofi"),
    "ccl_ofi_mpich": lambda: works(MPICH, [2], "ccl", OVER_OFI, says="oneCCL over ofi"),
    "ccl_ofi_openmpi": lambda: works(OPENMPI, [2], "ccl", OVER_OFI, says="oneCCL over ofi"),
    "ccl_ofi_plain": lambda: works(PLAIN, [2, 3], "ccl", OVER_OFI, says="oneCCL over ofi"),
    "ccl_mpi_refused": lambda: refuses(MPICH, "ccl", "needs a job started by Intel's mpirun", CCL_ATL_TRANSPORT="mpi"),
    "mpi_plain_refused": lambda: refuses(PLAIN, "mpi", "mpirun"),
    "intel_refused": lambda: refuses_the_plugin_of("intel", MPICH, "mpich", "started by MPICH's mpirun"),
    "mpich_refused": lambda: refuses_the_plugin_of("mpich", OPENMPI, "openmpi", "started by Open MPI's mpirun"),
    "openmpi_refused": lambda: refuses_the_plugin_of("openmpi", INTEL, "intel", "started by Intel's mpirun"),
    "two_mpis_refused": lambda: refuses(OPENMPI, "mpi", "can use only one MPI library", LD_PRELOAD="libmpich.so.12"),
    "gloo_stopped": lambda: ends(PLAIN, "gloo", signal.SIGSTOP, "rank 2"),
    "gloo_killed": lambda: ends(PLAIN, "gloo", signal.SIGKILL, "rank 2"),
    "shm_stopped": lambda: ends(PLAIN, "shm", signal.SIGSTOP, "rank 2"),
    "shm_killed": lambda: ends(PLAIN, "shm", signal.SIGKILL, "rank 2"),
    "shm_leaves_nothing": leaves_nothing,
    "shm_two_jobs": two_jobs,
    "shm_users_refused": other_user_refused,
    "shm_hosts_refused": lambda: refuses(PLAIN, "shm", "needs all ranks on one host: use --ddp_backend gloo",
                                         **FAR_AWAY),
    "mpich_stopped": lambda: ends(MPICH, "mpi", signal.SIGSTOP, "rank 2"),
    "mpich_killed": lambda: ends(MPICH, "mpi", signal.SIGKILL),
    "openmpi_stopped": lambda: ends(OPENMPI, "mpi", signal.SIGSTOP, "rank 2"),
    "intel_stopped": lambda: ends(INTEL, "mpi", signal.SIGSTOP, "rank 2"),
    "ccl_stopped": lambda: ends(INTEL, "ccl", signal.SIGSTOP, "rank 2"),
    "ccl_plain_killed": lambda: ends(PLAIN, "ccl", signal.SIGKILL, "rank 2"),
}

if __name__ == "__main__":
    if ROW == "list":
        print(";".join(ROWS), end="")
    else:
        skip_where_libraries_crash()
        ROWS[ROW]()
