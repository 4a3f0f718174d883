"""Pipelines say what the commands say."""

import json

import numpy
import pytest

import hearth
from conftest import program

TEXTS = ["Elif the baker lives in Faro.", "Greta lives in Jena."]


@pytest.fixture
def saved(folder, tokenizer, tmp_path):
    def make(auto, **options):
        model = auto.from_pretrained(folder, **options)
        model.save_pretrained(tmp_path / "saved")
        tokenizer.save_pretrained(tmp_path / "saved")
        return str(tmp_path / "saved")

    return make


def close(ours, theirs):
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
        assert value == pytest.approx(theirs[key], abs=1e-6)


def test_text_classification(saved, tokenizer):
    folder = saved(hearth.AutoModelForSequenceClassification, id2label={0: "no", 1: "yes", 2: "maybe"})
    classify = hearth.pipeline("text-classification", model=folder)
    theirs = json.loads(program("classify", "--model", folder, "--text", TEXTS[0]))
    (ours,) = classify(TEXTS[0])
    close(ours, theirs)
    assert [len(scores) for scores in classify(TEXTS, top_k=None)] == [3, 3]
    assert classify([{"text": TEXTS[0], "text_pair": TEXTS[1]}])[0]["label"] in ("no", "yes", "maybe")
    model = hearth.AutoModelForSequenceClassification.from_pretrained(folder)
    assert hearth.pipeline("sentiment-analysis", model=model, tokenizer=tokenizer)(TEXTS[0]) == classify(TEXTS[0])


def test_token_classification(saved):
    folder = saved(hearth.AutoModelForTokenClassification, id2label={0: "O", 1: "B-PER", 2: "B-LOC"})
    theirs = json.loads(program("tag", "--model", folder, "--text", TEXTS[0], "--aggregation_strategy", "simple"))
    ours = hearth.pipeline("ner", model=folder, aggregation_strategy="simple")(TEXTS[0])
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        close(one, other)


def test_question_answering(saved):
    folder = saved(hearth.AutoModelForQuestionAnswering)
    question, context = "Where does Elif live?", " ".join(TEXTS)
    theirs = json.loads(program("ask", "--model", folder, "--question", question, "--context_text", context, "--json"))
    ours = hearth.pipeline("question-answering", model=folder)(question=question, context=context)
    close(ours, {key: theirs[key] for key in ("score", "start", "end", "answer")})
    assert context[ours["start"] : ours["end"]] == ours["answer"]


def test_fill_mask_features_and_embeddings(saved, tokenizer):
    folder = saved(hearth.AutoModelForMaskedLM)
    found = hearth.pipeline("fill-mask", model=folder, top_k=3)(f"Elif lives in {tokenizer.mask_token}.")
    assert len(found) == 3 and found[0]["score"] >= found[1]["score"]
    features = hearth.pipeline("feature-extraction", model=folder)(TEXTS[0])
    states = numpy.array(features)
    assert states.shape == (1, len(tokenizer(TEXTS[0])["input_ids"]), 32)
    embeddings = hearth.SentenceTransformer(folder).encode(TEXTS)
    assert embeddings.shape == (2, 32) and numpy.allclose(embeddings[0], states[0].mean(0), atol=1e-5)


def test_pipelines_of_the_peer(saved, tokenizer):
    transformers = pytest.importorskip("transformers")
    folder = saved(hearth.AutoModelForMaskedLM)
    theirs = numpy.array(transformers.pipeline("feature-extraction", model=folder)(TEXTS[0]))
    assert numpy.allclose(numpy.array(hearth.pipeline("feature-extraction", model=folder)(TEXTS[0])), theirs, atol=1e-4)
    text = f"Elif lives in {tokenizer.mask_token}."
    ours, peers = (of.pipeline("fill-mask", model=folder)(text) for of in (hearth, transformers))
    assert [one["token"] for one in ours] == [one["token"] for one in peers]
    assert [one["score"] for one in ours] == pytest.approx([one["score"] for one in peers], abs=1e-5)
    assert [(one["token_str"], one["sequence"]) for one in ours] == [
        (one["token_str"], one["sequence"]) for one in peers
    ]


def test_an_unknown_task_is_named():
    with pytest.raises(hearth.Error, match="there is no pipeline 'translation'; there are text-classification"):
        hearth.pipeline("translation", model="x")
