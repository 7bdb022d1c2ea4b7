"""One choice, both ways: asked in turns, answers compared.

In: two ways to answer the same cases. Out: `Measured`. Touches what the ways touch.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.race.contender import DisagreementError
from benchmarks.report.figures import Measured, measured
from memoria._support.progress import ProgressCallback

Run = Callable[[Any], Awaitable[Any]]

WARM_UP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lever:
    """Two ways to the same end.

    Attributes
    ----------
    kept, against
        The default, and the other way; in words.
    ours, other
        Answer a case by either way; the answers must be equal.
    warm_up
        Cases at the beginning whose times don't count.
    """

    kept: str
    against: str
    cases: Sequence[Any]
    ours: Run
    other: Run
    warm_up: int = WARM_UP


async def pull(lever: Lever, progress: ProgressCallback) -> Measured:
    """Ask both sides in turns.

    Raises
    ------
    DisagreementError
        Their answers differ.
    """
    took: dict[str, list[float]] = {"ours": [], "other": []}
    for number, case in enumerate(lever.cases):
        answers = []
        sides = [("ours", lever.ours), ("other", lever.other)]
        for name, run in sides if number % 2 else sides[::-1]:
            started = time.perf_counter()
            answers.append(await run(case))
            if number >= lever.warm_up:
                took[name].append(1_000 * (time.perf_counter() - started))
        if answers[0] != answers[1]:
            raise DisagreementError(f"{lever.kept} / {lever.against}: results differ")
        progress(lever.kept, number + 1, len(lever.cases))
    return measured(lever.kept, lever.against, took["ours"], took["other"])
