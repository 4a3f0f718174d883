"""Trains BERT in PyTorch, as compare.py asks for it: a JSON object per line on the standard input, the answer as one on the standard output. It is a process of its own because PyTorch can die: where a hypervisor hides
CPUID leaf 0x1D, oneDNN's AMX code ends with an illegal instruction."""
import contextlib
import json
import math
import os
import random
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, POSITIONS, DROPOUT = 30522, 512, 0.1
MASKED, MASK_ID = 0.15, 103  # share of the tokens in masked language modelling, and [MASK]
FORMATS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Layer(nn.Module):
    def __init__(self, hidden, heads, intermediate):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.projection = (nn.Linear(hidden, hidden) for _ in range(4))
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.intermediate = nn.Linear(hidden, intermediate)
        self.output = nn.Linear(intermediate, hidden)
        self.output_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, mask):
        batch, length, hidden = x.shape
        query, key, value = (layer(x).view(batch, length, self.heads, -1).transpose(1, 2)
                             for layer in (self.query, self.key, self.value))
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(query, key, value, mask.to(query.dtype),
                                                   dropout_p=DROPOUT if self.training else 0.0)
        else:
            scores = query @ key.transpose(-1, -2) / math.sqrt(hidden // self.heads) + mask.to(query.dtype)
            mixed = self.dropout(scores.softmax(-1)) @ value
        mixed = mixed.transpose(1, 2).reshape(batch, length, hidden)
        x = self.attention_norm(x + self.dropout(self.projection(mixed)))
        return self.output_norm(x + self.dropout(self.output(F.gelu(self.intermediate(x)))))


class PlainBert(nn.Module):
    """The same shapes as transformers' models, for where it is not installed."""

    def __init__(self, layers, hidden, heads, intermediate, head):
        super().__init__()
        self.words, self.places, self.types = (nn.Embedding(n, hidden) for n in (VOCABULARY, POSITIONS, 2))
        self.norm, self.dropout = nn.LayerNorm(hidden, eps=1e-12), nn.Dropout(DROPOUT)
        self.layers = nn.ModuleList(Layer(hidden, heads, intermediate) for _ in range(layers))
        self.head = head
        self.pooler, self.outputs = nn.Linear(hidden, hidden), nn.Linear(hidden, 2)
        self.transform_norm, self.bias = nn.LayerNorm(hidden, eps=1e-12), nn.Parameter(torch.zeros(VOCABULARY))

    def forward(self, input_ids, attention_mask, token_type_ids, labels=None, start_positions=None, end_positions=None):
        places = torch.arange(input_ids.shape[1])
        x = self.dropout(self.norm(self.words(input_ids) + self.places(places) + self.types(token_type_ids)))
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        if self.head == "mlm":
            x = self.transform_norm(F.gelu(self.pooler(x)))
            logits = F.linear(x, self.words.weight, self.bias).float()
            return F.cross_entropy(logits.view(-1, VOCABULARY), labels.view(-1))
        if self.head == "classification":
            pooled = self.dropout(torch.tanh(self.pooler(x[:, 0])))
            return F.cross_entropy(self.outputs(pooled).float(), labels)
        start, end = self.outputs(x).float().unbind(-1)
        return (F.cross_entropy(start, start_positions) + F.cross_entropy(end, end_positions)) / 2


def make_model(sizes, head, **settings):
    layers, hidden, heads, intermediate = sizes
    try:
        from transformers import (BertConfig, BertForMaskedLM, BertForQuestionAnswering,
                                  BertForSequenceClassification, __version__)
        config = BertConfig(num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads,
                            intermediate_size=intermediate, **settings)
        made = {"qa": BertForQuestionAnswering, "classification": BertForSequenceClassification,
                "mlm": BertForMaskedLM}[head]
        return made(config), "transformers " + __version__
    except ImportError:
        return PlainBert(layers, hidden, heads, intermediate, head), "a plain BERT of the same shapes"


def make_batch(lengths, padded, head):
    ids = torch.randint(1000, VOCABULARY, (len(lengths), padded))
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
    inputs = {"input_ids": ids * mask, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    if head == "mlm":
        masked = (torch.rand(ids.shape) < MASKED) & mask.bool()
        return {**inputs, "input_ids": inputs["input_ids"].masked_fill(masked, MASK_ID),
                "labels": ids.masked_fill(~masked, -100)}
    if head == "classification":
        return {**inputs, "labels": torch.tensor([random.randrange(2) for _ in lengths])}
    return {**inputs,
            "start_positions": torch.tensor([random.randrange(length) for length in lengths]),
            "end_positions": torch.tensor([length - 1 for length in lengths])}


def step(model, optimizer, batch, autocast_dtype, scaler):
    mixed = autocast_dtype != torch.float32
    with torch.autocast("cpu", dtype=autocast_dtype) if mixed else contextlib.nullcontext():
        output = model(**batch)
    loss = output if torch.is_tensor(output) else output.loss
    (loss if scaler is None else scaler.scale(loss)).backward()
    if optimizer is None:
        return model.zero_grad(set_to_none=True)
    if scaler is not None:
        scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if scaler is None:
        optimizer.step()
    else:
        scaler.step(optimizer)
        scaler.update()
    optimizer.zero_grad(set_to_none=True)


class Worker:
    def __init__(self, sizes, head, fused, threads):
        torch.manual_seed(42)
        random.seed(42)
        if threads:
            torch.set_num_threads(threads)
        self.sizes, self.head = sizes, head
        self.model, self.source = make_model(sizes, head)
        self.model.train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-5, fused=True if fused else None)
        self.made = {}

    def describe(self, request):
        capability = getattr(getattr(torch.backends, "cpu", None), "get_cpu_capability", lambda: "unknown")
        return {"torch": torch.__version__, "model": self.source, "threads": torch.get_num_threads(),
                "capability": capability(), "ONEDNN_MAX_CPU_ISA": os.environ.get("ONEDNN_MAX_CPU_ISA", "")}

    def make(self, way, dtype, lengths_differ):
        """A model and its optimizer, or none where only forward and backward can be run."""
        if way == "":
            return self.model, self.optimizer
        if way == "compiled":
            # Left to itself PyTorch compiles once more, for any length, as soon as it meets a second one.
            return torch.compile(self.model, dynamic=True if lengths_differ else None), self.optimizer
        import intel_extension_for_pytorch as ipex
        if way == "ipex":
            return ipex.optimize(self.model, optimizer=torch.optim.AdamW(self.model.parameters(), lr=3e-5),
                                 dtype=dtype)
        # fast_bert replaces the layers of eager attention; its own optimizer fails.
        model, _ = make_model(self.sizes, self.head, attn_implementation="eager")
        return ipex.fast_bert(model.train(), dtype=dtype, unpad=True), None

    def steps(self, request):
        """Seconds of a training step on each group of lengths, padded to `pad_to` or, without it, to the longest,
        rounded up to a multiple of `pad_unit`."""
        dtype, way = FORMATS[request["format"]], request["way"]
        kind = way, dtype, way == "compiled" and not request["pad_to"]
        if kind not in self.made:
            self.made[kind] = self.make(*kind)
        model, optimizer = self.made[kind]
        scaler = None
        if dtype == torch.float16 and hasattr(torch.amp, "GradScaler"):
            scaler = torch.amp.GradScaler("cpu")
        seconds = []
        for lengths in request["groups"]:
            unit = request["pad_unit"]
            batch = make_batch(lengths, -(-(request["pad_to"] or max(lengths)) // unit) * unit, self.head)
            start = time.perf_counter()
            step(model, optimizer, batch, torch.float32 if way == "fastbert" else dtype, scaler)
            seconds.append(time.perf_counter() - start)
        return {"seconds": seconds}

    def products(self, request):
        """Operations and seconds of each pass over the (outputs, inputs) of some linear layers."""
        dtype, tokens = FORMATS[request["format"]], request["tokens"]
        passes = {"forward": lambda x, w, dy: F.linear(x, w),
                  "input gradient": lambda x, w, dy: torch.mm(dy, w),
                  "weight gradient": lambda x, w, dy: torch.mm(dy.t(), x)}
        result = {}
        for name, run in passes.items():
            flops, seconds = 0.0, 0.0
            for outputs, inputs in request["layers"]:
                x, w, dy = (torch.rand(shape).sub_(0.5).to(dtype)
                            for shape in ((tokens, inputs), (outputs, inputs), (tokens, outputs)))
                run(x, w, dy)
                runs, start = 0, time.perf_counter()
                while runs == 0 or time.perf_counter() - start < request["seconds"]:
                    run(x, w, dy)
                    runs += 1
                seconds += (time.perf_counter() - start) / runs
                flops += 2.0 * tokens * outputs * inputs
            result[name] = {"gflops": flops / seconds / 1e9}
        return result


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    settings = json.loads(sys.argv[1])
    worker = Worker(**settings)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request["do"])(request)
        except Exception as error:  # PyTorch's versions differ in what they can do: that is an answer too
            lines = str(error).strip().splitlines()
            answer = {"error": "%s: %s" % (type(error).__name__, lines[0] if lines else "")}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
