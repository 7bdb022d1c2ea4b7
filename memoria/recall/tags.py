"""Fit the tags of a query to the tags that the edges have.

In: the hits of the search, and the tags that the caller gave, or the question itself. Out: tags as
the edges have them, and notes on those that no edge has. Reads only. Query: ``recall.tags``.

In a graph that is read through a mapping, the type of an edge is its tag, and a question such as
"Who directed The Matrix?" says by itself which edges it asks for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from memoria._support.nearest import nearest
from memoria._support.stems import name_stems, plain_words, stem
from memoria.errors import MemoriaError
from memoria.recall.call import RecallCall
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Seeds

#: Edges of one memory whose tags are read, at most.
_EDGES = 1_000
_WORD = re.compile(r"\w+")
# A longer word may begin with a stem of this many letters, as the director with directed.
_MIN_CHARS = 5
# Neighbours of a seed that are followed if the question asks for edges of a type.
_ALL_BRANCHES = 20


async def fitting_tags(
    store: Store,
    call: RecallCall,
    seeds: Mapping[str, Seeds],
    *,
    until: float | None,
    notes: list[str],
) -> tuple[str, ...]:
    """Return the query's tags as the edges around the hits spell them.

    Parameters
    ----------
    seeds
        Scope -> the hits of the search in it.
    until
        Time of the loop's clock at which the tags must be read; seconds. If those of a scope are
        late, the caller's tags count as tags that its edges have.
    notes
        List that receives notes on unknown tags and on errors.
    """
    asked = () if call.has_tags else tags_in(call.query, _asked_as(store))
    if not (call.has_tags or asked):
        return ()
    ids = {scope: {hit.id for hit in (*its.seeds, *its.runners_up)} for scope, its in seeds.items()}
    near = [tags_near(store, its, scope=scope, until=until) for scope, its in ids.items()]
    known: set[str] = set()
    for scope, read in zip(ids, await asyncio.gather(*near, return_exceptions=True), strict=True):
        if isinstance(read, MemoriaError):
            of = f" in scope {scope!r}" if len(ids) > 1 else ""
            notes.append(f"the tags of edges{of} could not be read ({read})")
            known.update(call.query_tags)  # the edges there may have them
        elif isinstance(read, BaseException):
            raise read
        else:
            known.update(read)
    if asked:
        return tuple(tag for tag in asked if tag in known)
    if call.auto_tags:
        return tags_in(call.query, [(name_stems(tag), tag) for tag in known])
    tags, missing = fit_tags(call.query_tags, sorted(known))
    notes.extend(missing)
    return tags


def _asked_as(store: Store) -> Sequence[tuple[Sequence[str], str]]:
    return () if store.translation is None else store.translation.asked_as


async def tags_near(
    store: Store, ids: Collection[str], *, scope: str, until: float | None
) -> tuple[str, ...]:
    """Return the tags of all edges of some memories, sorted.

    Notes
    -----
    One round trip; at most a thousand edges of each memory are read.
    """
    parameters = {"ids": sorted(ids), "limit": _EDGES, "scope": scope}
    record = (await store.run(load("recall.tags"), parameters, until=until))[0]
    return tuple(sorted(record["tags"]))


def for_all_edges(config: RetrieverConfig) -> RetrieverConfig:
    """Return settings for a question that asks for edges of a type: a film has many actors."""
    strategy = config.strategy
    if not isinstance(strategy, TransferEnergy) or strategy.seed_branches is not None:
        return config
    return replace(config, strategy=replace(strategy, seed_branches=_ALL_BRANCHES))


def fit_tags(query_tags: Iterable[str], known: Iterable[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the tags to explore with, and a note for each given tag that no edge has.

    A given tag stands for the tags of edges that differ from it in case, hyphens or underscores
    only. If the edges have none of the given tags, there are no tags: energy that no edge may
    carry finds nothing.

    Parameters
    ----------
    known
        Tags of the edges around the hits.
    """
    spellings = _spellings(known)
    fitting: list[str] = []
    missing: list[str] = []
    for tag in query_tags:
        found = spellings.get(_folded(tag), ())
        (fitting if found else missing).extend(found or [tag])
    kept = tuple(sorted({*fitting, *missing})) if fitting else ()
    return kept, [_note(tag, spellings, ignored=not kept) for tag in missing]


def tags_in(question: str, tags: Iterable[tuple[Sequence[str], str]]) -> tuple[str, ...]:
    """Return the tags that a question names: the stems of all their words, side by side.

    Parameters
    ----------
    tags
        The stems of each tag (`name_stems`), and the tag.

    >>> tags_in("Why did we run out of stock?", [(["run", "out"], "run_out"), (["van"], "vans")])
    ('run_out',)
    >>> tags_in("Who is the director?", [(["direct"], "DIRECTED"), (["act"], "actedIn")])
    ('DIRECTED',)
    """
    words = plain_words(question)
    return tuple(sorted({tag for stems, tag in tags if _is_in(words, stems)}))


def _is_in(words: Sequence[str], stems: Sequence[str]) -> bool:
    starts = range(len(words) - len(stems) + 1) if stems else ()
    return any(all(map(_has, words[start:], stems)) for start in starts)


def _has(word: str, part: str) -> bool:
    return stem(word) == part or (len(part) >= _MIN_CHARS and word.startswith(part))


def _spellings(tags: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tag in tags:
        if folded := _folded(tag):
            found.setdefault(folded, []).append(tag)
    return found


def _folded(text: str) -> str:
    """Return the words of a text in lower case, without the signs between them."""
    return " ".join(_WORD.findall(text.replace("_", " ").casefold()))


def _note(tag: str, spellings: Mapping[str, Collection[str]], *, ignored: bool) -> str:
    near = nearest(_folded(tag), spellings)
    names = ", ".join(repr(spelling) for folded in near for spelling in spellings[folded])
    effect = "; the tags of this query were left out" if ignored else ""
    return f"no edge around the hits has the tag {tag!r}{effect}" + (
        f"; similar tags: {names}" if names else ""
    )
