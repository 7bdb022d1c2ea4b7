"""The random password of a managed server.

In: a server's folder. Out: the password.
Touches: the password file and, through the server's own tool, the record of the user.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from pathlib import Path

from memoria.errors import LocalServerError
from memoria.local.admin import administer
from memoria.local.process import using, write_private
from memoria.local.settings import Layout

ADMIN_TIMEOUT_S = 120.0


async def prepare(layout: Layout, jars: list[Path]) -> str:
    """Return the password of a server; a server that never ran gets a new one.

    A first start that was interrupted is begun again: for that, only the system database is
    removed, which contains nothing but users.
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
    """Return the password of an initialised server."""
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
    """Make a random password, and write it to a file that only the owner can read."""
    password = secrets.token_urlsafe(24)
    layout.password.unlink(missing_ok=True)
    write_private(layout.password, password + "\n")
    return password


async def set_password(
    layout: Layout, jars: list[Path], password: str, *, timeout_s: float = ADMIN_TIMEOUT_S
) -> None:
    """Set the first password; it has an effect only before the server's first start."""
    command = ["dbms", "set-initial-password", "--", password]
    try:
        async with asyncio.timeout(timeout_s):
            outcome = await administer(layout, jars, command)
    except TimeoutError as exc:
        raise LocalServerError(
            f"could not set the password of the local server within {timeout_s} s: the machine "
            "is too busy; try again"
        ) from exc
    if outcome.status != 0:
        raise LocalServerError(
            f"can't set the password of the local server: {outcome.said.strip()[-500:]}"
        )
