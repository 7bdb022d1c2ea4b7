"""Open the file that a command writes, or standard output.

In: the name that the user gave. Out: a stream of bytes. Writes a temporary file, which replaces the
named file once it is complete.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, cast

import typer

from memoria._support.home import EXPORTING, UNFINISHED, default_home
from memoria._support.process_files import while_running
from memoria.ingest.vault import VaultWriter

STDOUT = "-"


def check_output(output: str) -> None:
    """Refuse a name that is empty or names a folder."""
    if output.rpartition(os.sep)[2] in ("", ".", ".."):
        raise typer.BadParameter(f"{output!r} is not the name of a file", param_hint="--output")


def check_file(output: str, option: str) -> Path:
    """Return the path of a file that can be written; refuse other names."""
    path = Path(output)
    if output == STDOUT or not path.name or path.is_dir() or not path.parent.is_dir():
        raise typer.BadParameter(
            f"{output!r} must name a file in a folder that exists", param_hint=option
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise typer.BadParameter(f"{output!r} can't be written", param_hint=option)
    return path


@contextmanager
def opened(output: str) -> Iterator[IO[bytes]]:
    """Open the output; a file gets its name only if no error occurred.

    An error names the file as the user gave it, not the temporary file.
    """
    path = Path(output)
    if output == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():  # a pipe or a device must not be replaced
        with path.open("wb") as stream:
            yield stream
    else:
        path = path.resolve()  # write to the target, so that a link stays a link
        with _naming(output):
            number, name = tempfile.mkstemp(prefix=UNFINISHED, dir=path.parent)
        try:
            with _announced(Path(name)), os.fdopen(number, "wb") as file:
                if (
                    path.suffix == ".gz"
                ):  # without name and time, so that equal content gives equal bytes
                    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
                        yield cast(IO[bytes], packed)
                else:
                    yield file
                file.flush()
                os.fsync(file.fileno())
            with _naming(output):
                Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


@contextmanager
def opened_lines(output: str) -> Iterator[Callable[[str], object]]:
    """Open the output; give a function that writes a line to it."""
    with opened(output) as stream:
        yield lambda line: stream.write(line.encode("utf-8") + b"\n")


@contextmanager
def vault(output: str) -> Iterator[Callable[[str], object]]:
    """Give a function that writes a line of an export as notes.

    The folder gets its name only if no error occurred.
    """
    path = Path(output)
    with _naming(output):
        folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=path.absolute().parent))
    try:
        with _announced(folder):
            writer = VaultWriter(folder)
            yield writer.add
            writer.close()
            with _naming(output):
                folder.replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _announced(unfinished: Path) -> AbstractContextManager[None]:
    """Note where an export writes, so that its file is found again if the process is killed."""
    facts = {"path": str(unfinished)}
    return while_running(default_home() / EXPORTING / f"{unfinished.name}.json", facts)


@contextmanager
def _naming(output: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise OSError(exc.errno, exc.strerror, output) from exc
