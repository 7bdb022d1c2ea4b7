"""Turn results into plain data; `memoria.serialize` describes the schema.

In: explorations, a recall, a context. Out: maps, lists, strings, numbers. Touches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from memoria.errors import InvalidInputError
from memoria.types import (
    Activation,
    ContextPack,
    Exploration,
    MemoryNode,
    Neighbourhood,
    Path,
    Recall,
    Seed,
    TimeWindow,
)

Plain = dict[str, Any]


def plain_explorations(explorations: Iterable[Exploration]) -> Plain:
    """Return explorations, and the memories along their paths, as plain data."""
    found = list(explorations)
    return {
        "explorations": [_plain_exploration(one) for one in found],
        "memories": _plain_memories(path for one in found for path in one.paths),
    }


def _plain_window(window: TimeWindow) -> Plain:
    times = {"starts": window.starts, "ends": window.ends}
    plain = {name: time and time.isoformat() for name, time in times.items()}
    return {"phrase": window.phrase, **plain, "only": window.only}


def plain_recall(recall: Recall) -> Plain:
    """Return all results of a recall as plain data."""
    trace = recall.trace
    return {
        "query": trace.query,
        "query_tags": list(trace.query_tags),
        "scope": trace.scope,
        **(_plain_layers(recall) if trace.layers else _plain_found(recall)),
        "ranked": [
            {
                **_scope_of(ranked.scope),
                "id": ranked.id,
                "score": ranked.score,
                "path": list(ranked.path.ids),
                "features": dict(ranked.features),
                "shares": dict(ranked.shares),
                "relevance": ranked.relevance,
                "needed_by": dict(ranked.needed_by),
                "newer": ranked.newer,
                "adjacent": list(ranked.adjacent),
                "session": None if ranked.session is None else list(ranked.session),
            }
            for ranked in recall.ranked
        ],
        "context": plain_context(recall.context),
        "trace": {
            "id": trace.id,
            "started_at": trace.started_at.isoformat(),
            "timings_s": dict(trace.timings_s),
            "degraded": list(trace.degraded),
            "notes": list(trace.notes),
            "config": dict(trace.config),
            "vector": None if trace.vector is None else list(trace.vector),
            "vector_generation": trace.vector_generation,
            "contributed": dict(trace.contributed),
            "packed": list(trace.packed),
            "window": None if trace.window is None else _plain_window(trace.window),
            "frontiers": [
                {
                    **_scope_of(found.seed.scope),
                    "seed_id": found.seed.id,
                    "levels": [[list(pair) for pair in level] for level in found.frontiers],
                }
                for found in recall.explorations
            ],
        },
    }


def _plain_layers(recall: Recall) -> Plain:
    """Return what was found in each of several scopes, which may have equal ids."""
    layers = []
    for trace in recall.trace.layers:
        found = replace(
            recall,
            seeds=trace.seeds,
            explorations=trace.explorations,
            hits=tuple(hit for hit in recall.hits if hit.scope == trace.scope),
            needed=trace.needed,
            edges=tuple(edge for edge in recall.edges if edge.scope == trace.scope),
        )
        layers.append(
            {
                "scope": trace.scope,
                **_plain_found(found),
                "packed": list(trace.packed),
                "contributed": dict(trace.contributed),
                "vector_generation": trace.vector_generation,
            }
        )
    return {"layers": layers}


def _plain_found(recall: Recall) -> Plain:
    found = plain_explorations(recall.explorations)
    return {
        "seeds": [plain_seed(seed) for seed in recall.seeds.seeds],
        "runners_up": [plain_seed(seed) for seed in recall.seeds.runners_up],
        "echoes": [plain_seed(seed) for seed in recall.seeds.echoes],
        "loose": list(recall.seeds.loose),
        "explorations": found["explorations"],
        "hits": [plain_path(path) for path in recall.hits],
        "needed": [plain_path(path) for path in recall.needed],
        "edges": [_without_empty_scopes(asdict(edge)) for edge in recall.edges],
        "memories": {**_plain_memories((*recall.hits, *recall.needed)), **found["memories"]},
    }


def plain_seed(seed: Seed) -> Plain:
    """Return a seed as plain data; with ``scope`` only if it names one."""
    return _without_empty_scopes(asdict(seed))


def _scope_of(scope: str) -> Plain:
    return {"scope": scope} if scope else {}


def _without_empty_scopes(plain: Plain) -> Plain:
    return {name: value for name, value in plain.items() if value or not name.endswith("scope")}


def brief_recall(recall: Recall) -> Plain:
    """Return the context of a recall and the paths that lead to it as plain data.

    The document has neither the other paths nor the settings, so a recall can't be learned from,
    packed or run again from it.
    """
    trace, leading = recall.trace, recall.leading
    context = plain_context(recall.context)
    packed = {(item.scope, item.id) for item in recall.context.items}
    scopes = [layer.scope for layer in trace.layers]
    return {
        "query": trace.query,
        "query_tags": list(trace.query_tags),
        "scope": trace.scope,
        "context": {name: context[name] for name in ("text", "tokens", "items")},
        "left_out": recall.context.omitted_by_reason,
        "best_relevance": recall.best_relevance,
        "ranked": [
            {
                **_scope_of(each.scope),
                "id": each.id,
                "rank": rank,
                "score": each.score,
                "relevance": each.relevance,
            }
            for rank, each in enumerate(recall.ranked, start=1)
            if (each.scope, each.id) in packed
        ],
        "paths": [_without_end(plain_path(path)) for path in leading.paths],
        "more_paths": leading.others,
        **(
            {"layers": [_plain_layer(scope, leading.paths) for scope in scopes]}
            if scopes
            else {"memories": _plain_memories(leading.paths)}
        ),
        "trace": {
            "id": trace.id,
            "started_at": trace.started_at.isoformat(),
            "timings_s": dict(trace.timings_s),
            "degraded": list(trace.degraded),
            "notes": list(trace.notes),
            "window": None if trace.window is None else _plain_window(trace.window),
        },
    }


def _plain_layer(scope: str, paths: Iterable[Path]) -> Plain:
    own = [path for path in paths if path.scope == scope]
    return {"scope": scope, "memories": _plain_memories(own)}


def _without_end(path: Plain) -> Plain:
    """Leave out why a path ends: those that lead to a context are cut after its last memory."""
    return {name: value for name, value in path.items() if name != "end_reason"}


def plain_context(context: ContextPack) -> Plain:
    """Return a context as plain data; a path becomes a list of ids."""
    return {
        "text": context.text,
        "tokens": context.tokens,
        "items": [
            {
                **_scope_of(item.scope),
                "label": item.label,
                "id": item.id,
                "kind": item.kind,
                "date": _iso(item.date),
                "score": item.score,
                "path": list(item.path.ids),
            }
            for item in context.items
        ],
        "omitted": [_without_empty_scopes(asdict(item)) for item in context.omitted],
    }


def _plain_exploration(exploration: Exploration) -> Plain:
    error = exploration.error
    plain = {
        "seed": plain_seed(exploration.seed),
        "status": exploration.status,
        "error": None if error is None else {"type": type(error).__name__, "message": str(error)},
        "stats": asdict(exploration.stats),
        "paths": [plain_path(path) for path in exploration.paths],
    }
    if exploration.activations:
        plain["activations"] = [_plain_activation(entry) for entry in exploration.activations]
    return plain


def _plain_activation(entry: Activation) -> Plain:
    return {
        "id": entry.id,
        "energy": entry.energy,
        "source": entry.source,
        "shares": dict(entry.shares),
        "contributions": [asdict(each) for each in entry.contributions],
    }


def plain_path(path: Path) -> Plain:
    """Return a path as plain data, without its memories."""
    return {
        **_scope_of(path.scope),
        "seed_id": path.seed_id,
        "ids": list(path.ids),
        "energy": path.energy,
        "end_reason": path.end_reason,
        "hops": [{**asdict(hop), "tags": list(hop.tags)} for hop in path.hops],
    }


def _plain_memories(paths: Iterable[Path]) -> dict[str, Plain]:
    """Return the memories along paths, each memory once."""
    known = {memory.id: memory for path in paths for memory in path.memories}
    return {id_: plain_memory(memory) for id_, memory in known.items()}


def plain_memory(memory: MemoryNode) -> Plain:
    """Return a memory as plain data."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory.text,
        "tags": list(memory.tags),
        "topics": list(memory.topics),
        "entities": list(memory.entities),
        "category": memory.category,
        "priority": _finite(memory.priority, memory.id),
        "when": _finite(dict(memory.when), memory.id),
        "created_at": _iso(memory.created_at),
        "metadata": _finite(dict(memory.metadata), memory.id),
        "valid_until": _iso(memory.valid_until),
    }


def plain_neighbourhood(found: Neighbourhood) -> Plain:
    """Return a memory and its edges as plain data."""
    return {
        "memory": None if found.memory is None else plain_memory(found.memory),
        "degree": found.degree,
        "neighbours": [
            {**asdict(each), "tags": list(each.tags), "memory": plain_memory(each.memory)}
            for each in found.neighbours
        ],
    }


def _finite(value: Any, id_: str) -> Any:
    """Return a copy with None for NaN and the infinities, which JSON does not have."""
    try:
        return json.loads(json.dumps(value), parse_constant=lambda _: None)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInputError(f"memory {id_!r} holds a value that JSON can't: {exc}") from exc


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()
