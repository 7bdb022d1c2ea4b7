"""Check the values that a writer is given.

In: memories, relations, kinds. Out: an error for values that can't be written.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from memoria._support.checks import check_kind
from memoria._support.wording import kind_of, number_of
from memoria.errors import DimensionError, InvalidInputError
from memoria.graph.server_facts import require_online
from memoria.graph.vocabulary import CONNECTOR_KINDS, RESERVED_LABELS
from memoria.ingest.jsonl import at_place
from memoria.ingest.rows import json_text, utc
from memoria.store import ServerFacts
from memoria.types import CoActivation, HistoryItem, Memory, Relation, Suppression
from memoria.types.reports import MAX_PROBLEMS

T = TypeVar("T")


def check_list(values: object, kind: type[Memory] | type[Relation]) -> None:
    """Raise unless ``values`` is a collection, which a single memory or relation is not."""
    one, several = ("memory", "memories") if kind is Memory else ("relation", "relations")
    if isinstance(values, kind):
        got = f"one {kind.__name__}: write [{one}]"
    elif isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        got = kind_of(values)
    else:
        return
    raise InvalidInputError(
        f"{several} must be a list of {kind.__name__}, got {got}", field=several
    )


def check_memory(memory: Memory, kinds: Sequence[str], facts: ServerFacts | None) -> None:
    """Raise unless a memory can be written as one of these kinds.

    Parameters
    ----------
    facts
        Facts about the server; None if the size of its vectors is not known yet.
    """
    if not isinstance(memory, Memory):
        raise InvalidInputError(f"memories must contain Memory, got {kind_of(memory)}")
    if memory.kind not in kinds:
        raise InvalidInputError(
            f"kind must be one of {', '.join(kinds)}, got {memory.kind!r}: "
            "give other kinds to the GraphWriter as kinds",
            field="kind",
        )
    for name in ("when", "metadata"):
        json_text(getattr(memory, name), name)
    for name in ("created_at", "valid_until"):
        utc(getattr(memory, name), name)
    if isinstance(memory.embedding, tuple) and facts is not None:
        require_online(facts.vector_index, facts)
        size = len(memory.embedding)
        if size != facts.dimensions:
            raise DimensionError(
                f"embedding has {number_of(size, 'dimension')}, but the index holds "
                f"{facts.dimensions}: embed it with the embedder of the index",
                field="embedding",
            )


def check_relation(relation: Relation | HistoryItem) -> None:
    """Raise unless a relation, or an item of a scope's history, can be written."""
    if isinstance(relation, HistoryItem):  # such an item is checked when it is made
        return
    if not isinstance(relation, Relation):
        raise InvalidInputError(f"relations must contain Relation, got {kind_of(relation)}")
    if relation.source == relation.target:
        raise InvalidInputError(
            f"target must be another memory than source, both are {relation.source!r}",
            field="target",
        )


def has_ends(relation: Relation | Suppression | CoActivation, missing: frozenset[str]) -> bool:
    """Tell whether both ends of a relation exist."""
    return relation.source not in missing and relation.target not in missing


def missing_error(missing: Iterable[str], scope: str) -> InvalidInputError:
    """Return the error about edges whose ends are not in the scope."""
    names = sorted(missing)
    shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    what = number_of(len(names), "memory that is", "memories that are")
    return InvalidInputError(
        f"edges name {what} not in scope {scope!r}: {shown}; write these memories first",
        field="source" if len(names) > 1 else None,
    )


def check_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kind labels and those of connectors, each once; raise unless each is valid."""
    if isinstance(kinds, str | bytes):
        raise InvalidInputError("kinds must be a list of labels, got one string", field="kinds")
    checked = tuple(dict.fromkeys(check_kind(kind, "kinds") for kind in kinds))
    if not checked:
        raise InvalidInputError("kinds must name at least one label", field="kinds")
    if reserved := RESERVED_LABELS.intersection(checked):
        raise InvalidInputError(
            f"kinds must not name {', '.join(sorted(reserved))}: memoria itself uses that label",
            field="kinds",
        )
    return tuple(dict.fromkeys((*checked, *CONNECTOR_KINDS)))


def missing_end(
    edge: Relation | Suppression | CoActivation, missing: frozenset[str], scope: str
) -> InvalidInputError:
    """Return the error about one edge that lacks an end."""
    field, value = ("source", edge.source) if edge.source in missing else ("target", edge.target)
    return InvalidInputError(f"{field} {value!r} is not a memory of scope {scope!r}", field=field)


class LeftOut:
    """Counts the values that are left out because they are not valid, and keeps the first reasons.

    Parameters
    ----------
    skip_invalid
        Leave values out; False raises the first error.
    """

    def __init__(self, *, skip_invalid: bool = False) -> None:
        self.skip_invalid = skip_invalid
        self.count = 0
        self.problems: tuple[str, ...] = ()

    def add(self, error: InvalidInputError) -> None:
        """Leave out the value that the error names, or raise it."""
        if not self.skip_invalid:
            raise error
        self.count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems += (str(error),)

    def without(self, memories: Iterable[Memory], check: Callable[[Memory], None]) -> list[Memory]:
        """Return the memories that pass a check; the error about another one names it."""
        passed = []
        for memory in memories:
            try:
                check(memory)
            except InvalidInputError as exc:
                self.add(at_place(exc, named(memory, 0)))
            else:
                passed.append(memory)
        return passed

    def valid(self, values: Iterable[T], check: Callable[[T], None], *, first: int) -> list[T]:
        """Return the values that pass a check; the error about another one names it.

        Parameters
        ----------
        first
            Place of the first value in the list that the caller was given.
        """
        passed = []
        for number, value in enumerate(values, first):
            try:
                check(value)
            except InvalidInputError as exc:
                error = at_place(exc, named(value, number))
                error.item = number
                if not self.skip_invalid:
                    raise error from exc
                self.add(error)
            else:
                passed.append(value)
        return passed


def named(value: object, number: int) -> str:
    """Name a value of a list for a message: by its id, or by its place."""
    if isinstance(value, Memory):
        return f"memory {value.id!r}"
    if isinstance(value, Relation):
        return f"edge {value.source!r} to {value.target!r}"
    return f"item {number + 1}"
