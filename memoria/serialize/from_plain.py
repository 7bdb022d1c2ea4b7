"""Turn plain data back into explorations; `memoria.serialize` describes the schema.

In: any value that `json.loads` returned. Out: explorations, or an ``InvalidInputError`` that names
the place. Touches nothing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeVar, get_args

from memoria import errors
from memoria._support import checks
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError, MemoriaError
from memoria.types import (
    Activation,
    Contribution,
    Direction,
    Edge,
    EndReason,
    Exploration,
    ExplorationStats,
    Hop,
    MemoryNode,
    Path,
    RankedMemory,
    Seed,
    Status,
)

T = TypeVar("T")


def explorations_from(data: object) -> tuple[Exploration, ...]:
    """Return the explorations in the data of `plain_explorations` or `plain_recall`.

    They equal the original explorations, with two exceptions. An error that is not memoria's gets
    another class. A path that had no texts has them now, if ``data`` has all its memories.

    Raises
    ------
    InvalidInputError
        A field is missing or not valid; the message names its place, such as
        ``explorations[0].paths[2].hops``.
    """
    return tuple(
        _exploration(part, memories)
        for layer in layers_of(whole_document(data))
        for memories in [_memories(layer)]
        for part in layer.parts("explorations")
    )


def layers_of(top: Part) -> list[Part]:
    """Return what was found in each scope; the document itself if only one scope was read."""
    return top.parts("layers") if "layers" in top.value else [top]


def whole_document(data: object) -> Part:
    """Return a document, unless it has only a part of a recall."""
    top = Part(data, "")
    if "more_paths" in top.value:
        raise InvalidInputError(
            "this recall has not all its paths: print it with recall --json --full",
            field="explorations",
        )
    return top


def hits_from(data: object) -> tuple[Path, ...]:
    """Return the other hits in the data of `plain_recall`; no hits if it has no ``hits``."""
    return _paths(Part(data, ""), "hits")


def needed_from(data: object) -> tuple[Path, ...]:
    """Return the chains of needs in the data of `plain_recall`; none if it has no ``needed``."""
    return _paths(Part(data, ""), "needed")


def _paths(top: Part, name: str) -> tuple[Path, ...]:
    return tuple(
        _path(part, part.string("seed_id"), memories)
        for layer in layers_of(top)
        if name in layer.value
        for memories in [_memories(layer)]
        for part in layer.parts(name)
    )


def edges_from(data: object) -> tuple[Edge, ...]:
    """Return the edges in the data of `plain_recall`; none if it has no ``edges``."""
    return tuple(
        Edge(
            source=part.string("source"),
            target=part.string("target"),
            relation=part.string("relation"),
            scope=scope_in(part),
        )
        for layer in layers_of(Part(data, ""))
        for part in _listed(layer, "edges")
    )


def ranked_from(data: object, paths: Iterable[Path]) -> tuple[RankedMemory, ...]:
    """Return the ranking in the data of `plain_recall`.

    Parameters
    ----------
    paths
        All paths in the data: of its explorations, its hits and its chains of needs.
    """
    known: dict[tuple[str, ...], Path] = {}
    for path in paths:
        known.setdefault(path.place, path)
    return tuple(_ranked(part, known) for part in Part(data, "").parts("ranked"))


def _ranked(part: Part, paths: Mapping[tuple[str, ...], Path]) -> RankedMemory:
    id_, path = part.string("id"), paths.get((scope_in(part), *part.strings("path")))
    memory = next((one for one in path.memories if one.id == id_), None) if path else None
    if path is None or memory is None:
        place = part.at("path")
        raise InvalidInputError(f"{place} is not a path that has the memory", field=place)
    return RankedMemory(
        memory=memory,
        score=part.number("score"),
        path=path,
        features=part.numbers("features"),
        shares=part.numbers("shares"),
        relevance=part.optional("relevance", lambda name: part.number(name, high=1.0)),
        needed_by=part.numbers("needed_by"),
        adjacent=part.strings("adjacent"),
        session=part.optional("session", lambda name: _session(part, name)),
        newer=part.optional("newer", part.string),
    )


def _session(part: Part, name: str) -> tuple[str, int]:
    match part.items(name):
        case [str(id_), int(size)]:
            return id_, size
    raise wrong(part.at(name), "an id and a number of edges", part.get(name))


@dataclass(frozen=True, slots=True)
class Part:
    """A map inside plain data, and its place."""

    value: Any
    place: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, Mapping):
            raise wrong(self.place or "the document", "a map", self.value)

    def at(self, name: str) -> str:
        """Return the place of a field."""
        return f"{self.place}.{name}" if self.place else name

    def get(self, name: str) -> Any:
        """Return a field."""
        if name not in self.value:
            raise InvalidInputError(f"{self.at(name)} is missing", field=self.at(name))
        return self.value[name]

    def part(self, name: str, place: str | None = None) -> Part:
        """Return a field that is a map."""
        return Part(self.get(name), place or self.at(name))

    def parts(self, name: str) -> list[Part]:
        """Return a field that is a list of maps."""
        return [Part(item, f"{self.at(name)}[{n}]") for n, item in enumerate(self.items(name))]

    def items(self, name: str) -> list[Any]:
        """Return a field that is a list."""
        value = self.get(name)
        if not isinstance(value, list | tuple):
            raise wrong(self.at(name), "a list", value)
        return list(value)

    def string(self, name: str) -> str:
        """Return a field that is a string."""
        return checks.check_string(self.get(name), self.at(name), max_bytes=sys.maxsize)

    def strings(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of strings."""
        place, items = self.at(name), self.items(name)
        return tuple(checks.check_string(s, f"{place}[{n}]") for n, s in enumerate(items))

    def number(self, name: str, low: float = 0.0, high: float = math.inf) -> float:
        """Return a field that is a finite number."""
        return checks.check_number(self.get(name), self.at(name), low=low, high=high)

    def numbers(self, name: str) -> dict[str, float]:
        """Return a field that is a map of finite numbers."""
        part = self.part(name)
        return {key: part.number(key, -math.inf) for key in part.value}

    def whole(self, name: str) -> int:
        """Return a field that is a whole number, 0 or more."""
        return checks.check_whole(self.get(name), self.at(name), low=0, high=sys.maxsize)

    def optional(self, name: str, read: Callable[[str], T]) -> T | None:
        """Return a field as ``read`` returns it; None if it is null."""
        return None if self.get(name) is None else read(name)

    def choice(self, name: str, choices: Any) -> Any:
        """Return a field that is one of a ``Literal``'s values."""
        value, allowed = self.get(name), get_args(choices)
        if value not in allowed:
            raise wrong(self.at(name), f"one of {', '.join(allowed)}", value)
        return value


