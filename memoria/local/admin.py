"""Run the server's own administration tool (``org.neo4j.cli.AdminTool``).

In: a server's folder, its jars, a command. Out: the exit status and the output of the tool.
Touches: a Java process, an argument file that only the owner can read.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoria.errors import LocalServerError
from memoria.local.process import java, using, write_private
from memoria.local.settings import Layout, quoted

TOOL = "org.neo4j.cli.AdminTool"
KEPT_CHARS = 20_000
_END_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminResult:
    """How a run of the tool ended; ``said`` is the end of its output."""

    status: int
    said: str


async def administer(
    layout: Layout,
    jars: list[Path],
    command: Sequence[str],
    *,
    java_options: Sequence[str] = ("-Xmx256m",),
    on_text: Callable[[str], None] = lambda _: None,
) -> AdminResult:
    """Run one command; if the call is cancelled, the tool is killed.

    The command is passed in a file, because other users can see the arguments of a process, and
    because a class path is long.

    Parameters
    ----------
    on_text
        Called with each piece of the tool's output.

    Raises
    ------
    LocalServerError
        Java can't be started, or a file below the folder can't be written.
    """
    arguments = _arguments(layout)
    words = [*java_options, "--enable-native-access=ALL-UNNAMED"]
    words += ["--sun-misc-unsafe-memory-access=allow"]
    words += ["-cp", os.pathsep.join(str(jar) for jar in jars), TOOL, *command]
    with using(layout.root):
        arguments.unlink(missing_ok=True)
        write_private(arguments, "".join(f"{quoted(word)}\n" for word in words))
    environment = os.environ | {"NEO4J_HOME": str(layout.root), "NEO4J_CONF": str(layout.conf)}
    try:
        process = await asyncio.create_subprocess_exec(
            str(java()),
            f"@{arguments}",
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said = await _read(process, on_text)
            return AdminResult(status=await process.wait(), said=said)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    except OSError as exc:
        raise LocalServerError(f"can't start Java: {exc}") from exc
    finally:
        arguments.unlink(missing_ok=True)


async def end_tool(layout: Layout) -> None:
    """End the tool if it still runs after the process that started it was killed."""
    import psutil

    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[1:] == [f"@{_arguments(layout)}"]:
            try:
                process.kill()
                await asyncio.to_thread(process.wait, _END_S)
            except psutil.NoSuchProcess:
                continue
            except psutil.Error as exc:
                raise LocalServerError(
                    f"process {process.pid} still imports for a killed command: end it, then try "
                    "again"
                ) from exc


def _arguments(layout: Layout) -> Path:
    return layout.conf / "admin.args"


async def _read(process: asyncio.subprocess.Process, on_text: Callable[[str], None]) -> str:
    """Read the output of a process in pieces, because one line may grow for minutes."""
    said = ""
    while process.stdout is not None and (piece := await process.stdout.read(65_536)):
        text = piece.decode("utf-8", errors="replace")
        on_text(text)
        said = (said + text)[-KEPT_CHARS:]
    return said
