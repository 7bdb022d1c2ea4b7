"""The random password of a managed server.

In: a server's folder. Out: the password.
Touches: the password file, and through the server's own tool the user's record.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
from pathlib import Path

from memoria.errors import LocalServerError
from memoria.local.process import java, using
from memoria.local.settings import Layout, quoted

ADMIN_TIMEOUT_S = 120.0


async def prepare(layout: Layout, jars: list[Path]) -> str:
    """Give a server that never ran its password; the password of one that did.

    A first start that was cut short is begun anew: only the system database, which holds nothing
    but users, is removed.
    """
    if layout.initialised.exists():
        return read_password(layout)
    for leftover in ("databases/system", "transactions/system", "dbms"):
        shutil.rmtree(layout.data / leftover, ignore_errors=True)
    with using(layout.root):
        layout.conf.mkdir(parents=True, exist_ok=True)
        (layout.conf / "neo4j.conf").touch()
        password = new_password(layout)
    await set_password(layout, jars, password)
    return password


def read_password(layout: Layout) -> str:
    """Password of an initialised server.

    Raises
    ------
    LocalServerError
        The file is gone or can't be read.
    """
    try:
        password = layout.password.read_text(encoding="utf-8").strip()
    except OSError as exc:
        raise LocalServerError(
            f"can't read the password of the local server: {exc}. Put the file back, or move "
            f"{layout.root} away to start with an empty database"
        ) from exc
    if not password:
        raise LocalServerError(
            f"{layout.password} is empty; put the password back, or move {layout.root} away to "
            "start with an empty database"
        )
    return password


def new_password(layout: Layout) -> str:
    """Make a random password and its file, which only the owner can read."""
    password = secrets.token_urlsafe(24)
    layout.password.unlink(missing_ok=True)
    write_private(layout.password, password + "\n")
    return password


def write_private(path: Path, text: str) -> None:
    """Create ``path``, which must not exist, with mode 0600 from its first moment."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


async def set_password(
    layout: Layout, jars: list[Path], password: str, *, timeout_s: float = ADMIN_TIMEOUT_S
) -> None:
    """Set the first password; it has an effect only before the server's first start.

    The password travels in a file that only the owner can read, since other users see a
    process's arguments.
    """
    arguments = layout.conf / "admin.args"
    words = ["-Xmx256m", "--sun-misc-unsafe-memory-access=allow"]
    words += ["-cp", os.pathsep.join(str(jar) for jar in jars), "org.neo4j.cli.AdminTool"]
    words += ["dbms", "set-initial-password", "--", password]
    with using(layout.root):
        arguments.unlink(missing_ok=True)
        write_private(arguments, "".join(f"{quoted(word)}\n" for word in words))
    environment = {
        **os.environ,
        "NEO4J_HOME": str(layout.root),
        "NEO4J_CONF": str(layout.conf),
    }
    try:
        result = await asyncio.to_thread(_run_admin, arguments, environment, timeout_s)
    except OSError as exc:
        raise LocalServerError(f"can't start Java: {exc}") from exc
    except subprocess.TimeoutExpired as exc:
        raise LocalServerError(
            f"could not set the password of the local server within {timeout_s} s: the machine "
            "is too busy; try again"
        ) from exc
    finally:
        arguments.unlink(missing_ok=True)
    if result.returncode != 0:
        raise LocalServerError(
            f"can't set the password of the local server: {result.stderr.strip()[-500:]}"
        )


def _run_admin(
    arguments: Path, environment: dict[str, str], timeout_s: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the command is made by memoria
        [str(java()), f"@{arguments}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
