"""Compares Hearth's tokenizers with Hugging Face's tokenizers library: tokenizers_test.py PRINT_TOKENS [NUMBER_OF_TEXTS]

Trains a small tokenizer of each kind on the documentation, saves it as tokenizer.json, and gives random texts, pairs and
every code point of Unicode to both; then random truncations, windows of pairs and ids to decode, and hostile texts. Older
files (vocab.json with merges.txt, SentencePiece models) are compared with what transformers converts them to, and so are
folders that tokenizer classes of transformers have saved. Needs tokenizers 0.22.2, transformers 4.57.6 and sentencepiece.
"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

import sentencepiece
import transformers
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")) + [os.path.join(ROOT, "README.md")])
LINES = [line for name in CORPUS for line in open(name, encoding="utf-8").read().split("\n") if line]
WORDS = sorted({word for line in LINES for word in line.split()})
VOCAB_SIZE = 2000

QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
        r"\s+(?!\S)|\s+")
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


def bpe_trainer(special_tokens):
    return trainers.BpeTrainer(vocab_size=VOCAB_SIZE, special_tokens=special_tokens, show_progress=False,
                               initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def bert(cased=False):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    train(tokenizer, trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, show_progress=False,
                                               special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def roberta(add_prefix_space=False):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, bpe_trainer(["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=add_prefix_space)
    return tokenizer


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return train(tokenizer, bpe_trainer(["<|endoftext|>"]))


def split_bpe(pattern, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 0)])])
    return train(tokenizer, bpe_trainer(["<s>", "<|im_start|>", "<|im_end|>"]))


def modernbert():
    tokenizer = roberta()
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.add_tokens([AddedToken(" " * count, normalized=True) for count in range(2, 6)])
    tokenizer.add_tokens([AddedToken("|||EMAIL|||", normalized=True), AddedToken("Optimizer", single_word=True),
                          AddedToken("\u00e9t\u00e9", normalized=True, rstrip=True, lstrip=True)])
    return tokenizer


def many_nodes():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Nmt(), normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(),
        normalizers.Lowercase(), normalizers.Replace(Regex(r"\s{2,}"), " "), normalizers.Strip(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("merged_with_previous"),
        pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.Split("qu", "merged_with_next"),
        pre_tokenizers.Metaspace(prepend_scheme="first")])
    tokenizer.decoder = decoders.Sequence([decoders.Metaspace(), decoders.Strip(" ", 1, 0), decoders.Fuse()])
    return train(tokenizer, trainers.UnigramTrainer(vocab_size=VOCAB_SIZE, special_tokens=["<unk>", "<a>"],
                                                    unk_token="<unk>", show_progress=False))


def end_of_word():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", continuing_subword_prefix="@"))
    tokenizer.normalizer = normalizers.NFD()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder()
    return train(tokenizer, trainers.BpeTrainer(vocab_size=VOCAB_SIZE, special_tokens=["<unk>"], show_progress=False,
                                                end_of_word_suffix="</w>", continuing_subword_prefix="@"))


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(" ", "contiguous"), pre_tokenizers.FixedLength(7), pre_tokenizers.CharDelimiterSplit("e"),
        pre_tokenizers.Punctuation("isolated"), pre_tokenizers.Digits(individual_digits=True)])
    tokenizer.normalizer = normalizers.Prepend(">")
    return train(tokenizer, trainers.WordLevelTrainer(vocab_size=VOCAB_SIZE, special_tokens=["<unk>"],
                                                      show_progress=False))


def sentencepiece_model(folder, name, **options):
    """A SentencePiece model trained on the documentation; returns its path."""
    text = os.path.join(folder, "corpus.txt")
    with open(text, "w", encoding="utf-8") as file:
        file.write("\n".join(LINES))
    sentencepiece.SentencePieceTrainer.train(input=text, model_prefix=os.path.join(folder, "trained"),
                                             vocab_size=VOCAB_SIZE, minloglevel=2, character_coverage=0.9995, **options)
    path = os.path.join(folder, name)
    os.rename(os.path.join(folder, "trained.model"), path)
    os.remove(os.path.join(folder, "trained.vocab"))
    os.remove(text)
    return path


def older(folder, model_type, tokenizer_class, **arguments):
    """What transformers makes of the older files in the folder, which then has config.json and no tokenizer.json."""
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"model_type": model_type}, file)
    converted = getattr(transformers, tokenizer_class).from_pretrained(folder, **arguments)
    return converted.backend_tokenizer


def xlm_roberta(folder):
    sentencepiece_model(folder, "sentencepiece.bpe.model", model_type="unigram")
    return older(folder, "xlm-roberta", "XLMRobertaTokenizerFast")


def albert(folder):
    sentencepiece_model(folder, "spiece.model", model_type="unigram", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1,
                        pad_piece="<pad>", control_symbols=["[CLS]", "[SEP]"], user_defined_symbols=["[MASK]"])
    return older(folder, "albert", "AlbertTokenizerFast")


def deberta_v2(folder):
    sentencepiece_model(folder, "spm.model", model_type="unigram", pad_id=0, bos_id=1, eos_id=2, unk_id=3,
                        pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]")
    return older(folder, "deberta-v2", "DebertaV2TokenizerFast")


def llama(folder):
    sentencepiece_model(folder, "tokenizer.model", model_type="bpe", byte_fallback=True,
                        normalization_rule_name="identity", remove_extra_whitespaces=False)
    return older(folder, "llama", "LlamaTokenizerFast")


def t5(folder):
    sentencepiece_model(folder, "spiece.model", model_type="unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return older(folder, "t5", "T5TokenizerFast")


def roberta_files(folder):
    roberta().model.save(folder)
    return older(folder, "roberta", "RobertaTokenizerFast")


def gpt2_files(folder):
    gpt2().model.save(folder)
    return older(folder, "gpt2", "GPT2TokenizerFast")


def mpnet_files(folder):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    train(tokenizer, trainers.WordPieceTrainer(vocab_size=VOCAB_SIZE, show_progress=False,
                                               special_tokens=["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]))
    tokenizer.model.save(folder)
    return older(folder, "mpnet", "MPNetTokenizerFast")


WHOLE = {
    "bert": bert, "bert-cased": lambda: bert(cased=True), "roberta": roberta,
    "roberta-prefix": lambda: roberta(add_prefix_space=True), "gpt2": gpt2, "qwen": lambda: split_bpe(QWEN),
    "qwen-any-space": lambda: split_bpe(QWEN.replace(r"| ?[^\s", r"|\s?[^\s")),
    "llama3": lambda: split_bpe(LLAMA3, ignore_merges=True), "modernbert": modernbert, "many-nodes": many_nodes,
    "end-of-word": end_of_word, "word-level": word_level,
}
OLDER = {"xlm-roberta": xlm_roberta, "albert": albert, "deberta-v2": deberta_v2, "llama": llama, "t5": t5,
         "roberta-files": roberta_files, "gpt2-files": gpt2_files, "mpnet-files": mpnet_files}

def saved(make, tokenizer_class, **arguments):
    """A folder as save_pretrained of the class leaves it, with tokens that a user has added."""
    def save(folder):
        with tempfile.TemporaryDirectory() as older_files:
            make(older_files)
            tokenizer = getattr(transformers, tokenizer_class).from_pretrained(older_files, **arguments)
        tokenizer.add_special_tokens({"additional_special_tokens": ["<a>", AddedToken("<0x41>", lstrip=True)]})
        tokenizer.add_tokens(["|||EMAIL|||", AddedToken("Optimizer", single_word=True)])
        tokenizer.save_pretrained(folder)
        return transformers.AutoTokenizer.from_pretrained(folder).backend_tokenizer
    return save


def bert_files(folder):
    bert().model.save(folder)


def qwen_files(folder):
    split_bpe(QWEN).model.save(folder)


SAVED = {
    "saved-bert-cased": saved(bert_files, "BertTokenizerFast", do_lower_case=False, strip_accents=True),
    "saved-electra": saved(bert_files, "ElectraTokenizerFast"),
    "saved-distilbert": saved(bert_files, "DistilBertTokenizerFast", tokenize_chinese_chars=False),
    "saved-mpnet": saved(mpnet_files, "MPNetTokenizerFast"),
    "saved-roberta": saved(roberta_files, "RobertaTokenizerFast", add_prefix_space=True),
    "saved-roberta-untrimmed": saved(roberta_files, "RobertaTokenizerFast", trim_offsets=False),
    "saved-gpt2": saved(gpt2_files, "GPT2TokenizerFast", add_prefix_space=True),
    "saved-qwen2": saved(qwen_files, "Qwen2TokenizerFast"),
    "saved-xlm-roberta": saved(xlm_roberta, "XLMRobertaTokenizerFast"),
    "saved-albert": saved(albert, "AlbertTokenizerFast"),
    "saved-albert-cased": saved(albert, "AlbertTokenizerFast", do_lower_case=False, keep_accents=True),
    "saved-deberta-v2": saved(deberta_v2, "DebertaV2TokenizerFast", split_by_punct=True),
    "saved-deberta-v2-lower": saved(deberta_v2, "DebertaV2TokenizerFast", do_lower_case=True),
    "saved-llama": saved(llama, "LlamaTokenizerFast"),
    "saved-llama-ends": saved(llama, "LlamaTokenizerFast", add_eos_token=True, add_bos_token=False),
    "saved-t5": saved(t5, "T5TokenizerFast"),
}

SPECIAL = ["<s>", "</s>", "<mask>", "<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "<|endoftext|>",
           "<|im_start|>", "<0x41>", "<extra_id_7>", "<a>", "|||EMAIL|||", "Optimizer", "\u00e9t\u00e9"]
SPACES = [" "] * 30 + ["  ", "   ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\u2581", ""]
PIECES = ["'s", "'S", "n't", "'ll", "'LL", "'\u017f", "don't", "``", "''", "...", "--", "1234567", "3.14", "\u00bd",
          "\u0130", "\u03a3", "\u00df", "\ufb01", "\u1e9b\u0323", "\ud55c\uae00", "\u1112\u1161\u11ab", "\u0958",
          "\u0915\u094d\u0937", "e\u0301", "a\u0328\u0301", "\U0001f469\u200d\U0001f52c", "\U0001f1e9\U0001f1ea",
          "\u4e2d\u6587", "\u0e20\u0e32\u0e29\u0e32", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\uff8a\uff9e",
          "\u2122\u0301", "\ufffd", "\u0000", "\u0085", "\ufeff"]
RANGES = [(0x20, 0x7F)] * 6 + [(0, 0x20), (0x80, 0x250), (0x250, 0x530), (0x300, 0x370), (0x590, 0x780), (0x900, 0xE00),
                               (0xE00, 0x1100), (0x1100, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2100), (0x2100, 0x2600),
                               (0x3000, 0x3200), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xF900, 0x10000),
                               (0x10000, 0x12000), (0x1D400, 0x1D800), (0x1F300, 0x1FA00), (0xE0000, 0xE0200),
                               (0, 0x110000)]


def code_point(generator):
    begin, end = generator.choice(RANGES)
    value = generator.randrange(begin, end)
    return "\ufffd" if 0xD800 <= value < 0xE000 else chr(value)


def random_text(generator):
    parts = []
    for _ in range(generator.randrange(1, 14)):
        kind = generator.random()
        if kind < 0.55:
            word = generator.choice(WORDS)
            parts.append(word.upper() if generator.random() < 0.1 else word)
        elif kind < 0.7:
            parts.append(generator.choice(PIECES))
        elif kind < 0.76:
            parts.append(generator.choice(SPECIAL))
        elif kind < 0.78:
            parts.append(generator.choice("ab\u00e9\u4e2d=-1 ") * generator.randrange(2, 90))
        else:
            parts.append("".join(code_point(generator) for _ in range(generator.randrange(1, 6))))
        parts.append(generator.choice(SPACES))
    return "".join(parts)


def texts_for(generator, count):
    texts = ["", " ", "  a", "a  ", "\n", "a\n\nb"]
    texts += [random_text(generator) for _ in range(count)]
    texts += [[random_text(generator), random_text(generator)] for _ in range(count // 20)]
    if count < 10000:  # a quick run
        return texts
    code_points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    texts += ["a" + "a ".join(code_points[i:i + 64]) + "a" for i in range(0, len(code_points), 64)]
    return texts + ["".join(code_points[i:i + 64]) for i in range(0, len(code_points), 64)]


def hostile_texts():
    """Texts that are longer or stranger than any that users mean to have."""
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    controls = "".join(map(chr, range(0x20))) + "\x7f" + "".join(map(chr, range(0x80, 0xA0)))
    arabic, hebrew = "\u0627\u0644\u0644\u063a\u0629", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd"
    return [
        controls, "a" + "b".join(controls) + "c", "\u202e" + arabic + "\u202c x \u2067" + hebrew + "\u2069", arabic * 50,
        "e" + "\u0301\u0323\u0308" * 60, "\u0301" * 100, family * 40, "\U0001f1e9\U0001f1ea" * 21, "\U0001f44d\U0001f3fd" * 9,
        " " * 1000, " " * 9 + "a" + " " * 17 + "b" + " " * 33, "\t" * 50 + "\n" * 50 + "\r\n" * 20, "\u00a0" * 40 + "\u3000" * 40,
        "\u200b\u200c\u200d\ufeff" * 20, "x" * 100000, "hearth" * 16000, "\u00e9" * 30000, "\u4e2d\u6587" * 20000,
        "1234567890" * 5000, "!?" * 20000, "a " * 20000, "\U0010ffff" * 300, "\ufffe\uffff\ufdd0", "\u0f73\u0f71\u0f72" * 20,
        "\uac00\u11a8\u1100\u1161\u11a8" * 30, "\ufdfa" * 30, "\u0958\u095f" * 9, "\u2581" * 30, " \u2581 \u2581\u2581 a\u2581b \u2581",
        "<s></s><mask><pad><unk>" * 20, "[CLS] [MASK] [SEP][PAD][UNK]" * 20, "a<mask>b <mask> c<mask>", " <mask> ", "<mask>\n<mask>",
        "<|endoftext|>" * 9 + " <|endoftext|> x", "<|im_start|>user\n<|im_end|>", "<s", "</s", "<<s>>", "[[MASK]]", "<0x41><0xFF><0x>",
        "<S> [mask] <MASK> [cls]", "\uff1cs\uff1e", "<s\u0301>", "\u0130" * 40 + "\u0131\u03a3\u03c2\u1e9e\u00df", "\ufb03\u2163\u33c7\u3300\u32ff",
    ]


def begins_with_spaces(tokenizer, text, room, stride):
    """Whether a later window begins with an added token that takes the space before it in: see docs/compatibility.md."""
    taking = {id for id, token in tokenizer.get_added_tokens_decoder().items() if token.lstrip}
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return bool(taking & set(ids[room - stride::room - stride]))


def requests_for(generator, tokenizer, count):
    """Truncations, windows of pairs, and ids to decode."""
    requests = []
    vocab_size = max(tokenizer.get_vocab().values()) + 1
    single, pair = tokenizer.num_special_tokens_to_add(False), tokenizer.num_special_tokens_to_add(True)

    def length(text):
        return len(tokenizer.encode(text, add_special_tokens=False).ids)
    for _ in range(count):
        first, second = random_text(generator), " ".join(random_text(generator) for _ in range(generator.randrange(1, 4)))
        requests.append({"text": second, "pair": None, "max_length": single + generator.randrange(0, length(second) + 3)})
        requests.append({"text": first, "pair": second,
                         "max_length": pair + generator.randrange(0, length(first) + length(second) + 3)})
        room = generator.randrange(1, length(second) + 3)
        windows = {"text": first, "pair": second, "max_length": pair + length(first) + room,
                   "stride": generator.randrange(0, room)}
        if not begins_with_spaces(tokenizer, second, room, windows["stride"]):
            requests.append(windows)
        ids = [generator.randrange(0, vocab_size) for _ in range(generator.randrange(0, 30))]
        requests.append({"ids": ids, "skip_special_tokens": generator.random() < 0.5})
    return requests


def json_of(encoding):
    return {"ids": encoding.ids, "type_ids": encoding.type_ids, "offsets": [list(o) for o in encoding.offsets]}


def expected_answer(tokenizer, request):
    if "ids" in request:
        return {"decoded": tokenizer.decode(request["ids"], skip_special_tokens=request["skip_special_tokens"])}
    stride = request.get("stride")
    tokenizer.enable_truncation(request["max_length"], stride=stride or 0,
                                strategy="longest_first" if stride is None else "only_second")
    encoding = tokenizer.encode(request["text"], request["pair"])
    tokenizer.no_truncation()
    if stride is None:
        return json_of(encoding)
    windows = [json_of(e) for e in [encoding, *encoding.overflowing]]
    if not any(windows[0]["type_ids"]):
        # The library's templates leave the second text of later windows at type 1, for which XLM-R has no embedding;
        # Hearth gives all windows the types of the template.
        for window in windows[1:]:
            window["type_ids"] = [0] * len(window["ids"])
    return {"windows": windows}


def expected_of(tokenizer, texts):
    encodings = tokenizer.encode_batch([tuple(text) if isinstance(text, list) else text for text in texts])
    decoded = tokenizer.decode_batch([encoding.ids for encoding in encodings])
    return [{**json_of(e), "decoded": d} for e, d in zip(encodings, decoded, strict=True)]


def differences(program, name, tokenizer, folder, count):
    generator = random.Random(name)
    texts = texts_for(generator, count) + hostile_texts()
    requests = requests_for(generator, tokenizer, max(100, count // 80))
    path = os.path.join(folder, "texts.txt")
    with open(path, "w") as file:
        file.writelines(json.dumps(request) + "\n" for request in texts + requests)
    run = subprocess.run([program, folder, path], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{name}: {run.stderr.strip()}")
        return len(texts)
    answers = expected_of(tokenizer, texts) + [expected_answer(tokenizer, request) for request in requests]
    texts += requests
    wrong = 0
    for text, expected, line in zip(texts, answers, run.stdout.splitlines(), strict=True):
        found = json.loads(line)
        if found == expected:
            continue
        wrong += 1
        if wrong <= 3:
            key = next(key for key in expected if expected[key] != found[key])
            print(f"{name}: {key} of {json.dumps(text)[:400]}\n  library {expected[key]}\n  hearth  {found[key]}"[:3000])
    print(f"{name}: {wrong} of {len(texts)} differ, {len(requests)} of them truncations, windows and ids", flush=True)
    return wrong


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    only = sys.argv[3:]
    transformers.logging.set_verbosity_error()
    wrong = 0
    for name, make in {**WHOLE, **OLDER, **SAVED}.items():
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            if name in WHOLE:
                tokenizer = make()
                path = os.path.join(folder, "tokenizer.json")
                tokenizer.save(path)
                tokenizer = Tokenizer.from_file(path)  # reading the file rounds the scores of Unigram
            else:
                tokenizer = make(folder)
            wrong += differences(program, name, tokenizer, folder, count)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
