"""Three members of a made-up cluster, in front of one real server that answers their queries.

A member speaks Bolt. It answers for itself what makes a cluster: the routing table, who leads, and
bookmarks. Everything else goes to the real server, so that recalls, writes and learning are real.
Tests script what happens: `Cluster.on` calls a function when a query of memoria comes to a member.

In: the real server. Out: an address for ``neo4j://``, and `Request`s as the members saw them.
Touches: sockets on the loopback address.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from memoria.store import Target
from tests.cluster import wire
from tests.cluster.packstream import Structure, packed, unpacked
from tests.cluster.wire import Tag

HOST = "127.0.0.1"
NAMES = ("one", "two", "three")
LOST = (ConnectionError, asyncio.IncompleteReadError, OSError)

#: When a script is called: before a member looks at a query; once the query runs, before it is
#: committed; once it is committed, before the client learns of it.
Moment = Literal["asked", "running", "committed"]
Script = Callable[["Member"], Awaitable[None] | None]


@dataclass(slots=True, kw_only=True)
class Request:
    """A transaction that a client asked of a member, as the member saw it.

    Attributes
    ----------
    query
        Name of memoria's query; empty for a transaction without one.
    waited, stale
        Whether the member waited until it had caught up with the bookmarks, and whether it answered
        without what others had committed.
    """

    member: str
    query: str
    mode: Literal["read", "write"]
    database: str
    bookmarks: tuple[str, ...]
    waited: bool = False
    stale: bool = False


@dataclass(slots=True)
class _Step:
    """One step of a script: what is done when a query comes for the first time from now on."""

    query: str
    moment: Moment
    do: Script
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Cluster:
    """A cluster for ``async with``; its first member leads at first.

    Parameters
    ----------
    target
        The real server; clients use its credentials.
    databases
        Names of the databases; all of them are the same one on the real server.
    bookmark_timeout_s
        How long a member waits until it has caught up with a bookmark; seconds.

    Attributes
    ----------
    journal
        All transactions in the order in which they came.
    commits
        Database -> number of transactions that were committed to it.
    """

    def __init__(
        self,
        target: Target,
        *,
        databases: Collection[str] = ("neo4j",),
        bookmark_timeout_s: float = 30.0,
    ) -> None:
        self.target = target
        self.databases = databases
        self.bookmark_timeout_s = bookmark_timeout_s
        self.journal: list[Request] = []
        self.commits: Counter[str] = Counter()
        self.moved = asyncio.Condition()
        self.members = {name: Member(self, name) for name in NAMES}
        self.leader: Member | None = self.members[NAMES[0]]
        self._steps: list[_Step] = []
        self._scripts: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        for member in self.members.values():
            await member.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for script in self._scripts:
            script.cancel()
        for member in self.members.values():
            await member.lose()

    @property
    def uri(self) -> str:
        """Address of a member, for a driver that routes."""
        return f"neo4j://{HOST}:{self.members[NAMES[-1]].port}"

    @property
    def followers(self) -> tuple[Member, ...]:
        """The members that don't lead."""
        return tuple(each for each in self.members.values() if each is not self.leader)

    def elect(self, member: Member | None) -> None:
        """Make a member the leader; with None nobody leads."""
        self.leader = member

    def later(self, seconds: float, do: Callable[[], Awaitable[None] | None]) -> None:
        """Do something in some seconds, beside what goes on."""

        async def wait() -> None:
            await asyncio.sleep(seconds)
            await _called(do())

        self._scripts.add(asyncio.create_task(wait()))

    def on(self, query: str, do: Script, *, moment: Moment = "asked") -> asyncio.Event:
        """Call ``do`` once, when a query of this name comes next; the event says that it was."""
        self._steps.append(step := _Step(query, moment, do))
        return step.done

    async def play(self, request: Request, moment: Moment) -> None:
        """Do the first step that is due."""
        for step in self._steps:
            if (step.query, step.moment) == (request.query, moment):
                self._steps.remove(step)
                await _called(step.do(self.members[request.member]))
                step.done.set()
                return

    def table(self, database: str) -> Mapping[str, Any]:
        """Return the routing table; members that were lost stand in it until they are forgotten."""
        listed = [each for each in self.members.values() if each.listed]
        roles = {
            "ROUTE": listed,
            "READ": [each for each in listed if each is not self.leader],
            "WRITE": [each for each in listed if each is self.leader],
        }
        servers = [
            {"role": role, "addresses": [f"{HOST}:{each.port}" for each in members]}
            for role, members in roles.items()
        ]
        return {"ttl": 300, "db": database, "servers": servers}

    def asked(self, query: str) -> list[Request]:
        """Return the transactions of one query, in their order."""
        return [each for each in self.journal if each.query == query]


