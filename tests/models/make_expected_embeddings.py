"""Writes ../fixtures/embedding/losses.json and pooling.json: what sentence-transformers computes for random embeddings
and random token embeddings, with gradients.

    pip install torch==2.15.0 transformers==4.57.6 sentence-transformers==5.7.0 && python make_expected_embeddings.py"""

import json
import pathlib

import torch
from sentence_transformers.sentence_transformer.losses import contrastive, matryoshka, triplet
from sentence_transformers import losses
from sentence_transformers.sentence_transformer.modules import Pooling

FOLDER = pathlib.Path(__file__).parent.parent / "fixtures" / "embedding"
ITEMS, SIZE = 7, 12
SIAMESE = {"euclidean": contrastive.SiameseDistanceMetric.EUCLIDEAN, "manhattan": contrastive.SiameseDistanceMetric.MANHATTAN,
           "cosine": contrastive.SiameseDistanceMetric.COSINE_DISTANCE}
TRIPLET = {"euclidean": triplet.TripletDistanceMetric.EUCLIDEAN, "manhattan": triplet.TripletDistanceMetric.MANHATTAN,
           "cosine": triplet.TripletDistanceMetric.COSINE}


def flat(tensor):
    return [float(x) for x in tensor.reshape(-1)]


def loss_case(name, loss, texts, labels=None, dims=None, weights=None, **settings):
    embeddings = torch.randn(texts, ITEMS, SIZE, requires_grad=True)
    scored = None if labels is None else torch.tensor(labels)

    def value(parts):
        return loss.compute_loss_from_embeddings(parts, scored)

    if dims is None:
        result = value(list(embeddings))
    else:
        weights = weights or [1.0] * len(dims)
        result = sum(w * value([matryoshka.shrink(e, d) for e in embeddings]) for d, w in zip(dims, weights))
        settings.update(dims=dims, weights=weights)
    result.backward()
    return {"loss": name, "texts": texts, "items": ITEMS, "size": SIZE, "embeddings": flat(embeddings),
            "labels": flat(scored) if labels is not None else [], "settings": settings, "value": float(result),
            "gradient": flat(embeddings.grad)}


def loss_cases():
    scores = lambda: [round(float(x), 2) for x in torch.rand(ITEMS)]
    ties = [0.0, 0.5, 0.5, 1.0, 1.0, 0.25, 0.0]
    flags = [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    teacher = lambda width: [[round(float(x), 3) for x in torch.randn(width)] for _ in range(ITEMS)]
    mnr = lambda scale=20.0: losses.MultipleNegativesRankingLoss(None, scale=scale)
    yield loss_case("MultipleNegativesRankingLoss", mnr(), 2)
    yield loss_case("MultipleNegativesRankingLoss", mnr(), 4)
    yield loss_case("MultipleNegativesRankingLoss", mnr(5.0), 3, scale=5)
    yield loss_case("MultipleNegativesRankingLoss", mnr(), 3, dims=[12, 8, 3], weights=[1.0, 0.5, 2.0])
    yield loss_case("CosineSimilarityLoss", losses.CosineSimilarityLoss(None), 2, scores())
    yield loss_case("CosineSimilarityLoss", losses.CosineSimilarityLoss(None), 2, scores(), dims=[8, 4])
    yield loss_case("CoSENTLoss", losses.CoSENTLoss(None), 2, scores())
    yield loss_case("CoSENTLoss", losses.CoSENTLoss(None), 2, ties)
    yield loss_case("CoSENTLoss", losses.CoSENTLoss(None, scale=3.0), 2, [x * 5 for x in scores()], scale=3)
    for name, metric in TRIPLET.items():
        yield loss_case("TripletLoss", losses.TripletLoss(None, distance_metric=metric, triplet_margin=0.8), 3,
                        distance=name, margin=0.8)
    for name, metric in SIAMESE.items():
        margin = 0.5 if name == "cosine" else 4.0
        yield loss_case("ContrastiveLoss", losses.ContrastiveLoss(None, distance_metric=metric, margin=margin), 2, flags,
                        distance=name, margin=margin)
        yield loss_case("OnlineContrastiveLoss", losses.OnlineContrastiveLoss(None, distance_metric=metric, margin=margin),
                        2, flags, distance=name, margin=margin)
    yield loss_case("OnlineContrastiveLoss", losses.OnlineContrastiveLoss(None), 2, [1.0] + [0.0] * 6, distance="cosine",
                    margin=0.5)
    yield loss_case("MarginMSELoss", losses.MarginMSELoss(None), 3, [row[0] for row in teacher(1)])
    yield loss_case("MarginMSELoss", losses.MarginMSELoss(None), 4, teacher(2))
    yield loss_case("MarginMSELoss", losses.MarginMSELoss(None), 4, teacher(3))
    yield loss_case("DistillKLDivLoss", losses.DistillKLDivLoss(None), 4, teacher(3))
    yield loss_case("DistillKLDivLoss", losses.DistillKLDivLoss(None, temperature=2.5), 3, teacher(2), temperature=2.5)


def pooling_case(modes, lengths, prompt):
    longest = max(lengths)
    tokens = torch.randn(len(lengths), longest, 5, requires_grad=True)
    mask = torch.tensor([[1] * n + [0] * (longest - n) for n in lengths])
    features = {"token_embeddings": tokens, "attention_mask": mask}
    if prompt:
        features["prompt_length"] = prompt
    pooled = Pooling(5, modes, include_prompt=not prompt)(features)["sentence_embedding"]
    slope = torch.randn_like(pooled)
    pooled.backward(slope)
    return {"modes": modes, "lengths": lengths, "prompt": prompt, "tokens": flat(tokens), "pooled": flat(pooled),
            "slope": flat(slope), "gradient": flat(tokens.grad)}


def pooling_cases():
    for mode in Pooling.POOLING_MODES:
        for prompt in (0, 2):
            yield pooling_case([mode], [3, 7, 4], prompt)
    yield pooling_case(["mean", "max", "cls"], [1, 6], 0)


def write(name, cases):
    text = "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n"
    (FOLDER / name).write_text(text)


torch.manual_seed(20)
write("losses.json", loss_cases())
write("pooling.json", pooling_cases())
