"""Malformed inputs in every string slot of every surface, with a canary.

In: a server. Out: rows of the table. Writes to a scope of its own.
"""

from __future__ import annotations

import json
import logging
import random
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx2
from mcp import Client
from starlette.applications import Starlette

from benchmarks.faults.served import API, COMMANDS, PAGE, TOOLS
from benchmarks.faults.strings import CANARY_LABEL, OTHER_KINDS, hostile
from benchmarks.faults.surfaces import PYTHON, Slot, Surfaces
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import QUESTION, embedder, web
from memoria import GraphRetriever
from memoria.agents.http.app import api_route
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.grants import Grant
from memoria.agents.mcp.mcp_server import build_server
from memoria.agents.mcp.rights import Rights
from memoria.agents.transcripts import read_transcript
from memoria.errors import InvalidInputError, MemoriaError, UnavailableError
from memoria.serialize import plain_recall
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load, names, parse
from memoria.view.app import build_app
from memoria.view.guard import TOKEN_HEADER
from memoria.view.source import Source, saved

_SLOTS: Mapping[str, Slot] = {**PYTHON, **COMMANDS, **TOOLS, **PAGE, **API}
_SCOPE = "faults-inputs"
_TOKEN, _HOST = "a token", "127.0.0.1:1"
_OTHER_KINDS_SHARE = 0.15
_CANARY = parse(
    f"""// name: faults.canary
// mode: read
// params: scope
// returns: canaries, others
CALL () {{
  MATCH (c:{CANARY_LABEL}) RETURN collect([c.text, labels(c)]) AS canaries
}}
CALL () {{
  MATCH (m:Memory {{scope: $p.scope}}) RETURN collect(m.text) AS others
}}
RETURN canaries, others
""",
    "faults.canary",
)
_TEXTS = frozenset({load(name).text for name in names()} | {_CANARY.text})


