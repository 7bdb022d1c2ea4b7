"""Choose the memories of a context, within a budget of tokens.

In: paths, in any order. Out: a `ContextPack`: the text, the memories in it and those left out.
Touches nothing. Source: design section 9.

How `ContextBuilder.build` packs:

1. Gather the memories on the paths, those with the most worth first; see
   `memoria.recall.context.candidates`. Leave out irrelevant memories and duplicates.
2. Take memories in this order while their lines fit, and shorten long texts to the sentences that
   matter; see `memoria.recall.context.excerpt`.
3. Arrange the lines (see `memoria.recall.context.arrange`) and count the tokens of the whole text.
   While they exceed the budget, drop the later half of the memories taken in step 2. Repeat from
   step 2 until nothing more fits.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memoria._support.checks import check_whole
from memoria._support.stems import query_terms
from memoria.recall.context.arrange import Line, arrange
from memoria.recall.context.candidates import Candidate, Reasons, gather, reasons_of
from memoria.recall.context.config import ContextConfig
from memoria.recall.context.duplicates import find_duplicates
from memoria.recall.context.excerpt import ELLIPSIS, excerpt
from memoria.recall.context.render import join, render
from memoria.recall.context.tokens import CountTokens, estimate_tokens, least_tokens
from memoria.recall.context.worth import brought_by
from memoria.types import (
    ContextItem,
    ContextPack,
    Edge,
    Exploration,
    OmittedItem,
    Path,
    path_order,
)
from memoria.types.renaming import bare_id

# A text of up to SHORT_TOKENS is shown whole; an excerpt gets at least LEAST_TOKENS.
SHORT_TOKENS = 60
LEAST_TOKENS = 40
# A longer text gets this many times the square root of the budget: 67 tokens for a budget of 500,
# 134 for 2,000; a quarter more if the whole text then fits. With more, a few long answers fill the
# context; with less, excerpts lose the answer. docs/context.md has figures.
PER_ROOT = 3.0
# A reason for a likely memory need not be likely itself: it enters if paths bring it this much
# relevance. With less, off-topic memories enter; docs/project/experiments.md has figures.
EXPLAINED = 0.1


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
        of range, or two scopes have a memory with the same id.
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
        self._edges: tuple[Edge, ...] = ()

    def add(self, path: Path) -> None:
        """Add one path; of paths with the same ids, one with texts and the most energy stays."""
        known = self._paths.setdefault(path.place, path)
        if known is not path:
            self._paths[path.place] = min(
                known, path, key=lambda path: (not path.memories, -path.energy, repr(path))
            )

    def set_edges(self, edges: Iterable[Edge]) -> None:
        """Set the edges that join memories where no path does, such as those of a `Recall`."""
        self._edges = tuple(edges)

    def build(
        self,
        *,
        near: Iterable[tuple[str, str]] = (),
        worth: Mapping[str, float] | None = None,
        relevance: Mapping[str, float] | None = None,
        hidden: Collection[str] = (),
        newer: Mapping[str, str] | None = None,
        query: str | None = None,
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
            below `ContextConfig.min_relevance` stay out, whatever room there is, unless paths bring
            them a relevance of at least 0.1; see `brought_by`. If the relevance
            of all that have a worth is known, and that of the best is below
            `ContextConfig.min_best_relevance`, all texts stay out. None: not known.
        hidden
            Ids of memories whose texts stay out in any case.
        newer
            Id of an older statement -> id of the one that surely replaces it, such as
            `RankedMemory.newer`. The text marks the older one if it contains both.
        query
            The question. Long texts are shortened to the sentences with its words; if None, to
            their beginning.

        Returns
        -------
        ContextPack
            Empty if nothing fits or nothing is relevant; ``[]`` in JSON.

        Notes
        -----
        The module docstring describes the algorithm. ``count_tokens`` is called for each line that
        is tried, and for the whole text after each halving.
        """
        paths = sorted(self._paths.values(), key=path_order)
        found = gather(paths, worth)
        for one in found:
            one.newer = (newer or {}).get(one.id)
        self._leave_out(found, worth, relevance or {}, hidden, paths)
        self._drop_duplicates(found, near)
        work = _Work(found, reasons_of(paths, self._edges), query, self._config, self._count_tokens)
        draft = work.pack(self._budget)
        left_out = [_omitted(one) for one in found if one.id not in draft.names]
        return ContextPack(
            text=draft.text,
            items=tuple(_item(one, draft.names[one.id]) for one in draft.chosen),
            tokens=draft.tokens,
            omitted=tuple(sorted(left_out, key=lambda item: (-item.score, item.id))),
        )

    def _leave_out(
        self,
        found: Sequence[Candidate],
        worth: Mapping[str, float] | None,
        known: Mapping[str, float],
        hidden: Collection[str],
        paths: Iterable[Path],
    ) -> None:
        """Mark the memories to leave out regardless of the budget, with the reason."""
        brought = brought_by(paths, known)
        ranked = {one.id for one in found} if worth is None else worth.keys()
        _, limit = self._config.limit_of_best
        nothing = bool(ranked) and known.keys() >= ranked
        nothing = nothing and max(known[id_] for id_ in ranked) < limit
        for one in found:
            if one.id in hidden:
                one.out = "filter"
            elif nothing or (
                known.get(one.id, 1.0) < self._config.min_relevance
                and brought.get(one.id, 0.0) < EXPLAINED
            ):
                one.out = "relevance"

    def _drop_duplicates(self, found: Sequence[Candidate], near: Iterable[tuple[str, str]]) -> None:
        """Leave out memories that repeat a better memory of the same speaker."""
        rest = [one for one in found if one.out is None and one.text]
        duplicates = find_duplicates(
            [(one.id, one.text) for one in rest],
            overlap=self._config.duplicate_overlap,
            near=near,
            speakers={one.id: one.speaker for one in rest},
        )
        for one in rest:
            if one.id in duplicates:
                one.out, one.duplicate_of = "duplicate", duplicates[one.id]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A candidate text: its memories in order, their names, the text and its tokens."""

    chosen: Sequence[Candidate] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    tokens: int = 0

    def room(self, budget: int) -> int:
        """Return the tokens left; the brackets of an empty JSON list don't count."""
        return budget - self.tokens if self.chosen else budget


