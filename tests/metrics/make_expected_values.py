"""Writes the files of ../fixtures/metrics: what scikit-learn, scipy and seqeval compute for random inputs. Numbers are
written with as many digits as they need to be read back exactly.

    pip install scikit-learn==1.9.1 scipy==1.17.1 numpy==2.4.6 seqeval==1.2.2 && python make_expected_values.py"""

import json
import pathlib
import random
import re
import warnings

import numpy as np
from scipy.stats import pearsonr, spearmanr
from seqeval.metrics import accuracy_score as tag_accuracy
from seqeval.metrics import classification_report as entity_report
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2
from sklearn import metrics as sk

FOLDER = pathlib.Path(__file__).parent.parent / "fixtures" / "metrics"
TYPES = ["PER", "LOC", "A-B", "é"]
ODD_TAGS = ["B", "I", "E", "S", "I-", "-X", "B-A-B", "BX", "IX-Y", "O-PER", "X-PER", "X", "X-", ".-PER", ".", "É-PER",
            "-", "--", "B--PER", "L-LOC", "b-PER", "_"]
ODD_STRICT_TAGS = ["B", "I", "I-", "B-A-B", "BPER", "O-PER", "B--PER", "I-PER-", "B-é", "I-é"]


# Entities

def random_tag(draw, letters, types, odd, odd_share):
    if odd and draw.random() < odd_share:
        return draw.choice(odd)
    letter = draw.choice(letters)
    return "O" if letter == "O" else f"{letter}-{draw.choice(types)}"


def random_sentences(draw, letters, odd, odd_share):
    types = TYPES[:draw.randint(1, len(TYPES))]
    new_tag = lambda: random_tag(draw, letters, types, odd, odd_share)
    truth = [[new_tag() for _ in range(draw.randint(0, 8))] for _ in range(draw.randint(1, 3))]
    truth[0].append(new_tag())  # accuracy needs a tag
    similar = draw.choice([0.0, 0.5, 0.8, 0.95, 1.0])
    predicted = [[tag if draw.random() < similar else new_tag() for tag in tags] for tags in truth]
    return truth, predicted


def four_numbers(scores):
    return [float(scores[name]) for name in ("precision", "recall", "f1-score")] + [int(scores["support"])]


def entity_case(truth, predicted, **options):
    report = entity_report(truth, predicted, output_dict=True, **options)
    overall = four_numbers(report.pop("micro avg"))
    del report["macro avg"], report["weighted avg"]
    return {
        "truth": [" ".join(tags) for tags in truth],
        "predicted": [" ".join(tags) for tags in predicted],
        "overall": overall,
        "accuracy": tag_accuracy(truth, predicted),
        "types": {name: four_numbers(scores) for name, scores in report.items()},
    }


def entity_cases(draw):
    lenient, strict, found = [], [], []
    for i in range(260):
        odd_share = 0 if i < 140 else 0.3 if i < 220 else 1.0
        truth, predicted = random_sentences(draw, draw.choice(["BIO", "BIOES", "BIIIOOOES"]), ODD_TAGS, odd_share)
        lenient.append(entity_case(truth, predicted))
        if i % 4 == 0:
            found.append([[name, first, last] for name, first, last in get_entities(truth)])
        else:
            found.append(None)
    for i in range(60):
        truth, predicted = random_sentences(draw, "BIIO", ODD_STRICT_TAGS, 0 if i < 30 else 0.4)
        strict.append(entity_case(truth, predicted, mode="strict", scheme=IOB2))
    dashes = [["B-PER", "I-PER-", "I--PER", "B--LOC-", "I-LOC", "B-", "I", "I--"]]
    strict.append(entity_case(dashes, dashes, mode="strict", scheme=IOB2))
    strict.append(entity_case(dashes, [["B-PER", "I-PER", "I-PER", "B-LOC", "I-LOC", "B", "I", "I"]], mode="strict",
                              scheme=IOB2))
    for case, entities in zip(lenient, found):
        if entities is not None:
            case["entities"] = entities
    return {"lenient": lenient, "strict": strict}


# Classification

def scores(truth, predicted, average, labels):
    p, r, f1, support = sk.precision_recall_fscore_support(truth, predicted, average=average, labels=labels,
                                                           zero_division=0)
    if average is None:
        return [list(row) for row in zip(p.tolist(), r.tolist(), f1.tolist(), support.tolist())]
    return [p, r, f1]


def names_of(classes):
    return [("class " * (i % 4) + str(i)) for i in range(classes)]


def all_scores(truth, predicted, labels):
    return {"classes": scores(truth, predicted, None, labels)} | {
        average: scores(truth, predicted, average, labels) for average in ("micro", "macro", "weighted")}


def report_text(truth, predicted, **options):
    """scikit-learn prints support as 4.0 if no prediction at all is correct; Hearth never does."""
    report = sk.classification_report(truth, predicted, digits=4, zero_division=0, **options)
    lines = [line for line in report.splitlines(True) if "samples avg" not in line]
    return "".join(re.sub(r"(\d+)\.0\n", r"  \1\n", line) for line in lines)