def wrong(place: str, wanted: str, value: object) -> InvalidInputError:
    """Return the error about a value of the wrong kind."""
    got = repr(value)[:80] if isinstance(value, str) else f"{kind_of(value)}"
    return InvalidInputError(f"{place} must be {wanted}, got {got}", field=place)


def _memories(top: Part) -> dict[str, MemoryNode]:
    part = top.part("memories")
    return {id_: _memory(part.part(id_, f"memories[{id_!r}]"), id_) for id_ in part.value}


def _memory(part: Part, id_: str) -> MemoryNode:
    if part.string("id") != id_:
        raise wrong(part.at("id"), f"the key it stands under, {id_!r}", part.get("id"))
    return MemoryNode(
        id=id_,
        kind=part.string("kind"),
        text=part.string("text"),
        tags=part.strings("tags"),
        topics=part.strings("topics"),
        entities=part.strings("entities"),
        category=part.optional("category", part.string),
        priority=part.optional("priority", lambda name: part.number(name, -math.inf)),
        when=dict(part.part("when").value),
        created_at=part.optional("created_at", lambda name: time_from(part, name)),
        metadata=dict(part.part("metadata").value),
        valid_until=part.optional("valid_until", lambda name: time_from(part, name)),
    )


def time_from(part: Part, name: str) -> datetime:
    """Return a field that is a time in ISO 8601."""
    try:
        return datetime.fromisoformat(part.string(name))
    except ValueError as exc:
        raise wrong(part.at(name), "in ISO 8601", part.get(name)) from exc


