"""Load query texts from ``cypher/``, and check each query once.

In: a name such as ``strategies.level``. Out: the text, mode and parameters of that query.
The files lie in ``memoria/_cypher`` in a wheel and in ``cypher/`` in a checkout. A rule that
several queries share is a fragment in ``_shared``; a line ``// use: name(args)`` puts it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, LiteralString, cast

from memoria.errors import ConfigError
from memoria.store.columns import Column
from memoria.store.fragments import Fragment, Library, expand

_HEADER = re.compile(r"// (name|mode|params|returns|needs|again): ?(.*)")
_PARAM = re.compile(r"\$p\.([a-z_]+)")
_BARE_PARAM = re.compile(r"\$(?!p\.|\()")  # $(...) is a dynamic label, not a parameter
# The property with the vector of a memory, which the files call `m` or `n`; and its index.
_VECTOR = re.compile(r"(?<=\b[mn]\.)embedding\b|\bmemory_embedding\b")


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
    """

    name: str
    mode: Literal["read", "write", "schema"]
    params: frozenset[str]
    returns: tuple[Column, ...]
    text: LiteralString
    needs: Literal["", "2026", "search"] = ""
    same_again: bool = False

    def has_columns(self, names: Iterable[str]) -> bool:
        """Tell whether these are the names of this query's columns, in any order."""
        return set(names) == {column.name for column in self.returns}

    def unlike(self, record: Mapping[str, object]) -> str:
        """Say what is wrong with a record of these columns; "" if nothing is."""
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
    lines = expand(_read(name), library).splitlines()
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


def parse(text: str, name: str, library: Library = fragment) -> Query:
    """Check the text of the query file called ``name``, with the fragments of ``library``."""
    head: dict[str, str] = {}
    expanded = expand(text, library).splitlines()
    body = [line for line in expanded if not line.lstrip().startswith("//")]
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
    cypher = "\n".join(body).strip()
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
