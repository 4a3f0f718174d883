#!/usr/bin/env python3
"""Jobs across four hosts on one machine: hosts.py ROW BUILD BACKENDS. `list` instead of a row names them all.

A host is a network namespace with an address of its own on a bridge, a name of its own and a disk of its own; what
mpirun would do with ssh is done by a wrapper that enters the namespace. All of it lives in namespaces of this test, as
root or, where the system lets ordinary users have them, as anybody; elsewhere the test says so and is skipped. The
bytes that cross the links are counted, so that the network is really used. Rows that train are in training.py and
cut_off.py."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cut_off
import matrix
import training

HOSTS = 4
NETWORK = "10.77.0."
ENTER = ["nsenter", "--net", "--uts", "--mount", "-t"]  # and the process that holds the namespaces
LEAST_BYTES = 1 << 20  # over each link that a job uses; what the worker exchanges is more


def enter_namespaces():
    """Starts this script again where it may make networks; all that it starts ends with it."""
    if "HEARTH_TEST_INSIDE" in os.environ:
        return
    own = ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    for unshare in (own, own + ["--user", "--map-root-user"]):
        if subprocess.run(unshare + ["true"], capture_output=True).returncode == 0:
            os.environ["HEARTH_TEST_INSIDE"] = "1"
            os.execvp(unshare[0], unshare + [sys.executable, os.path.abspath(sys.argv[0])] + sys.argv[1:])
    matrix.skip("network namespaces cannot be made here: it takes root, or user namespaces for all")


def sh(*command, otherwise=sys.exit):
    if not shutil.which(command[0]):
        otherwise(f"the program {command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        otherwise(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
    return done.stdout


def make(*command):
    """A part of the hosts, without which there is nothing to test."""
    return sh(*command, otherwise=matrix.skip)


class Hosts:
    def __init__(self, folder):
        self.folder = folder
        self.disk = f"{folder}/disk"
        self.holders = []
        os.mkdir(self.disk)
        make("ip", "link", "add", "bridge", "type", "bridge")
        make("ip", "link", "set", "bridge", "up")
        names = "".join(f"{NETWORK}{n} host{n}\n" for n in range(1, HOSTS + 1))
        with open(f"{folder}/names", "w") as file:
            file.write("127.0.0.1 localhost\n" + names)
        make("mount", "--bind", f"{folder}/names", "/etc/hosts")
        for number in range(1, HOSTS + 1):
            self.add(number)
        with open(f"{folder}/hostfile", "w") as file:
            file.write("# one address per line\n" + "".join(f"{NETWORK}{n}\n" for n in range(1, HOSTS + 1)))
        with open(f"{folder}/enter", "w") as file:
            file.write("#!/bin/sh\n# As ssh: [options] host command\n"
                       "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
                       f"pid=$(cat {folder}/$1) && shift && exec {' '.join(ENTER)} $pid -- /bin/sh -c \"$*\"\n")
        os.chmod(f"{folder}/enter", 0o755)

    def add(self, number):
        hold = f"hostname host{number} && mount -t tmpfs disk {self.disk} && echo ready && exec sleep infinity"
        holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "/bin/sh", "-c", hold],
                                  stdout=subprocess.PIPE)
        if not holder.stdout.readline():
            matrix.skip("a host of namespaces cannot be made here")
        self.holders.append(holder)
        for name in (f"{NETWORK}{number}", f"host{number}"):
            with open(f"{self.folder}/{name}", "w") as file:
                file.write(str(holder.pid))
        inside = self.inside(number) + ["ip"]
        make("ip", "link", "add", f"link{number}", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        make("ip", "link", "set", f"link{number}", "master", "bridge", "up")
        make(*inside, "addr", "add", f"{NETWORK}{number}/24", "dev", "eth0")
        make(*inside, "link", "set", "eth0", "up")
        make(*inside, "link", "set", "lo", "up")

    def inside(self, number):
        """The words before a command that start it on this host."""
        return ENTER + [str(self.holders[number - 1].pid)]

    def on_disk(self, number, path):
        """Where a file of this host's disk is seen from here."""
        return f"/proc/{self.holders[number - 1].pid}/root{self.disk}/{path}"

    def set_link(self, number, state):
        sh("ip", "link", "set", f"link{number}", state)

    def bytes(self):
        """The number of bytes that each host has sent so far."""
        links = {link["ifname"]: link for link in json.loads(sh("ip", "-s", "-j", "link"))}
        return [links[f"link{n}"]["stats64"]["rx"]["bytes"] for n in range(1, HOSTS + 1)]

    def mpirun(self, launcher, ranks, per_host, command):
        """The command of a user of the first host."""
        return self.inside(1) + launcher + ["-launcher-exec", f"{self.folder}/enter", "-f", f"{self.folder}/hostfile",
                                            "-n", str(ranks), "-ppn", str(per_host)] + command

    def environment(self, extra):
        return matrix.environment({"MASTER_ADDR": f"{NETWORK}1", "MASTER_PORT": "29500",
                                   "HEARTH_CACHE": f"{self.disk}/cache", **extra})

    def run(self, launcher, ranks, per_host, command, **extra):
        """The status and the output of a job, and the bytes sent by each host."""
        before = self.bytes()
        done = subprocess.run(self.mpirun(launcher, ranks, per_host, command), env=self.environment(extra),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=matrix.SECONDS)
        return done.returncode, done.stdout, [after - b for after, b in zip(self.bytes(), before)]


