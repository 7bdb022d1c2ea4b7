"""Put memories and relations into the scopes of a dataset: one, or one for each conversation.

In: nodes and the lines of an edges file. Out: memories and relations of each scope. Touches
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from memoria.errors import InvalidInputError
from memoria.evaluation.files import Entry
from memoria.evaluation.nodes import Node
from memoria.graph.vocabulary import RELATED
from memoria.types import Memory, Relation


def memories_of(
    nodes: Iterable[Node], scopes: Mapping[str | None, str]
) -> dict[str, tuple[Memory, ...]]:
    """Put each memory into its scope; a memory without a conversation is in all scopes."""
    found: dict[str, list[Memory]] = {scope: [] for scope in scopes.values()}
    for node in nodes:
        for scope in _scopes_of(node.conversation, scopes):
            found[scope].append(node.memory)
    return {scope: tuple(memories) for scope, memories in found.items()}


def _scopes_of(conversation: str | None, scopes: Mapping[str | None, str]) -> list[str]:
    return [scopes[conversation]] if conversation is not None else list(scopes.values())


def relations_of(
    entries: Iterable[Entry],
    nodes: Iterable[Node],
    scopes: Mapping[str | None, str],
    left_out: Counter[str],
) -> dict[str, tuple[Relation, ...]]:
    """Read the edges; of several edges with the same ends and name, the strongest stays.

    Parameters
    ----------
    left_out
        Counts the edges that are left out, by reason.

    Raises
    ------
    InvalidInputError
        A field is wrong; the message names the place.
    """
    of = {node.memory.id: node.conversation for node in nodes}
    found: dict[str, dict[tuple[str, str, str], Relation]] = {s: {} for s in scopes.values()}
    for relation in _read(entries, of, left_out):
        ends = {of[relation.source], of[relation.target]} - {None}
        if len(ends) > 1:
            left_out["edge between two conversations"] += 1
            continue
        key = (relation.source, relation.target, relation.relation)
        for scope in _scopes_of(next(iter(ends), None), scopes):
            known = found[scope].get(key)
            if known is None or relation.weight > known.weight:
                found[scope][key] = relation
    return {scope: tuple(relations.values()) for scope, relations in found.items()}


def _read(
    entries: Iterable[Entry], known: Mapping[str, str | None], left_out: Counter[str]
) -> Iterator[Relation]:
    for entry in entries:
        source, target = entry.string("s"), entry.string("t")
        if source == target:
            left_out["edge from a node to itself"] += 1
            continue
        if source not in known or target not in known:
            left_out["edge with an end that is not a node"] += 1
            continue
        weight = entry.fields.get("w")
        try:
            yield Relation(
                source=source,
                target=target,
                relation=entry.optional_string("type") or RELATED,
                weight=1.0 if weight is None else weight,
            )
        except InvalidInputError as exc:
            field = {"weight": "w", "relation": "type"}.get(exc.field or "", exc.field)
            raise entry.fault(f"{field}: {exc}", field) from exc
