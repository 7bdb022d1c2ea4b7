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
from memoria.config import RetrieverConfig
from memoria.strategies.config import ExploreConfig

APART = RetrieverConfig(explore=ExploreConfig(seeds_per_session=1))
MANAGED = RetrieverConfig(explore=ExploreConfig(transactions="managed"))


def settings_levers(served: Served, questions: Sequence[Question]) -> list[Lever]:
    """Recall with the defaults, and with one setting changed."""
    ours = _recalls(served, questions, RetrieverConfig())
    return [
        Lever(kept=f"whole recall, {kept}", against=against, cases=questions, ours=ours, other=by)
        for kept, against, by in (
            (
                "all seeds in one session",
                "a session for each seed (`seeds_per_session=1`)",
                _recalls(served, questions, APART),
            ),
            (
                "auto-commit transactions",
                'managed (`transactions="managed"`)',
                _recalls(served, questions, MANAGED),
            ),
        )
    ]


def _recalls(served: Served, questions: Sequence[Question], config: RetrieverConfig) -> Run:
    retriever = retriever_on(served.driver, questions, config)

    async def run(question: Question) -> Any:
        recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
        return [(each.memory.id, each.score) for each in recall.ranked]

    return run
