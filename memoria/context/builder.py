"""Choose the memories of a context, within a budget of tokens.

In: paths, in any order. Out: a `ContextPack`: the text, the memories in it and those left out.
Touches nothing. Source: design section 9.

How `ContextBuilder.build` packs:

1. Grow the trees of *places* that the paths form; see `memoria.context.tree`. Each memory has a
   worth.
2. Take out what is irrelevant, and find duplicates. The places of an irrelevant memory keep their
   lines, without a text; a place whose memory repeats a better one refers to that memory.
3. Fill 95 % of the budget. Each step takes the *chain* (a memory, and the places that lead to it)
   with the most new worth per new token, by the tokens of its lines alone. A memory brings its
   worth once for each character of its text, so that a long, strong text is not passed over for a
   short one. Then the tokens of the whole text are counted; while they exceed the budget, the later
   half of the steps is dropped. Repeat until no chain fits.
4. Arrange: move trees below lines of the text that lead to where they begin; see
   `memoria.context.arrange`. A move for which there is no room is left out.
5. Fill the whole budget, and arrange again, until no tree moves.
6. Exchange: a memory that was left out takes the place of the worst ones, and the text is filled
   again; where it is worth more then, it stays so. See `memoria.context.exchange`. Arrange again.
"""

from __future__ import annotations

import heapq
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from memoria._support.checks import check_whole
from memoria.context.arrange import Move, Trees
from memoria.context.config import ContextConfig
from memoria.context.duplicates import find_duplicates
from memoria.context.exchange import find_exchange, is_worth_more
from memoria.context.render import join, render_place
from memoria.context.tokens import CountTokens, estimate_tokens
from memoria.context.tree import Place, chain_of, grow, has_text, in_order
from memoria.types import (
    ContextItem,
    ContextPack,
    Exploration,
    OmitReason,
    OmittedItem,
    Path,
    path_order,
)

# Share of the budget held back until trees have been moved: what says how a memory relates to the
# one above it adds about 5 % to the tokens. With 6 to 8 % more trees move, and evidence is lost.
ROOM_FOR_REASONS = 0.05

# After so many memories that got no place by an exchange, no more are tried.
MAX_REFUSED = 8

# What stands in place of a text that stays out.
_NOTES: Mapping[OmitReason, str] = {"relevance": "not relevant", "filter": "left out"}

_Chains = Mapping[Place, list[Place]]


def pack(
    explorations: Iterable[Exploration],
    *,
    budget_tokens: int,
    config: ContextConfig | None = None,
    count_tokens: CountTokens | None = None,
) -> ContextPack:
    """Pack the paths of ``explorations`` with a `ContextBuilder`."""
    builder = ContextBuilder(budget_tokens, config=config, count_tokens=count_tokens)
    for exploration in explorations:
        for path in exploration.paths:
            builder.add(path)
    return builder.build()


