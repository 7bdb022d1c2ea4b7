"""Pack paths into a text for a prompt, within a budget of tokens.

In: paths, in any order. Out: a `ContextPack`: the text, what is in it and what was left out.
Touches nothing. Source: design section 9.

The paths of one seed form a tree of *places*. A memory that several places reach keeps its text
at the place with most energy, its *home*; the others refer to it. No memory is packed without
its *chain*: the places that lead to it, and the homes of the memories they refer to. So the
reason for each memory reads whole, from a seed down::

    [evt-040] Event, 2026-05-02, energy 0.900: Disk of build host 7 is full
      caused_by -> [act-012] AgentAction, energy 0.231: Kept all build logs,
        | compressed, for a year
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from memoria.errors import InvalidInputError
from memoria.types import (
    ContextItem,
    ContextPack,
    Exploration,
    MemoryNode,
    OmittedItem,
    Path,
    path_order,
)

CountTokens = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of ``text`` as its UTF-8 bytes divided by four, rounded up.

    An estimate, not a tokenizer: close for English prose, low for code, digits and identifiers.
    Where a limit is hard, pass the counter of the model that will read the text.
    """
    return -(-len(text.encode("utf-8", errors="surrogatepass")) // 4)


def pack(
    explorations: Iterable[Exploration],
    *,
    budget_tokens: int,
    count_tokens: CountTokens | None = None,
) -> ContextPack:
    """Pack the paths of ``explorations``; see `ContextBuilder`, which this feeds and builds."""
    builder = ContextBuilder(budget_tokens, count_tokens=count_tokens)
    for exploration in explorations:
        for path in exploration.paths:
            builder.add(path)
    return builder.build()


class ContextBuilder:
    """Collect paths as they stream in, then pack them.

    The order of adding makes no difference; a path added twice counts once.

    Parameters
    ----------
    budget_tokens
        Most tokens that the text may have; whole number, >= 1.
    count_tokens
        Tokens of a text, >= 0, additive or not; `estimate_tokens` when None.

    Raises
    ------
    InvalidInputError
        ``budget_tokens`` is out of range; or, from `build`, what ``count_tokens`` returned is.
    """

    def __init__(self, budget_tokens: int, *, count_tokens: CountTokens | None = None) -> None:
        self._budget = _whole(budget_tokens, "budget_tokens", low=1)
        self._count_tokens = count_tokens or estimate_tokens
        self._paths: dict[tuple[str, ...], Path] = {}

    def add(self, path: Path) -> None:
        """Add one path; of paths along the same ids, the one with texts and most energy stays."""
        known = self._paths.setdefault(path.ids, path)
        if known is not path:
            self._paths[path.ids] = min(
                known, path, key=lambda path: (not path.memories, -path.energy, repr(path))
            )

    def build(self) -> ContextPack:
        """Pack what was added so far; more may be added afterwards.

        Returns
        -------
        ContextPack
            Trees by best energy, branches by energy, ties by id; empty, of 0 tokens, when nothing
            fits. A memory without text is omitted as ``no_text`` even where its bare line stands
            in the text because it leads to another memory.

        Notes
        -----
        Each step adds the chain with most new energy per new token that fits, by lines counted one
        by one. Then the whole text is counted; while that is over budget, the later half of the
        steps is dropped. On from there until nothing fits. O(P log P) for P places.
        """
        places = _grow(sorted(self._paths.values(), key=path_order))
        for place in places:
            place.tokens = self._count(place.lines + "\n")
        included: set[_Place] = set()
        text, tokens, largest = "", 0, self._budget
        while steps := _propose(places, included, min(largest, self._budget - tokens)):
            while steps:
                trial = included.union(*steps)
                trial_text = "\n".join(place.lines for place in places if place in trial)
                used = self._count(trial_text)
                if used <= self._budget:
                    included, text, tokens = trial, trial_text, used
                    break
                if len(steps) == 1:  # longer in the text than alone: only shorter ones may fit
                    largest = sum(place.tokens for place in steps[0]) - 1
                steps = steps[: len(steps) // 2]
        packed = [p for p in places if p in included and p.home is p and p.text]
        left_out = {p for p in places if p.home is p}.difference(packed)
        items = tuple(map(_item, packed))
        omitted = tuple(sorted(map(_omitted, left_out), key=lambda item: (-item.score, item.id)))
        return ContextPack(text=text, items=items, tokens=tokens, omitted=omitted)

    def _count(self, text: str) -> int:
        return _whole(self._count_tokens(text), "count_tokens", low=0)


@dataclass(slots=True, eq=False)
class _Place:
    """A memory where the paths of one seed reach it; ``path`` is the best one through here."""

    id: str
    parent: _Place | None
    depth: int
    energy: float
    path: Path
    rank: tuple[tuple[float, str], ...] = ()  # sorts into the order of the text
    memory: MemoryNode = field(init=False)
    home: _Place = field(init=False)  # where this memory's text stands; may be this place
    text: str = ""
    lines: str = ""
    tokens: int = 0


def _grow(paths: Iterable[Path]) -> list[_Place]:
    """Places of ``paths`` (best first) in the order of the text, with their memories and homes."""
    tree: dict[tuple[str, ...], _Place] = {}
    memories: dict[str, MemoryNode] = {}
    best: dict[str, float] = defaultdict(float)
    for path in paths:
        for memory in path.memories:
            if memory.id not in memories or not memories[memory.id].text.strip():
                memories[memory.id] = memory
        ids, place = path.ids, None
        start = path.hops[0].energy_in if path.hops else path.energy
        for depth, energy in enumerate((start, *(hop.energy_out for hop in path.hops))):
            new = _Place(ids[depth], place, depth, energy, path)
            place = tree.setdefault(ids[: depth + 1], new)
            if energy > place.energy:
                place.energy, place.path = energy, path
            best[ids[0]] = max(best[ids[0]], energy)
    for place in tree.values():  # a parent stands before its children
        above, energy = (place.parent.rank, place.energy) if place.parent else ((), best[place.id])
        place.rank = (*above, (-energy, place.id))
    places = sorted(tree.values(), key=lambda place: place.rank)
    homes: dict[str, _Place] = {}
    for place in sorted(places, key=lambda place: -place.energy):  # ties: first in the text
        homes.setdefault(place.id, place)
    for place in places:
        place.home = homes[place.id]
        place.memory = memories.get(place.id) or MemoryNode(id=place.id, kind="", text="")
        place.text = place.memory.text.strip()
        place.lines = _lines(place)
    return places


def _propose(places: Iterable[_Place], packed: set[_Place], room: int) -> list[list[_Place]]:
    """List what to add to ``packed``, chain by chain, best first, at most ``room`` tokens."""
    included, steps = set(packed), []
    chains = {p: _chain(p) for p in places if p.home is p and p.text and p not in packed}
    users: dict[_Place, list[_Place]] = defaultdict(list)
    heap: list[tuple[float, str, int, int, list[_Place]]] = []

    def push(target: _Place) -> None:
        new = [place for place in chains[target] if place not in included]
        gain = sum(place.energy for place in new if place.home is place and place.text)
        tokens = sum(place.tokens for place in new)
        heapq.heappush(heap, (-gain / max(tokens, 1), target.id, len(new), tokens, new))

    for target, chain in chains.items():
        push(target)
        for place in chain:
            users[place].append(target)
    while heap:
        *_, tokens, new = heapq.heappop(heap)
        if tokens <= room and included.isdisjoint(new):  # else too long, or pushed anew since
            included.update(new)
            room -= tokens
            steps.append(new)
            for target in {user for place in new for user in users[place]} - included:
                push(target)
    return steps


def _chain(target: _Place) -> list[_Place]:
    """All that must be in the text for ``target`` to be: trunks and homes, up to the seeds."""
    chain = [target]
    for place in chain:  # grows on the way
        for needed in (place.parent, place.home):
            if needed and needed not in chain:
                chain.append(needed)
    return chain


def _lines(place: _Place) -> str:
    """Lines of one place: what led to it, what it is and, at its home, its text."""
    pad, lead, memory = "  " * place.depth, "", place.memory
    if place.depth:
        hop = place.path.hops[place.depth - 1]
        lead = f"{hop.relation} {'->' if hop.direction == 'out' else '<-'} "
    facts, text = "(shown elsewhere)", [""]
    if place.home is place:
        date = memory.created_at.date().isoformat() if memory.created_at else ""
        facts = ", ".join(filter(None, (memory.kind, date, f"energy {place.energy:.3f}:")))
        text = [line for line in place.text.splitlines() if line.strip()] or ["(no text)"]
    head = " ".join(f"{lead}[{place.id}] {facts}".split())  # foreign names may hold newlines
    return f"\n{pad}  | ".join([f"{pad}{head} {text[0]}".rstrip(), *text[1:]])


def _item(p: _Place) -> ContextItem:
    kind, date = p.memory.kind, p.memory.created_at
    return ContextItem(id=p.id, kind=kind, date=date, score=p.energy, path=p.path)


def _omitted(p: _Place) -> OmittedItem:
    return OmittedItem(id=p.id, score=p.energy, reason="budget" if p.text else "no_text")


def _whole(value: int, name: str, *, low: int) -> int:
    """Return ``value``, the argument ``name`` or what it returned, if it is an int >= ``low``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        message = f"{name} must give a whole number >= {low}, got {value!r}"
        raise InvalidInputError(message, field=name)
    return value
