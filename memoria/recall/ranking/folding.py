"""Join the parts of a long message into one candidate, so that a message is ranked once.

In: candidates and facts about them. Out: one candidate for each message, and its facts. Touches
nothing.

Otherwise a message of five parts would have five chances of a high rank, and could take five ranks.
The part nearest to the query represents the message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from memoria.graph.vocabulary import whole_id
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.types import MemoryNode
from memoria.types.memory import CONVERSATION

_T = TypeVar("_T")
# Number of nearest parts that count for a message: the best of many parts can be near by chance.
_COUNTED = 2
_LEAST_COSINE = -1.0


def whole_of(memory: MemoryNode) -> str:
    """Return the id of the message that a memory is part of, or else the memory's own id.

    The first part of a message has the id of the message. The ids of the other parts end with ``#``
    and a number; see `ConversationWriter`.
    """
    return whole_id(memory.id) if CONVERSATION in memory.metadata else memory.id


def folded(candidates: Sequence[Candidate], facts: Facts) -> tuple[list[Candidate], Facts]:
    """Return one candidate for each message, and the facts about these candidates.

    The part with the highest cosine represents the message, under its own id. Its cosine becomes
    the mean cosine of the two nearest parts. It gets the edges of all parts, the strongest energy
    from each seed, and the best score of the search.

    Returns
    -------
    tuple
        The candidates, sorted by id, and the facts with the ids of these candidates. Both are
        unchanged if no message has two parts among the candidates.
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
        needs=_needs(facts.needs, name),
        past=_merged(facts.past, name, lambda first, _: first),
        adjacent=_adjacent(facts.adjacent, name),
        sessions=_merged(facts.sessions, name, lambda first, _: first),
        opening={name.get(id_, id_) for id_ in facts.opening},
    )


def _joined(shown: Candidate, group: Iterable[Candidate]) -> Candidate:
    """Return the part that represents the message, with the best values of all parts."""
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
    """Return facts by representing id; ``of_both`` combines the values of two parts."""
    found: dict[str, _T] = {}
    for id_, value in known.items():
        whole = name.get(id_, id_)
        found[whole] = of_both(found[whole], value) if whole in found else value
    return found


def _neighbours(
    known: Mapping[str, Sequence[tuple[str, float, bool]]], name: Mapping[str, str]
) -> dict[str, list[tuple[str, float, bool]]]:
    """Return the edges between messages, without the edges between parts of one message."""
    found: defaultdict[str, list[tuple[str, float, bool]]] = defaultdict(list)
    for id_, others in known.items():
        whole = name.get(id_, id_)
        found[whole] += [
            (name.get(other, other), weight, outgoing)
            for other, weight, outgoing in others
            if name.get(other, other) != whole
        ]
    return dict(found)


def _needs(
    known: Mapping[str, Mapping[str, float]], name: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Return the needs between messages; of several needs between two messages, the strongest."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for id_, others in known.items():
        whole = found[name.get(id_, id_)]
        for other, weight in others.items():
            needed = name.get(other, other)
            whole[needed] = max(weight, whole.get(needed, 0.0))
    return dict(found)


def _adjacent(
    known: Mapping[str, Sequence[str]], name: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for id_, others in known.items():
        whole = name.get(id_, id_)
        found[whole].update(dict.fromkeys(name.get(other, other) for other in others))
        found[whole].pop(whole, None)
    return {whole: tuple(others) for whole, others in found.items()}
