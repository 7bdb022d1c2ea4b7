"""Import a folder of notes in Markdown: ``import-notes``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from memoria._support.progress import progress_bars
from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, one_line, print_doubt, print_facts
from memoria.cli.connection import Connection
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.tally import DryRun, Problems, embedded, first_write
from memoria.errors import InvalidInputError
from memoria.importers import read_notes
from memoria.importers.notes.folder import SOURCE, SUFFIXES
from memoria.importers.notes.links import LINK_TO, NOWHERE
from memoria.remember import DocumentWriter
from memoria.remember.documents.rehearsal import rehearse
from memoria.store import Store
from memoria.types import Document, DocumentReport

Words = list[str] | None
#: Hosts that links lead to: in JSON, and in words.
MAX_HOSTS, SHOWN = 50, 6


def import_notes(
    folder: Annotated[Path, typer.Argument(help="Folder of notes in Markdown, or one note.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    source: Annotated[
        str, typer.Option(help="First part of the ids; give each folder of a scope its own.")
    ] = SOURCE,
    site: Annotated[
        Words, typer.Option(help="Address under which the folder is published; may be repeated.")
    ] = None,
    exclude: Annotated[
        Words,
        typer.Option(help="Notes to leave out, such as README.md or templates; may be repeated."),
    ] = None,
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
    memoria import-notes ~/notes --scope ada --exclude README.md --exclude templates
    memoria import-notes ~/notes --scope ada --site https://ada.example/notes/
    memoria import-notes ~/notes --scope ada --prune --skip-invalid
    """
    if prune and folder.is_file():
        raise typer.BadParameter("all other notes would be forgotten", param_hint="--prune")
    tally = _Tally(skip_invalid=skip_invalid)
    read = tally.reader(
        partial(read_notes, folder, source=source, sites=site or (), exclude=exclude or ())
    )
    with progress_bars() as progress:
        if dry_run:
            done = rehearse(read, progress)
        else:
            choose = embedder_choice(embedder)

            async def write(store: Store) -> DocumentReport:
                model = await choose(store)
                writer = DocumentWriter(store, scope=scope, embedder=model)
                await writer.ready()  # fail before a model is downloaded
                await load_model(model)
                report = await writer.write(read(), progress=progress)
                if prune and tally.why_not_pruned is None:
                    gone = await writer.prune(source, tally.paths)
                    report = report.plus(DocumentReport(forgotten=gone, certain=gone.certain))
                elif not prune and folder.is_dir() and tally.why_not_pruned is None:
                    tally.absent = await writer.absent(source, tally.paths)
                return report

            done = connection.run(write)
    done = done.plus(DocumentReport(missing_links=tally.links.pop(NOWHERE, 0)))
    tally.say_nothing_done(folder, prune=prune)
    tally.show_problems()
    print_doubt(done.certain)
    facts = {"dry_run": dry_run, **tally.facts(), **asdict(done)}
    print_facts(facts, as_json, _in_words(done, tally, None if dry_run else scope))


def _pass_over(_: InvalidInputError) -> None:
    """Say nothing of a note that was named before."""


class _Tally(Problems):
    """Counts the notes that were read, those that can't be, and what is left out of them."""

    def __init__(self, *, skip_invalid: bool) -> None:
        super().__init__(skip_invalid=skip_invalid)
        self.paths: list[str] = []
        self.read_any = False
        self.absent = 0  # stored notes that are no longer in the folder
        self.left_out: Counter[str] = Counter()
        self.links: Counter[str] = Counter()

    def reader(self, notes: Callable[..., Iterator[Document]]) -> Callable[[], Iterator[Document]]:
        """Return a function that reads the notes; the first time it counts what is left out."""
        begun = False

        def read() -> Iterator[Document]:
            nonlocal begun
            first, begun = not begun, True
            on_invalid = self.on_invalid if first else _pass_over
            on_left_out = self.on_left_out if first else None
            self.paths.clear()
            for note in notes(on_invalid=on_invalid, on_left_out=on_left_out):
                self.read_any = True
                if note.title is not None:  # else it is empty, and nothing of it is kept
                    self.paths.append(note.id)
                yield note

        return read

    def say_nothing_done(self, folder: Path, *, prune: bool) -> None:
        """Add the reason why nothing was pruned, or why there are no notes, to the problems."""
        if prune and self.why_not_pruned is not None:
            self.problems.append(f"nothing was pruned, since {self.why_not_pruned}")
        if not (self.read_any or self.problems):
            names = " or ".join(SUFFIXES)
            self.problems.append(f"no notes in {folder}: they are files whose names end in {names}")

    def facts(self) -> dict[str, Any]:
        """Return the counts for ``--json``."""
        return {
            "invalid": self.skipped,
            "problems": self.problems,
            "absent": self.absent,
            "left_out": dict(self.left_out.most_common()),
            "links_elsewhere": dict(self.links.most_common(MAX_HOSTS)),
        }

    def on_left_out(self, reason: str) -> None:
        """Count a part of a note that is left out, or a link that leads to no note."""
        if reason.startswith(LINK_TO):
            self.links[reason.removeprefix(LINK_TO)] += 1
        else:
            self.left_out[reason] += 1

    @property
    def why_not_pruned(self) -> str | None:
        """Why notes that were not read may still be there; None if they are gone."""
        if self.skipped:
            return "not all notes could be read"
        # A disk that is not mounted leaves an empty folder.
        return None if self.paths else "no note was read"


def _in_words(done: DocumentReport, tally: _Tally, scope: str | None) -> str:
    """Return the counts of an import in words; without a scope nothing was written."""
    said = [number_of(done.documents, "note"), number_of(done.parts, "memory", "memories")]
    if done.skipped:
        said.append(f"{done.skipped} empty")
    if tally.skipped:
        said.append(f"{tally.skipped} that can't be read")
    stored = done.written
    new = "" if scope is None else f"{stored.relations_created} new; "
    said.append(
        f"{number_of(stored.relations, 'edge')} ({new}{done.names} by title, {done.links} by link)"
    )
    if scope is not None:
        said.append(embedded(stored))
    if done.forgotten:
        said.append(f"{number_of(done.forgotten, 'memory', 'memories')} forgotten")
    line = ", ".join(said)
    if tally.left_out:
        line += f"; left out: {_listed(tally.left_out)}"
    if done.missing_links:
        one, many = "link to a missing note", "links to missing notes"
        line += f"; {number_of(done.missing_links, one, many)}"
    if tally.links:
        line += f"; links to other places: {_listed(tally.links)}"
    if tally.absent:
        are = number_of(tally.absent, "note is", "notes are")
        forgets = "it" if tally.absent == 1 else "them"
        line += f"; {are} no longer in the folder: --prune forgets {forgets}"
    if scope is None:
        return f"would write {line}"
    return f"{first_write(stored)}{line}; scope {one_line(scope)}"


def _listed(counts: Counter[str]) -> str:
    """Return counts in words, the largest first."""
    shown = [f"{number} {one_line(name)}" for name, number in counts.most_common(SHOWN)]
    rest = sum(number for _, number in counts.most_common()[SHOWN:])
    return ", ".join([*shown, f"{rest} others"] if rest else shown)
