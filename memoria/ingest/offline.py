"""Turn files of memories and edges, in any order, into the tables of an offline import.

In: JSON Lines files. Out: `Tables`. Reads and writes files; memory use grows by some 130 bytes for
each memory and 70 for each edge.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from memoria._support.progress import ProgressCallback, silent
from memoria._support.wording import number_of
from memoria.errors import DimensionError, InvalidInputError
from memoria.ingest.checks import check_kinds, check_relation
from memoria.ingest.jsonl import Line, at_place, read_lines
from memoria.ingest.rows import memory_row, relation_row
from memoria.ingest.tables import REPORT_EVERY, Tables
from memoria.types import Memory, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineReport:
    """Counts of the tables of an offline import.

    Attributes
    ----------
    memories, relations
        Number of memories, and of relations.
    dimensions
        Numbers in each vector; None if no memory comes with a vector.
    left_out
        Lines about what the scope has learned. Only ``memoria ingest`` can write them.
    """

    memories: int
    relations: int
    dimensions: int | None
    left_out: int = 0


def write_tables(
    paths: Iterable[str | PathLike[str]],
    tables: Tables,
    *,
    kinds: Sequence[str],
    progress: ProgressCallback | None = None,
) -> OfflineReport:
    """Write every memory and every edge of the files into tables.

    Blocking: call it in a thread.

    Parameters
    ----------
    paths
        JSON Lines, plain or gzip; ``-`` is standard input.
    tables
        Open tables. After an error they are not complete and must not be imported.
    kinds
        Kind labels that memories may have.
    progress
        Called with ``lines`` and the number of lines read; then as `Tables.arrange` calls it.

    Raises
    ------
    InvalidInputError
        A line is not valid, an id or an edge comes twice, or an end of an edge is not a memory of
        the files; the message names file, line and field.
    DimensionError
        Two vectors differ in size.
    """
    conversion = _Conversion(tables, check_kinds(kinds))
    report = progress or silent
    lines = 0
    for lines, line in enumerate(read_lines(paths), 1):
        try:
            conversion.add(line)
        except InvalidInputError as exc:
            raise at_place(exc, line.place) from exc
        if lines % REPORT_EVERY == 0:
            report("lines", lines, None)
    report("lines", lines, lines)
    conversion.check_edges()
    conversion.arrange(report)
    return conversion.report()


class _Conversion:
    """State of one conversion: a number for each id seen, and the edges as columns of numbers."""

    def __init__(self, tables: Tables, kinds: Sequence[str]) -> None:
        self._tables = tables
        self._kinds = kinds
        self._numbers: dict[str, int] = {}
        self._there = bytearray()
        self._relations: dict[str, int] = {}
        self._source, self._target, self._relation = array("q"), array("q"), array("q")
        self._file, self._line = array("q"), array("q")
        self._files: dict[str, int] = {}
        self._memories = 0
        self._dimensions: int | None = None
        self._left_out = 0

    def add(self, line: Line) -> None:
        """Check one line against the earlier lines, and write it."""
        if getattr(line.value, "learned", None) is not None:
            self._left_out += 1
        if isinstance(line.value, Memory):
            self._add_memory(line.value, undated=line.undated)
        elif not isinstance(line.value, Relation):
            self._left_out += 1
        else:
            self._add_relation(line.value)
            self._file.append(self._files.setdefault(line.file, len(self._files)))
            self._line.append(line.number)

    def check_edges(self) -> None:
        """Raise at the first edge that lacks an end, or that repeats an earlier edge."""
        there = np.frombuffer(self._there, dtype=np.uint8)
        columns = self._edge_columns()
        for field, ends in zip(("source", "target"), columns, strict=False):
            missing = np.flatnonzero(there[ends] == 0)
            if missing.size:
                name = list(self._numbers)[ends[missing[0]]]
                reason = f"{field} {name!r} is not a memory of these files"
                raise self._at_edge(int(missing[0]), reason, field)
        order = np.lexsort(columns[::-1])
        again = np.ones(max(0, len(order) - 1), dtype=bool)
        for column in columns:
            again &= column[order[1:]] == column[order[:-1]]
        if again.any():
            place = int(order[1:][again].min())
            reason = "this edge (source, target, relation) came before: an offline import accepts "
            raise self._at_edge(place, reason + "each edge once", "relation")

    def arrange(self, progress: ProgressCallback) -> None:
        """Put the edges into the order in which recalls read them fastest."""
        source, target, _ = self._edge_columns()
        self._tables.arrange(source, target, progress=progress)

    def report(self) -> OfflineReport:
        """Return the counts of the tables."""
        return OfflineReport(
            memories=self._memories,
            relations=len(self._source),
            dimensions=self._dimensions,
            left_out=self._left_out,
        )

    def _edge_columns(self) -> list[NDArray[np.int64]]:
        columns = (self._source, self._target, self._relation)
        return [np.frombuffer(column, dtype=np.int64) for column in columns]

    def _add_memory(self, memory: Memory, *, undated: bool) -> None:
        if memory.kind not in self._kinds:
            raise InvalidInputError(
                f"kind must be one of {', '.join(self._kinds)}, got {memory.kind!r}", field="kind"
            )
        number = self._number(memory.id)
        if self._there[number]:
            raise InvalidInputError(
                f"id {memory.id!r} came before: an offline import accepts each id once", field="id"
            )
        vector = memory.embedding
        if isinstance(vector, tuple):
            self._dimensions = self._dimensions or len(vector)
            if len(vector) != self._dimensions:
                size = number_of(len(vector), "number")
                raise DimensionError(
                    f"embedding has {size}, earlier embeddings have {self._dimensions}",
                    field="embedding",
                )
        self._tables.add_memory(memory_row(memory, vector, undated=undated))
        self._there[number] = 1
        self._memories += 1

    def _add_relation(self, relation: Relation) -> None:
        check_relation(relation)
        self._tables.add_relation(relation_row(relation))
        self._source.append(self._number(relation.source))
        self._target.append(self._number(relation.target))
        relations = self._relations
        self._relation.append(relations.setdefault(relation.relation, len(relations)))

    def _number(self, id_: str) -> int:
        number = self._numbers.setdefault(id_, len(self._numbers))
        if number == len(self._there):
            self._there.append(0)
        return number

    def _at_edge(self, edge: int, reason: str, field: str) -> InvalidInputError:
        file = list(self._files)[self._file[edge]]
        error = InvalidInputError(reason, field=field)
        return at_place(error, f"{file}:{self._line[edge]}")
