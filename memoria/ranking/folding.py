"""Make one candidate of the parts of a long message, so that a message is ranked once.

In: candidates and facts about them. Out: the same, with the parts of a message as one. Touches
nothing.

A message that was cut into five parts would otherwise have five tries at a place, and take five
places. It is shown by the part that is nearest to the query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from memoria.ranking.candidates import Candidate, Facts
from memoria.types import MemoryNode

_T = TypeVar("_T")
# The two nearest parts speak for a message: the best of many is near by chance.
_COUNTED = 2
_LEAST_COSINE = -1.0


def whole_of(memory: MemoryNode) -> str:
    """Return the id of the message that a memory is part of; of any other memory, its own id.

    Ids of a message's further parts end with ``#`` and a number; see `ConversationWriter`.
    """
    return memory.id.partition("#")[0] if "conversation" in memory.metadata else memory.id


def folded(candidates: Sequence[Candidate], facts: Facts) -> tuple[list[Candidate], Facts]:
    """Return one candidate for each message, in the order of the ids, and the facts about them.

    The nearest part by cosine stands for all; its cosine is the mean of the two nearest. It has
    the edges of all parts, the strongest energy, and the score of the best hit.
    """
    parts: defaultdict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        parts[whole_of(each.memory)].append(each)
    if len(parts) == len(candidates):
        return list(candidates), facts

    def nearness(part: Candidate) -> tuple[float, float]:
        return facts.cosines.get(part.memory.id, _LEAST_COSINE), part.hybrid

    shown = {whole: max(group, key=nearness) for whole, group in parts.items()}
    name = {
        part.memory.id: shown[whole].memory.id for whole, group in parts.items() for part in group
    }
    one = [_joined(shown[whole], group) for whole, group in parts.items()]
    cosines: defaultdict[str, list[float]] = defaultdict(list)
    for id_, cosine in facts.cosines.items():
        cosines[name.get(id_, id_)].append(cosine)
    return sorted(one, key=lambda each: each.memory.id), replace(
        facts,
        cosines={id_: _mean_of_best(values) for id_, values in cosines.items()},
        degrees=_merged(facts.degrees, name, max),
        neighbours=_neighbours(facts.neighbours, name),
        past=_merged(facts.past, name, lambda first, _: first),
        beside=_beside(facts.beside, name),
        sessions=_merged(facts.sessions, name, lambda first, _: first),
    )


def _joined(shown: Candidate, group: Iterable[Candidate]) -> Candidate:
    """Return the part that is shown, with the best of what was found of any part."""
    energy: dict[str, float] = {}
    for part in group:
        for seed, value in part.energy.items():
            energy[seed] = max(value, energy.get(seed, 0.0))
    return replace(
        shown,
        hybrid=max(part.hybrid for part in group),
        energy=energy,
        loose=all(part.loose for part in group),
    )


def _mean_of_best(values: list[float]) -> float:
    best = sorted(values)[-_COUNTED:]
    return sum(best) / len(best)


def _merged(
    known: Mapping[str, _T], name: Mapping[str, str], of_both: Callable[[_T, _T], _T]
) -> dict[str, _T]:
    """Return facts by the names of messages; of several about one message, what both make."""
    found: dict[str, _T] = {}
    for id_, value in known.items():
        whole = name.get(id_, id_)
        found[whole] = of_both(found[whole], value) if whole in found else value
    return found


def _neighbours(
    known: Mapping[str, Sequence[tuple[str, float, bool]]], name: Mapping[str, str]
) -> dict[str, list[tuple[str, float, bool]]]:
    """Return the edges between messages; those between parts of one are left out."""
    found: defaultdict[str, list[tuple[str, float, bool]]] = defaultdict(list)
    for id_, others in known.items():
        whole = name.get(id_, id_)
        found[whole] += [
            (name.get(other, other), weight, outgoing)
            for other, weight, outgoing in others
            if name.get(other, other) != whole
        ]
    return dict(found)


def _beside(
    known: Mapping[str, Sequence[str]], name: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for id_, others in known.items():
        whole = name.get(id_, id_)
        found[whole].update(dict.fromkeys(name.get(other, other) for other in others))
        found[whole].pop(whole, None)
    return {whole: tuple(others) for whole, others in found.items()}
