"""What is examined, and how a check asks about it.

In: a store and a scope. Out: rows; statements and command lines for a person to run.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import neo4j

from memoria._support.checks import check_whole
from memoria.embed import ONNX_MODELS
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.queries import load

#: Memories, and edges, that one check looks at unless told otherwise.
LIMIT = 50_000
MAX_LIMIT = 100_000_000
MAX_SAMPLE = 1_000

_PARAMETER = re.compile(r"\$p\.([a-z_]+)")

# How the remedies name the memories of a scope; see `Subject.statement`.
_OF_SCOPE = "m.scope = $p.scope AND m.id IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineConfig:
    """Settings of one examination.

    Attributes
    ----------
    sample
        Explorations to sample for the hubs; 0 to 1,000.
    limit
        Memories, and edges, that one check looks at; 1 to 100,000,000. In a larger database
        findings say "at least".
    options
        Options of the command line that lead to the database, such as ``--uri=bolt://db:7687``;
        each command that a finding suggests carries them. Never a password.
    """

    sample: int = 20
    limit: int = LIMIT
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_whole(self.sample, "sample", low=0, high=MAX_SAMPLE)
        check_whole(self.limit, "limit", low=1, high=MAX_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is examined.

    Attributes
    ----------
    store
        The database.
    facts
        What its server is and has.
    recorded
        Size of the vectors that the set-up recorded; None in a database never set up.
    scope
        The one scope to examine; None for all.
    config
        How far to look.
    """

    store: Store
    facts: ServerFacts
    recorded: int | None
    scope: str | None
    config: ExamineConfig

    @property
    def limit(self) -> int:
        """Memories, and edges, that one check looks at; at most."""
        return self.config.limit

    @property
    def model(self) -> str | None:
        """The recorded embedder, where the command line can make its vectors; else None."""
        name, size = self.facts.embedder, self.recorded or self.facts.dimensions
        if name is None or name not in ONNX_MODELS:
            return None
        return name if ONNX_MODELS[name].dimensions == size else None

    @property
    def init(self) -> str:
        """The command that makes what is missing of the set-up, for the same vectors as before."""
        size = self.recorded or self.facts.dimensions
        if size is None:  # there are no vectors yet: any will do
            return self._line("init")
        if self.model is not None:
            return self._line("init", after=[f"--embedder={self.model}"])
        return self._line("init", after=["--embedder=none", f"--dimensions={size}"])

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

    def command(
        self, name: str, *operands: str, scope: str | None = None, options: Sequence[str] = ()
    ) -> str:
        """Return a command line of memoria, for the scope examined or the one given."""
        scope = self.scope if scope is None else scope
        scoped = [] if scope is None else [f"--scope={scope}"]
        dashed = any(operand.startswith("-") and operand != "-" for operand in operands)
        dashes = ["--"] if dashed else []
        return self._line(name, *scoped, after=(*options, *dashes, *operands))

    def _line(self, name: str, *words: str, after: Sequence[str] = ()) -> str:
        return shlex.join(["memoria", name, *words, *self.config.options, *after])


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
