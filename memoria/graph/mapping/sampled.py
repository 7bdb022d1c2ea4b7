"""Compare the properties that a mapping names with those of nodes and relationships.

In: a mapping, rows of ``mapping.sample_nodes`` and ``mapping.sample_edges``, and the names of
properties that the database knows. Out: `Problem`s. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from memoria.graph.mapping.checking import Problem, similar
from memoria.graph.mapping.expressions import quoted
from memoria.graph.mapping.model import GraphMapping, named_mapping, names_of_mappings
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

#: Field that may be left out -> the consequence if no node or relationship has the property.
_WITHOUT: Mapping[str, str] = {
    "text": "it adds nothing to the text",
    "kind": "the label is the kind",
    "created_at": "no time is known",
    "valid_from": "nothing begins by it",
    "valid_until": "nothing ends by it",
    "tags": "there are no tags",
    "relation": "the type is the relation",
    "fact": "no fact is shown",
    "sources": "facts lead to no source",
    "properties": "no memory comes back with it",
}


def unknown_properties(mapping: GraphMapping, known: Collection[str]) -> Iterator[Problem]:
    """Yield the properties of a mapping that the database does not know: they may be mistyped.

    Names that the mapping of a known graph has are passed over: there, some come later, such as the
    time at which the first fact ends.

    Parameters
    ----------
    known
        Names of properties, as ``mapping.property_names`` returns them.
    """
    usual: set[str] = set()
    if mapping.name in names_of_mappings():
        usual = {name for _, _, names in _optional(named_mapping(mapping.name)) for name in names}
    for where, field, names in _optional(mapping):
        if field == "text" and not any(name in known for name in names):
            continue  # the sample says so
        for name in names:
            if name not in known and name not in usual:
                yield Problem(
                    text=f"{where}this database has no property {name!r}, so {_WITHOUT[field]}"
                    f"{similar(name, known, listed=False)}",
                    stops=False,
                )


def _optional(mapping: GraphMapping) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield place, field and names of the properties that may be missing."""
    if not isinstance(mapping.properties, bool):
        line = mapping.places.get("properties", "properties")
        yield f"{line}: ", "properties", mapping.properties
    parts: list[tuple[str, int, NodeMapping | EdgeMapping]] = [
        *(("nodes", number, node) for number, node in enumerate(mapping.nodes)),
        *(("edges", number, edge) for number, edge in enumerate(mapping.edges)),
    ]
    for part, number, each in parts:
        for field in _WITHOUT:
            yield mapping.place(part, number, field), field, _names(each, field)


def _names(part: NodeMapping | EdgeMapping, field: str) -> Sequence[str]:
    names: str | Sequence[str] = getattr(part, field, None) or ()
    return (names,) if isinstance(names, str) else names


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
        for name in _names(mapped, field):
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
