"""Writes the seeds of the fuzz targets: python3 make_corpus.py. Inputs that a fuzzer has found are added by hand."""
import gzip
import json
import pathlib
import pickle
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"
TORCH = pathlib.Path(__file__).parents[1] / "fixtures" / "torch"

CONTEXT = "Ada lives in Köln."
ANSWERS = {"text": ["Köln"], "answer_start": [13]}
RECORD = {"id": "a", "title": "t", "context": CONTEXT, "question": "Where?", "answers": ANSWERS}
SECOND = {"id": 7, "context": CONTEXT, "question": "Who?", "answers": {"text": [], "answer_start": []}}


def columns(orient):
    rows = [RECORD, dict(SECOND, title="")]
    if orient == "list":
        return {key: [row[key] for row in rows] for key in RECORD}
    if orient == "dict":
        return {key: {str(i): row[key] for i, row in enumerate(rows)} for key in RECORD}
    return {"columns": list(RECORD), "index": [0, 1], "data": [[row[key] for key in RECORD] for row in rows]}


JSON_RECORDS = {
    "records": [RECORD, SECOND],
    "data": {"version": "1", "data": [RECORD, SECOND]},
    "articles": {"data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": [
        {"id": "q", "question": "Where?", "answers": [{"text": "Köln", "answer_start": 13}]},
        {"id": "r", "question": "Who?", "is_impossible": True, "answers": []}]}]}]},
    "answer": [{"question": "Where?", "context": CONTEXT, "answer": "Köln"}],
    "answer_text": [{"question": "Where?", "context": CONTEXT, "answer_text": "Köln", "answer_start": 13.0}],
    "python": [dict(RECORD, answers="{'text': array(['Köln'], dtype=object), 'answer_start': [13]}")],
    "list": columns("list"), "dict": columns("dict"), "split": columns("split"),
    "index": {"0": RECORD, "1": SECOND},
    "kinds": [{"text": "a", "label": 1, "score": 0.5, "flag": True, "names": ["x"], "ids": [1, 2], "reals": [1, 2.5]},
              {"text": None, "label": 2, "score": float("nan"), "flag": False, "names": [], "ids": [], "reals": []}],
    "words": [{"tokens": ["Ada", "lives"], "ner_tags": ["B-PER", "O"]}, {"tokens": [], "ner_tags": []}],
    "numbers": [{"tokens": ["Ada"], "ner_tags": [3]}],
}

CSV_RECORDS = {
    "answers": 'id,title,context,question,answers\nq,t,"Ada, ""A""",Who?,"{\'text\': [\'Ada\'], \'answer_start\': [0]}"\n',
    "json": 'id\tcontext\tquestion\tanswers\nq\tAda lives\tWho?\t{"text": ["Ada"], "answer_start": [0]}\n',
    "answer": "\ufeffquestion,context,answer\r\nWho?,Ada lives,Ada\r\nWho?,Ada lives,\r\n",
    "index": ",question,context,answer_text,answer_start\n0,Who?,Ada lives,Ada,0.0\n",
    "kinds": "text,label,score,flag,missing\na,1,0.5,true,NA\nb,-2,1e3,False,\n",
    "repeated": "a,a,,b\n1,2,3,4\n",
    "sst2": "sentence\tlabel\na fine film\t1\na bad film\t0\n",
    "cola": "gj04\t1\t\tThe sailors rode the breeze.\ngj04\t0\t*\tThey drank the pub.\n",
    "mnli": "index\tpromptID\tsentence1\tsentence2\tgold_label\n0\t1\ta\tb\tneutral\n1\t2\ta\tb\t-\n",
    "stsb": "index\tsentence1\tsentence2\tscore\n0\ta\tb\t2.5\n",
}

CONLL = {
    "two": "-DOCSTART- O\n\nAda B-PER\nlives O\n\nin O\nKöln B-LOC\n",
    "four": "EU NNP B-NP B-ORG\r\nrejects VBZ B-VP O\r\n\r\n",
    "tabs": "New York\tB-LOC\n  \nhere\tO\n",
    "words": "Ada\nlives\n\nin\n",
}

