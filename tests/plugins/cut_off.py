"""Rows of hosts.py: a host loses its network while `hearth run_qa` trains with one rank per host."""

import os
import re
import subprocess
import tempfile
import time

import matrix
from training import PROGRAM, UCX_OVER_TCP, must, run_qa, start_model

RANKS = 4
TIMEOUT, FEW_SECONDS = 10, 30
SAVE_STEPS = 20


def newest_checkpoint(hosts, number):
    """Its step, 0 where there is none; older ones come and go while the job runs."""
    folder = hosts.on_disk(number, "out")
    names = os.listdir(folder) if os.path.exists(folder) else []
    return max((int(name.split("-")[1]) for name in names if name.startswith("checkpoint-")), default=0)


def processes(hosts):
    """The programs that run on the hosts, by number."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            found[int(process)] = os.readlink(f"/proc/{process}/exe")
        except OSError:  # it has just ended
            pass
    return {number: program for number, program in found.items()
            if number != os.getpid() and number not in [holder.pid for holder in hosts.holders]}


class Job:
    """Trains until something happens to it. Made once it has trained for a while."""

    def __init__(self, hosts, commands):
        self.hosts = hosts
        self.output = tempfile.TemporaryFile("w+")
        self.starters = [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self.output,
                                          stderr=subprocess.STDOUT) for command, environment in commands]
        deadline = time.monotonic() + matrix.SECONDS
        while newest_checkpoint(hosts, 1) < 2 * SAVE_STEPS:
            must(time.monotonic() < deadline and all(starter.poll() is None for starter in self.starters), self.text())
            time.sleep(0.05)
        time.sleep(0.5)  # ranks tell their operation ten times per second

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def wait_for_ranks(self):
        self.wait(lambda: os.path.realpath(PROGRAM) not in processes(self.hosts).values(), TIMEOUT + FEW_SECONDS)

    def wait_for_starters(self):
        self.wait(lambda: all(starter.poll() is not None for starter in self.starters), FEW_SECONDS)
        must(all(starter.returncode == 1 for starter in self.starters), self.text())
        must(not processes(self.hosts), f"left are {processes(self.hosts)}\n{self.text()}")

    def wait(self, ended, seconds):
        deadline = time.monotonic() + seconds
        while not ended():
            must(time.monotonic() < deadline, f"after {seconds} s there are {processes(self.hosts)}\n{self.text()}")
            time.sleep(0.1)

    def check_sentences(self, lost):
        """Every rank prints an error with its operation; the ranks that remain name `lost`, which was cut off."""
        said = {int(rank): words for rank, words in re.findall(r"^hearth: error: rank (\d+): (.*)$", self.text(), re.M)}
        must(len(said) == RANKS, self.text())
        for rank, words in said.items():
            must(re.match(rf"[a-z_]+ \(operation [0-9]+\) failed on rank {rank}: ", words), words)
            silent = [r for r in range(RANKS) if f"rank {r} gives no sign of life (last seen in " in words]
            if lost != 0 and rank != lost:
                must(silent == [lost], words)
            elif rank == 0:
                must(silent == [1, 2, 3], words)
            else:
                must("rank 0, which holds the job's store, " in words, words)
            must("last seen in start" not in words, words)

    def check_checkpoint(self):
        """It is whole, and on the first host alone."""
        must([n for n in range(1, RANKS + 1) if newest_checkpoint(self.hosts, n) > 0] == [1], self.text())
        command = self.hosts.inside(1) + [PROGRAM] + run_qa(
            self.hosts.folder, f"{self.hosts.disk}/out", 8, "--num_train_epochs", "100000", "--save_strategy", "no",
            "--max_steps", "1")
        done = subprocess.run(command, env=self.hosts.environment({}), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        must(done.returncode == 0 and "checkpoint found, resuming from" in done.stdout, done.stdout)


def endless(hosts, backend):
    start_model(hosts.folder)
    return [PROGRAM] + run_qa(hosts.folder, f"{hosts.disk}/out", 2, "--ddp_backend", backend, "--ddp_timeout",
                              str(TIMEOUT), "--num_train_epochs", "100000", "--save_steps", str(SAVE_STEPS),
                              "--save_total_limit", "2")


def by_hand(hosts, lost):
    command = endless(hosts, "gloo")
    world = {"WORLD_SIZE": str(RANKS), "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
    job = Job(hosts, [(hosts.inside(rank + 1) + command, hosts.environment({"RANK": str(rank), **world}))
                      for rank in range(RANKS)])
    hosts.set_link(lost + 1, "down")
    job.wait_for_ranks()
    job.wait_for_starters()
    job.check_sentences(lost)
    job.check_checkpoint()


def by_mpirun(hosts, launcher, lost, **extra):
    """All ranks end. mpirun itself waits for its own process on the lost host, until that can be reached again."""
    command = hosts.mpirun(launcher, RANKS, 1, endless(hosts, "mpi"))
    job = Job(hosts, [(command, hosts.environment(extra))])
    hosts.set_link(lost + 1, "down")
    job.wait_for_ranks()
    hosts.set_link(lost + 1, "up")
    job.wait_for_starters()
    job.check_sentences(lost)
    job.check_checkpoint()


ROWS = {
    "cut_off": lambda hosts: by_hand(hosts, lost=2),
    "cut_off_store": lambda hosts: by_hand(hosts, lost=0),
    "cut_off_mpich": lambda hosts: by_mpirun(hosts, matrix.MPICH, lost=2, **UCX_OVER_TCP),
}
