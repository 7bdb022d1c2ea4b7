"""Set the user's earlier questions apart, so that they do not take the seeds of what answers them.

In: the hits of a search, and which of them are questions. Out: the ids to set apart.
Touches nothing.

Agents store what they are asked, and nothing is so near to a question as the same question. Two
kinds of stored questions are set apart: *echoes*, which say no more than the query, and *loose*
ones, which no edge joins to anything but what answered them, or what is similar to them. A question
within a conversation has edges to all that was said around it; it is loose if it asks much the same
as the query, and says nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from memoria._support.sentences import asks
from memoria._support.stems import query_terms
from memoria.formulas.repeats import Said, adds_nothing
from memoria.graph.vocabulary import (
    ANSWERED_BY,
    CONTINUED_BY,
    IN_SESSION,
    MENTIONS,
    NEXT,
    SAID_BY,
    SIMILAR,
)
from memoria.types import Seed, Seeds

#: Relations of the edges that lead from a question to nothing but what a search finds anyway.
LOOSE_RELATIONS = (ANSWERED_BY, SIMILAR)
#: The same, and those that every message of a conversation has.
SPOKEN_RELATIONS = (*LOOSE_RELATIONS, NEXT, CONTINUED_BY, IN_SESSION, SAID_BY, MENTIONS)
# What states something: more than one sentence or line, or one that asks for a yes at its end.
_STATEMENT = re.compile(
    r"[.!]\s|[。！;\n]"
    r"|,\s*(?:right|ok|okay|yes|no|correct|true|eh|huh|remember"
    r"|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)(?:n['’]t)?\s+\w+"
    r")\s*[?？]",
    re.IGNORECASE,
)
# A question asks much the same as the query if two of its words, and half of them, are in the
# query, too; one that also states something, if nearly all are.
_WORDS, _SAME, _NEARLY_ALL = 2, 0.5, 0.8
# An echo has at least this share of its words and of the query's in common.
_OVERLAP = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuestion:
    """A hit that is an earlier question.

    Attributes
    ----------
    text
        Its text; None if it is longer than `longest_echo`.
    loose
        Whether it has no edges but those of `LOOSE_RELATIONS`.
    spoken
        Whether it is a message of a conversation, with no edges but those of `SPOKEN_RELATIONS`.
    """

    text: str | None
    loose: bool
    spoken: bool = False


def longest_echo(query: str) -> int:
    """Return the number of characters of the longest text that is worth comparing."""
    return 2 * len(query) + 20


def is_echo(text: str, query: str) -> bool:
    """Tell whether a stored question says no more than the query; question marks don't count.

    >>> is_echo("why is the oven cold", "Why is the oven so cold?")
    True
    >>> is_echo("Why is oven 1 cold?", "Why is oven 2 cold?")
    False
    """
    stored, asked = (Said(each.replace("?", " ")) for each in (text, query))
    return adds_nothing(stored, asked, _OVERLAP)


def asks_much_the_same(text: str, query: str) -> bool:
    """Tell whether a message asks what the query asks, and says hardly anything else.

    >>> query = "Why did the big oven break on Monday?"
    >>> asks_much_the_same("What made the big oven break?", query)
    True
    >>> asks_much_the_same("The big oven broke on Monday. Ann mends it. Why did it break?", query)
    False
    >>> asks_much_the_same("Who cleans the oven?", query)
    False
    """
    if not asks(text):
        return False
    said, asked = set(query_terms(text)), set(query_terms(query))
    least = _SAME if _STATEMENT.search(text.strip()) is None else _NEARLY_ALL
    return len(said & asked) >= max(_WORDS, least * len(said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Hits that are set apart.

    Attributes
    ----------
    echoes
        Those that say no more than the query.
    """

    ids: frozenset[str]
    echoes: frozenset[str]

    @classmethod
    def of(cls, questions: Mapping[str, StoredQuestion], query: str) -> Apart:
        """Choose among the stored questions that a search has found."""
        echoes = {
            id_
            for id_, one in questions.items()
            if one.text is not None and is_echo(one.text, query)
        }
        loose = {
            id_
            for id_, one in questions.items()
            if one.loose
            or (one.spoken and one.text is not None and asks_much_the_same(one.text, query))
        }
        return cls(ids=frozenset(echoes | loose), echoes=frozenset(echoes))

    def back(self, rest: Seeds, every: Seeds) -> Seeds:
        """Return the other hits, with those that were set apart in second place.

        The best one that would have been a seed becomes a further seed, for what it leads to;
        several do if there are too few others. The rest are runners-up, except for echoes. Where
        all hits are seeds, they stay as they are.

        Parameters
        ----------
        rest
            What was chosen from the hits without those that are set apart.
        every
            What was chosen from all of them.
        """
        room = max(1, len(every.seeds) - len(rest.seeds))
        added = [seed for seed in every.seeds if seed.id in self.ids][:room]
        loose = self.ids - self.echoes
        hits = (*every.seeds, *every.runners_up)
        others = [seed for seed in hits if seed.id in loose and seed not in added]
        chosen = every
        if every.runners_up:
            chosen = replace(
                rest,
                seeds=_in_order((*rest.seeds, *added)),
                runners_up=_in_order((*rest.runners_up, *others)),
            )
        return replace(
            chosen,
            echoes=tuple(seed for seed in hits if seed.id in self.echoes),
            loose=tuple(seed.id for seed in hits if seed.id in loose),
        )


def _in_order(seeds: Iterable[Seed]) -> tuple[Seed, ...]:
    return tuple(sorted(seeds, key=lambda seed: (-seed.score, seed.id)))
