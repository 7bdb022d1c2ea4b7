"""Measure `memoria serve`: the time that HTTP adds to a recall, and many clients at once.

    scripts/bench http [--calls 200] [--clients 200] [--seconds 120]

Starts a throw-away Neo4j with the sample memory, and a server. First the same recalls are asked
in turn of `AgentMemory` in this process and of the server. Then clients ask the server without a
pause, but for those that are refused, who wait as long as the answer says. Prints Markdown. Fails
if an answer came more than half a second after its deadline, if a refusal took more than 100 ms, if
a call failed otherwise, or if the server's memory grew by more than 24 MB after the first quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil

import memoria
from memoria.agents.agent_memory import AgentMemory
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j

SCOPE = "sample"
DEADLINE_S = 5.0
IDLE_S = 5.0  # the server closes a connection that waits for twice as long
PATIENT_S = 60.0  # while the database plans its queries
# What a busy machine may add: the client, too, has to be scheduled.
LATE_S, REFUSED_S = 0.5, 0.1
MOST_GROWTH = 24_000_000
DONE, REFUSED, LATE, BUSY = 200, 400, 504, (429, 503)


@dataclass(frozen=True, slots=True)
class Server:
    """A server: its host and port, and its process."""

    host: str
    port: int
    pid: int

    def memory(self) -> int:
        """Return the memory of the server; bytes."""
        return int(psutil.Process(self.pid).memory_info().rss)

    def processor_s(self) -> float:
        """Return the processor time that the server has used; seconds."""
        used = psutil.Process(self.pid).cpu_times()
        return float(used.user + used.system)


@dataclass(slots=True)
class Tally:
    """Times of answers, 504s and refusals, seconds; other ends; memory of the server, bytes."""

    answered: list[float] = field(default_factory=list)
    in_vain: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)


class Connection:
    """One client: a connection that stays open as long as the server lets it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0  # when

    async def recall(
        self, question: str, deadline_s: float = DEADLINE_S
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Ask a question; return status, headers and body."""
        if time.monotonic() - self._used > IDLE_S:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._server.host, self._server.port)
        reader, writer = self._streams
        body = json.dumps({"query": question, "deadline_ms": int(1_000 * deadline_s)}).encode()
        host = f"{self._server.host}:{self._server.port}"
        head = f"POST /v1/recall HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if line)
        content = await reader.readexactly(int(headers["content-length"]))
        self._used = time.monotonic()
        if headers.get("connection") == "close":
            self.close()
        return int(first.split()[1]), headers, content

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        if self._streams is not None:
            self._streams[1].transport.abort()
        self._streams = None


@asynccontextmanager
async def serving(environment: Mapping[str, str]) -> AsyncIterator[Server]:
    """Start a server on a free port, and wait until it says where it listens."""
    words = ("serve", "--scope", SCOPE, "--port", "0")
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memoria", *words),
            env={**os.environ, **environment},
            stderr=log,
        )
        try:
            while "listening on " not in (told := _read(log.name)):
                if process.returncode is not None:
                    raise SystemExit(f"no server: {told}")
                await asyncio.sleep(0.1)
            url = urlsplit(told.partition("listening on ")[2].split()[0])
            yield Server(str(url.hostname), int(url.port or 0), process.pid)
        finally:
            process.terminate()
            await process.wait()


def _read(name: str) -> str:
    return Path(name).read_text("utf-8")


async def compare(memory: AgentMemory, server: Server, calls: int) -> None:
    """Ask the same questions of both in turn, and print a row for each."""
    client = Connection(server)
    times: dict[str, list[float]] = {"Python": [], "HTTP": [], "HTTP, refused at once": []}
    used = dict.fromkeys(times, 0.0)  # processor time, not that of the client
    for number in range(calls + 10):
        question = QUESTIONS[number % len(QUESTIONS)].text
        for way in random.sample([*times], len(times)):
            started = time.perf_counter()
            clock = time.process_time if way == "Python" else server.processor_s
            used_before = clock()
            if way == "Python":
                await memory.recall(question, deadline_s=PATIENT_S, order="relevance")
            else:
                asked, wanted = (question, DONE) if way == "HTTP" else ("", REFUSED)
                status, _, content = await client.recall(asked, PATIENT_S)
                if status != wanted:
                    raise SystemExit(f"a recall was answered {status}: {content.decode()}")
            if number >= 10:  # the first ones warm both up
                times[way].append(1_000 * (time.perf_counter() - started))
                used[way] += 1_000 * (clock() - used_before)
    client.close()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(f"| {calls} calls of each in turn, ms | p10 | p50 | p95 | processor time |")
    print("|---|---|---|---|---|")
    for way, found in times.items():
        cells = " | ".join(f"{_percentile(found, percent):.1f}" for percent in (10, 50, 95))
        print(f"| {way} | {cells} | {used[way] / calls:.1f} |")
    for percent in (10, 50):
        added = _percentile(times["HTTP"], percent) - _percentile(times["Python"], percent)
        print(f"\nHTTP adds {added:+.1f} ms to p{percent}", flush=True)


async def load(server: Server, clients: int, seconds: float) -> Tally:
    """Let clients ask for a while."""
    tally, until = Tally(), time.monotonic() + seconds

    async def ask(number: int) -> None:
        client = Connection(server)
        rng = random.Random(number)  # noqa: S311
        while time.monotonic() < until:
            started = time.perf_counter()
            try:
                status, headers, _ = await client.recall(rng.choice(QUESTIONS).text)
            except (OSError, asyncio.IncompleteReadError) as exc:
                client.close()
                tally.others[type(exc).__name__] += 1
                continue
            took = time.perf_counter() - started
            if status in (DONE, LATE):
                times = tally.answered if status == DONE else tally.in_vain
                times.append(took)
            elif status in BUSY:
                tally.refused.append(took)
                client.close()  # the server would close it meanwhile, for others
                await asyncio.sleep(float(headers["retry-after"]) * rng.uniform(1.0, 1.5))
            else:
                tally.others[f"status {status}"] += 1
        client.close()

    async def watch() -> None:
        while True:
            tally.memory.append(server.memory())
            await asyncio.sleep(1)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(ask(number) for number in range(clients)))
    watching.cancel()
    return tally


def report(tally: Tally, clients: int, seconds: float) -> list[str]:
    """Print the figures; return what was not as promised."""
    print(f"| {clients} clients, {seconds:g} s | number | p50, ms | p99, ms | most, ms |")
    print("|---|---|---|---|---|")
    rows = (
        ("answered", tally.answered),
        ("no answer in time", tally.in_vain),
        ("refused", tally.refused),
    )
    for name, times in rows:
        row = [1_000 * each for each in times] or [0.0]
        cells = [statistics.median(row), _percentile(row, 99), max(row)]
        print(f"| {name} | {len(times)} | {' | '.join(f'{each:.0f}' for each in cells)} |")
    quarter = tally.memory[len(tally.memory) // 4 :]
    first, last = (each / 1e6 for each in (quarter[0], quarter[-1]))
    print(f"\nmemory of the server: {first:.0f} MB after a quarter, {last:.0f} MB at the end")
    print(f"other ends of calls: {dict(tally.others) or 'none'}", flush=True)
    late = sum(each > DEADLINE_S + LATE_S for each in (*tally.answered, *tally.in_vain))
    slow = sum(each > REFUSED_S for each in tally.refused)
    return [
        *([f"{late} answers came after their deadline"] if late else []),
        *([f"{slow} refusals took more than {1_000 * REFUSED_S:.0f} ms"] if slow else []),
        *(["calls failed"] if tally.others else []),
        *(["memory grew"] if quarter[-1] - quarter[0] > MOST_GROWTH else []),
    ]


def _percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


async def run(calls: int, clients: int, seconds: float) -> None:
    """Fill a server of Neo4j, start one of memoria, and measure."""
    embedder = memoria.OnnxEmbedder()
    await embedder.load()  # so that no server downloads it
    async with LocalNeo4j.ephemeral() as neo4j:
        user, password = neo4j.auth
        environment = {
            "NEO4J_URI": neo4j.uri,
            "NEO4J_USERNAME": user,
            "NEO4J_PASSWORD": password,
        }
        async with memoria.connect(
            neo4j.uri, neo4j.auth, scope=SCOPE, embedder=embedder
        ) as retriever:
            await ingest_files(retriever.writer(), [sample_path()])
            async with serving(environment) as server:
                await asyncio.sleep(10)  # it opens its database and its model
                await compare(AgentMemory(retriever), server, calls)
                tally = await load(server, clients, seconds)
    wrong = report(tally, clients, seconds)
    if wrong:
        raise SystemExit(f"not as promised: {'; '.join(wrong)}")


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench http", description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args(arguments)
    asyncio.run(run(given.calls, given.clients, given.seconds))
