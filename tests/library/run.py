"""Runs the examples of an installed Hearth: run.py PROGRAMS HEARTH FIXTURES. PROGRAMS is the folder of the built examples,
HEARTH the installed program, FIXTURES the folder tests/fixtures."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS, HEARTH, FIXTURES = (pathlib.Path(word).resolve() for word in sys.argv[1:])


def run(*words, status=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, words))} ended with status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def numbers(name, text):
    return [float(number) for number in re.findall(name + r"\D*([0-9.]+)", text)]


def expect(truth, what, output):
    if not truth:
        sys.exit(f"{what}:\n{output}")


def make_model():
    run(HEARTH, "train_tokenizer", "--vocab_size", 200, "--output_dir", "tokenizer", "--files", FIXTURES / "apps/text.txt")
    run(HEARTH, "init_model", "--tokenizer", "tokenizer", "--output_dir", "model", "--config", FIXTURES / "apps/config.json")


def own_model():
    output = run(PROGRAMS / "own_model")
    expect(numbers("accuracy", output)[-1] > 0.9, "own_model does not learn", output)
    expect(pathlib.Path("own_model/model.safetensors").exists(), "own_model saved no weights", output)


def own_loop():
    losses = numbers("loss", run(PROGRAMS / "own_loop"))
    expect(losses[-1] < 0.3 * losses[0], "own_loop does not learn", losses)


def own_data():
    pathlib.Path("lines.tsv").write_text("good\tthe ferry was new\nbad\tthe ferry was late\n" * 40)
    losses = numbers("loss", run(PROGRAMS / "own_data", "model", "lines.tsv"))
    expect(losses and losses[-1] < losses[0], "own_data does not learn", losses)
    answer = run(HEARTH, "classify", "--model", "own_data", "--text", "the ferry was late")
    expect("bad" in answer or "good" in answer, "hearth classify does not know the labels of own_data", answer)
    error = run(PROGRAMS / "own_data", "model", "nowhere.tsv", status=1)
    expect(error == "own_data: error: nowhere.tsv is empty or cannot be read\n", "another error than expected", error)


def distributed():
    alone = numbers("loss", run(PROGRAMS / "distributed"))
    together = numbers("loss", run(HEARTH, "launch", "--main_process_port", 0, "--num_processes", 2, PROGRAMS / "distributed"))
    expect(alone[-1] < 0.1, "distributed does not learn", alone)
    expect(len(alone) == len(together) and all(abs(a - b) < 1e-3 for a, b in zip(alone, together)),
           "two ranks learn otherwise than one", (alone, together))


def nlp_example():
    flags = ["--model_name_or_path", "model", "--train_file", "pairs.jsonl", "--validation_file", "pairs.jsonl"]
    pairs = [("the ferry was late", "the boat was late", 1), ("the ferry was late", "it snowed in the town", 0)]
    rows = [f'{{"sentence1": "{a}", "sentence2": "{b}", "label": {label}}}\n' for a, b, label in pairs * 33]
    pathlib.Path("pairs.jsonl").write_text("".join(rows))
    commands = {"alone": [], "launched": [HEARTH, "launch", "--main_process_port", 0, "--num_processes", 2]}
    if shutil.which("mpirun.mpich"):
        commands["mpirun"] = ["mpirun.mpich", "-n", 2]
    for name, start in commands.items():
        for program in ([PROGRAMS / "nlp_example"], [HEARTH, "nlp_example"]):
            output = run(*start, *program, *flags, "--mixed_precision", "bf16")
            lines = re.findall(r"epoch .*", output)  # behind "[0] " where hearth launch prints them
            expect([line.split(":")[0] for line in lines] == ["epoch 0", "epoch 1", "epoch 2"], f"nlp_example {name}", output)
            expect(re.fullmatch(r"epoch 2: \{'accuracy': [0-9.]+, 'f1': [0-9.]+\}", lines[2]), f"nlp_example {name}", output)
    error = run(PROGRAMS / "nlp_example", "--mixed_precision", "fp8", status=2)
    expect(error.startswith("nlp_example: error: ") and error.count("\n") == 1, "another error than expected", error)
    error = run(PROGRAMS / "nlp_example", status=1)
    expect("nyu-mll/glue is neither a folder nor a data set in the cache" in error and error.count("\n") == 1, "another error than expected", error)


with tempfile.TemporaryDirectory(prefix="hearth-library-") as folder:
    os.chdir(folder)
    os.environ |= {"HF_HOME": folder, "HF_HUB_OFFLINE": "1"}
    make_model()
    for example in (own_model, own_loop, own_data, distributed, nlp_example):
        example()
        print(example.__name__, "ok")
    run(PROGRAMS.parent / "readme", "model")
