"""Malformed secrets in every place that takes one: no secret may leak.

In: nothing. Out: rows of the table. Connects to a port without a listener.
"""

from __future__ import annotations

import io
import logging
import os
import random
import string
import tempfile
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks.faults.table import Family, Row, Setting
from memoria import connect
from memoria.agents.mcp.grants import read_grants
from memoria.connection import given_auth
from memoria.downloads.jars import resolve_jars
from memoria.errors import ConfigError, MemoriaError
from memoria.local.settings import COORDINATE
from memoria.store import Target, open_driver

#: Wrong addresses; the secret replaces ``{}``.
ADDRESSES = (
    "bolt://neo4j:{}@127.0.0.1:1",
    "neo4j://neo4j:{}@127.0.0.1:1",
    "neo4j+s://{}@127.0.0.1:1",
    "bolt://neo4j:a/{}@127.0.0.1:1",
    "neo4j:{}@127.0.0.1",
    "http://neo4j:{}@127.0.0.1:7474",
    "bolt://127.0.0.1:1/{}",
    "bolt://127.0.0.1:1#{}",
    "bolt://127.0.0.1:{}",
    "bolt://[{}",
    "bolt://127.0.0.1:1?password={}",
    "neo4j://127.0.0.1:1?{}",
)
#: Malformed credentials.
CREDENTIALS: tuple[Callable[[str], Any], ...] = (
    lambda secret: secret,
    lambda secret: (secret,),
    lambda secret: ["neo4j", secret],
    lambda secret: ("neo4j", secret, "x"),
    lambda secret: ("neo4j", secret.encode()),
    lambda secret: ("neo4j", f"{secret}\ud800"),
    lambda secret: (None, secret),
    lambda secret: {"neo4j": secret},
)
#: Contents of password files with more than one line, or that are not text.
PASSWORDS: tuple[Callable[[str], bytes], ...] = (
    lambda secret: f"{secret}\nneo4j\n".encode(),
    lambda secret: f"neo4j\n{secret}".encode(),
    lambda secret: f"{secret}\x0bmore".encode(),
    lambda secret: secret.encode("utf-16"),
)
#: Lines of a token file that contain the token itself, or that can't be parsed.
TOKENS = ("{}", "{} alice", "alice {}", "'{}", "{0} {0} {0} {0}")
#: Wrong addresses of a Maven mirror or of a proxy.
MIRRORS = (
    "http://neo4j:{}@127.0.0.1:port",
    "http://neo4j:[{}]@127.0.0.1:1",
    "http://neo4j:{}@[127.0.0.1",
    "http://neo4j:{}\u2100@127.0.0.1:1",
    "ftp://neo4j:{}@127.0.0.1:1",
)
_LETTERS = (
    string.ascii_letters + string.digits + "!$%&()*+,-.;<>^_~"
)  # without =, which could make an address valid


def shown(error: BaseException) -> str:
    """Return everything that a program may print of an error: its text and those of its causes."""
    found = ["".join(traceback.format_exception(error))]
    behind: BaseException | None = error
    while behind is not None:
        found.append(repr(behind))
        behind = behind.__cause__ or behind.__context__
    return "".join(found)


async def address(form: str, secret: str) -> None:
    """Open an address that contains a secret."""
    async with open_driver(Target(uri=form.format(secret), auth=None)):
        pass


async def credentials(form: Callable[[str], Any], secret: str) -> None:
    """Connect with malformed credentials."""
    await connect("bolt://127.0.0.1:1", form(secret), scope="a").open()


async def password_file(form: Callable[[str], bytes], secret: str) -> None:
    """Read a malformed password file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "password"
        file.write_bytes(form(secret))
        given_auth("neo4j", password_file=file)


async def tokens(form: str, secret: str) -> None:
    """Read a malformed token file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokens.txt"
        file.write_text(form.format(secret), "utf-8")
        read_grants(file)


async def mirror(form: str, secret: str) -> None:
    """Download from a mirror with a malformed address."""
    _download(MEMORIA_MAVEN_URL=form.format(secret))


async def proxy(form: str, secret: str) -> None:
    """Download through a proxy with a malformed address."""
    address = form.format(secret)
    _download(MEMORIA_MAVEN_URL="http://127.0.0.1:1", HTTP_PROXY=address, http_proxy=address)


def _download(**variables: str) -> None:
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(variables, M2_REPO=folder, NO_PROXY="", no_proxy="")
        try:
            resolve_jars(COORDINATE, home=Path(folder))
        finally:
            os.environ.clear()
            os.environ.update(kept)


async def away(_: None, secret: str) -> None:
    """Connect with a valid password to a server that is not running."""
    await connect("bolt://127.0.0.1:1", ("neo4j", secret), scope="a").open()


#: Places that take a secret, each with a malformed one.
SLOTS: tuple[tuple[Callable[[Any, str], Awaitable[None]], Any], ...] = (
    *((address, form) for form in ADDRESSES),
    *((credentials, form) for form in CREDENTIALS),
    *((password_file, form) for form in PASSWORDS),
    *((tokens, form) for form in TOKENS),
    *((slot, form) for slot in (mirror, proxy) for form in MIRRORS),
    (away, None),
)


async def leaks(slot: Callable[[Any, str], Awaitable[None]], form: Any, secret: str) -> str | None:
    """Use a malformed secret; return a description of the fault, or None if there is none.

    Neither the error nor anything printed or logged may contain the secret.
    """
    said = io.StringIO()
    log, handler = logging.getLogger(), logging.StreamHandler(said)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    expected = MemoriaError if slot in (away, mirror, proxy) else ConfigError
    wrong: str | None = f"{slot.__name__}: no error"
    try:
        with redirect_stdout(said), redirect_stderr(said):
            await slot(form, secret)
    except expected as exc:
        wrong = f"{slot.__name__}: its error shows it" if secret in shown(exc) else None
    finally:
        log.setLevel(before)
        log.removeHandler(handler)
    return f"{slot.__name__}: it was printed or logged" if secret in said.getvalue() else wrong


@asynccontextmanager
async def opened(_: Setting) -> AsyncIterator[None]:
    """Open nothing: no server is needed."""
    yield None


async def _attempt(_: None, rng: random.Random, number: int) -> str | None:
    secret = "".join(rng.choices(_LETTERS, k=rng.randint(12, 40)))
    return await leaks(*SLOTS[number % len(SLOTS)], secret)


FAMILY = Family(
    name="secrets",
    opened=opened,
    rows=(
        Row(
            key="secrets",
            fault=f"a password or a token in {len(SLOTS)} wrong places or forms",
            expected="a typed error; no message, traceback, repr or log contains it",
            quick=len(SLOTS),
            full=50 * len(SLOTS),
            attempt=_attempt,
        ),
    ),
)