TEXTS = {
    "lines": "The baker of Bergen\n\n  \r\nsells bread.\n",
    "column": "n,text\n1,\"The baker, of Bergen\"\n2,sells bread\n",
    "records": "{\"text\": \"The baker\"}\n{\"text\": null}\n{\"other\": 1}\n",
    "nothing": "{}\n",
}

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##e", "one", "two", "ca", "##f", "!"]
TOKENIZER = {
    "version": "1.0", "truncation": None, "padding": None,
    "added_tokens": [{"id": 4, "content": "[MASK]", "single_word": False, "lstrip": True, "rstrip": False,
                      "normalized": False, "special": True},
                     {"id": 12, "content": "new", "single_word": True, "normalized": True, "special": False}],
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                   "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
                       "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                  {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                       "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
                                {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
                       "special_tokens": {}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100, "vocab": {token: i for i, token in enumerate(TOKENS)}},
}
BERT_PROCESSING = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
TOKENIZER_JSON = {
    "template": TOKENIZER,
    "bert": dict(TOKENIZER, post_processor=BERT_PROCESSING),
    "empty_template": dict(TOKENIZER, post_processor={"type": "TemplateProcessing", "single": [], "pair": []}),
    "type": dict(TOKENIZER, normalizer={"type": 5}),
    "old": dict(TOKENIZER, model={"max_input_chars_per_word": 3, "vocab": TOKENIZER["model"]["vocab"]}, post_processor=None),
}
TOKENIZER_SETTINGS = {  # the byte that chooses the file, and the file
    "config": ("0", {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False, "model_max_length": 1e30,
                     "tokenizer_class": "BertTokenizer", "padding_side": "right",
                     "cls_token": {"content": "[CLS]", "lstrip": False, "__type": "AddedToken"},
                     "added_tokens_decoder": {"4": {"content": "[MASK]", "special": True}, "20": {"content": "<x>"}}}),
    "fast": ("0", {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, "unk_token": "[UNK]"}),
    "special": ("1", {"cls_token": "[CLS]", "mask_token": {"content": "[MASK]"}, "additional_special_tokens": ["<a>", {"content": "<b>"}]}),
    "added": ("2", {"<x>": 9, "<y>": 10}),
}
VOCABULARY = {"plain": "\n".join(TOKENS) + "\n", "returns": "\r\n".join(TOKENS), "gaps": "[PAD]\n\n[UNK]\n[CLS]\n[SEP]\n[UNK]\n中\n"}

