"""Choose what goes into a context, within a budget of tokens.

In: paths, in any order. Out: a `ContextPack`: the text, what is in it and what was left out.
Touches nothing. Source: design section 9.
"""

from __future__ import annotations

import heapq
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memoria._support.checks import check_whole
from memoria.context.arrange import find_moves, settle
from memoria.context.config import ContextConfig
from memoria.context.duplicates import find_duplicates
from memoria.context.render import join, render_place
from memoria.context.tokens import CountTokens, estimate_tokens
from memoria.context.tree import Place, chain_of, grow
from memoria.types import (
    ContextItem,
    ContextPack,
    Exploration,
    OmitReason,
    OmittedItem,
    Path,
    path_order,
)

# Share of the budget that is filled only when the memories packed so far stand in their trees: to
# say what a memory is to the one above it takes some 5 % of its tokens.
ROOM_FOR_REASONS = 0.05

_Chains = Mapping[Place, list[Place]]


def pack(
    explorations: Iterable[Exploration],
    *,
    budget_tokens: int,
    config: ContextConfig | None = None,
    count_tokens: CountTokens | None = None,
) -> ContextPack:
    """Pack the paths of ``explorations``; see `ContextBuilder`, which this feeds and builds."""
    builder = ContextBuilder(budget_tokens, config=config, count_tokens=count_tokens)
    for exploration in explorations:
        for path in exploration.paths:
            builder.add(path)
    return builder.build()


class ContextBuilder:
    """Collect paths as they stream in, then pack them.

    The order of adding makes no difference; a path added twice counts once. A hit of the search
    that nothing was explored from is a path without hops.

    Parameters
    ----------
    budget_tokens
        Most tokens that the text may have; whole number, >= 1.
    config
        Order, format, and what counts as a duplicate.
    count_tokens
        Tokens of a text, >= 0, additive or not; `estimate_tokens` when None.

    Raises
    ------
    InvalidInputError
        ``budget_tokens`` is out of range; or, from `build`, what ``count_tokens`` returned is.
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
        """Add one path; of paths along the same ids, the one with texts and most energy stays."""
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
    ) -> ContextPack:
        """Pack what was added so far; more may be added afterwards.

        Parameters
        ----------
        near
            Pairs of ids whose vectors are close enough to be duplicates; see `near_pairs`.
        worth
            Worth of each memory by id, >= 0, such as the scores of `Recall.ranked`; those left out
            have none. None: from the energies and the scores of hits in the paths.

        Returns
        -------
        ContextPack
            Empty, of 0 tokens (of 1, ``[]``, in JSON), when nothing fits. A memory without text,
            or a duplicate, is omitted even where its bare line stands in the text because it leads
            to another memory.

        Notes
        -----
        Each step adds the chain with most new energy per new token that fits, by lines counted one
        by one; a memory brings its worth for each character of its text, so that what is long and
        strong is not passed over for what is short. Then the whole text is counted; while that is
        over budget, the later half of the steps is dropped. On from there until nothing fits.
        Memories that were cheapest by themselves move below those in the text that lead to them;
        at first some room is kept for that. Each place's lines are counted once or twice, the whole
        text once for each halving.
        """
        paths = sorted(self._paths.values(), key=path_order)
        places = grow(paths, self._config.order, worth)
        mains = [place for place in places if place.home is place]
        duplicates = self._drop_duplicates(places, near)
        reserved = int(self._budget * ROOM_FOR_REASONS)
        draft = self._fill(places, _Draft(set(), "", 0), self._budget - reserved)
        draft = self._fill(places, self._arrange(places, draft), self._budget)
        while (arranged := self._arrange(places, draft)) is not draft:
            draft = self._fill(places, arranged, self._budget)
        nothing = self._draft(places, set())
        if not draft.included and nothing.text and nothing.tokens <= self._budget:
            draft = nothing
        packed = [place for place in places if place in draft.included and _has_text(place)]
        ids = {place.id for place in packed}
        left_out = [_omitted(place, duplicates) for place in mains if place.id not in ids]
        return ContextPack(
            text=draft.text,
            items=tuple(map(_item, packed)),
            tokens=draft.tokens,
            omitted=tuple(sorted(left_out, key=lambda item: (-item.score, item.id))),
        )

    def _drop_duplicates(
        self, places: list[Place], near: Iterable[tuple[str, str]]
    ) -> dict[str, str]:
        """Make the places of duplicates refer to what they repeat: id -> id of that."""
        homes = {place.id: place for place in places if place.home is place and place.text}
        best = sorted(homes.values(), key=lambda place: (-place.worth, place.id))
        texts = [(place.id, place.text) for place in best]
        duplicates = find_duplicates(texts, overlap=self._config.duplicate_overlap, near=near)
        for place in places:
            if place.id in duplicates:
                place.home = homes[duplicates[place.id]]
        return duplicates

    def _fill(self, places: list[Place], draft: _Draft, budget: int) -> _Draft:
        """Take chains until nothing fits."""
        chains = {place: chain_of(place) for place in places if _has_text(place)}
        needed = {place for chain in chains.values() for place in chain}
        self._render(place for place in needed if not place.lines)
        largest = budget
        while steps := _propose(chains, draft.included, min(largest, budget - draft.tokens)):
            while steps:
                trial = self._draft(places, draft.included.union(*steps))
                if trial.tokens <= budget:
                    draft = trial
                    break
                if len(steps) == 1:  # longer in the text than alone: only shorter ones may fit
                    largest = sum(place.tokens for place in steps[0]) - 1
                steps = steps[: len(steps) // 2]
        return draft

    def _arrange(self, places: list[Place], draft: _Draft) -> _Draft:
        """Move memories that stand alone into the trees; ``draft`` itself when none can move."""
        moves = find_moves(places, draft.included)
        while moves:
            self._render(settle(places, moves))
            old, new = zip(*moves, strict=True)
            trial = self._draft(places, draft.included.difference(old).union(new))
            if trial.tokens <= self._budget:
                draft = trial
                moves = find_moves(places, draft.included)
            else:
                self._render(settle(places, [move.back() for move in moves]))
                moves = moves[: len(moves) // 2]
        return draft

    def _render(self, places: Iterable[Place]) -> None:
        for place in places:
            place.lines = render_place(place, self._config)
            place.tokens = self._count(place.lines + "\n")

    def _draft(self, places: list[Place], included: set[Place]) -> _Draft:
        text = join((place.lines for place in places if place in included), self._config)
        return _Draft(included, text, self._count(text))

    def _count(self, text: str) -> int:
        tokens = self._count_tokens(text)
        return check_whole(tokens, "count_tokens", low=0, high=sys.maxsize)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text, the places in it, and its tokens."""

    included: set[Place]
    text: str
    tokens: int


def _has_text(place: Place) -> bool:
    return place.home is place and bool(place.text)


def _propose(chains: _Chains, packed: set[Place], room: int) -> list[list[Place]]:
    """List what to add to ``packed``, chain by chain, best first, at most ``room`` tokens."""
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
        if tokens <= room and included.isdisjoint(new):  # else too long, or pushed anew since
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


def _omitted(place: Place, duplicates: Mapping[str, str]) -> OmittedItem:
    duplicate_of = duplicates.get(place.id)
    reason: OmitReason = "budget" if place.text else "no_text"
    if duplicate_of is not None:
        reason = "duplicate"
    return OmittedItem(id=place.id, score=place.energy, reason=reason, duplicate_of=duplicate_of)
