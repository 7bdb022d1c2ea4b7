"""Find the memories to start from: vector and full-text search at the same time.

In: a query and, where there is an embedder, its vector. Out: `Seeds`. Reads only.
Queries: ``seeds.text``, ``seeds.vector_search``, ``seeds.vector_procedure``,
``seeds.vector_exact``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from memoria._support.checks import is_id
from memoria._support.stems import content_words
from memoria._support.throttling import throttled_warning
from memoria.errors import BudgetError, DeadlineError, MemoriaError, QueryError
from memoria.formulas.fusion import Hits
from memoria.graph.vocabulary import IN_SESSION, pending_key
from memoria.recall.seeds.choosing import best_hits, choose_by_cosine, fuse
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.seeds.lucene import lucene_query, phrases_of
from memoria.recall.seeds.questions import (
    LOOSE_RELATIONS,
    SPOKEN_RELATIONS,
    Apart,
    StoredQuestion,
    longest_echo,
)
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter, Seeds
from memoria.types.validity import Validity

log = logging.getLogger(__name__)

_NO_WORD = "the question has no word to search for, and no vector to compare"

# Factors of over-sampling, tried in turn, where scope or filter can only be applied after the index
# has answered. If the last factor is not enough, vectors are compared one by one; the full-text
# index has no such fallback.
_VECTOR_LIMITS = (4, 40)
_TEXT_LIMITS = (4, 40, 400, 4_000)
# Few memories are superseded or outdated, so where nothing else is filtered after the index has
# answered, a few hits to spare are enough at first.
_SPARE = 10
# If earlier questions fill the lists, so many hits are taken instead.
_MANY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRequest:
    """What one hybrid search looks for.

    Attributes
    ----------
    text
        The user's words, in any form; a blank text means a search by vector alone.
    vector
        Embedding of the query; None means a search by words alone.
    where
        Filter: only matching memories are hits.
    dialect
        How this server searches vectors: ``search`` or ``procedure``.
    generation
        That of the vectors to compare ``vector`` with; see `ServerFacts`.
    until
        Time of the loop's clock at which the search must be over; seconds.
    enough_at
        Time of the loop's clock from which the hits of one search are enough and the other search
        is cancelled; seconds. None waits for both until the end.
    validity
        Which memories hold; the other memories are not hits.
    query
        The question itself, without its tags; used to recognise stored copies of it.
    counts_pending
        Whether to count the memories of the scope that have no vector yet; see `Seeds.pending`.
    """

    text: str
    vector: Sequence[float] | None
    scope: str
    dialect: Literal["search", "procedure"]
    config: SeedConfig
    until: float | None
    where: MemoryFilter = field(default_factory=MemoryFilter)
    validity: Validity = field(default_factory=Validity.now)
    query: str = ""
    generation: int = 1
    enough_at: float | None = None
    counts_pending: bool = False


@dataclass(slots=True)
class _Aside:
    """Side results of a search: faults in sentences, and the hits that are questions.

    ``from_index`` has the hits of the vector index, for when the exact search is not done in time;
    ``pending`` is how many memories of the scope wait for their vectors.
    """

    faults: list[str] = field(default_factory=list)
    questions: dict[str, StoredQuestion] = field(default_factory=dict)
    pending: int = 0
    from_index: Hits = ()


# Result of an attempt to search: the hits, and the error or None.
_Attempted = tuple[Hits, MemoriaError | None]


async def search_seeds(store: Store, request: SeedRequest) -> Seeds:
    """Search by vector and by words, each in a session of its own, and fuse the two lists.

    If one search fails or is late, the result is that of the other, and `Seeds.degraded` says so.
    Finding nothing is a valid result.

    Raises
    ------
    MemoriaError
        Both searches failed, or the only one that was possible; the error of the vector search
        where there was one.

    Notes
    -----
    One round trip. More if few memories near the query fit the filter or, on Neo4j 5, are of the
    wanted scope, or if the scope has few at all.
    """
    if request.config.fusion == "cosine" and request.vector is not None:
        return await _search_by_cosine(store, request)
    aside = _Aside()
    (vector, vector_error), (text, text_error) = await _one_or_both(store, request, aside)
    if request.vector is None:
        vector_error = text_error
    if vector_error is not None and (text_error is not None or request.vector is None):
        raise vector_error
    for name, error in (("vector search", vector_error), ("full-text search", text_error)):
        if error is not None:
            throttled_warning(log, f"{name} failed: %s", type(error).__name__)
            aside.faults.append(f"{name} failed ({error}); the other search alone was used")
    return await _without_questions(store, request, aside, [vector, text], fuse)


async def _one_or_both(
    store: Store, request: SeedRequest, aside: _Aside
) -> tuple[_Attempted, _Attempted]:
    """Search by vector and by words; from ``enough_at`` on, wait only until one finds hits."""
    loop = asyncio.get_running_loop()
    searches = [
        asyncio.create_task(_vector_hits(store, request, aside)),
        asyncio.create_task(_text_hits(store, request, aside)),
    ]
    began, enough_at = loop.time(), request.enough_at
    try:
        patience = None if enough_at is None else max(0.0, enough_at - began)
        _, late = await asyncio.wait(searches, timeout=patience)
        while late and not aside.from_index and not any(_has_hits(each) for each in searches):
            _, late = await asyncio.wait(late, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in searches:
            each.cancel()
        await asyncio.gather(*searches, return_exceptions=True)
    given_up = DeadlineError(f"no answer in {loop.time() - began:.1f} s")
    vector, text = (_outcome(each, given_up) for each in searches)
    if searches[0].cancelled() and aside.from_index:
        aside.faults.append(f"exact vector search failed ({given_up}); the index alone was used")
        vector = aside.from_index, None
    return vector, text


def _has_hits(search: asyncio.Task[Hits]) -> bool:
    return search.done() and search.exception() is None and bool(search.result())


def _outcome(search: asyncio.Task[Hits], given_up: MemoriaError) -> _Attempted:
    """Return the hits of a search that is over, and its error or None."""
    if search.cancelled():
        return [], given_up
    error = search.exception()
    return ([], error) if isinstance(error, MemoriaError) else (search.result(), None)


async def _search_by_cosine(store: Store, request: SeedRequest) -> Seeds:
    """Search by vector alone; kinds of facts have places of their own (source: 004)."""
    config = request.config
    aside = _Aside()
    requests = [request]
    where = request.where
    kinds = [kind for kind in config.fact_kinds if where.kinds is None or kind in where.kinds]
    if config.max_facts and kinds:
        requests.append(replace(request, where=replace(where, kinds=kinds)))
    searches = (_vector_hits(store, one, aside) for one in requests)
    lists: list[Hits] = []
    for found in await asyncio.gather(*searches, return_exceptions=True):
        if isinstance(found, BaseException):
            raise found
        lists.append(found)
    if len(lists) == 1:
        lists.append([])
    return await _without_questions(store, request, aside, lists, choose_by_cosine)


async def _without_questions(
    store: Store,
    request: SeedRequest,
    aside: _Aside,
    lists: Sequence[Hits],
    choose: Callable[[Sequence[Hits], SeedConfig], Seeds],
) -> Seeds:
    """Choose seeds from lists of hits, with earlier questions set apart."""
    config = request.config
    every = replace(choose(lists, config), degraded=tuple(aside.faults), pending=aside.pending)
    apart = Apart.of(aside.questions, request.query or request.text)
    if not apart.ids:
        return every
    others = [[hit for hit in hits if hit[0] not in apart.ids] for hits in lists]
    rest = replace(choose(others, config), degraded=every.degraded, pending=every.pending)
    full = max(map(len, lists)) >= config.candidates
    if len(rest.seeds) < config.max_seeds and full and config.candidates < _MANY:
        config = replace(config, candidates=_MANY)
        wider = replace(request, config=config, counts_pending=False)
        try:
            return replace(await search_seeds(store, wider), pending=every.pending)
        except DeadlineError as exc:
            rest = replace(rest, degraded=(*rest.degraded, f"a wider search was late ({exc})"))
    return apart.back(rest, every)


async def _vector_hits(store: Store, request: SeedRequest, aside: _Aside) -> Hits:
    """Return the nearest memories as (id, cosine); compare all if the index finds too few.

    Fewer than asked for are not all that exist where Neo4j 5 answers: where many vectors are equal,
    parts of its index can't be reached.
    """
    if request.vector is None:
        return []
    filtered_after = not request.where.is_empty or request.dialect == "procedure"
    limits = _VECTOR_LIMITS if filtered_after else (1, *_VECTOR_LIMITS)
    parameters: dict[str, Any] = {"vector": list(request.vector)}
    hits, complete = await _grow(
        store, f"seeds.vector_{request.dialect}", request, parameters, limits, aside
    )
    if not complete or (request.dialect == "procedure" and len(hits) < request.config.candidates):
        aside.from_index = hits
        try:
            # More than once only if several facts of a mapped graph lead to one memory.
            limits = (1, *_VECTOR_LIMITS)
            hits, _ = await _grow(store, "seeds.vector_exact", request, parameters, limits, aside)
        except (QueryError, DeadlineError, BudgetError) as exc:
            # In a foreign graph one embedding that is not a vector ends the comparison of all, and
            # a large scope may take too long. What the index has found is not lost for that.
            if not hits:
                raise
            throttled_warning(log, "exact vector search failed: %s", exc)
            aside.faults.append(f"exact vector search failed ({exc}); the index alone was used")
    return hits


async def _text_hits(store: Store, request: SeedRequest, aside: _Aside) -> Hits:
    """Return the best memories by words, as (id, BM25)."""
    if (translation := store.translation) is None:
        lucene = lucene_query(request.text, request.scope)
    else:
        lucene = translation.lucene(phrases_of(request.text), has_vector=request.vector is not None)
    if lucene is None:
        if request.vector is None:
            aside.faults.append(_NO_WORD)
        return []
    limits = (1, *_TEXT_LIMITS) if request.where.is_empty else _TEXT_LIMITS
    pending = pending_key(request.scope) if request.counts_pending else None
    parameters = {"lucene": lucene, "pending": pending}
    hits, _complete = await _grow(store, "seeds.text", request, parameters, limits, aside)
    if not hits and request.vector is None and not content_words(request.text):
        aside.faults.append(_NO_WORD)
    return hits


async def _grow(
    store: Store,
    name: str,
    request: SeedRequest,
    parameters: dict[str, Any],
    limits: Sequence[int],
    aside: _Aside,
) -> tuple[Hits, bool]:
    """Ask an index for more and more hits, until enough of them fit the request.

    Returns
    -------
    tuple
        At most ``candidates`` hits, best first, ties by id (an index promises nothing about the
        order of equal hits); and whether these hits are enough, or all that the index gives.
    """
    wanted = request.config.candidates
    spare = _SPARE if request.validity.leaves_out else 0
    query = load(name).at(request.generation)
    hits: Hits = []
    for factor in limits:
        limit = wanted * factor + spare
        asked = {
            **request.where.parameters,
            "held": request.validity.held,
            "limit": limit,
            "loose": list(LOOSE_RELATIONS),
            "question_chars": longest_echo(request.query or request.text),
            "question_kinds": list(request.config.question_kinds),
            "scope": request.scope,
            "session": IN_SESSION,
            "spoken": list(SPOKEN_RELATIONS),
        }
        record = (await store.run(query, {**parameters, **asked}, until=request.until))[0]
        # A foreign graph may hold memories without an id, or with a number for one.
        hits = best_hits([(node, float(score)) for node, score in record["hits"] if is_id(node)])
        for node, text, loose, spoken in record["questions"]:
            if is_id(node):
                aside.questions[node] = StoredQuestion(text=text, loose=loose, spoken=spoken)
        if parameters.get("pending") is not None:
            aside.pending = record["pending"]
            parameters = {**parameters, "pending": None}  # they are counted once
        if len(hits) >= wanted or record["seen"] < limit:
            return hits[:wanted], True
    return hits[:wanted], False
