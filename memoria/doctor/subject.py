"""The database that is examined, and the queries and commands of the checks.

In: a store and a scope. Out: rows; command lines for a person to run.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import neo4j

from memoria._support.settings_check import SettingsCheck
from memoria.embed import ONNX_MODELS
from memoria.graph.server_facts import probe, was_set_up
from memoria.graph.vocabulary import META_INDEX, TEXT_INDEX, UNIQUE_INDEX, VECTOR_INDEX
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.queries import load

#: Memories, and edges, that one check examines by default.
LIMIT = 50_000
MAX_LIMIT = 100_000_000
#: Names of the constraints and indexes that the set-up creates.
INDEXES = frozenset({UNIQUE_INDEX, META_INDEX, TEXT_INDEX, VECTOR_INDEX})
MAX_SAMPLE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamineConfig:
    """Settings of one examination.

    Attributes
    ----------
    sample
        Explorations to sample for the hubs; 0 to 1,000.
    limit
        Memories, and edges, that one check examines; 1 to 100,000,000. In a larger database
        findings say "at least".
    options
        Command-line options that name the database, such as ``--uri=bolt://db:7687``. Each
        command that a finding suggests repeats them. Never put a password here.
    """

    sample: int = 20
    limit: int = LIMIT
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.whole("sample", 0, MAX_SAMPLE)
        check.whole("limit", 1, MAX_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The database and scope to examine.

    Attributes
    ----------
    recorded
        Size of the vectors that the set-up recorded; None if the database was never set up.
    scope
        The scope to examine; None for all scopes.
    config
        How much to examine.
    """

    store: Store
    facts: ServerFacts
    recorded: int | None
    scope: str | None
    config: ExamineConfig

    @property
    def limit(self) -> int:
        """Largest number of memories, and of edges, that one check examines."""
        return self.config.limit

    @property
    def is_set_up(self) -> bool:
        """Whether the database has the record of a set-up, or an index of memoria's name."""
        return self.recorded is not None or was_set_up(self.facts)

    @property
    def model(self) -> str | None:
        """The recorded embedder, if the command line can make its vectors; else None."""
        name, size = self.facts.embedder, self.recorded or self.facts.dimensions
        if name is None or name not in ONNX_MODELS:
            return None
        return name if ONNX_MODELS[name].dimensions == size else None

    @property
    def init(self) -> str:
        """The command that completes the set-up, for the same vectors as before."""
        size = self.recorded or self.facts.dimensions
        if size is None:  # there are no vectors yet, so any size will do
            return self._line("init")
        if self.model is not None:
            return self._line("init", after=[f"--embedder={self.model}"])
        return self._line("init", after=["--embedder=none", f"--dimensions={size}"])

    async def rows(self, name: str, **parameters: Any) -> list[neo4j.Record]:
        """Run one of the doctor's queries, with ``scope`` and ``limit`` if it takes them."""
        query = load(f"doctor.{name}").at(self.facts.generation)
        common = {"scope": self.scope, "limit": self.limit}
        given = {key: value for key, value in common.items() if key in query.params}
        return await self.store.run(query, {**given, **parameters})

    def fix(self, name: str) -> str:
        """Return the command that applies one of the doctor's own remedies."""
        return self.command("doctor", options=[f"--fix={name}"])

    def command(
        self, name: str, *operands: str, scope: str | None = None, options: Sequence[str] = ()
    ) -> str:
        """Return a command line of memoria for a scope; by default the examined scope."""
        scope = self.scope if scope is None else scope
        scoped = [] if scope is None else [f"--scope={scope}"]
        dashed = any(operand.startswith("-") and operand != "-" for operand in operands)
        dashes = ["--"] if dashed else []
        return self._line(name, *scoped, after=(*options, *dashes, *operands))

    def database_command(self, name: str, *options: str) -> str:
        """Return a command line of memoria that is about all scopes."""
        return self._line(name, after=options)

    def _line(self, name: str, *words: str, after: Sequence[str] = ()) -> str:
        return shlex.join(["memoria", name, *words, *self.config.options, *after])


async def read_subject(store: Store, scope: str | None, config: ExamineConfig) -> Subject:
    """Read the facts about the server and its set-up."""
    facts = await probe(store)
    rows = await store.run(load("graph.meta"), {})
    recorded = rows[0]["dimensions"] if rows else None
    return Subject(store=store, facts=facts, recorded=recorded, scope=scope, config=config)
