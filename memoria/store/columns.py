"""The columns of a query, and the Cypher types that their values may have.

In: the line ``returns`` of a query file. Out: columns that tell whether a value is theirs.

A server that sends other values is broken, or is not the one that was asked; what reads the records
relies on their types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from neo4j.time import DateTime

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
        """Read a column with its type, such as ``tags LIST<STRING> | NULL``; or its name alone.

        Raises
        ------
        ValueError
            A type is unknown.
        """
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
