"""Import a folder of notes in Markdown: ``import-notes``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memoria._support.progress import ProgressCallback, progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, one_line, print_doubt, print_facts, run
from memoria.cli.connection import Connection, on_store
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.tally import DryRun, Problems, embedded
from memoria.importers import read_notes
from memoria.importers.notes.folder import SOURCE
from memoria.remember import DocumentConfig, DocumentWriter
from memoria.remember.documents.cutting import cut
from memoria.store import Store
from memoria.types import Document, DocumentReport


def import_notes(
    folder: Annotated[Path, typer.Argument(help="Folder of notes in Markdown.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    source: Annotated[
        str, typer.Option(help="First part of the ids; another one for each folder of a scope.")
    ] = SOURCE,
    prune: Annotated[
        bool, typer.Option("--prune", help="Forget the notes of this source that are gone.")
    ] = False,
    skip_invalid: Annotated[
        bool,
        typer.Option("--skip-invalid", help="Leave out notes that can't be read, and count them."),
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Write the notes of a folder, with edges for their mentions, names and links.

    Safe to run again: a note that was edited is updated, and the others stay as they are. Hidden
    files and folders, such as .obsidian, are left out.

    Examples
    --------
    memoria import-notes ~/notes --scope ada --dry-run
    memoria import-notes ~/notes --scope ada
    memoria import-notes ~/notes --scope ada --prune --skip-invalid
    """
    tally = _Tally(skip_invalid=skip_invalid)
    notes = tally.counted(read_notes(folder, source=source, on_invalid=tally.on_invalid))
    if dry_run:
        with progress_bars() as progress:
            done = _rehearsed(notes, progress)
    else:
        choose = embedder_choice(embedder)

        async def write(store: Store) -> DocumentReport:
            model = await choose(store)
            writer = DocumentWriter(store, scope=scope, embedder=model)
            await writer.ready()  # fail before a model is downloaded
            await load_model(model)
            with progress_bars() as progress:
                report = await writer.write(notes, progress=progress)
            if prune and tally.why_not_pruned is None:
                gone = await writer.prune(source, tally.paths)
                report = report.plus(DocumentReport(forgotten=gone, certain=gone.certain))
            return report

        done = run(on_store(connection, write))
    if prune and tally.why_not_pruned is not None:
        tally.problems.append(f"nothing was pruned, since {tally.why_not_pruned}")
    tally.show_problems()
    print_doubt(done.certain)
    facts = {
        "dry_run": dry_run,
        "invalid": tally.skipped,
        "problems": tally.problems,
        **asdict(done),
    }
    print_facts(facts, as_json, _in_words(done, tally, None if dry_run else scope))


class _Tally(Problems):
    """Counts the notes that were read, and those that can't be."""

    def __init__(self, *, skip_invalid: bool) -> None:
        super().__init__(skip_invalid=skip_invalid)
        self.paths: list[str] = []

    def counted(self, notes: Iterator[Document]) -> Iterator[Document]:
        """Pass notes on, and keep their paths."""
        for note in notes:
            self.paths.append(note.id)
            yield note

    @property
    def why_not_pruned(self) -> str | None:
        """Why notes that were not read may still be there; None if they are gone."""
        if self.skipped:
            return "not all notes could be read"
        # A disk that is not mounted leaves an empty folder.
        return None if self.paths else "no note was read"


def _rehearsed(notes: Iterator[Document], progress: ProgressCallback) -> DocumentReport:
    """Count what would be written, without the edges, which depend on what is there."""
    report = DocumentReport()
    for note in notes:
        parts = len(cut(note, DocumentConfig().max_chars))
        report = report.plus(DocumentReport(documents=1, parts=parts, skipped=int(not parts)))
        progress("documents", report.documents, None)
    return report


def _in_words(done: DocumentReport, tally: _Tally, scope: str | None) -> str:
    """Return the counts of an import in words; without a scope nothing was written."""
    said = [
        number_of(done.documents, "note"),
        number_of(done.parts, "memory", "memories"),
    ]
    if done.skipped:
        said.append(f"{done.skipped} empty")
    if tally.skipped:
        said.append(f"{tally.skipped} that can't be read")
    if scope is None:
        return f"would write {', '.join(said)}"
    stored = done.written
    said.append(
        f"{number_of(stored.relations, 'edge')} ({stored.relations_created} new; {done.names} by "
        f"title, {done.links} by link)"
    )
    said.append(embedded(stored))
    if done.forgotten:
        said.append(f"{number_of(done.forgotten, 'memory', 'memories')} forgotten")
    first = (
        "the database was not set up, so its indexes were created; "
        if stored.schema_created
        else ""
    )
    return f"{first}{', '.join(said)}; scope {one_line(scope)}"
