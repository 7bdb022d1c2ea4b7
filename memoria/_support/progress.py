"""Progress bars for long steps: download, embedding, ingest.

In: calls of ``progress(label, done, total)``. Out: bars on stderr, on a terminal only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class ProgressCallback(Protocol):
    """Is told how far a step has come; may be called from any thread."""

    def __call__(self, label: str, done: int, total: int | None, /) -> None:
        """Say that ``done`` of ``total`` parts of the step ``label`` are done.

        ``total`` is None while it is not known.
        """


def silent(_label: str, _done: int, _total: int | None, /) -> None:
    """Show nothing."""


@contextmanager
def progress_bars() -> Iterator[ProgressCallback]:
    """Show one bar per label while the context is open."""
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description:>14}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with rich.Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks = {}

        def show(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                # A step without a total is complete once the next step begins.
                for task in bars.tasks:
                    bars.update(task.id, total=task.total or task.completed)
                tasks[label] = bars.add_task(label, total=total or None)
            bars.update(tasks[label], completed=done, total=total or None)

        yield show