class _Work:
    """State of one packing: the text shown of each memory, and a cache of token counts."""

    def __init__(
        self,
        found: Sequence[Candidate],
        reasons: Reasons,
        query: str | None,
        config: ContextConfig,
        count_tokens: CountTokens,
    ) -> None:
        self._waiting = [one for one in found if one.out is None and one.text]
        self._places = {one.id: place for place, one in enumerate(found)}
        self._reasons = reasons
        self._prefix = prefix_for(config.label_prefix, map(bare_id, self._places))
        self._terms = query_terms(query) if query else []
        self._config = config
        self._count_tokens = count_tokens
        self._most = SHORT_TOKENS  # tokens of one text
        self._texts: dict[str, str] = {}
        self._counted: dict[str, int] = {}
        self._alone_counted: dict[tuple[str, str], int] = {}  # of a line: id, text -> tokens
        # At most the tokens of a text that was not read to its end.
        self._least: dict[str, int] = {}

    def pack(self, budget: int) -> _Draft:
        """Fill the budget; if all memories fit, try longer excerpts."""
        self._most = max(SHORT_TOKENS, int(PER_ROOT * math.sqrt(budget)))
        draft = self._fill(budget)
        while (
            len(draft.chosen) == len(self._waiting)
            and self._most < budget
            and any(self._texts[one.id] is not one.text for one in draft.chosen)
        ):
            self._most *= 2
            shown = dict(self._texts)
            trial = self._fill(budget)
            if len(trial.chosen) < len(draft.chosen):
                self._texts = shown
                break
            draft = trial
        return draft

    def _fill(self, budget: int) -> _Draft:
        """Take memories, the best first, until nothing more fits."""
        draft = self._draft(())
        if draft.tokens > budget:  # the brackets of JSON
            return _Draft()
        while steps := self._propose(draft, budget):
            while steps:
                trial = self._draft((*draft.chosen, *steps))
                if trial.tokens <= budget:
                    draft = trial
                    break
                steps = steps[: len(steps) // 2]
            else:
                break
        return self._complete(draft, budget)

    def _propose(self, draft: _Draft, budget: int) -> list[Candidate]:
        """Return the memories that still fit, best first, with each line counted separately."""
        room, steps = draft.room(budget), list[Candidate]()
        for one in self._outside(draft):
            if self._show(one, room):
                tokens = self._alone(one, self._texts[one.id])
                if tokens <= room:
                    room -= tokens
                    steps.append(one)
        return steps

    def _complete(self, draft: _Draft, budget: int) -> _Draft:
        """Add memories that fit only because they share a heading that is already there."""
        done = False
        while not done:
            done = True
            for one in self._outside(draft):
                room = draft.room(budget)
                if self._show(one, room) and self._tokens(self._texts[one.id]) <= room:
                    trial = self._draft((*draft.chosen, one))
                    if trial.tokens <= budget:
                        draft, done = trial, False
                        break
        return draft

    def _outside(self, draft: _Draft) -> list[Candidate]:
        return [one for one in self._waiting if one.id not in draft.names]

    def _show(self, one: Candidate, room: int) -> bool:
        """Choose the text to show, whole or an excerpt; False if neither can fit."""
        if self._tokens(f"[{self._name(one)}] {ELLIPSIS}") > room:
            return False  # saves counting most texts
        self._texts[one.id] = one.text
        if not self._exceeds(one.text, min(room, self._most * 5 // 4)):
            return True
        if not self._exceeds(one.text, SHORT_TOKENS):
            return False
        most = min(room - self._alone(one, ELLIPSIS), self._most)
        if most < LEAST_TOKENS:
            return False
        self._texts[one.id] = shown = excerpt(one.text, self._terms, most, self._tokens)
        return bool(shown)

    def _alone(self, one: Candidate, text: str) -> int:
        """Return the tokens of a line by itself."""
        known = self._alone_counted.get((one.id, text))
        if known is None:
            names, texts = {one.id: self._name(one)}, {one.id: text}
            line = render([Line(one)], names, texts, self._config)[0]
            known = self._alone_counted[one.id, text] = self._tokens(f"{line}\n")
        return known

    def _name(self, one: Candidate) -> str:
        """Return a placeholder as long as the name, whose number is not known yet."""
        is_id = self._config.names == "id"
        return self._names([one.id])[one.id] if is_id else f"{self._prefix}{len(self._places)}"

    def _draft(self, chosen: Sequence[Candidate]) -> _Draft:
        best_first = sorted(chosen, key=lambda one: self._places[one.id])
        lines = arrange(best_first, self._reasons, self._config.order)
        names = self._names([line.one.id for line in lines])
        text = join(render(lines, names, self._texts, self._config), self._config)
        tokens = self._count(text) if text else 0
        return _Draft(chosen=[line.one for line in lines], names=names, text=text, tokens=tokens)

    def _names(self, ids: Sequence[str]) -> dict[str, str]:
        if self._config.names == "id":
            return {id_: " ".join(bare_id(id_).split()) for id_ in ids}
        return labels_of(ids, self._prefix)

    def _exceeds(self, text: str, tokens: int) -> bool:
        """Tell whether a text has more tokens; the estimate need not count a long one whole."""
        if text in self._counted or self._count_tokens is not estimate_tokens:
            return self._tokens(text) > tokens
        if (least := self._least.get(text, 0)) <= tokens:
            least, is_exact = least_tokens(text, tokens)
            (self._counted if is_exact else self._least)[text] = least
        return least > tokens

    def _tokens(self, text: str) -> int:
        if text not in self._counted:
            self._counted[text] = self._count(text)
        return self._counted[text]

    def _count(self, text: str) -> int:
        tokens = self._count_tokens(text)
        return check_whole(tokens, "count_tokens", low=0, high=sys.maxsize)


def _item(one: Candidate, label: str) -> ContextItem:
    return ContextItem(
        id=one.id,
        kind=one.memory.kind,
        date=one.memory.created_at,
        score=one.energy,
        path=one.path,
        label=label,
    )


def _omitted(one: Candidate) -> OmittedItem:
    reason = one.out or ("budget" if one.text else "no_text")
    return OmittedItem(id=one.id, score=one.most, reason=reason, duplicate_of=one.duplicate_of)


def prefix_for(prefix: str, ids: Iterable[str]) -> str:
    """Return a prefix for the numbers of labels, such that no label looks like an id.

    >>> prefix_for("", ["evt-1", "evt-2"]), prefix_for("", ["1", "2"]), prefix_for("a", ["a7"])
    ('', 'm', 'am')
    """
    known = set(ids)
    letters = prefix
    while any(re.fullmatch(rf"{re.escape(letters)}\d+", id_, re.ASCII) for id_ in known):
        letters += "m"
    return letters


def labels_of(ids: Sequence[str], prefix: str) -> dict[str, str]:
    """Return id -> label, numbered from 1 in the order of the ids."""
    return {id_: f"{prefix}{number}" for number, id_ in enumerate(ids, start=1)}