class Member:
    """One member: it listens, follows or leads, may be lost, and may fall behind."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.port = 0
        self.listed = True
        self._server: asyncio.Server | None = None
        self._relays: dict[Relay, asyncio.Task[None]] = {}
        self._frozen: Mapping[str, int] | None = None

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, HOST, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def lose(self) -> None:
        """End at once, with all connections; routing tables still name this member."""
        if self._server is not None:
            self._server.close()
            self._server = None
        current = asyncio.current_task()
        for relay, task in [*self._relays.items()]:
            relay.abort()
            if task is not current:  # a script may lose the member that it is called for
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def fall_behind(self, *, by: int = 0) -> None:
        """Forget so many of the last commits, and learn of no further ones until `catch_up`."""
        self._frozen = {name: count - by for name, count in self.cluster.commits.items()}

    async def catch_up(self) -> None:
        """Learn of all commits."""
        self._frozen = None
        async with self.cluster.moved:
            self.cluster.moved.notify_all()

    def applied(self, database: str) -> int:
        """Return the number of commits to a database that this member knows."""
        known = self.cluster.commits if self._frozen is None else self._frozen
        return known.get(database, 0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relay = Relay(self, reader, writer)
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served by a task")
        self._relays[relay] = task
        try:
            await relay.run()
        except LOST:
            pass
        except asyncio.CancelledError:
            if self._server is not None:  # else this member is lost, and with it the connection
                raise
        finally:
            del self._relays[relay]
            relay.abort()


class Relay:
    """One connection to a member: one message after the other, each answered before the next."""

    def __init__(
        self, member: Member, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._member = member
        self._cluster = member.cluster
        self._reader, self._writer = reader, writer
        self._behind: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._request: Request | None = None
        self._failed = False

    def abort(self) -> None:
        """Drop both connections at once."""
        self._writer.transport.abort()
        if self._behind is not None:
            self._behind[1].transport.abort()

    async def run(self) -> None:
        """Serve the client until it leaves."""
        await wire.accept(self._reader, self._writer)
        real = urlsplit(self._cluster.target.uri)
        self._behind = await wire.dial(real.hostname or HOST, real.port or 7687)
        while wire.tag_of(message := await wire.receive(self._reader)) != Tag.GOODBYE:
            await self._handle(message)
            await self._writer.drain()

    async def _handle(self, message: bytes) -> None:
        tag = wire.tag_of(message)
        if tag == Tag.RESET:
            self._failed, self._request = False, None
        if self._failed:
            self._answer(Structure(Tag.IGNORED, ()))
        elif tag == Tag.ROUTE:
            self._route(unpacked(message))
        elif tag == Tag.BEGIN or (tag == Tag.RUN and self._request is None):
            await self._begin(unpacked(message))
        elif tag in (Tag.RUN, Tag.PULL, Tag.DISCARD, Tag.COMMIT) and self._request is not None:
            await self._go_on(message, self._request, commits=tag != Tag.RUN)
        else:
            if tag == Tag.ROLLBACK:
                self._request = None
            self._answer(await self._forward(message))

    def _route(self, message: Structure) -> None:
        database = message.fields[2].get("db") or "neo4j"
        if self._knows(database):
            self._answer(Structure(Tag.SUCCESS, ({"rt": self._cluster.table(database)},)))

    async def _begin(self, message: Structure) -> None:
        """Begin a transaction, or run a query that is one by itself."""
        *before, extra = message.fields
        request = Request(
            member=self._member.name,
            query=extra.get("tx_metadata", {}).get("query", ""),
            mode="read" if extra.get("mode") == "r" else "write",
            database=extra.get("db", "neo4j"),
            bookmarks=tuple(extra.get("bookmarks", ())),
        )
        self._cluster.journal.append(request)
        await self._cluster.play(request, "asked")
        if not (self._knows(request.database) and self._leads(request)):
            return
        if not await self._ready(request):
            return
        extra = {k: v for k, v in extra.items() if k != "bookmarks"} | {"db": "neo4j"}
        summary = await self._forward(packed(Structure(message.tag, (*before, extra))))
        if summary.tag == Tag.SUCCESS:
            self._request = request
            await self._cluster.play(request, "running")
        self._answer(summary)

    async def _go_on(self, message: bytes, request: Request, *, commits: bool) -> None:
        """Go on with a transaction; what a member that leads no more has written is undone."""
        if not self._leads(request):
            await self._forward(packed(Structure(Tag.RESET, ())))
            return
        summary = await self._forward(message)
        ended = summary.tag == Tag.SUCCESS and "bookmark" in summary.fields[0]
        if commits and ended:
            self._request = None
            if request.mode == "write":
                self._cluster.commits[request.database] += 1
            await self._cluster.play(request, "committed")
            newest = max(self._member.applied(request.database), _number(request))
            bookmark = f"{request.database}:{newest}"
            summary = Structure(Tag.SUCCESS, (summary.fields[0] | {"bookmark": bookmark},))
        self._answer(summary)

    def _knows(self, database: str) -> bool:
        if database in self._cluster.databases:
            return True
        self._fail("Neo.ClientError.Database.DatabaseNotFound", f"no database {database}")
        return False

    def _leads(self, request: Request) -> bool:
        if request.mode == "read" or self._cluster.leader is self._member:
            return True
        self._fail("Neo.ClientError.Cluster.NotALeader", "no write on a follower")
        return False

    async def _ready(self, request: Request) -> bool:
        """Wait until this member has what the client has seen; note what it answers without."""
        wanted, database = _number(request), request.database
        request.waited = self._member.applied(database) < wanted
        try:
            async with asyncio.timeout(self._cluster.bookmark_timeout_s), self._cluster.moved:
                self._cluster.moved.notify_all()  # tests wait until a member waits
                await self._cluster.moved.wait_for(lambda: self._member.applied(database) >= wanted)
        except TimeoutError:
            self._fail("Neo.TransientError.Transaction.BookmarkTimeout", "not caught up in time")
            return False
        request.stale = self._member.applied(database) < self._cluster.commits[database]
        return True

    def _fail(self, code: str, message: str) -> None:
        self._failed, self._request = True, None
        meaning = {"neo4j_code": code, "message": message, "description": message}
        status = {"gql_status": "50N42", "diagnostic_record": {}}
        self._answer(Structure(Tag.FAILURE, (meaning | status,)))

    async def _forward(self, message: bytes) -> Structure:
        """Send a message to the real server, pass its records on, and return its last word."""
        if self._behind is None:
            raise ConnectionError("the real server is not connected")
        reader, writer = self._behind
        wire.send(writer, message)
        while wire.tag_of(answer := await wire.receive(reader)) == Tag.RECORD:
            wire.send(self._writer, answer)
        summary: Structure = unpacked(answer)
        if summary.tag == Tag.FAILURE:
            self._failed, self._request = True, None
        return summary

    def _answer(self, summary: Structure) -> None:
        if self._writer.is_closing():
            raise ConnectionError("the client is gone, or this member")
        wire.send(self._writer, packed(summary))


def _number(request: Request) -> int:
    """Return the number of the newest commit that the bookmarks of a request name."""
    pairs = (bookmark.split(":") for bookmark in request.bookmarks)
    return max((int(number) for name, number in pairs if name == request.database), default=0)


async def _called(result: Awaitable[None] | None) -> None:
    if result is not None:
        await result
