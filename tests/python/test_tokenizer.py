import pickle

import numpy
import pytest

import hearth


def test_one_text_and_lists(tokenizer):
    one = tokenizer("Elif lives in Faro.")
    many = tokenizer(["Elif lives in Faro.", "Greta."], padding=True, return_tensors="np")
    assert one["input_ids"][0] == tokenizer.cls_token_id and one["input_ids"][-1] == tokenizer.sep_token_id
    assert many["input_ids"].shape == many.attention_mask.shape
    assert many["input_ids"][0].tolist() == one["input_ids"]
    assert many["attention_mask"][1].sum() < many["attention_mask"][0].sum()
    assert tokenizer.decode(one["input_ids"], skip_special_tokens=True).replace(" ", "") == "eliflivesinfaro."
    assert (
        tokenizer.convert_tokens_to_ids(tokenizer.tokenize("Elif lives"))
        == one["input_ids"][1:-1][: len(tokenizer.tokenize("Elif lives"))]
    )


def test_truncation_windows_and_offsets(tokenizer):
    text = "Elif the baker lives in Faro. " * 4
    assert len(tokenizer(text, truncation=True, max_length=10)["input_ids"]) == 10
    windows = tokenizer(
        "Where does Elif live?", text, truncation="only_second", max_length=24, stride=4,
        return_overflowing_tokens=True, return_offsets_mapping=True, padding="max_length",
    )  # fmt: skip
    assert len(windows["input_ids"]) > 1 and {len(row) for row in windows["input_ids"]} == {24}
    assert windows["overflow_to_sample_mapping"] == [0] * len(windows["input_ids"])
    assert 1 in windows.sequence_ids(0) and None in windows.sequence_ids(0)
    place = windows["offset_mapping"][1][windows.sequence_ids(1).index(1)]
    assert text[place[0] : place[1]].lower() in text.lower()


def test_words(tokenizer):
    encoding = tokenizer([["Elif", "lives", "in", "Faro"]], is_split_into_words=True)
    words = encoding.word_ids(0)
    assert words[0] is None and words[-1] is None and sorted(set(words[1:-1])) == [0, 1, 2, 3]


def test_a_fork_tokenizes(tokenizer):
    import multiprocessing

    texts = ["Elif lives in Faro."] * 100
    here = tokenizer(texts)["input_ids"]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_tokenize, (tokenizer, texts)).get(timeout=60) == here


def _tokenize(tokenizer, texts):
    return tokenizer(texts)["input_ids"]


def test_a_pickled_tokenizer_is_the_same(tokenizer):
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again("Elif")["input_ids"] == tokenizer("Elif")["input_ids"]


def test_map_of_datasets(tokenizer):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": ["Elif lives in Faro.", "Greta the baker."] * 5, "label": [0, 1] * 5})
    encoded = data.map(lambda batch: tokenizer(batch["text"], truncation=True), batched=True)
    assert encoded["input_ids"][1] == tokenizer("Greta the baker.")["input_ids"]


def test_mistakes_are_sentences(tokenizer):
    with pytest.raises(hearth.Error, match="a text is needed, not int"):
        tokenizer([3])
    with pytest.raises(hearth.Error, match="different lengths"):
        tokenizer(["Elif", "Elif lives"], return_tensors="np")
    with pytest.raises(hearth.Error, match="word_ids\\(\\) needs"):
        tokenizer("Elif").word_ids()


def test_the_peer_gives_the_same(tokenizer, folder):
    transformers = pytest.importorskip("transformers")
    peer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = ["Elif the baker lives in Faro.", "Greta lives in Jena, not in Bergen.", "Kira"]
    for options in (
        {"truncation": True, "max_length": 8, "padding": "max_length"},
        {"padding": True},
        {
            "truncation": True,
            "max_length": 7,
            "stride": 2,
            "return_overflowing_tokens": True,
            "return_offsets_mapping": True,
        },
    ):
        ours, theirs = tokenizer(texts, **options), peer(texts, **options)
        for name in theirs:
            assert ours[name] == theirs[name], (name, options)
    pairs = {"truncation": "only_second", "max_length": 14, "stride": 3, "return_overflowing_tokens": True}
    ours, theirs = tokenizer(["Who?"] * 3, texts, **pairs), peer(["Who?"] * 3, texts, **pairs)
    assert all(ours[name] == theirs[name] for name in theirs)
    assert numpy.array_equal(
        tokenizer(texts, padding=True, return_tensors="np")["input_ids"],
        peer(texts, padding=True, return_tensors="np")["input_ids"],
    )
