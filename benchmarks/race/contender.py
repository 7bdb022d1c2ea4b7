"""What every contender gives back, and whether two of them found the same.

In: outcomes. Out: differences, in words. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.race.cases import Case

# Seed -> (ids of a path from the seed on -> energy at its end).
Found = Mapping[str, Mapping[tuple[str, ...], float]]
# Answers a case; may raise `TooSlowError`.
Run = Callable[[Any], Awaitable[Any]]
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one run found.

    Attributes
    ----------
    found
        Every path; None where a contender's results are of another kind.
    first_s
        When the first path was there; seconds after the start.
    levels
        Levels of the deepest exploration.
    notes
        What a contender has to say beyond that.
    """

    found: Found | None = None
    first_s: float | None = None
    levels: int = 0
    notes: dict[str, Any] = field(default_factory=dict)


def _itself(answer: Outcome) -> Outcome:
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One way to answer a case.

    Attributes
    ----------
    outcome
        Says what an answer of ``run`` holds: the benchmark's own work, whose time is not the
        contender's.
    agrees
        Compares its outcome with the reference's; says what differs, or None. None where their
        results mean different things.
    """

    name: str
    run: Run
    outcome: Callable[[Any], Outcome] = _itself
    agrees: Callable[[Outcome, Outcome], str | None] | None = None


class TooSlowError(Exception):
    """A run was ended at its limit of time, or of the server's memory."""


class DisagreementError(Exception):
    """A contender found something else than the reference: the run counts for nothing."""


def same_paths(reference: Outcome, other: Outcome) -> str | None:
    """Compare all paths, their order of ids and their energies, to the last bit."""
    expected, got = reference.found or {}, other.found or {}
    for seed in expected.keys() | got.keys():
        mine, theirs = expected.get(seed, {}), got.get(seed, {})
        for path in sorted(mine.keys() | theirs.keys()):
            if mine.get(path) != theirs.get(path):
                return (
                    f"path {' - '.join(path)}: {mine.get(path)} expected, {theirs.get(path)} found"
                )
    return None


def reaches_as_much(depth: int) -> Callable[[Outcome, Outcome], str | None]:
    """Compare where every path of up to ``depth`` hops was walked, none left out for another.

    Then each memory that the reference reached so near was reached with at least that energy.
    """

    def compare(reference: Outcome, other: Outcome) -> str | None:
        steps = reference.notes["steps"]
        for seed, best in (other.found or {}).items():
            energies = {path[-1]: energy for path, energy in best.items()}
            for (memory, hops), energy in steps[seed].items():
                if hops <= depth and energies.get(memory, 0.0) < energy * (1 - TOLERANCE):
                    return (
                        f"{memory}, {hops} hops from {seed}: energy {energy} expected at least, "
                        f"{energies.get(memory)} found"
                    )
        return None

    return compare


def check(reference: Outcome, other: Outcome, contender: Contender, case: Case) -> None:
    """Raise `DisagreementError` where a comparable outcome differs."""
    difference = contender.agrees(reference, other) if contender.agrees else None
    if difference is not None:
        seeds = ", ".join(seed.id for seed in case.seeds)
        raise DisagreementError(f"{contender.name}, seeds {seeds}, tags {case.tags}: {difference}")