BERT = {"model_type": "bert", "architectures": ["BertForQuestionAnswering"], "vocab_size": 20, "hidden_size": 8,
        "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "classifier_dropout": None, "pad_token_id": 0, "id2label": {"0": "no", "1": "yes"}, "problem_type": None}
MODEL_CONFIG = {
    "bert": BERT,
    "roberta": dict(BERT, model_type="roberta", architectures=["RobertaForSequenceClassification"], num_labels=3,
                    id2label=None, problem_type="regression"),
    "distilbert": {"model_type": "distilbert", "architectures": ["DistilBertForTokenClassification"], "vocab_size": 20,
                   "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 16, "max_position_embeddings": 16,
                   "activation": "relu", "dropout": 0.1, "qa_dropout": 0.2, "sinusoidal_pos_embds": False},
    "electra": dict(BERT, model_type="electra", architectures=["ElectraForMaskedLM"], embedding_size=4),
    "albert": dict(BERT, model_type="albert", architectures=["AlbertForMaskedLM"], embedding_size=4,
                   num_hidden_groups=2, inner_group_num=1, hidden_act="gelu_new", classifier_dropout_prob=0.1),
    "huge": dict(BERT, hidden_size=2147483646, num_hidden_layers=10000),
}

YAML = {
    "multi_cpu": "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: MULTI_CPU\ndowncast_bf16: 'no'\n"
                 "enable_cpu_affinity: false\nipex_config:\n  ipex: true\nmachine_rank: 0\nmain_process_ip: 10.0.0.1\n"
                 "main_process_port: 29500\nmain_training_function: main\nmixed_precision: bf16\nmpirun_config:\n"
                 "  mpirun_ccl: '1'\n  mpirun_hostfile: /hosts\nnum_machines: 2\nnum_processes: 4\nrdzv_backend: static\n"
                 "same_network: true\ntpu_env: []\ntpu_use_cluster: false\ntpu_use_sudo: false\nuse_cpu: true\n",
    "old": "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nfp16: true\ndynamo_backend: 'NO'\ngpu_ids: all\n",
    "json": json.dumps({"compute_environment": "LOCAL_MACHINE", "distributed_type": "NO", "use_cpu": True}),
    "options": "output_dir: out\nlearning_rate: 5e-05\nmax_steps: 10\nbf16: yes\nlr_scheduler_type: cosine\nreport_to: [none]\n",
    "options_json": json.dumps({"output_dir": "out", "seed": 1, "warmup_ratio": 0.1, "metric_for_best_model": None}),
    "recursive": "x: &a [*a]\n",
    "laughs": "a: &a [ha]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "deep": "[" * 120 + "]" * 120,
    "odd": "? [a, b]\n: 1\n--- \n!!str 3: |\n  text\n...\n",
}

HOSTFILE = {"plain": "node1\nnode2:4 # four\n\nnode3 slots=2\n::1\n?unknown\n", "comments": "# nobody\n"}

DATASET_CARD = {
    "configs": "---\nconfigs:\n- config_name: mrpc\n  default: true\n  data_files:\n  - split: train\n    path: mrpc/train-*\n"
               "  - split: test\n    path:\n    - a.csv\n    - '**/b[0-9]*'\n- config_name: b\n  data_dir: b\n- data_files: c.csv\n"
               "dataset_info:\n  config_name: mrpc\n  features:\n  - name: label\n    dtype:\n      class_label:\n"
               "        names:\n          '0': a\n          '1': b\n---\n# Title\n",
    "lists": "---\ndataset_info:\n- features:\n  - name: tags\n    sequence:\n      class_label:\n        names: [O, B]\n---\n",
    "open": "---\nconfigs:\n- 1\n",
    "none": "# Title\n",
}

STATE = {"best_global_step": 2, "best_metric": 0.5, "best_model_checkpoint": "out/checkpoint-2", "epoch": 1.0,
         "eval_steps": 1, "global_step": 2, "log_history": [{"epoch": 1.0, "loss": 0.5, "step": 2}], "logging_steps": 1.0,
         "max_steps": 4, "num_input_tokens_seen": 0, "num_train_epochs": 2, "save_steps": 1,
         "stateful_callbacks": {"hearth": {"evaluations_without_gain": 0, "loss_sum": 1.0, "loss_since_log": 0.0,
                                           "steps_since_log": 0, "world_size": 1}}, "total_flos": 1.0, "train_batch_size": 8}
RUN_RECORD = {
    "training": {
        "name": "out", "command": "run_qa", "folder": "out", "host": "a", "version": "0.1.0", "pid": 7, "state": "training",
        "started": 1.5e9, "updated": 1.6e9, "seconds": 3.5, "seconds_left": 1, "resumed_at": [1], "step": 2, "max_steps": 4,
        "epoch": 0.5, "epochs": 1, "best_metric": None,
        "curve": {"steps_per_point": 1, "step": [1, 2], **{name: [0.5, None] for name in (
            "seconds", "loss", "learning_rate", "grad_norm", "tokens_per_second", "limit_share", "memory_bytes")}},
        "evaluations": [{"step": 2, "epoch": 0.5, "eval_f1": 80.5, "eval_runtime": 1.0}], "results": {},
        "samples": [{"input": "<b>", "question": "", "expected": "a", "predicted": "b", "right": False}],
        "ops": [{"op": "linear forward", "calls": 2, "seconds": 0.1}], "profiled_steps": 1,
        "ranks": [{"busy_share": 0.9, "memory_bytes": 1e9}],
        "settings": [{"section": "Job", "name": "output_dir", "value": "out", "is_default": False}],
        "model_config": {"model_type": "bert"}, "environment": {"threads": 2},
    },
}
TRAINING_STATE = {  # the byte that chooses the file, and the file
    "trainer_state": ("0", STATE),
    "other_program": ("0", {"epoch": 0.5, "global_step": 1, "max_steps": 2, "num_train_epochs": 1, "total_flos": 0}),
    "scheduler": ("1", {"updates": 2, "updates_of_moments": 2, "plateau": {
        "learning_rate": 1e-3, "best": 0.5, "evaluations_without_gain": 1, "cooldown_left": 0}}),
    "scaler": ("2", {"scale": 65536.0, "good_steps": 2, "skipped": 0}),
}
SENTENCE_TRANSFORMER = {  # the byte that chooses the file, and the file
    "modules": ("0", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                      {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                      {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]),
    "dense": ("0", [{"path": "", "type": "a.Transformer"}, {"path": "2_Dense", "type": "a.Dense"}]),
    "pooling": ("1", {"embedding_dimension": 8, "pooling_mode": ["mean", "cls"], "include_prompt": False}),
    "flags": ("1", {"word_embedding_dimension": 8, "pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}),
    "length": ("2", {"max_seq_length": 256, "do_lower_case": True}),
    "prompts": ("3", {"prompts": {"query": "q: ", "passage": "p: "}, "default_prompt_name": "query",
                      "similarity_fn_name": "dot", "truncate_dim": 4}),
}
RETRIEVAL = {  # the byte that chooses the file, and the file; '0' is the first of three
    "queries": "0" + json.dumps({"_id": 1, "text": "who"}) + "\n",
    "corpus": "1" + json.dumps({"_id": "2", "title": "T", "text": "x"}) + "\n" + json.dumps({"_id": "3", "title": None, "text": "y"}),
    "qrels": "2query-id\tcorpus-id\tscore\n1\t2\t0\n1\t1\t2.5\n9\t1\t1\n",
    "unknown": "2h\n1\t7\t1\n",
    "score": "2h\n1\t2\t--\n",
}


def npy(header, data, version=1):
    text = header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


NPY = {
    "matrix": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", bytes(24)),
    "second": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }\n", b"", 2),
    "vector": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", bytes(12)),
    "wide": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n", bytes(8)),
    "huge": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n", b""),
}


def safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


SAFETENSORS = {
    "two": safetensors({"__metadata__": {"format": "pt"}, "a": tensor("F32", [2, 2], 0, 16), "b": tensor("BF16", [3], 16, 22)},
                       bytes(22)),
    "kinds": safetensors({"i": tensor("I64", [], 0, 8), "f": tensor("F8_E4M3", [2], 8, 10), "e": tensor("F16", [0, 5], 10, 10),
                          "u": tensor("BOOL", [1, 1, 1, 1, 1, 1, 1, 1, 1], 10, 11)}, bytes(11)),
    "misaligned": safetensors({"a": tensor("U8", [1], 0, 1), "b": tensor("F64", [1], 1, 9)}, bytes(9)),
    "empty": safetensors({}, b""),
    "huge": safetensors({"a": tensor("F32", [2 ** 62, 2 ** 62], 0, 16)}, bytes(16)),
}


def field(number, wire, payload):
    """A field of a protocol buffer: a number (wire 0), bytes (2) or a float (5)."""
    key = bytes([number << 3 | wire]) if number < 16 else bytes([number << 3 & 0x7F | wire | 0x80, number >> 4])
    if wire == 0:
        return key + bytes([payload])
    return key + (struct.pack("<f", payload) if wire == 5 else bytes([len(payload)]) + payload)


def sentencepiece(pieces, trainer=b"", normalizer=b""):
    message = b"".join(field(1, 2, field(1, 2, text.encode()) + field(2, 5, score) + field(3, 0, kind))
                       for text, score, kind in pieces)
    return message + field(2, 2, trainer) + field(3, 2, normalizer)


PIECES = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), ("\u2581the", -1, 1), ("one", -2, 1), ("o", -3, 1)]
SENTENCEPIECE = {
    "unigram": sentencepiece(PIECES),
    "bpe": sentencepiece(PIECES, field(3, 0, 2) + field(40, 0, 0)),
    "user": sentencepiece(PIECES + [("<new>", 0, 4), ("<0x41>", 0, 6)], field(45, 2, b"<unk>")),
    "map": sentencepiece(PIECES, b"", field(2, 2, b"\x04\0\0\0\0\0\0\0a\0")),
    "short": sentencepiece(PIECES)[:-9],
}
MERGES = {"plain": "#version: 0.2\na b\nab c\n", "unknown": "a x\n", "three": "a b c\n", "empty": ""}


def features(kind, starts, ids, types, examples, first, last, offsets):
    formats = [("q", starts), ("i", ids), ("B", types), ("i", examples), ("i", first), ("i", last),
               ("i", [number for offset in offsets for number in offset])]
    arrays = [struct.pack(f"<{len(values)}{code}", *values) for code, values in formats]
    return bytes([kind]) + struct.pack("<7H", *map(len, arrays)) + b"".join(arrays)


FEATURE_CACHE = {
    "train": features(0, [0, 5, 9], range(9), [0] * 5 + [1] * 4, [0, 2], [1, 0], [2, 3], []),
    "validation": features(1, [0, 4, 7], range(7), [0] * 7, [0, 1], [], [],
                           [(-1, -1), (0, 4), (5, 9), (-1, -1), (-1, -1), (10, 12), (-1, -1)]),
    "negative": features(0, [0, -5, 9], range(9), [0] * 9, [0, 1], [0, 0], [0, 0], []),
    "short": features(1, [0, 100], [1, 2], [0, 0], [0], [], [], [(0, 1)]),
}

MIGRATE = {
    "mpirun": "export CCL_WORKER_COUNT=1 # one\nmpirun -f hosts -n 4 -genv A=1 \\\n python3 run_qa.py --use_ipex \\\n --bf16 'x y'\n",
    "launchers": "torchrun --nproc_per_node=2 --nnodes $N run_glue.py --a; ipexrun --ninstances 2 x.py | tee log &\n"
                 "accelerate launch --cpu -m a.b && accelerate config\npython -m torch.distributed.run --- run_ner.py",
    "shells": "$ bash -c 'python run_qa.py --seed \"1\"' 2>&1 || source $(dirname `x`)/setvars.sh; pip list\n",
    "syntax": "cat <<EOF > \"a $(b 'c)') ${d}\"\n$(\nEOF\nif (true); then X=1 python run_qa.py --help; fi <(a)",
    "trainer": "import intel_extension_for_pytorch as ipex\nargs = TrainingArguments('out', bf16=True, lr=f(1)[2], **x)\n"
               "AutoModelForQuestionAnswering.from_pretrained(f'{a}')\nTrainer(m, args).train()  # (\n",
    "loop": "\"\"\"Accelerator(\"\"\"\nAccelerator(mixed_precision=\"bf16\")\nload_dataset('glue', r'mrpc\\')\nt([1, -2e-5",
}


SHARED = ["x", (1, 2)]
PICKLE = {
    "numbers": [0, 1, -1, 255, 65536, 2 ** 31, -(2 ** 62), 0.5, float("inf")],
    "kinds": {"a": None, "b": True, 3: (), "d": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "é": ["ü"]},
    "shared": [SHARED, SHARED, {"again": SHARED}],
    "global": pathlib.PurePosixPath,
    "call": complex(1, 2),
}

TORCH_FILES = {name: TORCH / name for name in ("weights.bin", "old.bin", "module.bin", "command.bin", "rng_state.pth")}
TORCH_OPTIMIZER = {"optimizer.pt": TORCH / "checkpoint" / "optimizer.pt"}

PARQUET_FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures" / "parquet"
PARQUET = {name: (PARQUET_FIXTURES / f"{name}.parquet").read_bytes()
           for name in ("labelled", "tagged", "questions", "unsupported", "empty", "brotli", "nested_two_levels")}

LINES = b'{"a": 1}\n{"a": 2}\n'
ZSTD = bytes.fromhex("28b52ffd04589100007b2261223a20317d0a7b2261223a20327d0a3f862e8f")  # the same lines
COMPRESSED_RECORDS = {
    "gzip": gzip.compress(LINES, mtime=0), "members": gzip.compress(LINES, mtime=0) * 2, "zstd": ZSTD, "frames": ZSTD * 2,
    "zeros": gzip.compress(bytes(1 << 20), mtime=0), "cut": gzip.compress(LINES, mtime=0)[:-5],
}


def write(target, seeds, encode):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    for name, seed in seeds.items():
        (folder / name).write_bytes(encode(seed))


def as_json(value):
    return json.dumps(value, ensure_ascii=False).encode()


write("json_records", JSON_RECORDS, as_json)
write("json_records", {"lines": JSON_RECORDS["records"]}, lambda rows: b"\n".join(map(as_json, rows)))
write("run_record", RUN_RECORD, as_json)
write("tokenizer_json", TOKENIZER_JSON, as_json)
write("model_config", MODEL_CONFIG, as_json)
for target, seeds in [("tokenizer_settings", TOKENIZER_SETTINGS), ("training_state", TRAINING_STATE),
                      ("sentence_transformer", SENTENCE_TRANSFORMER)]:
    write(target, seeds, lambda seed: seed[0].encode() + as_json(seed[1]))
for target, seeds in [("csv_records", CSV_RECORDS), ("conll", CONLL), ("texts", TEXTS), ("vocabulary", VOCABULARY), ("merges", MERGES),
                      ("yaml", YAML), ("hostfile", HOSTFILE), ("dataset_card", DATASET_CARD), ("retrieval", RETRIEVAL),
                      ("migrate", MIGRATE)]:
    write(target, seeds, str.encode)
for target, seeds in [("safetensors", SAFETENSORS), ("feature_cache", FEATURE_CACHE), ("npy", NPY), ("parquet", PARQUET),
                      ("compressed_records", COMPRESSED_RECORDS), ("sentencepiece", SENTENCEPIECE)]:
    write(target, seeds, lambda seed: seed)
write("pickle", PICKLE, lambda value: pickle.dumps(value, protocol=2))
for target, seeds in [("torch_file", TORCH_FILES), ("torch_optimizer", TORCH_OPTIMIZER)]:
    write(target, seeds, pathlib.Path.read_bytes)
