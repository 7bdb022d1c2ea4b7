"""Compare a mapping with a sample of nodes and relationships: properties of the wrong type.

In: a mapping, and rows of ``mapping.sample_nodes`` and ``mapping.sample_edges``. Out: `Problem`s.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from memoria.graph.mapping.checking import Problem, similar
from memoria.graph.mapping.expressions import quoted
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import ELEMENT_ID, EdgeMapping, NodeMapping

#: Types of the values of a property, by its name.
_Kinds = Mapping[str, set[str]]

_DATETIMES = ("ZONED DATETIME", "LOCAL DATETIME")
#: Field -> types of which one is read, and what comes of a value of another type.
_READ: Mapping[str, tuple[tuple[str, ...], str]] = {
    "created_at": (
        _DATETIMES,
        "not a time, so it is ignored: store datetimes",
    ),
    "valid_from": (
        (*_DATETIMES, "STRING"),
        "not a time, so nothing is left out by it: store datetimes, or texts in ISO 8601",
    ),
    "valid_until": (
        (*_DATETIMES, "STRING"),
        "not a time, so it never ends anything: store datetimes, or texts in ISO 8601",
    ),
    "tags": (("LIST<STRING",), "not a list of texts, so there are no tags"),
    "kind": (("STRING",), "not a text, so the label is the kind: name another property"),
    "relation": (
        ("STRING", "INTEGER", "FLOAT", "BOOLEAN"),
        "not a text, so the type is the relation: name another property",
    ),
    "fact": (
        ("STRING", "INTEGER", "FLOAT", "BOOLEAN"),
        "not a text, so no fact is shown: name another property",
    ),
}


def sample_problems(
    mapping: GraphMapping, number: int, label: str, rows: Sequence[Sequence[object]]
) -> Iterator[Problem]:
    """Yield problems that a sample of the nodes of a label shows in their mapping.

    Parameters
    ----------
    rows
        As ``mapping.sample_nodes`` returns them.
    """
    node, kinds = mapping.nodes[number], _kinds_of(rows)
    for field, name, instead in (
        ("key", node.key, f"key = {ELEMENT_ID!r}"),
        ("scope", node.scope, "map the whole graph as one scope"),
    ):
        if name is None or name == ELEMENT_ID or not rows or "STRING" in kinds.get(name, ()):
            continue
        where = f"{mapping.place('nodes', number, field)}{quoted(label)}"
        if name not in kinds:
            yield Problem(
                text=f"{where}: no node that was looked at has the property {name!r}"
                f"{similar(name, kinds)}"
            )
        else:
            yield Problem(
                text=f"{where}: the {field} {name!r} must be a text, but is "
                f"{_listed(kinds[name])}: use another property, or {instead}"
            )
    if rows and not node.connector and not any(name in kinds for name in node.text):
        yield Problem(
            text=f"{mapping.place('nodes', number, 'text')}{quoted(label)}: no node that was "
            f"looked at has any of {', '.join(map(repr, node.text))}"
            f"{similar(node.text[0], kinds)}",
            stops=False,
        )
    yield from _of_values(mapping, "nodes", number, quoted(label), kinds)


def edge_sample_problems(
    mapping: GraphMapping, number: int, rows: Sequence[Sequence[object]]
) -> Iterator[Problem]:
    """Yield problems that a sample of the relationships of a type shows in their mapping.

    Parameters
    ----------
    rows
        As ``mapping.sample_edges`` returns them.
    """
    label = quoted(mapping.edges[number].type)
    yield from _of_values(mapping, "edges", number, label, _kinds_of(rows))


def _of_values(
    mapping: GraphMapping, part: str, number: int, label: str, kinds: _Kinds
) -> Iterator[Problem]:
    mapped: NodeMapping | EdgeMapping = getattr(mapping, part)[number]
    for field, (read, else_) in _READ.items():
        names = getattr(mapped, field, None) or ()
        for name in (names,) if isinstance(names, str) else names:
            found = kinds.get(name)
            if found and not any(kind.startswith(read) for kind in found):
                yield Problem(
                    text=f"{mapping.place(part, number, field)}{label}: {field} {name!r} is "
                    f"{_listed(found)}, {else_}",
                    stops=False,
                )


def _kinds_of(rows: Iterable[Sequence[object]]) -> _Kinds:
    kinds: dict[str, set[str]] = {}
    for *_, properties in rows:
        for name, kind, *_ in properties:  # type: ignore[attr-defined]
            kinds.setdefault(name, set()).add(kind.removesuffix(" NOT NULL"))
    return kinds


def _listed(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds))
