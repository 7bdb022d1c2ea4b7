"""Let contenders answer the same cases in turn, and keep what each answer cost.

In: contenders and cases. Out: `Result`s. Every run is bounded in count and time; results are
compared as they come.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.race.contender import Contender, Outcome, TooSlowError, check
from benchmarks.race.meter import Cost, Meter, forget_peak, memory_mb, peak_mb, wiretap
from memoria._support.progress import ProgressCallback

WIRE_CASES = 10
SLOW_CASES = 3  # answers of one who runs into the time limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a race may last.

    Attributes
    ----------
    cases
        Cases that each contender answers, at most.
    contender_s
        Time for all answers of one contender; seconds. One that has used it up sits out.
    warm_up
        Cases answered beforehand, not measured.
    """

    cases: int
    contender_s: float
    warm_up: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One measured answer; ``outcome`` is None where it took too long."""

    case: int
    cost: Cost
    outcome: Outcome | None


@dataclass(slots=True, kw_only=True)
class Result:
    """All answers of one contender.

    Attributes
    ----------
    samples
        In the order of the cases.
    queries, records, messages
        Sent and received for each answer, on the average; messages count BEGIN and COMMIT, too.
    peak_mb
        Growth of the client's memory while it answers; None where it can't be told.
    """

    name: str
    samples: list[Sample] = field(default_factory=list)
    queries: float | None = None
    records: float | None = None
    messages: float | None = None
    peak_mb: float | None = None
    compared: bool = False

    @property
    def used_s(self) -> float:
        """Time spent so far; seconds."""
        return sum(sample.cost.wall_s for sample in self.samples)


async def race(
    contenders: Sequence[Contender],
    cases: Sequence[Any],
    *,
    limits: Limits,
    meter: Meter,
    progress: ProgressCallback,
    label: str,
) -> dict[str, Result]:
    """Measure; the first contender is the reference that others are compared with.

    Raises
    ------
    DisagreementError
        Two contenders that mean the same found different things.
    """
    results = {
        contender.name: Result(name=contender.name, compared=contender.agrees is not None)
        for contender in contenders
    }
    slow = await _warm_up(contenders, cases[-limits.warm_up :], limits.contender_s / 4)
    count = min(limits.cases, len(cases))
    turns = random.Random(1)  # noqa: S311 -- nobody always comes after the same one
    for number, case in enumerate(cases[:count]):
        reference = None
        with contextlib.suppress(TooSlowError):
            reference = contenders[0].outcome(await contenders[0].run(case))
        for contender in turns.sample(contenders, len(contenders)):
            result = results[contender.name]
            few = contender.name in slow and len(result.samples) >= SLOW_CASES
            if not few and result.used_s <= limits.contender_s:
                result.samples.append(await _measured(contender, case, number, reference, meter))
        progress(label, number + 1, count)
    for contender in contenders:
        await _count(contender, cases, results[contender.name])
    return results


async def _warm_up(
    contenders: Sequence[Contender], cases: Sequence[Any], limit_s: float
) -> set[str]:
    """Answer once, unmeasured; say who could not answer in time."""
    slow: set[str] = set()
    for contender in contenders:
        started = time.perf_counter()
        for case in cases:
            try:
                await contender.run(case)
            except TooSlowError:
                slow.add(contender.name)
            if contender.name in slow or time.perf_counter() - started > limit_s:
                break
    return slow


async def _measured(
    contender: Contender, case: Any, number: int, reference: Outcome | None, meter: Meter
) -> Sample:
    answer = None
    with meter.measure() as costs, contextlib.suppress(TooSlowError):
        answer = await contender.run(case)
    outcome = None if answer is None else contender.outcome(answer)
    if outcome is not None and reference is not None:
        check(reference, outcome, contender, case)
    return Sample(case=number, cost=costs[0], outcome=outcome)


async def _count(contender: Contender, cases: Sequence[Any], result: Result) -> None:
    """Answer a few cases again, for what can't be counted while timing."""
    typical_s = result.used_s / max(1, len(result.samples))
    few = cases[: WIRE_CASES if typical_s < 1 else 1]
    can_tell, before = forget_peak(), memory_mb()
    try:
        for case in few:
            await contender.run(case)
        if can_tell and before is not None:
            result.peak_mb = max(0.0, (peak_mb() or before) - before)
        with wiretap() as wire:
            for case in few:
                await contender.run(case)
    except TooSlowError:
        return
    result.queries = wire.queries / len(few)
    result.records = wire.records / len(few)
    result.messages = len(wire.sent) / len(few)
