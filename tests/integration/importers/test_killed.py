"""Imports of every format that are killed in the middle and begun again, on the real server.

An import that nobody disturbs is the measure, also for the counts of a dry run.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from benchmarks.faults.proxy import Fault, FaultProxy
from memoria.ingest.export import export_lines
from memoria.store import Store, Target
from tests.effort import effort
from tests.exports import EXPORTS, TALKS, write_vault
from tests.integration.cli.test_commands import Call, call, secret

__all__ = ["call", "secret"]

NOTES = "notes"
#: First conversations with documents, talks whose messages have no ids, facts, and documents: all
#: that is written differently. Other formats differ in how they are read.
FORMATS = list(dict.fromkeys(["claude", "openai", "mem0", NOTES, *EXPORTS]))[: effort().formats]
#: Each import is killed at a different place: after this share of its queries.
PLACES = {name: 0.3 + 0.6 * n / len(FORMATS) for n, name in enumerate(FORMATS)}
# When something was written, and how often documents were: not what was written.
_TIMES = re.compile(r'"(created|linked|superseded)_at":"[^"]*",?')


class KillingProxy(FaultProxy):
    """Kills a process, as kill -9 does, before its request of a number reaches the server."""

    process: subprocess.Popen[bytes] | None = None
    kill_at: int = -1

    def due(self, side: Literal["answer", "request"]) -> Fault | None:
        if side == "request" and self.requests == self.kill_at and self.process is not None:
            self.process.send_signal(signal.SIGKILL)
        return super().due(side)


@pytest.fixture
def proxy(target: Target) -> Iterator[KillingProxy]:
    with KillingProxy(target) as opened:
        yield opened


def command(name: str, path: Path) -> list[str]:
    first = ["import-notes"] if name == NOTES else ["import-chats", name]
    return [*first, str(path), "--embedder", "none", "--json"]


def kill(proxy: KillingProxy, arguments: list[str]) -> int:
    """Start a command, which the proxy kills; return how it ended."""
    line = [sys.executable, "-m", "memoria", *arguments]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        proxy.process = process
        code = process.wait(120)
    proxy.process = None
    return code


async def graph(store: Store, scope: str) -> set[str]:
    found = [line async for line in export_lines(store, scope=scope)]
    return {_TIMES.sub("", line) for line in found}


@pytest.mark.parametrize("name", PLACES)
async def test_a_killed_import_is_completed_by_the_next(
    call: Call, proxy: KillingProxy, store: Store, secret: Path, scope: str, tmp_path: Path,
    name: str,
) -> None:  # fmt: skip
    path = write_vault(tmp_path) if name == NOTES else EXPORTS[name](tmp_path)

    def options(of_scope: str) -> list[str]:
        return ["--uri", proxy.target.uri, "--password-file", str(secret), "--scope", of_scope]

    def imported(of_scope: str, *more: str) -> dict[str, Any]:
        done = call(*command(name, path), *more, *options(of_scope))
        assert done.code == 0, done.err
        counts: dict[str, Any] = json.loads(done.out)
        return counts

    whole = f"{scope}-whole"
    proxy.arm(None)
    first = imported(whole)
    asked = proxy.requests

    proxy.arm(None)
    proxy.kill_at = round(PLACES[name] * asked)
    killed = await asyncio.to_thread(kill, proxy, [*command(name, path), *options(scope)])
    assert killed == -signal.SIGKILL

    imported(scope)
    assert await graph(store, scope) == {
        line.replace(json.dumps(whole), json.dumps(scope)) for line in await graph(store, whole)
    }

    rehearsed = imported(whole, "--dry-run")
    for fact in ("conversations", "messages", "documents", "memories_read", "parts", "left_out"):
        assert rehearsed.get(fact) == first.get(fact), fact
    assert first["parts"] >= TALKS
