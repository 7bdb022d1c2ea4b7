"""Progress bars for long steps: download, embedding, ingest.

In: calls of ``progress(label, done, total)``. Out: on stderr, bars on a terminal, and now and then
a line where there is none.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

#: Without a terminal, a short command prints nothing, and a long one not too much.
LINE_EVERY_S = 10.0


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
    """Show one bar per label while the context is open; a line now and then without a terminal."""
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description:>14}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    with rich.Progress(*columns, console=console) as bars:
        tasks = {}

        def show(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                # A step without a total is complete once the next step begins.
                for task in bars.tasks:
                    bars.update(task.id, total=task.total or task.completed)
                tasks[label] = bars.add_task(label, total=total or None)
            bars.update(tasks[label], completed=done, total=total or None)

        yield show


class _Lines:
    """Prints how far a step has come, at most once in `LINE_EVERY_S`."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LINE_EVERY_S

    def __call__(self, label: str, done: int, total: int | None, /) -> None:
        """Print a line if it is time."""
        if (now := time.monotonic()) >= self._next:
            self._next = now + LINE_EVERY_S
            print(f"{label}: {done}" + (f" of {total}" if total else ""), file=sys.stderr)  # noqa: T201
