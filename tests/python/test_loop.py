"""Loops of one's own, with and without an Accelerator, and arrays without copies."""

import subprocess
import sys
import textwrap

import numpy
import pytest

import hearth
from conftest import pairs, program


def train(accelerator, model, data, epochs=2, batch_size=8):
    loader = hearth.DataLoader(data, batch_size=batch_size, shuffle=True, drop_last=True)
    optimizer = hearth.AdamW(params=model.parameters(), lr=1e-3)
    schedule = hearth.get_linear_schedule_with_warmup(optimizer, 2, len(loader) * epochs)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    losses = []
    for _ in range(epochs):
        model.train()
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(**batch).loss
                losses.append(loss.item())
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
    return losses


def test_a_loop_has_the_metrics_of_nlp_example(folder, tokenizer, tmp_path):
    examples, lines = pairs(64), ["sentence1,sentence2,label"]
    lines += [f"{row['sentence1']},{row['sentence2']},{row['label']}" for row in examples]
    (tmp_path / "mrpc.csv").write_text("\n".join(lines) + "\n")
    printed = program("nlp_example", "--model_name_or_path", folder, "--train_file", tmp_path / "mrpc.csv",
                      "--validation_file", tmp_path / "mrpc.csv", "--num_epochs", "3")  # fmt: skip
    encoded = tokenizer([r["sentence1"] for r in examples], [r["sentence2"] for r in examples], truncation=True)
    data = {**encoded, "labels": [row["label"] for row in examples]}

    accelerator = hearth.Accelerator()
    train_loader = hearth.DataLoader(data, batch_size=16, shuffle=True, drop_last=True)
    eval_loader = hearth.DataLoader(data, batch_size=32)
    model = hearth.AutoModelForSequenceClassification.from_pretrained(folder)
    optimizer = hearth.AdamW(params=model.parameters(), lr=2e-5)
    schedule = hearth.get_linear_schedule_with_warmup(optimizer, 100, len(train_loader) * 3)
    model, optimizer, train_loader, eval_loader, schedule = accelerator.prepare(
        model, optimizer, train_loader, eval_loader, schedule
    )
    shown = []
    for epoch in range(3):
        model.train()
        for batch in train_loader:
            batch.to(accelerator.device)
            loss = model(**batch).loss / 1
            accelerator.backward(loss)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        model.eval()
        predicted, truth = [], []
        for batch in eval_loader:
            with hearth.no_grad():
                outputs = model(**batch)
            both = accelerator.gather_for_metrics((outputs.logits.argmax(dim=-1), batch["labels"]))
            predicted += both[0].tolist()
            truth += both[1].tolist()
        hits = sum(p == t == 1 for p, t in zip(predicted, truth))
        f1 = 2 * hits / (sum(predicted) + sum(truth))
        right = sum(p == t for p, t in zip(predicted, truth)) / len(truth)
        shown.append(f"epoch {epoch}: {{'accuracy': {right}, 'f1': {f1}}}")
    assert printed.split("\n")[-4:-1] == shown


def test_a_batch_of_padded_arrays_is_the_same_as_a_packed_one(classifier, tokenizer, rows):
    data = rows(8)
    (batch,) = hearth.DataLoader(data, batch_size=8)
    classifier.eval()
    packed = classifier(**batch)
    padded = classifier(**tokenizer.pad(data, return_tensors="np"))
    assert packed.loss.item() == padded.loss.item() and numpy.array_equal(packed.logits, padded.logits)
    without_labels = classifier(**{name: values for name, values in batch.items() if name != "labels"})
    assert without_labels.loss is None and numpy.array_equal(without_labels.logits, packed.logits)


