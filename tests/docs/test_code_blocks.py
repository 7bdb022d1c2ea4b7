"""Every code block of the pages that people copy from is run, in order, on a real Neo4j."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from memoria.ingest.jsonl import parse_line
from memoria.local import LocalNeo4j
from memoria.serialize import explorations_from
from tests.docs.blocks import Block, commands_of, output_matches, read_blocks
from tests.docs.hosted_model import Failure, HostedModel

ROOT = Path(__file__).parents[2]
INTERPRETER = Path(__file__).parent / "interpreter.py"
CYPHER_SHELL = Path(__file__).parent / "cypher_shell.py"
SHOWN_URI = "bolt://localhost:7687"
SHOWN_PORT = "8765"  # of `memoria serve`; another program may have it
# Pages of one row are followed one after the other, by one reader: they share its server.
PAGES = [
    ("README.md",),
    ("docs/tutorial.md",),
    (
        # New indexes make the server plan all queries again: pages that make some come first.
        *("docs/architecture.md", "docs/your-graph.md", "docs/memories.md", "docs/core.md"),
        *("docs/sync.md", "docs/settings.md", "docs/remember.md"),
        *("docs/integrations/tools.md", "docs/integrations/mcp.md", "docs/integrations/http.md"),
    ),
    ("docs/recipes.md",),
    ("docs/conversations.md",),
    ("docs/facts.md",),
    ("docs/importing.md",),
    ("docs/strategies.md",),
    ("docs/algorithm.md", "docs/command-line.md", "docs/linking.md", "docs/learning.md"),
]
# Commands of a page run beside these, as in a clone.
SHOWN_TO_COMMANDS = ["cypher", "memoria", "scripts", "docker-compose.yml"]


class Reader:
    """Someone who follows a page from top to bottom: a folder, a home, a shell, an interpreter."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.environ = {
            **os.environ,
            "MEMORIA_HOME": str(home),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PATH": programs,
        }
        self.printed = ""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = str(free.getsockname()[1])
        self._interpreter: subprocess.Popen[str] | None = None
        self._embeddings: HostedModel | None = None

    def follow(self, block: Block) -> None:
        match block.verb:
            case "not run:":
                assert block.argument, f"{block.place}: no reason is given"
            case "output":
                if not output_matches(block.code, self.printed):
                    shown = f"the page shows\n{block.code}\nbut it printed\n{self.printed}"
                    pytest.fail(f"{block.place}: {shown}", pytrace=False)
            case "save":
                (self.folder / block.argument).write_text(block.code, encoding="utf-8")
            case _:
                self._by_language(block)

    def _by_language(self, block: Block) -> None:
        match block.language:
            case "sh":
                self._shell(block)
            case "python":
                self._python(block)
            case "json":
                _read_json(block)

    def _shell(self, block: Block) -> None:
        """Run each command, in the clone itself where it is a script: they look after .venv."""
        variables = self._server_for_commands() if block.verb == "given" else {}
        self.printed = ""
        for command in commands_of(block):
            done = subprocess.run(
                [
                    "bash",
                    "-euo",
                    "pipefail",
                    "-c",
                    command.replace(SHOWN_URI, variables.get("URI", SHOWN_URI)).replace(
                        SHOWN_PORT, self.port
                    ),
                ],
                cwd=ROOT if command.startswith("scripts/") else self.folder,
                env={**self.environ, **variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            assert done.returncode == 0, (
                f"{block.place}: {command}: exit code {done.returncode}\n"
                f"{done.stdout}\n{done.stderr}"
            )
            self.printed += done.stdout

    def _python(self, block: Block) -> None:
        code = block.code
        if block.verb == "given":
            known = self._names_given()
            names = block.argument.replace(",", " ").split()
            code = "".join(f"{name} = {known[name]()!r}\n" for name in names) + code
        if self._interpreter is None:
            self._interpreter = subprocess.Popen(
                [sys.executable, str(INTERPRETER)],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        process = self._interpreter
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(code) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, f"{block.place}: the interpreter ended"
        self.printed, error = json.loads(answer)
        assert error is None, f"{block.place}: {error}"

    def _names_given(self) -> dict[str, Callable[[], str]]:
        """What a block may use that it does not define, and how to make it."""
        return {
            **{name: partial(self._of_server, name) for name in ("uri", "user", "password")},
            "embeddings_url": lambda: self._hosted_model().url,
            "ollama_url": lambda: self._hosted_model().ollama_url,
            "api_key": lambda: HostedModel.KEY,
        }

    def _of_server(self, name: str) -> str:
        return self._server()[name]

    def _hosted_model(self) -> HostedModel:
        """A stand-in for a hosted model; started once. It is too busy for the first request."""
        busy = Failure(429, {"Retry-After": "0"})
        self._embeddings = self._embeddings or HostedModel(busy)
        return self._embeddings

    def _server(self) -> dict[str, str]:
        """The local server that the page has started."""
        server = LocalNeo4j(self.home)
        user, password = server.auth
        return {"uri": server.uri, "user": user, "password": password}

    def _server_for_commands(self) -> dict[str, str]:
        """Put its password into pw.txt, and a stand-in for cypher-shell beside it."""
        server = self._server()
        (self.folder / "pw.txt").write_text(server["password"])
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        shell = programs / "cypher-shell"
        shell.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{CYPHER_SHELL}" "$@"\n')
        shell.chmod(0o755)
        return {
            "URI": server["uri"],
            "NEO4J_PASSWORD": server["password"],
            "PATH": f"{programs}{os.pathsep}{self.environ['PATH']}",
        }

    def close(self) -> None:
        if self._interpreter is not None:
            self._interpreter.communicate(timeout=60)
        if self._embeddings is not None:
            self._embeddings.close()
        for file in self.folder.glob("*.pid"):  # of servers that a page starts in the background
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text("utf-8")), signal.SIGTERM)


def _read_json(block: Block) -> None:
    """Read a document of explorations, or lines as ``memoria ingest`` does."""
    try:
        assert explorations_from(json.loads(block.code)), block.place
    except json.JSONDecodeError:
        for line in block.code.splitlines():
            assert parse_line(line.encode()) is not None, block.place


@contextmanager
def reader(tmp_path: Path, home: Path) -> Iterator[Reader]:
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in SHOWN_TO_COMMANDS:
        (folder / name).symlink_to(ROOT / name)
    (folder / ".venv").symlink_to(sys.prefix)
    following = Reader(folder, home)
    try:
        yield following
    finally:
        following.close()


@pytest.mark.timeout(900)  # a page starts a server and some twenty programs
@pytest.mark.parametrize("pages", PAGES, ids=" ".join)
def test_every_code_block_of_the_pages_runs(
    pages: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    with reader(tmp_path, home) as following:
        for page in pages:
            blocks = read_blocks(ROOT / page)
            assert blocks
            for block in blocks:
                following.follow(block)
