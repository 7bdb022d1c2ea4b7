"""Settings of whole recalls, the default beside the other value.

In: a server, questions. Out: `Lever`s. Reads only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.levers.lever import Lever, Run
from benchmarks.race.cases import Question
from benchmarks.race.recalls import retriever_on
from benchmarks.race.serve import Served
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store.config import StoreConfig

APART = RetrieverConfig(seeds_per_session=1)
MANAGED = StoreConfig(transactions="managed")


def settings_levers(served: Served, questions: Sequence[Question]) -> list[Lever]:
    """Recall with the defaults, and with one setting changed."""
    driver = served.driver
    ours = _recalls(retriever_on(driver, questions))
    return [
        Lever(kept=f"whole recall, {kept}", against=against, cases=questions, ours=ours, other=by)
        for kept, against, by in (
            (
                "all seeds in one session",
                "a session for each seed (`seeds_per_session=1`)",
                _recalls(retriever_on(driver, questions, config=APART)),
            ),
            (
                "auto-commit transactions",
                'managed (`transactions="managed"`)',
                _recalls(retriever_on(driver, questions, store=MANAGED)),
            ),
        )
    ]


def _recalls(retriever: GraphRetriever) -> Run:
    async def run(question: Question) -> Any:
        recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
        return [(each.memory.id, each.score) for each in recall.ranked]

    return run
