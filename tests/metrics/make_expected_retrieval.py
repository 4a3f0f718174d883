"""Writes ../fixtures/metrics/retrieval.json: what InformationRetrievalEvaluator of sentence-transformers computes for random
rankings. A case has, for each query, the ranks of relevant documents that were found and the number of relevant ones.

    pip install sentence-transformers==5.7.0 && python make_expected_retrieval.py"""

import json
import pathlib
import random

from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

FOLDER = pathlib.Path(__file__).parent.parent / "fixtures" / "metrics"


def case(draw, queries, documents):
    names = [f"d{i}" for i in range(documents)]
    share = draw.choice([0.02, 0.1, 0.5])
    relevant = {f"q{i}": {name for name in names if draw.random() < share} | {draw.choice(names)} for i in range(queries)}
    evaluator = InformationRetrievalEvaluator({name: name for name in relevant}, {name: name for name in names}, relevant)
    found, rankings = [], []
    for name in evaluator.queries_ids:
        order = draw.sample(names, min(documents, 100))
        found.append([{"corpus_id": document, "score": -rank} for rank, document in enumerate(order)])
        rankings.append({"shown": len(order), "relevant": len(relevant[name]),
                         "ranks": [rank for rank, document in enumerate(order) if document in relevant[name]]})
    scores = evaluator.compute_metrics(found)
    return {"queries": rankings, "scores": {name.replace("@k", f"@{k}"): float(value)
                                            for name, values in scores.items() for k, value in values.items()}}


draw = random.Random(20)
cases = [case(draw, queries, documents) for queries, documents in
         [(1, 1), (1, 5), (3, 4), (7, 12), (8, 30), (9, 100), (40, 101), (129, 150), (300, 40)]]
(FOLDER / "retrieval.json").write_text("[\n" + ",\n".join(json.dumps(each) for each in cases) + "\n]\n")