class Texts(logging.Handler):
    """Collects the statements that the driver sends, but for those that memoria's files hold."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.foreign: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Look at the first field of a message RUN: its statement."""
        if not str(record.msg).startswith("[#%04X]  C: RUN") or not isinstance(record.args, tuple):
            return
        said = str(record.args[-1])
        if not any(said.startswith(repr(text)) for text in _TEXTS):
            self.foreign.append(said[:200])


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What the tries use, and what must not change."""

    surfaces: Surfaces
    other: GraphRetriever
    texts: Texts
    before: object = None
    names: dict[str, list[str]] = field(default_factory=dict)


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Opened]:
    """Plant the canary, and open all surfaces on one scope."""
    async with AsyncExitStack() as stack:
        config = StoreConfig(query_timeout_s=20)
        driver = await stack.enter_async_context(open_driver(setting.target, config))
        store = Store(driver, config=config)
        memory = GraphRetriever(store, scope=_SCOPE, embedder=embedder())
        other = memory.for_scope(f"{_SCOPE}-other")
        rng = random.Random(setting.seed)
        for each in (memory, other):
            await each.writer().write(*web(rng))
        learned = await memory.recall(QUESTION, deadline_s=30)
        async with driver.session() as session:
            made = await session.run(f"CREATE (:{CANARY_LABEL} {{text: 'alive'}})")
            await made.consume()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memoria-faults-")))
        surfaces = Surfaces(
            memory=memory,
            learned=learned,
            mcp=await stack.enter_async_context(_mcp(memory)),
            page=await stack.enter_async_context(_page(memory)),
            api=await stack.enter_async_context(_api(memory)),
            options=_options(setting, folder),
            folder=folder,
        )
        texts = Texts()
        logger = logging.getLogger("neo4j.io")
        logger.addHandler(texts)
        stack.callback(logger.removeHandler, texts)
        stack.callback(logger.setLevel, logger.level)
        stack.callback(setattr, logger, "propagate", logger.propagate)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False  # the MCP server shows what reaches the root
        yield Opened(surfaces=surfaces, other=other, texts=texts, before=await _canary(other))


def _options(setting: Setting, folder: Path) -> tuple[str, ...]:
    assert isinstance(setting.target.auth, tuple)
    user, password = setting.target.auth
    file = folder / "password"
    file.write_text(password, "utf-8")
    return (
        *("--uri", setting.target.uri, "--user", user),
        *("--password-file", str(file), "--scope", _SCOPE),
    )


@asynccontextmanager
async def _mcp(memory: GraphRetriever) -> AsyncIterator[Client]:
    async def opening() -> GraphRetriever:
        return memory

    rights = Rights(grant=Grant(scope=memory.scope, read_only=False), allow_forget=True)
    memories = Memories(opening, deadline_s=20)
    async with memories, Client(build_server(memories, rights)) as client:
        yield client


@asynccontextmanager
async def _page(memory: GraphRetriever) -> AsyncIterator[httpx2.AsyncClient]:
    async def opening() -> GraphRetriever:
        return memory

    app = build_app(Source(opening), scope=memory.scope, token=_TOKEN, hosts=[_HOST])
    async with _asking(app) as client:
        yield client


@asynccontextmanager
async def _api(memory: GraphRetriever) -> AsyncIterator[httpx2.AsyncClient]:
    async def opening() -> GraphRetriever:
        return memory

    rights = Rights(grant=Grant(scope=memory.scope, read_only=False), allow_forget=True)
    async with Memories(opening, deadline_s=20) as memories:
        route = api_route(memories, rights, is_guarded=False)
        async with _asking(Starlette(routes=[route])) as client:
            yield client


@asynccontextmanager
async def _asking(app: Starlette) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=True)
    async with httpx2.AsyncClient(
        transport=transport, base_url=f"http://{_HOST}", headers={TOKEN_HEADER: _TOKEN}
    ) as client:
        yield client


async def _canary(other: GraphRetriever) -> object:
    record = (await other.store.run(_CANARY, {"scope": other.scope}))[0]
    return sorted(record["canaries"]), sorted(record["others"])


async def _malformed(
    names: tuple[str, ...], opened: Opened, rng: random.Random, number: int
) -> str | None:
    """Put one value into one slot, and look after the canary."""
    name = names[number % len(names)]
    slot: Slot = _SLOTS[name]
    value = rng.choice(OTHER_KINDS) if rng.random() < _OTHER_KINDS_SHARE else hostile(rng)
    wrong: str | None = None
    try:
        wrong = await slot(opened.surfaces, value)
    except MemoriaError:
        pass
    except Exception as exc:  # noqa: BLE001 - an error that is not memoria's is a failure
        wrong = f"untyped {type(exc).__name__}: {exc}"[:200]
    if opened.texts.foreign:
        wrong = f"sent a statement that is not memoria's: {opened.texts.foreign.pop()}"
    if await _canary(opened.other) != opened.before:
        wrong = "the canary, or another scope, was changed"
    return wrong and f"{name}, {ascii(value)[:80]}: {wrong}"


# Only the last megabyte of a transcript is read.
_LONGEST_LINE = 10_000
#: Lines of a file that are not valid JSON, or that Python can't read.
_UNREADABLE = (
    *("[" * 10_000, '{"a":' * 10_000, "[1e400]", "NaN", "-Infinity", '"\\ud800"', "\x00", "{"),
    *('{"type":"user","message":[]}', '{"\\udfff":1}', "1" * 5_000, '{"a":1,"a":2}', "", "null"),
)


async def _transcript(opened: Opened, rng: random.Random, _: int) -> str | None:
    """Put unreadable lines between the messages of a transcript; all messages must be read."""
    texts = [f"message {each}" for each in range(rng.randint(1, 10))]
    lines = [
        json.dumps({"type": "user", "uuid": text, "message": {"role": "user", "content": text}})
        for text in texts
    ]
    for _number in range(rng.randint(1, 5)):
        line = rng.choice((rng.choice(_UNREADABLE), ascii(hostile(rng)[:_LONGEST_LINE])))
        lines.insert(rng.randint(0, len(lines)), line)
    file = opened.surfaces.folder / "transcript.jsonl"
    file.write_text("\n".join([*lines, ""]), "utf-8")
    read = [message.text for message in read_transcript(file, "claude")]
    return None if read == texts else f"{len(read)} of {len(texts)} messages were read"


async def _saved(opened: Opened, rng: random.Random, _: int) -> str | None:
    """Put an odd value anywhere into a saved recall; it must be refused, or sent to the page."""
    document = json.loads(json.dumps(plain_recall(opened.surfaces.learned)))
    with suppress(ValueError, RecursionError):
        value = json.loads(rng.choice(_UNREADABLE))
        part = document
        while isinstance(part, dict) and part and rng.random() < 0.7:
            inner = part[rng.choice(sorted(part))]
            part = inner if isinstance(inner, dict) and inner else part
        part[rng.choice((*sorted(part), "unknown"))] = value
    try:
        file = saved("saved.json", document)
    except InvalidInputError:
        return None
    app = build_app(Source(_never, files=[file]), scope="a", token=_TOKEN, hosts=[_HOST])
    async with _asking(app) as client:
        for path in ("/api/about", "/api/saved/0"):
            answer = await client.get(path)
            if answer.status_code != httpx2.codes.OK:
                return f"{path}: status {answer.status_code}"
    return None


async def _never() -> GraphRetriever:
    raise UnavailableError("a saved recall needs no database")


def _row(key: str, surface: str, names: tuple[str, ...], quick: int, full: int) -> Row:
    return Row(
        key=f"inputs-{key}",
        fault=f"malformed values in {len(names)} places of {surface}",
        expected="a result or a typed error; only memoria's own statements are sent; data of "
        "another scope and of another program are unchanged",
        quick=quick,
        full=full,
        attempt=partial(_malformed, names),
    )


FAMILY = Family(
    name="inputs",
    opened=opened,
    rows=(
        _row("python", "the Python API", tuple(PYTHON), 120, 5_000),
        _row("commands", "the command line", tuple(COMMANDS), 13, 1_500),
        _row("mcp", "the MCP server", tuple(TOOLS), 40, 3_000),
        _row("page", "the page of `memoria view`", tuple(PAGE), 40, 2_500),
        _row("http", "the HTTP API", tuple(API), 40, 2_500),
        Row(
            key="transcript-lines",
            fault="unreadable lines between the messages of a transcript",
            expected="every message is read",
            quick=20,
            full=2_000,
            attempt=_transcript,
        ),
        Row(
            key="saved-recalls",
            fault="a saved recall with numbers, texts or nesting that no JSON answer can contain",
            expected="the file is refused, or the page can load it",
            quick=20,
            full=2_000,
            attempt=_saved,
        ),
    ),
)
