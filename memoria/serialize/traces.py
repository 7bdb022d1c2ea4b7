"""Turn plain data back into the trace of a recall; `memoria.serialize` describes the schema.

In: any value that `json.loads` returned. Out: a `Trace`, or an ``InvalidInputError`` that names the
place. Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoria._support import checks
from memoria.serialize.from_plain import (
    Part,
    explorations_from,
    layers_of,
    needed_from,
    seed_from,
    time_from,
    whole_document,
)
from memoria.types import Seed, Seeds, TimeWindow, Trace


def trace_from(data: object) -> Trace:
    """Return the trace in the data of `plain_recall`.

    Raises
    ------
    InvalidInputError
        A field is missing or not valid; the message names its place, such as ``trace.id``.
    """
    top = whole_document(data)
    trace = top.part("trace")
    timings, contributed = trace.part("timings_s"), trace.part("contributed")
    parts = layers_of(top)
    found = Trace(
        query=top.string("query"),
        query_tags=top.strings("query_tags"),
        scope=checks.check_scope(top.get("scope")),
        started_at=time_from(trace, "started_at"),
        timings_s={stage: timings.number(stage) for stage in timings.value},
        degraded=trace.strings("degraded"),
        notes=trace.strings("notes"),
        id=trace.string("id"),
        seeds=_seeds(parts, trace.strings("degraded")),
        explorations=explorations_from(data),
        needed=needed_from(data),
        config=_settings(trace.part("config")),
        vector=trace.optional("vector", lambda name: _vector(trace, name)),
        vector_generation=trace.whole("vector_generation"),
        contributed={name: contributed.whole(name) for name in contributed.value},
        packed=trace.strings("packed"),
        window=trace.optional("window", lambda name: _window(trace.part(name))),
    )
    if parts == [top]:
        return found
    return replace(found, layers=tuple(_layer(found, part) for part in parts))


def _seeds(layers: Sequence[Part], degraded: tuple[str, ...]) -> Seeds:
    """Read the seeds of all scopes, best first."""

    def listed(name: str) -> tuple[Seed, ...]:
        found = [seed_from(part) for layer in layers for part in layer.parts(name)]
        return tuple(sorted(found, key=lambda one: -one.score) if len(layers) > 1 else found)

    return Seeds(
        seeds=listed("seeds"),
        runners_up=listed("runners_up"),
        degraded=degraded,
        echoes=listed("echoes"),
        loose=tuple(id_ for layer in layers for id_ in layer.strings("loose")),
    )


def _layer(whole: Trace, part: Part) -> Trace:
    """Read the part of a trace that was found in one of its scopes."""
    scope, contributed = checks.check_scope(part.get("scope")), part.part("contributed")
    return replace(
        whole,
        scope=scope,
        seeds=_seeds([part], whole.seeds.degraded),
        explorations=tuple(one for one in whole.explorations if one.seed.scope == scope),
        needed=tuple(one for one in whole.needed if one.scope == scope),
        contributed={name: contributed.whole(name) for name in contributed.value},
        packed=part.strings("packed"),
        vector_generation=part.whole("vector_generation"),
    )


def _settings(part: Part) -> Mapping[str, Any]:
    """Return settings unchecked; they are checked when the recall is run again."""
    return checks.check_json_map(part.value, part.place)


def _window(part: Part) -> TimeWindow:
    """Read the time window of the question."""
    starts, ends = (
        part.optional(name, lambda name: time_from(part, name)) for name in ("starts", "ends")
    )
    return TimeWindow(
        phrase=part.string("phrase"), starts=starts, ends=ends, only=part.get("only") is True
    )


def _vector(part: Part, name: str) -> tuple[float, ...]:
    place = part.at(name)
    return tuple(
        checks.check_number(value, f"{place}[{n}]", low=-math.inf, high=math.inf)
        for n, value in enumerate(part.items(name))
    )
