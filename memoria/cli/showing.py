"""Options that say how a recall is shown, and in which files it is drawn.

In: options, a `Recall`. Out: text on the console, files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from memoria.cli.common import one_line, out, print_heading, print_text, warn
from memoria.cli.groups import OptionGroup
from memoria.cli.render import print_paths, recall_summary, screen
from memoria.errors import InvalidInputError
from memoria.recall.packing import NOTHING_RELEVANT
from memoria.types import Recall

# Rights of a new file: only its owner can read the memories in it.
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing(OptionGroup):
    """The options about what is shown of a recall."""

    context_only: Annotated[
        bool, typer.Option("--context", help="Print the context alone, for a prompt.")
    ] = False
    all_paths: Annotated[
        bool, typer.Option("--paths", help="Print all paths, not only those to the context.")
    ] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the time of each stage, too.")
    ] = False
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the paths in this file (SVG).")
    ] = None
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write paths, context and ranking as a page (HTML)."),
    ] = None

    def show(self, found: Recall, *, budget: int, wrap: bool) -> None:
        """Print the context, the paths that lead to it, and the times; or that nothing is relevant.

        Why a scope has no hits is said before.
        """
        packed = found.context.text
        if self.context_only:
            if packed:
                print_text(packed, wrap=wrap)
            for text in _warnings(found):
                warn(text)
            return
        if not (self.all_paths or self.verbose) and (said := _nothing(found)) is not None:
            for text in filter(None, said):
                out.print(text, markup=False)
            return
        if packed:
            print_heading("Context")
            print_text(f"{packed}\n", wrap=wrap)
        self._show_paths(found)
        line = recall_summary(found, budget, verbose=self.verbose)
        out.print(line, style="dim", markup=False)

    def _show_paths(self, found: Recall) -> None:
        leading = found.leading
        paths = found.paths if self.all_paths else leading.paths
        if not self.all_paths and leading.paths and not any(path.hops for path in paths):
            return  # the search found all of the context, and no edge leads to any of it
        if not paths and not leading.others:
            return
        text = str(leading) + (": --paths" if leading.others and not self.all_paths else "")
        out.print(text, style="bold", markup=False)
        # The name of a memory in the context, unless that is its id.
        items = [item for item in found.context.items if item.label != item.id]
        labels = {(item.scope, item.id): item.label for item in items}
        print_paths(paths, screen, labels, ends=self.all_paths)
        if paths:
            out.print("")

    def draw(self, found: Recall) -> None:
        """Write the files that are asked for."""
        for path, text in ((self.svg, Recall.to_svg), (self.html, Recall.to_html)):
            if path is None:
                continue
            try:
                new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
                with os.fdopen(new, "w", encoding="utf-8") as file:
                    file.write(text(found))
            except OSError as exc:
                raise InvalidInputError(f"{path} can't be written: {exc.strerror}") from exc


def _nothing(found: Recall) -> tuple[str, ...] | None:
    """Return a sentence if nothing was found, or if nothing is relevant; else None."""
    trace = found.trace
    if found.context.items or not {*found.context.omitted_by_reason} <= {"relevance"}:
        return None
    names = ", ".join(map(one_line, trace.scopes))
    scopes = "scope" if len(trace.scopes) == 1 else "scopes"
    sentence = f"Nothing relevant in {scopes} {names}." if found.context.omitted else ""
    return (sentence, *_warnings(found))


def _warnings(found: Recall) -> tuple[str, ...]:
    """Return the warnings of a recall, without that nothing is relevant: another line says it."""
    notes = [note for note in found.trace.notes if not note.startswith(NOTHING_RELEVANT)]
    return (*found.trace.degraded, *notes)