def works(hosts, launcher, ranks, per_host, backend, **extra):
    started = time.time()
    status, output, sent = hosts.run(launcher, ranks, per_host, [matrix.WORKER, backend, "quick"], **extra)
    used = ranks // per_host
    if status != 0 or output.count("all is well") != ranks or min(sent[:used]) < LEAST_BYTES:
        sys.exit(f"{launcher[0]} -n {ranks} -ppn {per_host} with {backend} and {extra}: status {status}, "
                 f"bytes sent {sent}\n{output}")
    print(f"{launcher[0]} -n {ranks} -ppn {per_host} with {backend}: {time.time() - started:.1f} s, bytes sent {sent}")


def by_hand(hosts, places):
    """The output of ranks on these hosts that are told their numbers and where to meet, nothing of their hosts."""
    ranks = [subprocess.Popen(hosts.inside(host) + [matrix.WORKER, "gloo", "quick"], text=True,
                              env=hosts.environment({"RANK": str(rank), "WORLD_SIZE": str(len(places))}),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
             for rank, host in enumerate(places)]
    output = "".join(rank.communicate(timeout=matrix.SECONDS)[0] for rank in ranks)
    if any(rank.returncode != 0 for rank in ranks):
        sys.exit(f"ranks started by hand on hosts {places} failed\n{output}")
    return output


def neighbours_are_told(hosts):
    warning = "another process of this job runs on this host"
    apart, together = by_hand(hosts, (1, 2)), by_hand(hosts, (1, 1))
    if warning in apart or together.count(warning) != 1:
        sys.exit(f"on two hosts:\n{apart}\non one:\n{together}")


ROWS = {
    # UCX, below Debian's MPICH, would see that the hosts are one machine and use its memory.
    "mpich": lambda hosts: [works(hosts, matrix.MPICH, *shape, "mpi", UCX_TLS="tcp,self") for shape in ((4, 2), (16, 4))],
    "intel": lambda hosts: [works(hosts, matrix.INTEL, *shape, "mpi") for shape in ((4, 2), (16, 4))],
    "gloo": lambda hosts: works(hosts, matrix.MPICH, 4, 2, "gloo"),
    "ccl": lambda hosts: [works(hosts, matrix.INTEL, 4, 2, "ccl"), works(hosts, matrix.MPICH, 4, 2, "ccl")],
    "by_hand": neighbours_are_told,
    **training.ROWS,
    **cut_off.ROWS,
}

if __name__ == "__main__":
    if matrix.ROW == "list":
        print(";".join(ROWS), end="")
        sys.exit()
    enter_namespaces()
    with tempfile.TemporaryDirectory() as place:
        matrix.skip_where_libraries_crash()
        ROWS[matrix.ROW](Hosts(place))