def label_case(truth, predicted, classes):
    labels = list(range(classes))
    return {
        "classes_count": classes, "truth": truth, "predicted": predicted, "names": names_of(classes),
        "accuracy": sk.accuracy_score(truth, predicted),
        "matthews": sk.matthews_corrcoef(truth, predicted),
        "confusion": sk.confusion_matrix(truth, predicted, labels=labels).tolist() if classes <= 20 else None,
        "report": report_text(truth, predicted, labels=labels, target_names=names_of(classes)),
        **all_scores(truth, predicted, labels),
    }


def label_cases(draw):
    cases = []
    for i in range(40):
        classes = 150 if i == 0 else draw.randint(1, 20)
        used = draw.sample(range(classes), draw.randint(1, classes))
        truth = [draw.choice(used) for _ in range(300 if i == 0 else draw.randint(1, 60))]
        similar = draw.choice([0.0, 0.5, 0.9, 1.0])
        predicted = [label if draw.random() < similar else draw.randrange(classes) for label in truth]
        cases.append(label_case(truth, predicted, classes))
    return cases


def binary_case(truth, predicted):
    p, r, f1, _ = sk.precision_recall_fscore_support(truth, predicted, average="binary", zero_division=0)
    return {"truth": truth, "predicted": predicted, "scores": [p, r, f1],
            "accuracy": sk.accuracy_score(truth, predicted), "matthews": sk.matthews_corrcoef(truth, predicted)}


def binary_cases(draw):
    cases = [binary_case([0] * 4, [0] * 4), binary_case([1] * 3, [1] * 3), binary_case([0, 1, 0], [0, 0, 0]),
             binary_case([0, 0, 0], [1, 0, 1]), binary_case([1, 1, 1], [0, 0, 0])]
    for _ in range(30):
        truth = [draw.randint(0, 1) for _ in range(draw.randint(1, 50))]
        cases.append(binary_case(truth, [label if draw.random() < 0.6 else draw.randint(0, 1) for label in truth]))
    return cases


def foreign_label_cases(draw):
    """Labels that are no class numbers, such as -1 for a label that training did not know."""
    cases = []
    for _ in range(10):
        truth = [draw.choice([-1, 0, 1, 70]) for _ in range(20)]
        predicted = [label if draw.random() < 0.5 else draw.choice([0, 1, 2]) for label in truth]
        cases.append({"truth": truth, "predicted": predicted, "accuracy": sk.accuracy_score(truth, predicted),
                      "matthews": sk.matthews_corrcoef(truth, predicted)})
    return cases


def multi_label_cases(draw):
    cases = []
    for i in range(25):
        labels = 12 if i == 0 else draw.randint(2, 9)
        share = draw.choice([0.0, 0.2, 0.6])
        truth = [[int(draw.random() < share) for _ in range(labels)] for _ in range(draw.randint(1, 30))]
        predicted = [[flag if draw.random() < 0.85 else 1 - flag for flag in row] for row in truth]
        t, p = np.array(truth), np.array(predicted)
        cases.append({
            "labels": labels, "names": names_of(labels),
            "truth": "".join(str(flag) for row in truth for flag in row),
            "predicted": "".join(str(flag) for row in predicted for flag in row),
            "subset_accuracy": sk.accuracy_score(t, p),
            "report": report_text(t, p, target_names=names_of(labels)),
            **all_scores(t, p, None),
        })
    return cases


# Regression

def regression_case(x, y):
    """The inputs are thousandths."""
    a, b = (np.array([value / 1000 for value in values], dtype=np.float32) for values in (x, y))
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    return {
        "x": x, "y": y,
        "mean_squared_error": sk.mean_squared_error(wide_a.tolist(), wide_b.tolist()),
        "pearson_float32": float(pearsonr(a, b)[0]),
        "pearson_float64": float(pearsonr(wide_a, wide_b)[0]),
        "spearman": float(spearmanr(a, b)[0]),
    }


def regression_cases(draw):
    cases = [regression_case([1500] * 5, [1, 2, 3, 4, 5]), regression_case([1, 2, 3], [7, 7, 7]),
             regression_case([1, 2], [5, 3]), regression_case([1, 2, 3], [5, 6, 7]), regression_case([3, 2, 1], [1, 2, 3])]
    for count in [2, 3, 5, 7, 8, 9, 16, 17, 40, 100, 127, 128, 129, 136, 300, 1500]:
        for step in (200, 1):
            x = [draw.randrange(0, 5001, step) for _ in range(count)]
            noise = draw.choice([100, 1000, 5000])
            y = [value + draw.randint(-noise, noise) for value in x]
            if count > 300 and step == 1:
                continue
            cases.append(regression_case(x, y))
    return cases


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for part in ('{"truth"', '{"classes_count"', '{"labels"', '{"x"', '"strict"', '"binary"', '"multi_label"'):
        text = text.replace(part, "\n" + part)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(text + "\n")


def main():
    warnings.simplefilter("ignore")
    draw = random.Random(20)
    write("entities.json", entity_cases(draw))
    write("classification.json", {"multi_class": label_cases(draw), "binary": binary_cases(draw),
                                  "foreign": foreign_label_cases(draw), "multi_label": multi_label_cases(draw)})
    write("regression.json", regression_cases(draw))


if __name__ == "__main__":
    main()
