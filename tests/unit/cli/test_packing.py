"""The options of a context on the command line, and what is said if it is empty."""

from __future__ import annotations

import pytest

from memoria.cli.packing import Packing
from memoria.recall.context.config import ContextConfig
from memoria.types import ContextPack, OmitReason, OmittedItem

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
