"""Options that say how a recall is shown, and in which files it is drawn.

In: options, a `Recall`. Out: text on the console, files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from memoria.cli.common import out, print_heading, print_text, printable
from memoria.cli.groups import OptionGroup
from memoria.cli.render import recall_summary
from memoria.errors import InvalidInputError
from memoria.types import Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing(OptionGroup):
    """The options about what is shown of a recall."""

    context_only: Annotated[
        bool, typer.Option("--context", help="Print the context alone, for a prompt.")
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
        """Print what stands below the paths: the context, if there is one, and the times."""
        packed = found.context.text
        if packed and self.context_only:
            print_text(packed, wrap=wrap)
        elif packed:
            print_text("")
            print_heading("Context")
            print_text(f"{packed}\n", wrap=wrap)
        if not self.context_only:
            line = recall_summary(found, budget, verbose=self.verbose)
            out.print(printable(line), style="dim", markup=False)

    def draw(self, found: Recall) -> None:
        """Write the files that are asked for."""
        for path, text in ((self.svg, Recall.to_svg), (self.html, Recall.to_html)):
            if path is None:
                continue
            try:
                path.write_text(text(found), encoding="utf-8")
            except OSError as exc:
                raise InvalidInputError(f"{path} can't be written: {exc.strerror}") from exc
