"""Rows of hosts.py: `hearth run_qa` across the hosts, with a small model of random weights."""

import json
import os
import subprocess

import matrix

PROGRAM = os.path.join(matrix.BUILD, "bin", "hearth")
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "apps")
UCX_OVER_TCP = {"UCX_TLS": "tcp,self"}


def must(condition, complaint):
    if not condition:
        raise SystemExit(complaint)


def run(arguments, place):
    """The program in one process of this machine."""
    done = subprocess.run([PROGRAM] + arguments, cwd=place, env=matrix.environment({"HEARTH_CACHE": f"{place}/cache"}),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    must(done.returncode == 0, f"{arguments}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def start_model(place):
    text, config = f"{FIXTURES}/text.txt", f"{FIXTURES}/config.json"
    run(["train_tokenizer", "--vocab_size", "200", "--output_dir", "tokenizer", "--files", text], place)
    run(["init_model", "--tokenizer", "tokenizer", "--output_dir", "model", "--config", config], place)


def run_qa(place, output, batch, *flags):
    return ["run_qa", "--model_name_or_path", f"{place}/model", "--train_file", f"{FIXTURES}/train.json", "--do_train",
            "--max_seq_length", "64", "--doc_stride", "16", "--learning_rate", "1e-3", "--logging_steps", "1",
            "--disable_tqdm", "True", "--per_device_train_batch_size", str(batch), "--output_dir", output, *flags]


def losses(folder):
    with open(f"{folder}/trainer_state.json") as file:
        return [row["loss"] for row in json.load(file)["log_history"] if "loss" in row]


def gradient_bytes(place):
    """As many as the weights have: both are 32-bit numbers."""
    with open(f"{place}/model/model.safetensors", "rb") as file:
        header = 8 + int.from_bytes(file.read(8), "little")
        return file.seek(0, os.SEEK_END) - header


def trains(hosts, launcher, ranks, per_host, words, backend, flags=(), steps=4, batch=2, tolerance=1.5e-4, **extra):
    """The losses are those of one process with all the samples of a step; every host sends each step's gradients at
    least once; the results lie on the first host alone."""
    place = hosts.folder
    start_model(place)
    length = ["--max_steps", str(steps)]
    run(run_qa(place, "one", batch * ranks, *flags, *length), place)
    output = f"{hosts.disk}/out"
    command = words + run_qa(place, output, batch, *flags, *length)
    status, text, sent = hosts.run(launcher, ranks, per_host, command, **extra)
    story = f"{' '.join(launcher)} -n {ranks} -ppn {per_host} {' '.join(command)}: status {status}, sent {sent}\n{text}"
    must(status == 0, story)
    must(text.count(f"{ranks} processes, {per_host} of them on this host, over {backend}") == 1, story)
    used = ranks // per_host
    least = steps * gradient_bytes(place)
    must(min(sent[:used]) > least, f"each host should have sent more than {least} bytes\n{story}")
    holders = [n for n in range(1, used + 1) if os.path.exists(hosts.on_disk(n, "out/model.safetensors"))]
    must(holders == [1], f"the model was written on hosts {holders}\n{story}")
    alone, together = losses(f"{place}/one"), losses(hosts.on_disk(1, "out"))
    must(len(together) == steps and len(alone) == steps and
         max(abs(a - b) for a, b in zip(alone, together)) < tolerance, f"losses {together}, alone {alone}\n{story}")
    print(f"losses {together}, alone {alone}, bytes sent {sent}")


ROWS = {
    "run_qa_mpich": lambda hosts: trains(hosts, matrix.MPICH, 4, 2, [PROGRAM], "mpi", ("--ddp_backend", "mpi"),
                                         **UCX_OVER_TCP),
    "run_qa_intel": lambda hosts: trains(
        hosts, matrix.INTEL, 4, 2, ["-genv", "OMP_NUM_THREADS=1", PROGRAM], "ccl",
        ("--no_cuda", "--ddp_backend", "ccl", "--use_ipex", "--bf16"), tolerance=5e-3),
    "launch_mpich": lambda hosts: trains(hosts, matrix.MPICH, 16, 4, [PROGRAM, "launch"], "mpi",
                                         ("--ddp_backend", "mpi"), steps=3, batch=1, **UCX_OVER_TCP),
    "launch_intel": lambda hosts: trains(hosts, matrix.INTEL, 16, 4, [PROGRAM, "launch"], "ccl", steps=3, batch=1),
}
