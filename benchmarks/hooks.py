"""Measure `memoria hook` as a coding agent calls it: a process each, with the host's JSON on stdin.

    scripts/bench hooks [--calls 10]

Starts a throw-away Neo4j with the sample memory. Each event is called for each host: with a server
that is warm, without one, with no database, and with databases and servers that accept connections
and never answer. Whatever is wrong, a call must end with exit code 0. Prints in Markdown how long
the calls took, and the most tokens that a prompt got. Fails if a call took longer than the two
seconds that hosts are promised, or if a prompt that asks nothing got a context.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import memoria
from benchmarks.server import parser_of
from memoria._support.home import default_home
from memoria.agents.mcp.places import Place, new_secret
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.recall.context import estimate_tokens

SCOPE = "sample"
EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "stop": "Stop"}
# The calls in turn: an event, and the prompt.
CALLS = (("session-start", ""), ("prompt", QUESTIONS[0].text), ("prompt", "/clear"), ("stop", ""))
ANSWERED = 2  # of these; a command of the host and a stop have no answer
HOSTS = ("claude", "codex")
PROMISED_S = 2.0
NOWHERE = "bolt://127.0.0.1:9"  # the port of discard, where nothing listens


def given(host: str, event: str, prompt: str, folder: Path) -> dict[str, Any]:
    """Return what a host writes to the standard input of a hook."""
    common = {
        "session_id": "0b5c7a3e-bench",
        "transcript_path": str(folder / f"{host}.jsonl"),
        "cwd": str(folder),
        "hook_event_name": EVENTS[event],
        "permission_mode": "default",
    }
    of_event: dict[str, dict[str, Any]] = {
        "session-start": {"source": "startup"},
        "prompt": {"prompt": prompt},
        "stop": {"stop_hook_active": False},
    }
    return {**common, **of_event[event]}


def write_transcripts(folder: Path) -> None:
    """Write what each host keeps of a session: a question, and the answer to it."""
    turns = (("user", "Is the oven repaired?"), ("assistant", "It is, since Tuesday."))
    claude, codex = [], []
    for number, (role, text) in enumerate(turns):
        at = f"2026-11-20T10:00:0{number}.000Z"
        message = {"role": role, "content": text}
        claude.append({"type": role, "uuid": f"u{number}", "timestamp": at, "message": message})
        kind = "input_text" if role == "user" else "output_text"
        said = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        codex.append({"timestamp": at, "type": "response_item", "payload": said})
    for host, lines in (("claude", claude), ("codex", codex)):
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"{host}.jsonl").write_text(text, encoding="utf-8")


def call(
    host: str, event: str, prompt: str, folder: Path, environment: Mapping[str, str]
) -> tuple[float, int]:
    """Call a hook; return its seconds, from before the process starts, and the tokens it gave."""
    started = time.perf_counter()
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "memoria", "hook", event, "--harness", host, "--scope", SCOPE],
        input=json.dumps(given(host, event, prompt, folder)).encode(),
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise SystemExit(f"{host} {event}: exit code {done.returncode}: {done.stderr.decode()}")
    if not done.stdout:
        return seconds, 0
    output = json.loads(done.stdout)["hookSpecificOutput"]
    return seconds, estimate_tokens(output["additionalContext"])


@contextmanager
def serving(environment: Mapping[str, str]) -> Iterator[None]:
    """Run `memoria mcp` over HTTP for a while; it has opened its database and its model."""
    line = ("-m", "memoria", "mcp", "--scope", SCOPE, "--transport", "http", "--port", "0")
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, *line],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None  # noqa: S101
        process.stderr.readline()
        time.sleep(5)
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def hanging() -> Iterator[int]:
    """Listen on a port, and never answer; a case in which nobody has called it shows nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield silent.getsockname()[1]
        silent.setblocking(False)
        try:
            silent.accept()[0].close()
        except BlockingIOError:
            raise SystemExit("no hook has called what hangs") from None


def measure(name: str, folder: Path, environment: Mapping[str, str], calls: int) -> float:
    """Call every event of every host, print a row, and return the longest time; seconds."""
    times, answers, most_tokens = [], 0, 0
    for _ in range(calls):
        for host in HOSTS:
            for event, prompt in CALLS:
                seconds, tokens = call(host, event, prompt, folder, environment)
                if tokens and prompt.startswith("/"):
                    raise SystemExit(f"{host}: {prompt} got a context")
                times.append(seconds)
                answers += tokens > 0
                most_tokens = max(most_tokens, tokens if event == "prompt" else 0)
    wanted = ANSWERED * len(HOSTS) * calls
    first, middle, most = times[0], statistics.median(times), max(times)
    figures = " | ".join(f"{each:.2f}" for each in (first, middle, most))
    row = f"{name} | {len(times)} | {answers} of {wanted} | {most_tokens} | {figures}"
    print(f"| {row} |", flush=True)
    return most


async def fill(server: Any) -> None:
    """Load the sample memory."""
    patient = memoria.StoreConfig(query_timeout_s=120)  # a server that has just started is slow
    async with memoria.connect(server.uri, server.auth, scope=SCOPE, store=patient) as retriever:
        await memoria.apply_schema(retriever.store, embedder=memoria.OnnxEmbedder())
        await ingest_files(retriever.writer(), [sample_path()])


def run_all(uri: str, password: str, folder: Path, calls: int) -> float:
    """Measure every case; return the longest time; seconds."""
    home = folder / "home"
    home.mkdir()  # hooks and servers find each other here; the model lies in the user's own folder
    (home / "models").symlink_to(default_home() / "models")
    here = {"NEO4J_URI": uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": password}
    alone = here | {"MEMORIA_HOME": str(home)}
    print("| case | calls | answered | tokens, prompt | first, s | median, s | longest, s |")
    print("|---|---|---|---|---|---|---|")
    longest = [measure("no server, a database", folder, alone, calls)]
    with serving(alone):
        longest.append(measure("a warm server", folder, alone, calls))
        away = alone | {"NEO4J_URI": NOWHERE}
        longest.append(measure("a warm server, no database here", folder, away, calls))
    longest.append(measure("nothing there", folder, away, calls))
    with hanging() as port:
        stuck = alone | {"NEO4J_URI": f"bolt://127.0.0.1:{port}"}
        longest.append(measure("a database that hangs", folder, stuck, calls))
    with hanging() as port:
        file = home / "serving" / "1.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        place = Place("127.0.0.1", port, new_secret())
        file.write_text(json.dumps(asdict(place)), encoding="utf-8")
        longest.append(measure("a server that hangs", folder, alone, calls))
    return max(longest)


async def main_async(calls: int) -> float:
    """Start the database, and measure."""
    async with LocalNeo4j.ephemeral() as server:
        await fill(server)
        with tempfile.TemporaryDirectory() as folder:
            write_transcripts(Path(folder))
            return await asyncio.to_thread(run_all, server.uri, server.auth[1], Path(folder), calls)


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    parser = parser_of("hooks", __doc__)
    parser.add_argument("--calls", type=int, default=10, help="of each event and host, per case")
    longest = asyncio.run(main_async(parser.parse_args(arguments).calls))
    if longest > PROMISED_S:
        raise SystemExit(f"a call took {longest:.2f} s, more than {PROMISED_S} s")
