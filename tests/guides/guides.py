#!/usr/bin/env python3
"""Runs the commands of docs/migrating.md: guides.py ROW BUILD BACKENDS. `list` instead of a row names those of `make test`,
`list_all` all of them.

Names of models and data sets are those of the Hub; tests/hub/server.py stands in for it, with models of random weights
and the data of tests/fixtures/guides. Only this changes in a command: the output folder, OMP_NUM_THREADS, and the
addresses of the hosts. Several hosts are namespaces of this machine, as in tests/plugins/hosts.py. Every training runs
online first, and then offline from the cache that it has filled, which must give the same bits."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "plugins")]
import hosts  # noqa: E402
import matrix  # noqa: E402
import page  # noqa: E402

FIXTURES = HERE.parent / "fixtures"
PROGRAM = pathlib.Path(matrix.BUILD).resolve() / "bin" / "hearth"
SERVER = [sys.executable, str(HERE.parent / "hub" / "server.py")]
RUN, OLD, OUTPUT = page.blocks("run"), page.blocks("old"), page.blocks("output")
MODELS = ["google-bert/bert-base-uncased", "google-bert/bert-large-uncased", "google-bert/bert-base-cased"]
RENAMED = {"models/bert-base-uncased": "models/google-bert/bert-base-uncased",
           "models/bert-base-cased": "models/google-bert/bert-base-cased",
           "datasets/squad": "datasets/rajpurkar/squad", "datasets/glue": "datasets/nyu-mll/glue"}
ANSWERS = {"config": "This machine,No distributed training,yes,yes,NO,NO,bf16",
           "config_four_hosts": "This machine,multi-CPU,4,0,36.112.23.24,29500,yes,yes,NO,16,bf16"}


def must(truth, complaint):
    if not truth:
        sys.exit(complaint)


class Place:
    """A folder with the repositories of the server, a Hub cache and room for outputs."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.repositories = self.folder / "hub"
        self.log = self.folder / "requests"
        self.extra = {}

    def environment(self, **more):
        kept = {name: value for name, value in matrix.environment({}).items()
                if not name.startswith(("HF_", "TRANSFORMERS")) and "proxy" not in name.lower()}
        for name in ("OMP_NUM_THREADS", "CCL_WORKER_COUNT", "MASTER_ADDR"):  # for the commands to set
            kept.pop(name)
        own = {"HF_HOME": f"{self.folder}/home", "HEARTH_CACHE": f"{self.folder}/cache", "TMPDIR": str(self.folder),
               "PATH": f"{PROGRAM.parent}:{kept['PATH']}"}
        return kept | own | self.extra | more

    def shell(self, text, answers="", before=(), status=0, **environment):
        """Runs shell text, here or, behind the words `before`, on a host."""
        done = subprocess.run([*before, "bash", "-ec", f"cd {self.folder}\n{text}"], env=self.environment(**environment),
                              input=answers, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        must(done.returncode == status, f"{text}\nended with status {done.returncode}, not {status}:\n{done.stdout}")
        return done.stdout

    def make_repositories(self):
        config = json.loads((FIXTURES / "apps" / "config.json").read_text()) | {"max_position_embeddings": 512}
        (self.folder / "config.json").write_text(json.dumps(config))
        texts = self.folder / "text.txt"
        texts.write_text((FIXTURES / "apps" / "text.txt").read_text() + "In lives the Ada Nils Omar.\n")
        self.shell(f"hearth train_tokenizer --vocab_size 200 --output_dir tokenizer --files {texts}")
        for number, name in enumerate(MODELS):
            self.shell(f"hearth init_model --config config.json --tokenizer tokenizer --seed {number} "
                       f"--output_dir {self.repositories}/models/{name}")
        shutil.copytree(FIXTURES / "guides" / "datasets", self.repositories / "datasets")
        (self.repositories / "renamed.json").write_text(json.dumps(RENAMED))

    @contextlib.contextmanager
    def server(self, before=(), port=0):
        command = [*before, *SERVER, "--root", str(self.repositories), "--log", str(self.log), "--port", str(port)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield process.stdout.readline().strip()
            process.stdin.close()

    def requests(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def localized(command, output, address="127.0.0.1"):
    """The command with this machine's folder, threads and addresses."""
    command = command.replace("/tmp/debug_squad/", f"{output}/").replace("OMP_NUM_THREADS=23", "OMP_NUM_THREADS=1")
    return command.replace("xxx.xxx.xxx.xxx", address)


def trained(folder, epochs=2):
    """The bytes of the model that a run_qa has written, with results that show that it has trained and evaluated."""
    results = json.loads((folder / "all_results.json").read_text())
    losses = [row["train_loss"] for row in json.loads((folder / "trainer_state.json").read_text())["log_history"]
              if "train_loss" in row]
    must(results["epoch"] == epochs and results["train_samples"] == 40 and 0 <= results["eval_f1"] <= 100 and
         losses and 0 < losses[-1] < 10, f"{folder}: {results}, losses {losses}")
    return (folder / "model.safetensors").read_bytes()


def trains(place, name, says=""):
    """Runs a command with a server, and again without one."""
    place.make_repositories()
    place.extra = {"MASTER_PORT": str(matrix.free_port())}
    with place.server() as url:
        place.shell(localized(RUN[name], f"{place.folder}/online"), HF_ENDPOINT=url)
    asked = place.requests()
    output = place.shell(localized(RUN[name], f"{place.folder}/offline"), HF_ENDPOINT=url, HF_HUB_OFFLINE="1")
    must(asked > 0 and place.requests() == asked, "the offline run has asked the server, or the online run has not")
    must(says in output, f"{name} does not say '{says}':\n{output}")
    must(trained(place.folder / "online") == trained(place.folder / "offline"), f"{name}: the offline run has other weights")
    print(f"{name}: online and offline, the same bits")


def check_page(place):
    """What the page shows is what `hearth migrate` prints, or the old command with three words changed, and each of its
    commands is run here."""
    (place.folder / "my_training.py").write_text(OLD["my_training.py"])
    for name, text in OLD.items():
        is_script = name.endswith(".py")  # with **kwargs, which no command has
        new = json.loads(place.shell(f"hearth migrate --json {name if is_script else '-'}", answers=text, status=is_script))
        if name in RUN and name not in ("install", "my_training.py"):
            must(RUN[name] in (page.with_three_words_changed(text), new["text"] + "\n"), f"{name}: another command")
    for name, text in OUTPUT.items():
        printed = place.shell(RUN[name], status=name.endswith(".py"))
        must(printed == text, f"{name} prints\n{printed}")
    must("oneDNN" in place.shell(RUN["install"]), "hearth env lists no versions")
    own_text = pathlib.Path(__file__).read_text()
    unused = [name for name in RUN if f'"{name}"' not in own_text and name not in OUTPUT]
    must(not unused and not page.unmarked(), f"no row runs {unused}, and these blocks have no mark: {page.unmarked()}")
    print(f"{len(OLD)} old commands, {len(RUN)} new ones, {len(OUTPUT)} outputs")


def check_setvars(place):
    found = place.shell(RUN["setvars"] + "command -v mpirun", PATH=f"{PROGRAM.parent}:/usr/bin:/bin").strip()
    must(os.path.realpath(found) == os.path.realpath(f"{matrix.BACKENDS}/bin/mpirun"), f"mpirun is {found}")


def check_config(place, name, fixture):
    place.shell(RUN["config"], answers=ANSWERS[name].replace(",", "\n") + "\n")
    written = (place.folder / "home" / "accelerate" / "default_config.yaml").read_text().splitlines()
    for line in (FIXTURES / "launch" / fixture).read_text().splitlines():
        must(line in written, f"{line} is missing in {written}")


def check_example(output):
    lines = re.findall(r"epoch \d: \{'accuracy': [0-9.]+, 'f1': [0-9.]+\}", output)
    must([line.split(":")[0] for line in lines] == ["epoch 0", "epoch 1", "epoch 2"], output)


def check_accelerate(place):
    place.make_repositories()
    check_config(place, "config", "guide_no.yaml")
    (place.folder / "my_script.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['ACCELERATE_MIXED_PRECISION'], os.environ['ACCELERATE_USE_IPEX'])\n")
    must("['--args_to_my_script'] bf16 true" in place.shell(RUN["launch"]).lower(), "the script has other settings")
    with place.server() as url:
        online = place.shell(RUN["launch_example"], HF_ENDPOINT=url)
    offline = place.shell(RUN["launch_example"], HF_HUB_OFFLINE="1")
    check_example(online)
    check_example(offline)
    print("nlp_example: online and offline")


def check_download(place):
    place.make_repositories()
    with place.server() as url:
        place.shell(RUN["download"], HF_ENDPOINT=url)
    place.shell(localized(RUN["one_cpu"], f"{place.folder}/out"), HF_HUB_OFFLINE="1")
    trained(place.folder / "out")
    print("download: one_cpu trains offline from what was fetched ahead")


@contextlib.contextmanager
def several_hosts(place, count):
    """Hosts with a cache and a server each, the latter at the same address."""
    place.make_repositories()
    (place.folder / "hosts").mkdir()
    network = hosts.Hosts(str(place.folder / "hosts"))
    addresses = [f"{hosts.NETWORK}{number}" for number in range(1, count + 1)]
    (place.folder / "hostfile").write_text("".join(f"{address} #node{n} ip\n" for n, address in enumerate(addresses)))
    enter = f"{network.folder}/enter"
    port = 8080
    place.extra = {"HF_HOME": f"{network.disk}/home", "HEARTH_CACHE": f"{network.disk}/cache", "MASTER_PORT": "29500",
                   "I_MPI_HYDRA_BOOTSTRAP_EXEC": enter, "HYDRA_LAUNCHER_EXEC": enter}
    with contextlib.ExitStack() as stack:
        for number in range(1, count + 1):
            url = stack.enter_context(place.server(network.inside(number), port))
        place.extra["HF_ENDPOINT"] = url
        yield network


def check_two_hosts(place):
    with several_hosts(place, 2) as network:
        for kind, more in (("online", {}), ("offline", {"HF_HUB_OFFLINE": "1"})):
            command = localized(RUN["two_hosts_run"], f"{network.disk}/{kind}", f"{hosts.NETWORK}1")
            output = place.shell(command, before=network.inside(1), **more)
            must("4 processes, 2 of them on this host, over ccl" in output, output)
        online, offline = (trained(pathlib.Path(network.on_disk(1, kind))) for kind in ("online", "offline"))
        must(online == offline, "the offline run has other weights than the online run")
        must(not os.path.exists(network.on_disk(2, "online")), "the second host has written results")
    print("two_hosts_run: four ranks on two hosts made of namespaces, online and offline, the same bits")


def check_four_hosts(place):
    with several_hosts(place, 4) as network:
        answers = ANSWERS["config_four_hosts"].replace("36.112.23.24", f"{hosts.NETWORK}1").replace(",", "\n") + "\n"
        place.shell(RUN["config"], answers=answers, before=network.inside(1))
        for more in ({}, {"HF_HUB_OFFLINE": "1"}):
            command = localized(RUN["four_hosts"], "", f"{hosts.NETWORK}1")
            check_example(place.shell(command, before=network.inside(1), **more))
        plan = place.shell(RUN["four_hosts_dry_run"], before=network.inside(1))
        must("mpirun" in plan and "-n 16" in plan, plan)
    print("four_hosts: sixteen ranks on four hosts made of namespaces, online and offline; the dry run starts nothing")


ROWS = {
    "page": check_page,
    "setvars": check_setvars,
    "multi_cpu_config": lambda place: check_config(place, "config_four_hosts", "guide_multi_cpu.yaml"),
    "one_cpu": lambda place: trains(place, "one_cpu"),
    "accelerate": check_accelerate,
    "one_cpu_older": lambda place: trains(place, "one_cpu_older"),
    "one_host": lambda place: trains(place, "one_host", "2 processes, 2 of them on this host, over ccl"),
    "one_host_launch": lambda place: trains(place, "one_host_launch", "2 processes, 2 of them on this host, over shm"),
    "download": check_download,
    "two_hosts": check_two_hosts,
    "four_hosts": check_four_hosts,
}
SHORT = ["page", "setvars", "multi_cpu_config", "one_cpu", "accelerate"]

if __name__ == "__main__":
    if matrix.ROW in ("list", "list_all"):
        print(";".join(SHORT if matrix.ROW == "list" else ROWS), end="")
        sys.exit()
    if matrix.ROW in ("two_hosts", "four_hosts"):
        hosts.enter_namespaces()
    with tempfile.TemporaryDirectory() as folder:
        ROWS[matrix.ROW](Place(folder))
