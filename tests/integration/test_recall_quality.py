"""The quality of the ranking, on two sets written for this project: it must not drop unnoticed.

`isles` are passages of an encyclopaedia, many of them alike; `diary` is a long conversation. The
vectors count words, so that every figure comes out the same on any machine, without a model.

A figure below the recorded one fails. Where that is meant, take the figures from the failed
assertion into `tests/data/recall.json`, and give the reason in the changelog. Higher figures are
taken over the same way: what is not recorded is not guarded.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from memoria.evaluation import EvaluationConfig, make_report, read_dataset
from memoria.store import Store
from tests.integration.test_evaluation import DATA, measured

KS = {"isles": (2, 5), "diary": (5, 10)}
RECORDED: dict[str, dict[str, float]] = json.loads((DATA / "recall.json").read_text("utf-8"))

Figures = dict[str, float]


async def figures(store: Store, name: str, config: EvaluationConfig) -> dict[str, Figures]:
    """Ask all questions of a set; method -> recall@k over all of them."""
    dataset = read_dataset(DATA / name)
    config = replace(config, ks=KS[name])
    report = make_report(dataset, await measured(store, dataset, config), config)
    return {
        method.method: {
            f"recall@{k}": round(method.rows[-1].figures[f"recall@{k}"].mean, 4) for k in KS[name]
        }
        for method in report.methods
    }
