"""Small models that Hearth trains on some of the demo's questions, for the tests beside this file. It sets the environment
of torch and transformers: import it before them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
warnings.simplefilter("ignore")

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENGTH = 192  # tokens; question and context fit with every tokenizer
COMMON = dict(vocab_size=0, max_position_embeddings=LENGTH, initializer_range=0.1, pad_token_id=0)
BERT_LIKE = dict(
    COMMON,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=64,
    hidden_act="gelu",
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    type_vocab_size=2,
    layer_norm_eps=1e-12,
)
ROBERTA_LIKE = dict(BERT_LIKE, max_position_embeddings=LENGTH + 2, pad_token_id=1, type_vocab_size=1, layer_norm_eps=1e-5)
CONFIGS = {
    "bert": dict(BERT_LIKE, architectures=["BertForQuestionAnswering"], model_type="bert"),
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
    "roberta": dict(ROBERTA_LIKE, architectures=["RobertaForQuestionAnswering"], model_type="roberta"),
    "xlm-roberta": dict(ROBERTA_LIKE, architectures=["XLMRobertaForQuestionAnswering"], model_type="xlm-roberta"),
    "electra": dict(BERT_LIKE, architectures=["ElectraForQuestionAnswering"], model_type="electra", embedding_size=16),
    "albert": dict(
        BERT_LIKE,
        architectures=["AlbertForQuestionAnswering"],
        model_type="albert",
        embedding_size=16,
        num_hidden_layers=4,
        num_hidden_groups=2,
        hidden_act="gelu_new",
    ),
}
TOKENIZERS = {"roberta": "bpe", "xlm-roberta": "unigram", "albert": "unigram-albert"}  # the others have WordPiece
MAX_ANSWER_LENGTH = 4
BATCH, STEPS, HALF, LEARNING_RATE, WEIGHT_DECAY, WARMUP = 8, 8, 4, 1e-3, 0.1, 2


class Hearth:
    """The program in a new folder, which lasts until the tests of the file are done."""

    def __init__(self):
        place = tempfile.TemporaryDirectory()
        unittest.addModuleCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def run(self, command):
        """Runs a command of the program and returns its stderr; a failure raises."""
        return self.done(command.split()).stderr

    def printed(self, *words):
        """What a command prints, line by line as JSON."""
        return [json.loads(line) for line in self.done(words).stdout.splitlines()]

    def done(self, words):
        done = subprocess.run(
            [PROGRAM, *words],
            cwd=self.folder,
            env={"HEARTH_CACHE": str(self.folder / "cache"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"hearth {' '.join(words)}\n{done.stdout}{done.stderr}"
        return done

    def make_start_models(self):
        write_questions(ROOT / "demo" / "train.json", 10, self.folder / "train.json")
        write_questions(ROOT / "demo" / "test.json", 5, self.folder / "dev.json")
        self.run(f"train_tokenizer --files train.json --vocab_size 400 --model_max_length {LENGTH} --output_dir tokenizer")
        train_tokenizers(self.folder)
        for family, config in CONFIGS.items():
            (self.folder / f"{family}.json").write_text(json.dumps(config))
            tokenizer = TOKENIZERS.get(family, "tokenizer")
            self.run(f"init_model --config {family}.json --tokenizer {tokenizer} --output_dir {family}-start")

    def train(self, model, output, flags=""):
        return self.run(
            f"run_qa --model_name_or_path {model} --output_dir {output} --train_file train.json --do_train"
            f" --per_device_train_batch_size {BATCH} --learning_rate {LEARNING_RATE} --max_steps {STEPS}"
            f" --weight_decay {WEIGHT_DECAY} --warmup_steps {WARMUP}"
            f" --save_steps {HALF} --logging_steps 1 --disable_tqdm True"
            f" --max_seq_length {LENGTH} --doc_stride 32 --pad_to_max_length True {flags}"
        )

    def evaluate(self, model, output, flags=""):
        self.run(
            f"run_qa --model_name_or_path {model} --output_dir {output} --validation_file dev.json --do_eval"
            f" --max_seq_length {LENGTH} --doc_stride 32 --max_answer_length {MAX_ANSWER_LENGTH} --disable_tqdm True"
            f" {flags}"
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


def train_tokenizers(folder):
    """Small tokenizers of the families that do not have BERT's, with Hugging Face's library."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    texts = [text for r in read(folder / "train.json")["data"] for text in (r["context"], r["question"])]

    def save(name, tokenizer, tokenizer_class):
        (folder / name).mkdir()
        tokenizer.save(str(folder / name / "tokenizer.json"))
        settings = dict(tokenizer_class=tokenizer_class, model_max_length=LENGTH)
        (folder / name / "tokenizer_config.json").write_text(json.dumps(settings))

    def unigram(specials, unknown, single, pair):
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=400, special_tokens=specials, unk_token=unknown, show_progress=False
        )
        tokenizer.train_from_iterator(texts, trainer)
        ids = [(token, tokenizer.token_to_id(token)) for token in specials]
        tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
        tokenizer.add_special_tokens([AddedToken(specials[-1], lstrip=True, special=True)])
        return tokenizer

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=600, special_tokens=specials, initial_alphabet=alphabet, show_progress=False),
    )
    bpe.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    save("bpe", bpe, "RobertaTokenizer")
    save("unigram", unigram(specials, "<unk>", "<s> $A </s>", "<s> $A </s> </s> $B </s>"), "XLMRobertaTokenizer")
    specials = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    albert = unigram(specials, "<unk>", "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    save("unigram-albert", albert, "AlbertTokenizer")


def read(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))


def opened(model_class, folder, **options):
    """The model of a folder, which must have exactly the tensors that transformers expects."""
    model, found = model_class.from_pretrained(folder, output_loading_info=True, **options)
    for keys in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not found[keys], f"{folder}: {keys} {found[keys]}"
    return model.eval()


def main():
    """Runs the tests of a file that is called with the program as its first word."""
    global PROGRAM
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    peers = [sys.modules[name] for name in ("transformers", "torch", "sentence_transformers") if name in sys.modules]
    if peers:
        print(", ".join(f"{peer.__name__} {peer.__version__}" for peer in peers), flush=True)
    if "transformers" in sys.modules:
        sys.modules["transformers"].logging.disable_progress_bar()
    unittest.main(module="__main__", verbosity=2, buffer=True)
