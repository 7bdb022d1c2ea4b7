"""Ingest files of memories and edges; the lines may come in any order.

In: JSON Lines files. Out: an `IngestReport`.
Reads files, writes through a `BatchWriter`. Edges wait in a temporary file until all memories
are written, so memory use does not grow with the files.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import IO, Protocol

from memoria._support.progress import ProgressCallback, silent
from memoria.errors import InvalidInputError
from memoria.ingest.batch_writer import BatchWriter
from memoria.ingest.checks import LeftOut, check_relation, has_ends, missing_end
from memoria.ingest.daemon import in_daemon_thread
from memoria.ingest.jsonl import Line, at_place, parse_line, read_lines
from memoria.ingest.rows import MAX_BATCH_BYTES, size_of
from memoria.store import with_certainty
from memoria.types import HistoryItem, Memory, Relation, ScopeClock, WriteReport

SPOOL_BYTES = 16_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """Counts of one ingest.

    Attributes
    ----------
    lines
        Lines that are not empty.
    written
        Counts of the writes; its ``skipped`` counts the lines left out.
    problems
        Why lines were left out, ``file:line: reason``; the first 20.
    certain
        False if an answer of the server was lost and the change was sent again: what counts
        as new may then be too few.
        What was asked for is done all the same.
    """

    lines: int
    written: WriteReport
    problems: tuple[str, ...]
    certain: bool = True


class WritesBatches(Protocol):
    """A `memoria.GraphWriter`, as far as `ingest_files` needs it."""

    batches: BatchWriter


@with_certainty
async def ingest_files(
    writer: WritesBatches,
    paths: Iterable[str | PathLike[str]],
    *,
    skip_invalid: bool = False,
    progress: ProgressCallback | None = None,
) -> IngestReport:
    """Write every memory of the files, then every edge.

    The call may be repeated after an interruption: memories and edges that exist are updated, and
    a memory that has a vector for the same text is not embedded again. A new memory without
    ``created_at`` gets the present time, and none if it is null.

    Parameters
    ----------
    writer
        A `memoria.GraphWriter`.
    paths
        JSON Lines, plain or gzip; ``-`` is standard input.
    skip_invalid
        Leave out and count lines that are not valid, and memories for which the embedder returns
        zeros or numbers that are not finite, instead of raising at the first of them.
    progress
        Called with the stage (``memories``, ``relations``), the number done, and the total, which
        is None while it is not known.

    Raises
    ------
    InvalidInputError
        A line is not valid; the message names file, line and field. Earlier lines may have been
        written.
    """
    await writer.batches.ready()
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        return await _Ingest(writer.batches, spool, skip_invalid, progress).run(paths)


class _Ingest:
    """One call of `ingest_files`."""

    def __init__(
        self,
        writer: BatchWriter,
        spool: IO[bytes],
        skip_invalid: bool,
        progress: ProgressCallback | None,
    ) -> None:
        self._writer = writer
        self._spool = spool
        self._left_out = LeftOut(skip_invalid=skip_invalid)
        self._progress = progress or silent
        self._lines = 0
        self._edges = 0
        self._files: list[str] = []
        self._seen: set[str] = set()
        self._undated: set[str] = set()  # of the batch

    async def run(self, paths: Iterable[str | PathLike[str]]) -> IngestReport:
        """Write all memories as they are read, then all edges."""
        lines = read_lines(
            paths, on_invalid=self._on_invalid if self._left_out.skip_invalid else None
        )
        report, memories = WriteReport(), 0
        # Files are read and checked in a thread, because a slow pipe must not block the event loop.
        # The thread is not asyncio's: asyncio waits for its threads, but a pipe may never close.
        while batch := await in_daemon_thread(partial(self._next_memories, lines)):
            memories += len(batch)
            self._seen.update(memory.id for memory in batch)
            done = await self._writer.write_memory_batch(
                batch, self._left_out, undated=self._undated
            )
            report = report.plus(done)
            self._progress("memories", report.memories, None)
        self._progress("memories", report.memories, report.memories)
        self._spool.seek(0)
        read = 0
        while edges := await asyncio.to_thread(self._next_edges):
            read += len(edges)
            report = report.plus(await self._write_edges(edges))
            self._progress("relations", read, self._edges)
        left_out = WriteReport(
            duplicates=memories - len(self._seen),
            skipped=self._left_out.count,
            problems=self._left_out.problems,
        )
        written = left_out.plus(report)
        return IngestReport(lines=self._lines, written=written, problems=written.problems)

    def _next_memories(self, lines: Iterator[Line]) -> list[Memory]:
        """Read lines until a batch of memories is full; write edges to the spool."""
        batch: list[Memory] = []
        held = 0
        self._undated = set()
        for line in lines:
            self._lines += 1
            try:
                if isinstance(line.value, Memory):
                    self._writer.check_memory(line.value)
                    batch.append(line.value)
                    if line.undated:
                        self._undated.add(line.value.id)
                    held += size_of(line.value)
                else:
                    check_relation(line.value)
                    self._keep_edge(line)
            except InvalidInputError as exc:
                self._left_out.add(at_place(exc, line.place))
            if len(batch) >= self._writer.memory_batch_size or held >= MAX_BATCH_BYTES:
                break
        return batch

    def _keep_edge(self, line: Line) -> None:
        if not self._files or self._files[-1] != line.file:
            self._files.append(line.file)
        head = f"{len(self._files) - 1}:{line.number}\n"
        self._spool.write(head.encode("ascii") + line.raw + b"\n")
        self._edges += 1

    def _next_edges(self) -> list[tuple[str, Relation | HistoryItem]]:
        """Read a batch of edges back from the spool, each with its file and line."""
        batch: list[tuple[str, Relation | HistoryItem]] = []
        while len(batch) < self._writer.batch_size and (head := self._spool.readline()):
            file, _, number = head.decode("ascii").strip().partition(":")
            value = parse_line(self._spool.readline().rstrip(b"\n"))
            if value is not None and not isinstance(value, Memory):
                batch.append((f"{self._files[int(file)]}:{number}", value))
        return batch

    async def _write_edges(self, edges: list[tuple[str, Relation | HistoryItem]]) -> WriteReport:
        relations = [edge for _, edge in edges if isinstance(edge, Relation)]
        report, missing = await self._writer.write_relation_batch(
            relations, skip_missing=self._left_out.skip_invalid
        )
        history = [edge for _, edge in edges if not isinstance(edge, Relation)]
        if history and (self._left_out.skip_invalid or not missing):
            done, others = await self._writer.write_history_batch(
                history, skip_missing=self._left_out.skip_invalid
            )
            report, missing = report.plus(done), missing | others
        if missing:
            for place, edge in edges:
                if not (isinstance(edge, ScopeClock) or has_ends(edge, missing)):
                    self._left_out.add(
                        at_place(missing_end(edge, missing, self._writer.scope), place)
                    )
        return report

    def _on_invalid(self, error: InvalidInputError) -> None:
        self._lines += 1
        self._left_out.add(error)