def test_gradients_accumulate(folder, rows):
    data = rows(16)
    models = [
        hearth.AutoModelForSequenceClassification.from_pretrained(
            folder, num_labels=2, hidden_dropout_prob=0, attention_probs_dropout_prob=0
        )
        for _ in range(2)
    ]
    train(hearth.Accelerator(gradient_accumulation_steps=2), models[0], data, batch_size=4)
    train(hearth.Accelerator(), models[1], data, batch_size=8)
    for (name, one), (_, other) in zip(models[0].named_parameters(), models[1].named_parameters()):
        assert numpy.allclose(one.data, other.data, atol=2e-3), name


def test_a_loop_without_an_accelerator(classifier, rows):
    optimizer = hearth.AdamW(classifier.parameters(), lr=1e-3)
    losses = []
    classifier.train()
    for _ in range(8):
        for batch in hearth.DataLoader(rows(24), batch_size=8, shuffle=True):
            loss = classifier(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(float(loss))
    assert losses[-1] < losses[0]


def test_groups_of_parameters(classifier):
    spared = ["bias", "LayerNorm.weight"]
    groups = [
        {
            "params": [p for n, p in classifier.named_parameters() if not any(s in n for s in spared)],
            "weight_decay": 0.1,
        },
        {"params": [p for n, p in classifier.named_parameters() if any(s in n for s in spared)], "weight_decay": 0.0},
    ]
    hearth.AdamW(groups, lr=1e-3)
    with pytest.raises(hearth.Error, match="the optimizer is not given"):
        hearth.AdamW(groups[:1])


def test_parameters_are_views(classifier, rows):
    weights = dict(classifier.named_parameters())
    again = dict(classifier.named_parameters())
    name = "classifier.weight"
    assert numpy.shares_memory(weights[name].data, again[name].data)
    classifier.train()
    (batch,) = hearth.DataLoader(rows(4), batch_size=4)
    classifier(**batch).loss.backward()
    assert weights[name].grad.any()
    before = classifier.eval()(**batch).logits.copy()
    weights[name].data[:] = 0
    classifier.mark_changed()
    assert not numpy.array_equal(classifier(**batch).logits, before)
    state = {key: values.copy() for key, values in classifier.state_dict().items()}
    state[name] += 1
    classifier.load_state_dict(state)
    assert (weights[name].data == 1).all()


def test_dlpack_to_torch_without_a_copy(classifier):
    torch = pytest.importorskip("torch")
    weight = dict(classifier.named_parameters())["classifier.weight"].data
    tensor = torch.from_dlpack(weight)
    tensor[0, 0] = 5
    assert weight[0, 0] == 5


def test_two_processes(folder, rows, tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(textwrap.dedent(f"""
        import json, sys, hearth
        sys.path.insert(0, {str(__import__("pathlib").Path(__file__).parent)!r})
        from test_loop import train
        accelerator = hearth.Accelerator()
        model = hearth.AutoModelForSequenceClassification.from_pretrained({folder!r}, num_labels=2)
        losses = train(accelerator, model, json.load(open(sys.argv[1])), batch_size=4)
        gathered = accelerator.gather_for_metrics(__import__("numpy").array([accelerator.process_index]))
        accelerator.print("ranks", gathered.tolist(), "losses", len(losses))
        """))
    data = tmp_path / "rows.json"
    data.write_text(__import__("json").dumps(rows(16)))
    printed = program("launch", "--num_processes", "2", script, data)
    assert "ranks [0, 1] losses 4" in printed, printed


def test_keywords_that_would_change_the_result_are_refused(classifier, rows):
    for call, name in (
        (lambda: hearth.Accelerator(split_batches=True), "split_batches=True"),
        (lambda: hearth.DataLoader(rows(4), sampler=[0]), "sampler="),
        (lambda: hearth.AdamW(classifier.parameters(), amsgrad=True), "amsgrad=True"),
        (lambda: hearth.AutoTokenizer.from_pretrained("x", do_lower_case=True), "do_lower_case=True"),
    ):
        with pytest.raises(hearth.Error, match=f"{name}.* is not supported"):
            call()


def test_foreign_objects_are_named():
    with pytest.raises(hearth.Error, match="not builtins.dict"):
        hearth.Accelerator().prepare({})
