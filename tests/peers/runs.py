"""Small models that Hearth trains on some of the demo's questions, for the tests beside this file."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMON = dict(vocab_size=0, max_position_embeddings=128, initializer_range=0.1, pad_token_id=0)
CONFIGS = {
    "bert": dict(
        COMMON,
        architectures=["BertForQuestionAnswering"],
        model_type="bert",
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        hidden_act="gelu",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
    ),
    "distilbert": dict(
        COMMON,
        architectures=["DistilBertForQuestionAnswering"],
        model_type="distilbert",
        dim=32,
        n_layers=2,
        n_heads=2,
        hidden_dim=64,
        activation="gelu",
        dropout=0.0,
        attention_dropout=0.0,
        qa_dropout=0.0,
    ),
}
MAX_ANSWER_LENGTH = 4
BATCH, STEPS, HALF, LEARNING_RATE, WEIGHT_DECAY, WARMUP = 8, 8, 4, 1e-3, 0.1, 2


class Hearth:
    """The program in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, command):
        """Runs a command of the program and returns its stderr; a failure raises."""
        done = subprocess.run(
            [self.program, *command.split()],
            cwd=self.folder,
            env={"HEARTH_CACHE": str(self.folder / "cache"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"hearth {command}\n{done.stdout}{done.stderr}"
        return done.stderr

    def make_start_models(self):
        write_questions(ROOT / "demo" / "train.json", 10, self.folder / "train.json")
        write_questions(ROOT / "demo" / "test.json", 5, self.folder / "dev.json")
        self.run("train_tokenizer --files train.json --vocab_size 400 --model_max_length 128 --output_dir tokenizer")
        for family, config in CONFIGS.items():
            (self.folder / f"{family}.json").write_text(json.dumps(config))
            self.run(f"init_model --config {family}.json --tokenizer tokenizer --output_dir {family}-start")

    def train(self, model, output, flags=""):
        return self.run(
            f"run_qa --model_name_or_path {model} --output_dir {output} --train_file train.json --do_train"
            f" --per_device_train_batch_size {BATCH} --learning_rate {LEARNING_RATE} --max_steps {STEPS}"
            f" --weight_decay {WEIGHT_DECAY} --warmup_steps {WARMUP}"
            f" --save_steps {HALF} --logging_steps 1 --disable_tqdm True"
            f" --max_seq_length 128 --doc_stride 32 --pad_to_max_length True {flags}"
        )

    def evaluate(self, model, output):
        self.run(
            f"run_qa --model_name_or_path {model} --output_dir {output} --validation_file dev.json --do_eval"
            f" --max_seq_length 128 --doc_stride 32 --max_answer_length {MAX_ANSWER_LENGTH} --disable_tqdm True"
        )


def write_questions(source, paragraphs, file):
    """The first paragraphs of SQuAD's nested form, as the flat records that run_qa.py reads."""
    records = []
    for paragraph in json.loads(source.read_text(encoding="utf-8"))["data"][0]["paragraphs"][:paragraphs]:
        for qa in paragraph["qas"]:
            text, start = qa["answers"][0].values()
            answers = dict(text=[text], answer_start=[start])
            records.append(dict(id=qa["id"], context=paragraph["context"], question=qa["question"], answers=answers))
    file.write_text(json.dumps(dict(data=records)))


def read(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