def _exploration(part: Part, memories: Mapping[str, MemoryNode]) -> Exploration:
    seed = seed_from(part.part("seed"))
    stats = part.part("stats")
    return Exploration(
        seed=seed,
        status=part.choice("status", Status),
        paths=tuple(_path(path, seed.id, memories) for path in part.parts("paths")),
        error=part.optional("error", lambda name: _error(part.part(name))),
        stats=ExplorationStats(
            levels=stats.whole("levels"),
            nodes=stats.whole("nodes"),
            elapsed_s=stats.number("elapsed_s"),
            hydrate_s=stats.number("hydrate_s"),
        ),
        activations=tuple(map(_activation, _listed(part, "activations"))),
    )


def _listed(part: Part, name: str) -> list[Part]:
    """Return the maps of a list; an empty list may be left out."""
    return part.parts(name) if name in part.value else []


def _activation(part: Part) -> Activation:
    return Activation(
        id=part.string("id"),
        energy=part.number("energy"),
        source=part.string("source"),
        shares=part.numbers("shares"),
        contributions=tuple(map(_contribution, part.parts("contributions"))),
    )


def _contribution(part: Part) -> Contribution:
    return Contribution(
        step=part.whole("step"),
        source=part.string("source"),
        relation=part.string("relation"),
        direction=part.choice("direction", Direction),
        weight=part.number("weight"),
        energy_in=part.number("energy_in"),
        energy_out=part.number("energy_out", -math.inf),
    )


def seed_from(part: Part) -> Seed:
    """Return the seed that a map describes."""
    try:
        return Seed(
            id=part.get("id"),
            score=part.get("score"),
            vector_rank=part.optional("vector_rank", part.whole),
            vector_score=part.optional("vector_score", lambda name: part.number(name, -1.0)),
            text_rank=part.optional("text_rank", part.whole),
            text_score=part.optional("text_score", part.number),
            scope=scope_in(part),
        )
    except InvalidInputError as exc:
        if exc.field in ("id", "score"):  # `Seed` checks these fields, but does not know the place
            raise InvalidInputError(f"{part.place}.{exc}", field=part.at(exc.field)) from exc
        raise


def _error(part: Part) -> MemoriaError:
    kind = getattr(errors, part.string("type"), None)
    if not (isinstance(kind, type) and issubclass(kind, MemoriaError)):
        kind = MemoriaError
    return kind(part.string("message"))


def _path(part: Part, seed_id: str, memories: Mapping[str, MemoryNode]) -> Path:
    hops = tuple(map(_hop, part.parts("hops")))
    ids = part.strings("ids")
    if part.string("seed_id") != seed_id:
        raise wrong(part.at("seed_id"), f"the id of the seed, {seed_id!r}", part.get("seed_id"))
    if [(hop.source, hop.target) for hop in hops] != list(pairwise(ids)) or ids[:1] != (seed_id,):
        raise InvalidInputError(
            f"{part.at('ids')} must be the seed, then the end of each hop in turn",
            field=part.at("ids"),
        )
    known = [memories[id_] for id_ in ids if id_ in memories]
    return Path(
        seed_id=seed_id,
        hops=hops,
        memories=tuple(known) if len(known) == len(ids) else (),
        end_reason=part.choice("end_reason", EndReason),
        energy=part.number("energy"),
        scope=scope_in(part),
    )


def scope_in(part: Part) -> str:
    """Return the scope of a seed or path; "" if only one scope was read."""
    return part.string("scope") if "scope" in part.value else ""


def _hop(part: Part) -> Hop:
    return Hop(
        source=part.string("source"),
        target=part.string("target"),
        relation=part.string("relation"),
        direction=part.choice("direction", Direction),
        weight=part.number("weight"),
        tags=part.strings("tags"),
        tag_similarity=part.number("tag_similarity"),
        degree=part.whole("degree"),
        energy_in=part.number("energy_in"),
        energy_out=part.number("energy_out"),
    )
