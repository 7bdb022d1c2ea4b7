"""Turn results into plain data for JSON, and plain data into explorations and traces.

In: explorations or a recall. Out: maps, lists, strings, numbers. Back: explorations or a trace.
Touches nothing.

`plain_explorations` gives::

    {"explorations": [{"seed": {...}, "status", "error": null | {"type", "message"},
                       "stats": {...}, "paths": [{"seed_id", "ids": [...], "energy",
                       "end_reason", "hops": [{...}]}],
                       "activations": [{"id", "energy", "source", "shares": {name: value},
                                        "contributions": [{...}]}]}],
     "memories": {id: {...}}}

and `plain_recall` adds to it::

    {"query", "query_tags": [...], "scope", "seeds": [{...}], "runners_up": [{...}],
     "echoes": [{...}], "loose": [ids],
     "hits": [a path, as above], "needed": [a path, as above],
     "edges": [{"source", "target", "relation"}],
     "ranked": [{"id", "score", "path": [ids], "features": {name: value},
                 "shares": {name: value}, "relevance": null | number,
                 "needed_by": {id: weight}, "newer": null | id, "adjacent": [ids],
                 "session": [id, size]}],
     "context": {"text", "tokens",
                 "items": [{"label", "id", "kind", "date", "score", "path": [ids]}],
                 "omitted": [{"id", "score", "reason", "duplicate_of"}]},
     "trace": {"id", "started_at", "timings_s": {stage: seconds}, "degraded": [...],
               "notes": [...], "config": {stage: {setting: value}}, "vector": null | [numbers],
               "vector_generation": number, "contributed": {name: number}, "packed": [ids],
               "window": null | {"phrase", "starts": null | time, "ends": null | time, "only"},
               "frontiers": [{"seed_id", "levels": [[[id, energy]]]}]}}

Where several scopes were read, ``seeds``, ``runners_up``, ``echoes``, ``loose``, ``explorations``,
``hits``, ``needed``, ``edges`` and ``memories`` are in ``layers``, a list with a map for each
scope, because two scopes may have equal ids; each map also has ``scope``, ``packed``,
``contributed`` and ``vector_generation``. Each seed, path, edge, ranked memory and item then has
its ``scope``, and each duplicate that was left out has ``duplicate_scope``.

`brief_recall` gives what a reader needs of a recall::

    {"query", "query_tags", "scope", "context": {"text", "tokens", "items"},
     "left_out": {reason: number}, "best_relevance": null | number,
     "ranked": [{"id", "rank", "score", "relevance"}],
     "paths": [a path to the context, as above], "more_paths": number, "memories": {id: {...}},
     "trace": {"id", "started_at", "timings_s", "degraded", "notes", "window"}}

`trace_from` reads the data of `plain_recall` as a `Trace`, to learn from it or to run it again;
`hits_from`, `needed_from`, `edges_from` and `ranked_from` read the rest, to pack it again.

``{...}`` stands for all fields of the type (`Seed`, `ExplorationStats`, `Hop`, `Contribution`,
`MemoryNode`). ``activations`` are left out if there are none, as with transfer energy.
Times are ISO 8601. ``memories`` has each memory once, without those whose text could not be read.
Later versions may add fields, but never rename or drop a field.
"""

from memoria.serialize.from_plain import (
    edges_from,
    explorations_from,
    hits_from,
    needed_from,
    ranked_from,
)
from memoria.serialize.to_plain import (
    brief_recall,
    plain_context,
    plain_explorations,
    plain_memory,
    plain_neighbourhood,
    plain_path,
    plain_recall,
    plain_seed,
)
from memoria.serialize.traces import trace_from

__all__ = [
    "brief_recall",
    "edges_from",
    "explorations_from",
    "hits_from",
    "needed_from",
    "plain_context",
    "plain_explorations",
    "plain_memory",
    "plain_neighbourhood",
    "plain_path",
    "plain_recall",
    "plain_seed",
    "ranked_from",
    "trace_from",
]
