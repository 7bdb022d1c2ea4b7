"""Load query texts from ``cypher/``, and check each query once.

In: a name such as ``strategies.level``. Out: the text, mode and parameters of that query.
The files lie in ``memoria/_cypher`` in a wheel and in ``cypher/`` in a checkout. A rule that
several queries share is a fragment in ``_shared``; a line ``// use: name(args)`` puts it there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal, LiteralString, cast

from neo4j.time import DateTime

from memoria.errors import ConfigError
from memoria.store.fragments import Fragment, Library, expand

_HEADER = re.compile(r"// (name|mode|params|returns|needs|again): ?(.*)")
_PARAM = re.compile(r"\$p\.([a-z_]+)")
_BARE_PARAM = re.compile(r"\$(?!p\.|\()")  # $(...) is a dynamic label, not a parameter
# The property with the vector of a memory, which the files call `m` or `n`; and its index.
_VECTOR = re.compile(r"(?<=\b[mn]\.)embedding\b|\bmemory_embedding\b")

#: What is wrong with the answer to another query.
OTHER_COLUMNS = "other columns than those of the query"


# Names that Cypher gives to types -> what the driver makes of their values. Not `isinstance`: a
# bool is an int in Python.
_TYPES: dict[str, type] = {
    "BOOLEAN": bool,
    "FLOAT": float,
    "INTEGER": int,
    "LIST": list,
    "MAP": dict,
    "NULL": type(None),
    "STRING": str,
    "ZONED DATETIME": DateTime,
}
_ANY: frozenset[type] = frozenset()
_COLUMN = re.compile(r"(\w+)(?: ([A-Z |]+?)(?:(?<=LIST)<([A-Z |]+)>)?( \| [A-Z |]+)?)?")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a query's answer.

    Attributes
    ----------
    types
        What its values may be; empty for anything.
    elements
        What the elements of its lists may be; empty for anything.
    """

    name: str
    types: frozenset[type] = _ANY
    elements: frozenset[type] = _ANY

    @classmethod
    def parse(cls, text: str) -> Column:
        """Read a column with its type, such as ``tags LIST<STRING> | NULL``; or its name alone."""
        if not (match := _COLUMN.fullmatch(text)):
            raise ValueError(f"can't read the column {text!r}: write name TYPE, or its name alone")
        name, first, elements, others = match.groups(default="")
        return cls(name, _types(first + others), _types(elements))

    def takes(self, value: object) -> bool:
        """Tell whether a value has a type of this column.

        >>> Column.parse("ids LIST<STRING>").takes(["a", "b"])
        True
        >>> Column.parse("ids LIST<STRING>").takes([5])
        False
        """
        if self.types and type(value) not in self.types:
            return False
        if self.elements and isinstance(value, list):
            return self.elements.issuperset(map(type, value))
        return True

    def unlike(self, value: object) -> str:
        """Say of which type a value is that this column does not take; never the value itself.

        >>> Column.parse("ids LIST<STRING>").unlike(["a", 5])
        'its column ids has a list of int, str'
        """
        inside = sorted({type(each).__name__ for each in value}) if isinstance(value, list) else []
        of = f" of {', '.join(inside)}" if inside else ""
        return f"its column {self.name} has a {type(value).__name__}{of}"


