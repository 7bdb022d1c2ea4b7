"""Run the exploration of a recall again, and compare its paths with the paths of the recall.

In: a `Trace`, and settings to change. Out: a `Replay`. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memoria._support.checks import check_seconds
from memoria.errors import ConfigError
from memoria.recall.explore import ExploreRequest, explore_all
from memoria.recall.plain_settings import exploration_from
from memoria.recall.ranking import FactsRequest
from memoria.recall.strategies import RunInput
from memoria.recall.texts import Found, complete
from memoria.recall.together import with_scope
from memoria.recall.validity import validity_of
from memoria.serialize import plain_explorations
from memoria.store import StoreOrDriver, store_of
from memoria.types import EndReason, Exploration, Hop, Path, Trace

#: Time for a replay whose trace has no deadline; seconds.
DEADLINE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChange:
    """A path that is not the same in both runs.

    Attributes
    ----------
    ids
        Ids of the memories along the path, seed first.
    before, after
        The path in the recall and in the replay; None if that run did not find it. If both are
        given, an energy, a ledger or the reason for the end differs.
    """

    ids: tuple[str, ...]
    before: Path | None
    after: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Result of running the exploration of a recall again.

    Attributes
    ----------
    explorations
        One per seed of the trace, in their order; of several scopes, scope by scope.
    changes
        Paths that differ, by seed, then by the higher of their two energies.
    """

    explorations: tuple[Exploration, ...]
    changes: tuple[PathChange, ...]

    @property
    def identical(self) -> bool:
        """Whether all paths are the same, to the last bit of every energy."""
        return not self.changes


async def replay(
    store: StoreOrDriver,
    trace: Trace,
    changes: Mapping[str, Any] | None = None,
    *,
    database: str | None = None,
) -> Replay:
    """Explore again from the seeds of a recall, with its settings, and compare the paths.

    Same settings and graph give the same paths, to the last bit: ages are counted from the time of
    the recall. Neither the search for seeds nor the embedder is needed, as the trace holds the
    seeds and the vector.

    Parameters
    ----------
    store
        Database of the memories: a `Store`, or an open driver of your own. The scope is the
        trace's scope.
    changes
        Settings to change: the strategy, by name or as an object, one of its settings, such as
        ``{"strategy.max_depth": 3}``, or one of ``max_weight``, ``seeds_per_session``, ``as_of``,
        ``include_outdated`` and ``situation``.
    database
        Name of the database, on a driver of your own; None for ``neo4j``.

    Raises
    ------
    ConfigError
        A setting is not valid, or the trace's strategy is not one of memoria's: give one.
    MemoriaError
        Every exploration failed; the error is that of the first.
    """
    store = store_of(store, database)
    if trace.layers:
        parts = [await replay(store, layer, changes) for layer in trace.layers]
        return Replay(
            explorations=tuple(one for part in parts for one in part.explorations),
            changes=tuple(one for part in parts for one in part.changes),
        )
    config = exploration_from(trace.config, changes)
    deadline_s = trace.config.get("deadline_s", DEADLINE_S)
    check_seconds(deadline_s, "deadline_s", error=ConfigError)
    started = asyncio.get_running_loop().time()
    request = ExploreRequest(
        strategy=config.strategy,
        input=RunInput(
            seeds=trace.seeds.seeds,
            scope=trace.scope,
            query_tags=trace.query_tags,
            max_weight=config.max_weight,
            vector=trace.vector,
            generation=trace.vector_generation,
            now=trace.started_at,
            validity=await validity_of(
                store, config, scope=trace.scope, now=trace.started_at, until=started + deadline_s
            ),
        ),
        started=started,
        until=started + deadline_s,
        seeds_per_session=config.seeds_per_session,
    )
    texts = FactsRequest(scope=trace.scope, until=request.until)
    found = await explore_all(store, request)
    completed = await complete(store, Found(explorations=found), texts, for_ranking=False, notes=[])
    explorations = tuple(map(with_scope, completed.explorations))
    return Replay(explorations=explorations, changes=_changes(trace.explorations, explorations))


def plain_replay(again: Replay) -> dict[str, Any]:
    """Return a replay as plain data: identical, changes, explorations, memories."""
    return {
        "identical": again.identical,
        "changes": [_plain_change(change) for change in again.changes],
        **plain_explorations(again.explorations),
    }


def _plain_change(change: PathChange) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "ids": list(change.ids),
        "before": None if before is None else before.energy,
        "after": None if after is None else after.energy,
    }


def _changes(before: Iterable[Exploration], after: Iterable[Exploration]) -> tuple[PathChange, ...]:
    then, now = _paths(before), _paths(after)
    found = []
    for ids in dict.fromkeys((*then, *now)):
        old, new = then.get(ids), now.get(ids)
        if old is None or new is None or _facts(old) != _facts(new):
            found.append(PathChange(ids=ids, before=old, after=new))
    places = {ids[0]: n for n, ids in reversed(list(enumerate((*then, *now))))}
    return tuple(sorted(found, key=lambda one: (places[one.ids[0]], -_highest(one), one.ids)))


def _paths(explorations: Iterable[Exploration]) -> dict[tuple[str, ...], Path]:
    return {path.ids: path for found in explorations for path in found.paths}


def _facts(path: Path) -> tuple[float, EndReason, tuple[Hop, ...]]:
    """Return the facts to compare; texts are left out, since they may be edited or not read."""
    return path.energy, path.end_reason, path.hops


def _highest(change: PathChange) -> float:
    return max(path.energy for path in (change.before, change.after) if path is not None)