class ContextBuilder:
    """Collect paths as they stream in, then pack them.

    The order in which paths are added makes no difference, and a path that is added twice counts
    once. A hit of the search from which nothing was explored is a path without hops.

    Parameters
    ----------
    budget_tokens
        How many tokens the text may have; whole number, >= 1.
    config
        Order and format of the text, and which memories stay out of it.
    count_tokens
        Returns the number of tokens of a text, >= 0; `estimate_tokens` when None. The tokens of two
        texts need not add up to those of both together.

    Raises
    ------
    InvalidInputError
        ``budget_tokens`` is out of range; or, from `build`, ``count_tokens`` returned a number out
        of range.
    """

    def __init__(
        self,
        budget_tokens: int,
        *,
        config: ContextConfig | None = None,
        count_tokens: CountTokens | None = None,
    ) -> None:
        self._budget = check_whole(budget_tokens, "budget_tokens", low=1, high=sys.maxsize)
        self._config = config or ContextConfig()
        self._count_tokens = count_tokens or estimate_tokens
        self._paths: dict[tuple[str, ...], Path] = {}

    def add(self, path: Path) -> None:
        """Add one path; of paths with the same ids, one with texts and the most energy stays."""
        known = self._paths.setdefault(path.ids, path)
        if known is not path:
            self._paths[path.ids] = min(
                known, path, key=lambda path: (not path.memories, -path.energy, repr(path))
            )

    def build(
        self,
        *,
        near: Iterable[tuple[str, str]] = (),
        worth: Mapping[str, float] | None = None,
        relevance: Mapping[str, float] | None = None,
        hidden: Collection[str] = (),
    ) -> ContextPack:
        """Pack what was added so far; more may be added afterwards.

        Parameters
        ----------
        near
            Pairs of ids whose vectors are so close that one may be a duplicate; see `near_pairs`.
        worth
            Id -> worth of the memory, >= 0, such as the scores of `Recall.ranked`; a memory that is
            not named has no worth. None: the worth comes from the energies in the paths and the
            scores of hits.
        relevance
            Id -> relevance, a probability, such as those of `Recall.ranked`. The texts of memories
            below `ContextConfig.min_relevance` stay out, whatever room there is. If the relevance
            of all that have a worth is known, and that of the best is below
            `ContextConfig.min_best_relevance`, all texts stay out. None: not known.
        hidden
            Ids of memories whose texts stay out in any case: they may only lead to others.

        Returns
        -------
        ContextPack
            Empty if nothing fits or is relevant, with 0 tokens (in JSON ``[]``, with 1). A memory
            without a text, a duplicate, or one that is irrelevant or hidden counts as omitted even
            if its line stands in the text because it leads to another memory.

        Notes
        -----
        The module's docstring has the algorithm. Cost: ``count_tokens`` is called for the lines of
        each place, again for each move of its tree that is tried, and for the whole text once at
        each halving, each time trees have moved, once for each exchange tried, and again while the
        text is filled after it.
        """
        paths = sorted(self._paths.values(), key=path_order)
        places = grow(paths, worth)
        mains = [place for place in places if place.home is place]
        most = {place.id: place.energy for place in sorted(places, key=lambda one: one.energy)}
        mute: dict[str, OmitReason] = {
            **dict.fromkeys(self._irrelevant(places, worth, relevance), "relevance"),
            **dict.fromkeys(hidden, "filter"),
        }
        for place in places:
            if place.id in mute:  # its lines lead to others, and need no text elsewhere
                place.home, place.text, place.note = place, "", _NOTES[mute[place.id]]
        duplicates = self._drop_duplicates(places, near)
        reserved = int(self._budget * ROOM_FOR_REASONS)
        draft = self._fill(places, _Draft(set(), "", 0), self._budget - reserved)
        draft = self._settle(places, self._fill(places, self._arrange(places, draft), self._budget))
        if (exchanged := self._exchange(places, draft)) is not draft:
            draft = self._settle(places, exchanged)
        nothing = self._draft(set())
        if not draft.included and nothing.text and nothing.tokens <= self._budget:
            draft = nothing
        packed = [place for place in self._in_order(draft.included) if has_text(place)]
        ids = {place.id for place in packed}
        left_out = [
            _omitted(place, most[place.id], duplicates, mute)
            for place in mains
            if place.id not in ids
        ]
        return ContextPack(
            text=draft.text,
            items=tuple(map(_item, packed)),
            tokens=draft.tokens,
            omitted=tuple(sorted(left_out, key=lambda item: (-item.score, item.id))),
        )

    def _irrelevant(
        self,
        places: list[Place],
        worth: Mapping[str, float] | None,
        relevance: Mapping[str, float] | None,
    ) -> set[str]:
        """Return the ids of the memories whose texts stay out."""
        known = relevance or {}
        ranked = {place.id for place in places} if worth is None else worth.keys()
        if ranked and known.keys() >= ranked:
            _, limit = self._config.limit_of_best
            if max(known[id_] for id_ in ranked) < limit:
                return {place.id for place in places}  # nothing is left that they could lead to
        return {id_ for id_, each in known.items() if each < self._config.min_relevance}

    def _drop_duplicates(
        self, places: list[Place], near: Iterable[tuple[str, str]]
    ) -> dict[str, str]:
        """Make the places of duplicates refer to the memory they repeat: id -> its id."""
        homes = {place.id: place for place in places if place.home is place and place.text}
        best = sorted(homes.values(), key=lambda place: (-place.worth, place.id))
        texts = [(place.id, place.text) for place in best]
        duplicates = find_duplicates(texts, overlap=self._config.duplicate_overlap, near=near)
        for place in places:
            if place.id in duplicates:
                place.home = homes[duplicates[place.id]]
        return duplicates

    def _fill(self, places: list[Place], draft: _Draft, budget: int) -> _Draft:
        """Add chains until no further chain fits."""
        chains = {place: chain_of(place) for place in places if has_text(place)}
        needed = {place for chain in chains.values() for place in chain}
        self._render(place for place in needed if not place.lines)
        largest = budget
        while steps := _propose(chains, draft.included, min(largest, budget - draft.tokens)):
            while steps:
                trial = self._draft(draft.included.union(*steps))
                if trial.tokens <= budget:
                    draft = trial
                    break
                # This chain has more tokens in the text than alone: only shorter ones may fit.
                if len(steps) == 1:
                    largest = sum(place.tokens for place in steps[0]) - 1
                steps = steps[: len(steps) // 2]
        return draft

    def _settle(self, places: list[Place], draft: _Draft) -> _Draft:
        """Arrange and fill, until no memory moves."""
        while (arranged := self._arrange(places, draft)) is not draft:
            draft = self._fill(places, arranged, self._budget)
        return draft

    def _exchange(self, places: list[Place], draft: _Draft) -> _Draft:
        """Let memories that were left out take the place of worse ones."""
        chains = {place: chain_of(place) for place in places if has_text(place)}
        refused: set[Place] = set()
        while len(refused) < MAX_REFUSED:
            found = find_exchange(chains, draft.included, self._budget - draft.tokens, refused)
            if found is None:
                break
            trial = self._draft(found.included)
            if found.coming in trial.included and trial.tokens <= self._budget:
                # What goes may leave room for more than the one that comes.
                trial = self._fill(places, trial, self._budget)
                if is_worth_more(chains, trial.included, draft.included):
                    draft = trial
                    continue
            refused.add(found.coming)
        return draft

    def _arrange(self, places: list[Place], draft: _Draft) -> _Draft:
        """Move trees below lines that lead to them; return ``draft`` if none can move.

        A move that costs more than is left, by the tokens of its lines alone, is left out.
        """
        trees, room = Trees(places), self._budget - draft.tokens
        made: list[Move] = []
        for move in trees.moves(draft.included):
            before = [place for place in trees.below(move.old) if place.lines]
            tokens = sum(place.tokens for place in before if place in draft.included)
            trees.make(move)
            self._render({move.new, *before})
            after = {move.new, *before} - {move.old}
            cost = -tokens + sum(
                place.tokens for place in after if place in draft.included or place is move.new
            )
            if cost <= room:
                room -= cost
                made.append(move)
            else:
                self._undo(trees, move)
        while made:
            targets = {place.home for place in draft.included if has_text(place.home)}
            included = {each for target in targets for each in chain_of(target)}
            self._render(place for place in included if not place.lines)
            trial = self._draft(included)
            if trial.tokens <= self._budget:
                return trial
            self._undo(trees, made.pop())
        return draft

    def _undo(self, trees: Trees, move: Move) -> None:
        trees.undo(move)
        self._render([move.new, *(place for place in trees.below(move.old) if place.lines)])

    def _render(self, places: Iterable[Place]) -> None:
        for place in places:
            place.lines = render_place(place, self._config)
            place.tokens = self._count(place.lines + "\n")

    def _in_order(self, included: set[Place]) -> list[Place]:
        return in_order(included, self._config.order)

    def _draft(self, included: set[Place]) -> _Draft:
        text = join((place.lines for place in self._in_order(included)), self._config)
        return _Draft(included, text, self._count(text))

    def _count(self, text: str) -> int:
        tokens = self._count_tokens(text)
        return check_whole(tokens, "count_tokens", low=0, high=sys.maxsize)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text, the places in it, and the number of its tokens."""

    included: set[Place]
    text: str
    tokens: int


def _propose(chains: _Chains, packed: set[Place], room: int) -> list[list[Place]]:
    """List chains to add to ``packed``, the best first, with at most ``room`` tokens together."""
    included, steps = set(packed), []
    users: dict[Place, list[Place]] = defaultdict(list)
    heap: list[tuple[float, str, int, int, list[Place]]] = []

    def push(target: Place) -> None:
        new = [place for place in chains[target] if place not in included]
        tokens = sum(place.tokens for place in new)
        gain = sum(place.worth * len(place.text) for place in new if place in chains)
        heapq.heappush(heap, (-gain / max(tokens, 1), target.id, len(new), tokens, new))

    for target in chains.keys() - packed:
        if target.tokens <= room:
            push(target)
            for place in chains[target]:
                users[place].append(target)
    while heap:
        *_, tokens, new = heapq.heappop(heap)
        # Otherwise the chain is too long, or a shorter form of it was pushed later.
        if tokens <= room and included.isdisjoint(new):
            included.update(new)
            room -= tokens
            steps.append(new)
            for target in {user for place in new for user in users[place]} - included:
                if target.tokens <= room:
                    push(target)
    return steps


def _item(place: Place) -> ContextItem:
    return ContextItem(
        id=place.id,
        kind=place.memory.kind,
        date=place.memory.created_at,
        score=place.energy,
        path=place.path,
    )


def _omitted(
    place: Place,
    energy: float,
    duplicates: Mapping[str, str],
    mute: Mapping[str, OmitReason],
) -> OmittedItem:
    duplicate_of = duplicates.get(place.id)
    reason = mute.get(place.id, "budget" if place.text else "no_text")
    if duplicate_of is not None:
        reason = "duplicate"
    return OmittedItem(id=place.id, score=energy, reason=reason, duplicate_of=duplicate_of)