def _types(text: str) -> frozenset[type]:
    names = [name.strip() for name in text.split("|")] if text.strip() else []
    if unknown := [name for name in names if name not in _TYPES]:
        raise ValueError(f"unknown type {unknown[0]}: known are {', '.join(_TYPES)}")
    return frozenset(_TYPES[name] for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query as its file states it.

    Attributes
    ----------
    name
        Folder and file name, such as ``strategies.level``.
    mode
        ``read``, ``write``, or ``schema`` for statements about indexes.
    params
        Keys of the one parameter map ``$p``.
    returns
        The columns of its answer, with the types of their values.
    needs
        What the server must have: ``2026`` for Neo4j 2026 or later, ``search`` for a vector index
        that filters by scope, "" if any supported server will do.
    same_again
        Whether the query, sent a second time with the same parameters, gives the same answer
        although the first time has changed the graph already (``again: same``).
    text
        The Cypher, without its header.
    changes
        Whether a second run may get another answer, because the first has changed the graph.
    """

    name: str
    mode: Literal["read", "write", "schema"]
    params: frozenset[str]
    returns: tuple[Column, ...]
    text: LiteralString
    needs: Literal["", "2026", "search"] = ""
    same_again: bool = False
    columns: frozenset[str] = field(init=False, repr=False, compare=False)
    changes: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozenset(column.name for column in self.returns))
        object.__setattr__(self, "changes", self.mode == "write" and not self.same_again)

    def unlike(self, record: Mapping[str, object]) -> str:
        """Say what is wrong with a record as an answer of this query; "" if nothing is."""
        if self.columns != {*record.keys()}:
            return OTHER_COLUMNS
        for column in self.returns:
            if not column.takes(value := record[column.name]):
                return column.unlike(value)
        return ""

    def with_text(self, text: str) -> Query:
        """Return the query with another text, which asks for the same columns."""
        return replace(self, text=cast(LiteralString, text))  # type: ignore[redundant-cast]

    def at(self, generation: int) -> Query:
        """Return the query for the vectors of a generation; the files are written for the first.

        Only names that stand in the text change: a property and an index can't be parameters.
        """
        return self if generation == 1 else _at(self, generation)


def vector_property(generation: int) -> str:
    """Return the name of the property that holds the vectors of a generation.

    A generation is what one embedder has made of all memories; ``memoria reembed`` makes the next.
    No name is used twice, so vectors of two models can never meet under one name.

    >>> vector_property(1), vector_property(2)
    ('embedding', 'embedding_g2')
    """
    return "embedding" if generation == 1 else f"embedding_g{generation}"


def vector_index(generation: int) -> str:
    """Return the name of the index on `vector_property`.

    >>> vector_index(2)
    'memory_embedding_g2'
    """
    return f"memory_{vector_property(generation)}"


@cache
def _at(query: Query, generation: int) -> Query:
    def name(match: re.Match[str]) -> str:
        first = match[0] == vector_index(1)
        return vector_index(generation) if first else vector_property(generation)

    return replace(query, text=_VECTOR.sub(name, query.text))


def root() -> Path:
    """Return the folder that holds the query files."""
    here = Path(__file__).parents[1]
    installed = here / "_cypher"
    return installed if installed.is_dir() else here.parent / "cypher"


@cache
def load(name: str) -> Query:
    """Read and check the query called ``name``.

    Raises
    ------
    ConfigError
        The file does not exist, or its header and its text disagree.
    """
    return parse(_read(name), name)


def text_of(name: str, library: Library) -> str:
    """Return the text of a query with the fragments of ``library``, without comments."""
    return _expanded(_read(name), library)


def _expanded(text: str, library: Library) -> str:
    lines = expand(text, library).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()


def names() -> tuple[str, ...]:
    """Return the names of all queries, sorted; without the statements of the set-up."""
    files = [file.relative_to(root()) for file in root().rglob("*/*.cypher")]
    found = (".".join(file.with_suffix("").parts) for file in files)
    return tuple(sorted(name for name in found if not name.startswith("_")))


@cache
def fragment(name: str) -> Fragment:
    """Read the fragment called ``name``; raises as `load` does."""
    return Fragment.parse(_read(f"_shared.{name}"), name)


def _read(name: str) -> str:
    path = root().joinpath(*name.split(".")).with_suffix(".cypher")
    if not path.is_file():
        raise ConfigError(
            f"the query {name} is missing: memoria is not installed completely, install it again"
        )
    return path.read_text(encoding="utf-8")


def parse(text: str, name: str) -> Query:
    """Check the text of the query file called ``name``."""
    head: dict[str, str] = {}
    for line in text.splitlines():
        if match := _HEADER.fullmatch(line):
            head[match[1]] = match[2].strip()
    needs, again = head.pop("needs", ""), head.pop("again", "")
    if set(head) != {"name", "mode", "params", "returns"} or head["name"] != name:
        raise ConfigError(f"{name}: its header must state its own name, mode, params and returns")
    if needs not in ("", "2026", "search"):
        raise ConfigError(f"{name}: unknown need {needs}")
    if again not in ("", "same"):
        raise ConfigError(f"{name}: again is either same or left out, not {again}")
    if head["mode"] not in ("read", "write", "schema"):
        raise ConfigError(f"{name}: unknown mode {head['mode']}")
    cypher = _expanded(text, fragment)
    declared, used = frozenset(_names(head["params"])), frozenset(_PARAM.findall(cypher))
    if declared != used or _BARE_PARAM.search(cypher):
        raise ConfigError(
            f"{name}: declares {sorted(declared)} but uses {sorted(used)}; each must be a key of $p"
        )
    try:
        columns = tuple(Column.parse(column) for column in _names(head["returns"]))
    except ValueError as exc:
        raise ConfigError(f"{name}: {exc}") from None
    return Query(
        name=name,
        mode=cast(Literal["read", "write", "schema"], head["mode"]),
        params=declared,
        returns=columns,
        text=cast(LiteralString, cypher),  # type: ignore[redundant-cast]  # some checkers need it
        needs=cast(Literal["", "2026", "search"], needs),
        same_again=again == "same",
    )


def _names(line: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in line.split(",") if part.strip())
