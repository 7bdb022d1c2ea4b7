"""The options of a context on the command line, and what is said if it is empty."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoria.cli.packing import Packing
from memoria.cli.showing import Showing
from memoria.recall.context.config import ContextConfig
from memoria.types import ContextPack, OmitReason, OmittedItem, Recall, Seeds, Trace

PACKING = Packing(budget=7, format_="json", order="time", min_relevance=0.1, min_best_relevance=0.3)
SMALL, IRRELEVANT = "nothing fits into 7 tokens", "nothing is relevant"


def empty(*reasons: OmitReason) -> ContextPack:
    omitted = (OmittedItem(id=f"m{n}", score=0.5, reason=each) for n, each in enumerate(reasons))
    return ContextPack(text="", items=(), tokens=0, omitted=tuple(omitted))


def test_the_options_are_the_settings_of_a_context() -> None:
    assert Packing().config == ContextConfig()
    assert PACKING.config == ContextConfig(
        format="json", order="time", min_relevance=0.1, min_best_relevance=0.3
    )


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        ((), ""),
        (("no_text",), ""),
        (("budget",), SMALL),
        (("relevance",), IRRELEVANT),
        (("relevance", "filter"), IRRELEVANT),
        (("relevance", "budget"), SMALL),
    ],
)
def test_an_empty_context_is_explained_by_one_reason(
    capsys: pytest.CaptureFixture[str], reasons: tuple[OmitReason, ...], said: str
) -> None:
    context = empty(*reasons)
    PACKING.say_too_small(context)
    PACKING.say_irrelevant(context, [0.0123, 0.001])
    lines = capsys.readouterr().err.splitlines()
    assert all("a relevance of 0.012," in line for line in lines if said == IRRELEVANT)
    assert [line.partition(";")[0] for line in lines] == ([said] if said else [])


def test_a_recall_of_nothing_relevant_is_one_sentence_and_details_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    note = "nothing is relevant: the best of 1 memory has 0.001, below min_best_relevance 0.02"

    def shown(*reasons: OmitReason, showing: Showing) -> str:
        trace = Trace(
            query="Thanks!",
            query_tags=(),
            scope="alice",
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            timings_s={},
            degraded=("late",),
            notes=(note,),
        )
        found = Recall(
            seeds=Seeds(seeds=()),
            explorations=(),
            ranked=(),
            context=empty(*reasons),
            trace=trace,
        )
        showing.show(found, budget=7, wrap=True)
        said = capsys.readouterr()
        return said.err if showing.context_only else said.out

    assert shown("relevance", showing=Showing()) == "Nothing relevant in scope alice.\nlate\n"
    assert shown(showing=Showing()) == "late\n"
    for details in (Showing(all_paths=True), Showing(verbose=True)):
        assert note in shown("relevance", showing=details)
    assert "0 of 7 tokens" in shown("budget", showing=Showing())
    # With the context alone, `say_irrelevant` has said it.
    assert shown("relevance", showing=Showing(context_only=True)) == "late\n"
