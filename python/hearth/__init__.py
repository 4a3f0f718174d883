"""Hearth trains transformers on CPUs, under the names of transformers and accelerate.

    from hearth import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

docs/python.md is the guide. Everything that fails raises hearth.Error, whose text is one sentence.
"""

import os as _os

from .lib._hearth import Error, NotFiniteError, Profiler, ResourceError, UsageError
from .lib._hearth import configure, instruction_set, num_threads, version as __version__
from .accelerator import Accelerator, DistributedType
from .callbacks import EarlyStoppingCallback, TrainerCallback, TrainerControl, TrainerState
from .data import (
    DataCollatorForLanguageModeling,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    DataLoader,
    default_data_collator,
)
from .commands import main
from .display import show_output_in_python
from .hf_argparser import HfArgumentParser
from .modeling import (
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    Model,
    ModelOutput,
    Parameter,
    no_grad,
)
from .optim import AdamW, Optimizer, get_linear_schedule_with_warmup, get_scheduler
from .pipelines import SentenceTransformer, pipeline
from .seeds import set_seed
from .tokenization import AutoTokenizer, BatchEncoding, Tokenizer
from .trainer import EvalPrediction, PredictionOutput, Trainer, TrainOutput
from .training_args import TrainingArguments

for _exception in (Error, NotFiniteError, ResourceError, UsageError):
    _exception.__module__ = "hearth"
show_output_in_python()
# Workers of Dataset.map(num_proc=...), which are forks, compute on one thread each: all together they fill the cores.
_os.register_at_fork(after_in_child=lambda: configure(num_threads=1))

__all__ = [name for name in dir() if name[0].isupper()] + [
    "configure",
    "default_data_collator",
    "get_linear_schedule_with_warmup",
    "get_scheduler",
    "instruction_set",
    "main",
    "no_grad",
    "num_threads",
    "pipeline",
    "set_seed",
]
