import pytest

import hearth
from hearth.lib import _hearth


def test_every_declared_option_is_a_keyword():
    for option in _hearth.declared_options():
        if option["support"] == "works" and option["default"] is not None and option["name"] != "output_dir":
            args = hearth.TrainingArguments("out", **{option["name"]: option["default"]})
            assert getattr(args, option["name"]) == option["default"]


def test_the_settings_of_the_guides():
    args = hearth.TrainingArguments(output_dir="out", bf16=True, use_ipex=True, use_cpu=True, no_cuda=True)
    assert args.bf16 is True and args.use_ipex is True
    assert args.output_dir == "out"


def test_values_of_python_become_settings():
    args = hearth.TrainingArguments(
        "out",
        learning_rate=3e-5,
        eval_strategy="epoch",
        eval_steps=None,
        lr_scheduler_type="cosine_with_restarts",
        lr_scheduler_kwargs={"num_cycles": 2},
        report_to=["none"],
        save_total_limit=2,
    )
    assert args.learning_rate == 3e-5 and args.lr_scheduler_kwargs == '{"num_cycles": 2}'
    assert args.save_total_limit == 2 and args.do_eval is True
    args.num_train_epochs = 1
    assert args.to_dict()["num_train_epochs"] == 1.0
    assert "learning_rate=3e-05" in repr(args)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"learning_rat": 1}, "TrainingArguments: there is no option learning_rat; did you mean learning_rate?"),
        ({"learning_rate": "fast"}, "learning_rate: 'fast' is not a number"),
        ({"fp16": True, "bf16": True}, "exclude each other"),
        ({"deepspeed": "config.json"}, "configures a library that Hearth does not use"),
        ({"optim": "adamw_hg"}, "is none of"),
    ],
)
def test_a_mistake_is_one_sentence(settings, sentence):
    with pytest.raises(hearth.Error) as failure:
        hearth.TrainingArguments("out", **settings)
    assert sentence in str(failure.value) and "\n" not in str(failure.value)


def test_the_signature_names_all_keywords():
    import inspect

    names = inspect.signature(hearth.TrainingArguments).parameters
    assert next(iter(names)) == "output_dir" and names["learning_rate"].default == 5e-5 and "use_ipex" in names
