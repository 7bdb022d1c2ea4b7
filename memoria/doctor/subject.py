"""What is examined, and how a check asks about it.

In: a store and a scope. Out: rows, statements for a person to run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import neo4j

from memoria.queries import load
from memoria.schema import ServerFacts
from memoria.store import Store

_PARAMETER = re.compile(r"\$p\.([a-z_]+)")

# How the remedies name the memories of a scope; see `Subject.statement`.
_OF_SCOPE = "m.scope = $p.scope AND m.id IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is examined.

    Attributes
    ----------
    store
        The database.
    facts
        What its server is and has.
    scope
        The one scope to examine; None for all.
    limit
        Memories, and edges, that one check looks at; at most.
    """

    store: Store
    facts: ServerFacts
    scope: str | None
    limit: int

    async def rows(self, name: str, **parameters: Any) -> list[neo4j.Record]:
        """Run one of the doctor's queries; ``scope`` and ``limit`` are given where it asks."""
        query = load(f"doctor.{name}")
        common = {"scope": self.scope, "limit": self.limit}
        given = {key: value for key, value in common.items() if key in query.params}
        return await self.store.run(query, {**given, **parameters})

    def statement(self, name: str, **parameters: object) -> str:
        """Return a remedy of ``cypher/doctor`` with its values written out, on one line."""
        text: str = load(f"doctor.{name}").text
        if self.scope is None:
            text = text.replace(_OF_SCOPE, "true")
        values = {"scope": self.scope, **parameters}
        line = " ".join(text.split())
        return _PARAMETER.sub(lambda match: literal(values[match[1]]), line) + ";"

    def command(self, name: str, *operands: str, scope: str | None = None) -> str:
        """Return a command line of memoria, for the scope examined or the one given."""
        scope = self.scope if scope is None else scope
        options = [] if scope is None else [f"--scope={scope}"]
        if any(operand.startswith("-") for operand in operands):
            options.append("--")
        return shlex.join(["memoria", name, *options, *operands])


def literal(value: object) -> str:
    r"""Write a value as Cypher does.

    >>> print(literal(["it's", 5, None]))
    ['it\'s', 5, null]
    """
    if value is None:
        return "null"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        # A statement is one line, whatever is in a scope.
        shown = (c if c.isprintable() or c > "\uffff" else f"\\u{ord(c):04x}" for c in escaped)
        return f"'{''.join(shown)}'"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)
