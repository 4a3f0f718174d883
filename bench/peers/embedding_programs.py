"""What the measurements of embeddings share: Hearth and sentence-transformers as programs that train and encode."""
import contextlib
import json
import os
import subprocess
import sys


def show(**row):
    print(json.dumps(row), flush=True)
    return row


def write_records(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_pairs(file, pairs):
    write_records(file, ({"anchor": a, "positive": b} for a, b in pairs))


def dtype_flags(dtype):
    return [] if dtype == "fp32" else [f"--{dtype}"]


class Hearth:
    def __init__(self, program, model, threads=None):
        self.program, self.model = program, model
        self.environment = {**os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {})}

    def run(self, *flags, text=None):
        words = [self.program, *map(str, flags)]
        done = subprocess.run(words, input=text, capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done

    def train(self, folder, *flags, command="run_embedding"):
        self.run(command, "--model_name_or_path", self.model, "--output_dir", folder, "--overwrite_output_dir",
                 "--save_strategy", "no", "--disable_tqdm", "--report_to", "none", *flags)
        return folder


class Peer:
    """sentence-transformers on `device`. Its weights are fp32, whatever the dtype of the model's file."""

    def __init__(self, model, device="cpu", threads=None):
        import sentence_transformers
        import torch
        self.st, self.torch, self.path, self.device = sentence_transformers, torch, str(model), device
        if threads:
            torch.set_num_threads(threads)
        show(peer="sentence-transformers", version=sentence_transformers.__version__, torch=torch.__version__, device=device,
             threads=torch.get_num_threads())

    def model(self, length=None):
        model = self.st.SentenceTransformer(self.path, device=self.device, model_kwargs={"dtype": self.torch.float32})
        if length:
            model.max_seq_length = length
        return model

    def features(self, model, texts):
        features = (getattr(model, "preprocess", None) or model.tokenize)(list(texts))
        return {name: value.to(self.device) if hasattr(value, "to") else value for name, value in features.items()}

    def ranking_loss(self, model):
        losses = getattr(self.st, "losses", None) or self.st.sentence_transformer.losses
        return losses.MultipleNegativesRankingLoss(model)

    def trainer(self, model, loss, rate, steps, warmup=0, dtype="bf16"):
        """A function that trains one step on what `loss` takes: AdamW, clipping at 1.0, a linear schedule."""
        model.train()
        optimizer = self.torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0, fused=True)
        share = lambda step: step / warmup if step < warmup else max(0, (steps - step) / (steps - warmup))
        schedule = self.torch.optim.lr_scheduler.LambdaLR(optimizer, share)
        autocast = lambda: (self.torch.autocast(self.device, self.torch.bfloat16) if dtype == "bf16"
                            else contextlib.nullcontext())

        def step(*batch):
            with autocast():
                value = loss(*batch)
            value.backward()
            self.torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()

        return step
