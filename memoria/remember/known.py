"""Find the memory that already says what is to be remembered.

In: a `Statement`. Out: `Known`. Reads only. Queries: those of the search for seeds,
``graph.hydrate``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from memoria._support.wording import number_of
from memoria.errors import InvalidInputError
from memoria.formulas.repeats import repeats
from memoria.graph.hydrate import hydrate
from memoria.graph.vocabulary import CONNECTOR_KINDS, REQUEST
from memoria.recall.seeds import SeedRequest, search_seeds
from memoria.recall.seeds.config import SeedConfig
from memoria.remember.replacing import READ, replaceable
from memoria.remember.statement import Statement, plain_text
from memoria.store import ServerFacts, Store
from memoria.types import MemoryNode, Seed

#: Lowest cosine of two texts of which one may repeat the other; their words decide.
NEAR = 0.95
#: In how many of the nearest memories a repetition is looked for.
COMPARED = 3
_SEARCH = SeedConfig(max_seeds=READ, candidates=READ, fusion="cosine", question_kinds=())

Embed = Callable[[str], Awaitable[Sequence[float] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the graph holds of a text.

    Attributes
    ----------
    same
        Whether a memory with the text's own id is there.
    duplicate_of
        Id of a memory that says the same.
    echo_of
        Id of a memory of the recall that the text only repeats.
    similar
        The nearest memories; none if they were not searched for.
    older
        Those which the text may replace.
    vector
        Embedding of the text; None if it was not made.
    """

    same: bool = False
    duplicate_of: str | None = None
    echo_of: str | None = None
    similar: tuple[Seed, ...] = ()
    older: tuple[MemoryNode, ...] = ()
    vector: Sequence[float] | None = None


async def find_known(
    store: Store, statement: Statement, facts: ServerFacts, embed: Embed | None
) -> Known:
    """Look for a text in the graph, first word for word.

    Raises
    ------
    InvalidInputError
        A memory that the statement names is missing, or its id belongs to another text.

    Notes
    -----
    One round trip if the text is there word for word, else two; three if the search finds any.
    """
    own, heard = statement.memory.id, dict(_heard(statement))
    read = await hydrate(
        store, sorted({own, *statement.named, *heard}), scope=statement.scope, until=None
    )
    check_named([id_ for id_ in statement.named if id_ not in read], statement.scope)
    if own in read and (read[own].text or read[own].kind in CONNECTOR_KINDS):
        if plain_text(read[own].text) != plain_text(statement.text):
            raise other_text(own)
        return Known(same=True, duplicate_of=own)
    if echo := next((id_ for id_ in heard if id_ in read), None):
        return Known(echo_of=echo)
    vector = None if embed is None else await embed(statement.text)
    seeds = await _nearest(store, statement, facts, vector)
    similar = seeds[:COMPARED]
    near = await _read_near(store, statement, seeds)
    cosines = [(seed.vector_score, one) for seed, one in near if seed.vector_score is not None]
    return Known(
        duplicate_of=_duplicate(statement, [pair for pair in near if pair[0] in similar]),
        similar=similar,
        older=replaceable(statement.text, statement.memory.created_at, cosines),
        vector=vector,
    )


def check_named(missing: Sequence[str], scope: str) -> None:
    """Raise if memories are missing that a statement names."""
    if missing:
        shown = ", ".join(map(repr, missing[:10])) + (", ..." if len(missing) > 10 else "")
        what = number_of(len(missing), "memory that is", "memories that are")
        raise InvalidInputError(
            f"about, because_of or supersedes name {what} not in scope {scope!r}: {shown}; "
            "nothing was written"
        )


def other_text(id_: str) -> InvalidInputError:
    """Return the error about an id that belongs to another text."""
    return InvalidInputError(
        f"id {id_!r} is that of a memory with another text: leave id out, and name the memory in "
        "supersedes if the text takes its place; GraphWriter.write changes a text",
        field="id",
    )


def _heard(statement: Statement) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of the memories of the recall that the text only repeats.

    A question is not an echo: it stands before the recall. What the statement names it knows.
    """
    trace = statement.after
    if trace is None or statement.kind == REQUEST or statement.duplicates == "keep":
        return
    paths = (*(path for each in trace.explorations for path in each.paths), *trace.needed)
    texts = {memory.id: memory.text for path in paths for memory in path.memories}
    for id_, text in texts.items():
        if id_ not in statement.named and repeats(statement.text, text):
            yield id_, text


async def _nearest(
    store: Store, statement: Statement, facts: ServerFacts, vector: Sequence[float] | None
) -> tuple[Seed, ...]:
    """Search by vector, or by words where there is none."""
    request = SeedRequest(
        text=statement.text,
        vector=vector,
        scope=statement.scope,
        dialect=facts.vector_dialect,
        generation=facts.generation,
        config=_SEARCH,
        until=None,
    )
    return (await search_seeds(store, request)).seeds


async def _read_near(
    store: Store, statement: Statement, seeds: Sequence[Seed]
) -> list[tuple[Seed, MemoryNode]]:
    """Read the memories that may say the same as the text, or that it may replace.

    A memory that the statement names is neither: whoever names it has said so.
    """
    ids = [seed.id for seed in seeds if seed.id not in statement.named]
    if not ids:
        return []
    read = await hydrate(store, ids, scope=statement.scope, until=None)
    return [(seed, read[seed.id]) for seed in seeds if seed.id in read]


def _duplicate(statement: Statement, near: Sequence[tuple[Seed, MemoryNode]]) -> str | None:
    """Return the best of the nearest memories that says the same."""
    if statement.duplicates == "keep":
        return None
    return next(
        (
            seed.id
            for seed, memory in near
            if (seed.vector_score is None or seed.vector_score >= NEAR)
            and repeats(statement.text, memory.text)
        ),
        None,
    )
