"""Rank and pack the results of several scopes together.

In: the results of each scope. Out: the same as if one scope contained them, under ids that tell the
scope; then ranked memories and a context, under the ids that the scopes have. Touches nothing.

Each scope is searched and explored by itself, so no edge joins memories of two scopes. Only the
ranking and the context see all of them: they compare each memory with those of all scopes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from memoria.errors import InvalidInputError
from memoria.recall.config import RetrieverConfig
from memoria.recall.explore import ExploreRequest, HydrateAt, Listener, explore
from memoria.recall.packing import contributed, packed
from memoria.recall.ranking import NOTHING_KNOWN, Facts
from memoria.recall.strategies import RunInput
from memoria.recall.texts import Completed
from memoria.recall.validity import validity_of
from memoria.store import Store
from memoria.types import (
    ContextPack,
    Exploration,
    MemoryNode,
    OmittedItem,
    Path,
    RankedMemory,
    Seed,
    Seeds,
    Trace,
)
from memoria.types.renaming import Renamer, bare_id, key_prefix, prefix_of

_T = TypeVar("_T")


def naming(scope: str, on_path: Callable[[Path], None]) -> Callable[[Path], None]:
    """Return a callback that takes paths of a scope, and hands them on with its name."""
    return (lambda path: on_path(replace(path, scope=scope))) if scope else on_path


def check_read(scopes: Iterable[str], read: Sequence[str], field: str) -> None:
    """Check the scopes that seeds or paths name; "" is that of the retriever."""
    if unread := [scope for scope in scopes if scope not in ("", *read)]:
        raise InvalidInputError(
            f"{field} are of scope {unread[0]!r:.80}, which is not read: open it with also_read",
            field=field,
        )


async def requests_of(
    store: Store,
    seeds: Sequence[Seed],
    *,
    scope: str,
    query_tags: tuple[str, ...],
    config: RetrieverConfig,
    hydrate_at: HydrateAt,
) -> dict[str, ExploreRequest]:
    """Return what to explore in each scope that seeds name; in ``scope`` if they name none.

    The time for it begins now.
    """
    started, now = asyncio.get_running_loop().time(), datetime.now(UTC)
    until = started + config.deadline_s
    requests: dict[str, ExploreRequest] = {}
    for name in dict.fromkeys(seed.scope for seed in seeds) or ("",):
        of = name or scope
        requests[name] = ExploreRequest(
            strategy=config.strategy,
            input=RunInput(
                seeds=tuple(seed for seed in seeds if seed.scope == name),
                scope=of,
                query_tags=query_tags,
                max_weight=config.max_weight,
                now=now,
                validity=await validity_of(store, config, scope=of, now=now, until=until),
            ),
            started=started,
            until=until,
            hydrate_at=hydrate_at,
            seeds_per_session=config.seeds_per_session or 1,
        )
    return requests


async def explore_each(
    store: Store, requests: Mapping[str, ExploreRequest], listener: Listener
) -> None:
    """Explore in several scopes at the same time.

    Parameters
    ----------
    requests
        Name of a scope -> what to explore in it. Paths get this name.
    """

    def named(scope: str) -> Listener:
        def on_exploration(found: Exploration) -> None:
            listener.on_exploration(with_scope(found))

        return Listener(on_exploration=on_exploration, on_path=naming(scope, listener.on_path))

    runs = (explore(store, request, named(scope)) for scope, request in requests.items())
    # All end before an error is raised: none runs on without being awaited.
    for end in await asyncio.gather(*runs, return_exceptions=True):
        if end is not None:
            raise end


def with_scope(found: Exploration) -> Exploration:
    """Return an exploration whose paths name the scope that its seed names."""
    scope = found.seed.scope
    if not scope:
        return found
    return replace(found, paths=tuple(replace(path, scope=scope) for path in found.paths))


def in_scope(found: Seeds, scope: str) -> Seeds:
    """Return the result of a search whose seeds name the scope."""

    def named(seeds: Iterable[Seed]) -> tuple[Seed, ...]:
        return tuple(replace(one, scope=scope) for one in seeds)

    return replace(
        found,
        seeds=named(found.seeds),
        runners_up=named(found.runners_up),
        echoes=named(found.echoes),
    )


def part_of(chosen: Seeds, found: Seeds, scope: str) -> Seeds:
    """Return those seeds and other hits that are of a scope, which found more."""

    def own(seeds: Iterable[Seed]) -> tuple[Seed, ...]:
        return tuple(one for one in seeds if one.scope == scope)

    return replace(
        found,
        seeds=own(chosen.seeds),
        runners_up=own(chosen.runners_up),
        echoes=own(chosen.echoes),
    )


def part_of_trace(
    trace: Trace, seeds: Seeds, ranked: Iterable[RankedMemory], context: ContextPack
) -> Trace:
    """Return the part of a trace that was found in one of its scopes, ``trace.scope``."""
    scope = trace.scope
    explorations = tuple(one for one in trace.explorations if one.seed.scope == scope)
    items = [one for one in context.items if one.scope == scope]
    return replace(
        trace,
        seeds=seeds,
        explorations=explorations,
        needed=tuple(one for one in trace.needed if one.scope == scope),
        contributed=contributed(seeds, explorations, items),
        packed=packed((one for one in ranked if one.scope == scope), context),
    )


@dataclass(slots=True)
class Together:
    """The results of several scopes, under ids that tell the scope.

    Attributes
    ----------
    found
        The results, under these ids.
    named
        The same under the ids that the scopes have; paths, seeds and edges name the scope.
    """

    scopes: Sequence[str]
    found: Completed
    named: Completed
    _paths: dict[int, tuple[Path, Path]]  # with the new one, as in `Renamer`
    _memories: dict[str, MemoryNode] = field(default_factory=dict)

    @classmethod
    def of(cls, layers: Mapping[str, Completed], order: Sequence[Seed]) -> Together:
        """Put the results of scopes together; explorations in the order of the seeds."""
        paths: dict[int, tuple[Path, Path]] = {}
        keyed: list[Completed] = []
        named: list[Completed] = []
        for number, (scope, found) in enumerate(layers.items()):
            renamer = Renamer(key_prefix(number))

            def placed(path: Path, scope: str = scope) -> Path:
                return replace(path, scope=scope)

            def renamed(path: Path, renamer: Renamer = renamer) -> Path:
                new = renamer.path(path)
                paths[id(new)] = new, path
                return new

            own = _each_path(found, placed)
            edges = tuple(replace(edge, scope=scope) for edge in found.facts.edges)
            named.append(replace(own, facts=replace(NOTHING_KNOWN, edges=edges)))
            keyed.append(replace(_each_path(own, renamed), facts=_renamed(found.facts, renamer)))
        return cls(list(layers), _joined(keyed, order), _joined(named, order), paths)

    def keys(self, seeds: Iterable[tuple[str, str]]) -> set[str]:
        """Return the ids that stand for memories, given by scope and id."""
        numbers = {scope: number for number, scope in enumerate(self.scopes)}
        return {key_prefix(numbers[scope]) + id_ for scope, id_ in seeds}

    def ranked(self, ranked: Iterable[RankedMemory]) -> tuple[RankedMemory, ...]:
        """Return ranked memories under the ids that their scopes have."""
        return tuple(
            replace(
                one,
                memory=self._memory(one.memory),
                path=self._path(one.path),
                needed_by={bare_id(key): weight for key, weight in one.needed_by.items()},
                adjacent=tuple(map(bare_id, one.adjacent)),
                session=None if one.session is None else (bare_id(one.session[0]), one.session[1]),
                newer=None if one.newer is None else bare_id(one.newer),
            )
            for one in ranked
        )

    def context(self, packed: ContextPack) -> ContextPack:
        """Return a context whose items have the ids that their scopes have."""
        return replace(
            packed,
            items=tuple(
                replace(one, id=bare_id(one.id), path=self._path(one.path)) for one in packed.items
            ),
            omitted=tuple(map(self._omitted, packed.omitted)),
        )

    def scope_of(self, key: str) -> str:
        """Return the scope of a memory."""
        return self.scopes[int(prefix_of(key)[1:-1])]

    def _omitted(self, one: OmittedItem) -> OmittedItem:
        other = one.duplicate_of
        return replace(
            one,
            id=bare_id(one.id),
            scope=self.scope_of(one.id),
            duplicate_of=None if other is None else bare_id(other),
            duplicate_scope="" if other is None else self.scope_of(other),
        )

    def _memory(self, memory: MemoryNode) -> MemoryNode:
        if memory.id not in self._memories:
            self._memories[memory.id] = replace(memory, id=bare_id(memory.id))
        return self._memories[memory.id]

    def _path(self, path: Path) -> Path:
        """Return the path as the scope has it; one that packing made is renamed back."""
        if id(path) in self._paths:
            return self._paths[id(path)][1]
        return Path(
            seed_id=bare_id(path.seed_id),
            hops=(),
            memories=tuple(map(self._memory, path.memories)),
            end_reason=path.end_reason,
            energy=path.energy,
            scope=self.scope_of(path.seed_id),
        )


def _each_path(found: Completed, change: Callable[[Path], Path]) -> Completed:
    """Return what was found with each of its paths changed."""
    return replace(
        found,
        explorations=tuple(
            replace(each, paths=tuple(map(change, each.paths))) for each in found.explorations
        ),
        hits=tuple(map(change, found.hits)),
        needed=tuple(map(change, found.needed)),
    )


def _joined(parts: Sequence[Completed], order: Sequence[Seed]) -> Completed:
    """Return what was found in several scopes as one."""
    places = {(seed.scope, seed.id): place for place, seed in enumerate(order)}
    explorations = [one for part in parts for one in part.explorations]
    explorations.sort(key=lambda one: places[one.seed.scope, one.seed.id])
    hits = sorted((one for part in parts for one in part.hits), key=lambda one: -one.energy)
    return Completed(
        explorations=tuple(explorations),
        hits=tuple(hits),
        needed=tuple(one for part in parts for one in part.needed),
        facts=_joined_facts([part.facts for part in parts]),
    )


def _renamed(facts: Facts, to: Renamer) -> Facts:
    """Return facts under other ids."""

    def keyed(known: Mapping[str, _T]) -> dict[str, _T]:
        return {to.id(id_): value for id_, value in known.items()}

    return replace(
        facts,
        cosines=keyed(facts.cosines),
        degrees=keyed(facts.degrees),
        neighbours={
            to.id(id_): [(to.id(other), weight, outgoing) for other, weight, outgoing in others]
            for id_, others in facts.neighbours.items()
        },
        past=keyed(facts.past),
        needs={to.id(id_): keyed(others) for id_, others in facts.needs.items()},
        adjacent={to.id(id_): [*map(to.id, others)] for id_, others in facts.adjacent.items()},
        edges=tuple(
            replace(each, source=to.id(each.source), target=to.id(each.target))
            for each in facts.edges
        ),
        sessions={
            to.id(id_): (to.id(session), size) for id_, (session, size) in facts.sessions.items()
        },
        opening={to.id(id_) for id_ in facts.opening},
        alike={to.id(id_): keyed(others) for id_, others in facts.alike.items()},
        probed=keyed(facts.probed),
    )


def _joined_facts(parts: Sequence[Facts]) -> Facts:
    """Return the facts of several scopes as one."""

    def merged(known: Iterable[Mapping[str, _T]]) -> dict[str, _T]:
        return {key: value for each in known for key, value in each.items()}

    return replace(
        NOTHING_KNOWN,
        cosines=merged(each.cosines for each in parts),
        degrees=merged(each.degrees for each in parts),
        neighbours=merged(each.neighbours for each in parts),
        past=merged(each.past for each in parts),
        needs=merged(each.needs for each in parts),
        adjacent=merged(each.adjacent for each in parts),
        edges=tuple(edge for each in parts for edge in each.edges),
        sessions=merged(each.sessions for each in parts),
        opening={id_ for each in parts for id_ in each.opening},
        alike=merged(each.alike for each in parts),
        probed=merged(each.probed for each in parts),
    )
