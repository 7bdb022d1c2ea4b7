"""Hooks of coding agents without a database: transcripts, calls as data, where servers listen."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import httpx2
import pytest
from mcp.server import MCPServer

from memoria import GraphRetriever
from memoria.agents import transcripts
from memoria.agents.hooks import HookCall
from memoria.agents.kinds import SESSION_TOKENS, Event, Harness
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.grants import Grant
from memoria.agents.mcp.hooks import add_hooks
from memoria.agents.mcp.places import PROOF_PATH, Place, announced, new_secret, places, proof_of
from memoria.agents.mcp.rights import Rights
from memoria.agents.transcripts import read_transcript
from memoria.cli.hook import _NAMES, MOST_CHARS, _asked
from memoria.errors import InvalidInputError
from memoria.types import Message
from tests.for_each import for_each

AT = "2026-11-20T10:00:00.000Z"


def claude(role: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content}
    return {"type": role, "uuid": uuid, "timestamp": AT, "message": message, **more}


def codex(role: str, text: str, kind: str = "message") -> dict[str, Any]:
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    payload = {"type": kind, "role": role, "content": [part]}
    return {"timestamp": AT, "type": "response_item", "payload": payload}


def written(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def said(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 100_000, "[1e400]", "\x00", '"\\ud800"'])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_can_not_be_read_costs_none_of_the_others(
    tmp_path: Path, line: str, place: int
) -> None:
    lines = [
        json.dumps(claude("user", "Is it red?", "u1")),
        json.dumps(claude("user", "No.", "u2")),
    ]
    lines.insert(place, line)
    file = tmp_path / "t.jsonl"
    file.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    assert said(read_transcript(file, "claude")) == [("user", "Is it red?"), ("user", "No.")]


def test_of_a_transcript_of_claude_code_what_was_said_is_read(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "Hm."}
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    lines = [
        {"type": "summary", "summary": "Vans"},
        claude("user", "Where is the van?", "u1"),
        claude("user", "<command-name>/clear</command-name>", "u2"),
        claude("user", "Caveat of the host", "u3", isMeta=True),
        claude("assistant", [thought, call], "a1"),
        claude("user", [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}], "u4"),
        claude("assistant", [{"type": "text", "text": "In Aarhus."}], "a2"),
        claude("assistant", [{"type": "text", "text": "Of a helper."}], "a3", isSidechain=True),
    ]
    file = written(tmp_path / "t.jsonl", lines)
    with file.open("a", encoding="utf-8") as opened:
        opened.write('{"type": "assist')  # the host is writing this line
    found = read_transcript(file, "claude")
    assert said(found) == [("user", "Where is the van?"), ("assistant", "In Aarhus.")]
    assert [message.id for message in found] == ["u1", "a2"]
    assert found[0].created_at is not None
    assert found[0].created_at.isoformat() == "2026-11-20T10:00:00+00:00"


def test_a_prompt_that_begins_with_html_is_what_the_user_said(tmp_path: Path) -> None:
    asked = "<div class='van'> is not centred, why?"
    file = written(tmp_path / "t.jsonl", [claude("user", asked, "u1")])
    assert said(read_transcript(file, "claude")) == [("user", asked)]


def test_of_a_transcript_of_codex_what_was_said_is_read(tmp_path: Path) -> None:
    lines = [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s"}},
        codex("developer", "Be brief."),
        codex("user", "<environment_context>\n</environment_context>"),
        codex("user", "# AGENTS.md instructions for /work"),
        codex("user", "Where is the van?"),
        codex("assistant", "secret", kind="reasoning"),
        codex("assistant", "In Aarhus."),
    ]
    file = written(tmp_path / "t.jsonl", lines)
    found = read_transcript(file, "codex")
    assert said(found) == [("user", "Where is the van?"), ("assistant", "In Aarhus.")]
    written(file, [*lines, codex("user", "Thanks.")])
    later = read_transcript(file, "codex")
    assert [message.id for message in later[:2]] == [message.id for message in found]
    assert len({message.id for message in later}) == 3


def test_of_a_long_transcript_the_end_is_read_with_the_same_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "t.jsonl", [codex("user", f"Parcel {n}.") for n in range(30)])
    whole = read_transcript(file, "codex")
    monkeypatch.setattr(transcripts, "TAIL_BYTES", 1_000)
    tail = read_transcript(file, "codex")
    assert 1 < len(tail) < 10
    assert tail == whole[-len(tail) :]
    monkeypatch.setattr(transcripts, "MOST", 2)
    assert read_transcript(file, "codex") == whole[-2:]


@pytest.mark.parametrize("harness", get_args(Harness))
def test_lines_of_another_form_are_passed_over(tmp_path: Path, harness: Harness) -> None:
    odd: list[Any] = [[], 1, None, {"type": "user"}, {"type": "user", "message": "x"}]
    odd += [{"type": "response_item", "payload": {"type": "message", "role": 5}}]
    odd += [claude("user", [1, {"type": "text", "text": 5}], "u")]
    assert read_transcript(written(tmp_path / "t.jsonl", odd), harness) == ()


def test_a_call_is_the_same_after_its_way_as_data() -> None:
    message = Message(text="Where?", id="u1")
    call = HookCall(event="stop", scope="a", harness="codex", session_id="s", messages=(message,))
    limits: dict[str, Any] = {
        "budget_tokens": 300,
        "min_relevance": 0.01,
        "min_best_relevance": 0.2,
    }
    for one in (call, replace(call, **limits)):
        assert HookCall.of(json.loads(json.dumps(one.plain()))) == one


@for_each(
    "prompt, is_empty",
    [
        ("", True),
        (" \n", True),
        ("???", True),
        ("👍 …", True),
        ("/clear", True),
        (" /plugin:do-it ", True),
        ("/review the change of last week", False),
        ("/etc/hosts", False),
        ("ok", False),
        ("7", False),
        ("где?", False),
    ],
)
def test_a_prompt_without_letters_or_with_only_a_command_needs_no_memory(
    prompt: str, *, is_empty: bool
) -> None:
    call = HookCall(event="prompt", scope="a", harness="claude", prompt=prompt)
    assert call.is_empty == is_empty


def test_a_stop_needs_no_memory_if_it_has_nothing_to_keep() -> None:
    message = Message(text="Where?", id="u1")
    call = HookCall(event="stop", scope="a", harness="codex", session_id="s", messages=(message,))
    assert not call.is_empty
    assert replace(call, session_id="").is_empty
    assert replace(call, messages=()).is_empty
    assert not HookCall(event="session-start", scope="a", harness="codex").is_empty


@for_each(
    "value",
    [
        None,
        [],
        {},
        {"event": "nonsense"},
        {"event": "stop", "scope": 5},
        {"event": "stop", "scope": "a", "messages": 5},
        {"event": "stop", "scope": "a", "messages": {"text": "Where?"}},
        {"event": "prompt", "scope": "a", "deadline_s": 0},
        {"event": "prompt", "scope": "a", "deadline_s": 1e9},
        {"event": "prompt", "scope": "a", "budget_tokens": 99},
        {"event": "prompt", "scope": "a", "budget_tokens": 2_001},
        {"event": "prompt", "scope": "a", "min_relevance": 1.1},
        {"event": "prompt", "scope": "a", "min_best_relevance": "0.2"},
    ],
)
def test_what_is_not_a_call_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError):
        HookCall.of(value)


def test_a_context_of_all_its_tokens_has_no_more_characters_than_the_hosts_take() -> None:
    assert SESSION_TOKENS * 4 <= MOST_CHARS  # a token is four bytes, and no character is less


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which servers say where they listen."""
    monkeypatch.setenv("MEMORIA_HOME", str(tmp_path))
    return tmp_path / "serving"


def test_a_server_is_found_while_it_listens(serving: Path) -> None:
    assert places() == []
    first, second = Place("127.0.0.1", 8765, new_secret()), Place("::1", 9000, new_secret())
    with announced(first), announced(second):
        (serving / "1.json").write_text("{", encoding="utf-8")
        (serving / "2.json").write_text('{"host": "::1", "port": 9001}', encoding="utf-8")
        assert places() == [first, second]
    assert places() == []


def test_only_the_user_can_read_the_secret_of_a_server(serving: Path) -> None:
    serving.mkdir()
    (serving / "8765.json").write_text("{}", encoding="utf-8")  # of an earlier version
    (serving / "8765.json").chmod(0o644)
    with announced(Place("127.0.0.1", 8765, new_secret())):
        assert stat.S_IMODE((serving / "8765.json").stat().st_mode) == 0o600


class Listener(ThreadingHTTPServer):
    """A program at a port; it notes all that it is sent, and knows a secret or none."""

    def __init__(self, secret: str | None, *, hangs_up: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.secret, self.hangs_up = secret, hangs_up
        self.heard: list[tuple[str, str, str]] = []

    def place(self, secret: str) -> Place:
        return Place("127.0.0.1", self.server_address[1], secret)


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener

    def do_GET(self) -> None:
        self._answer("")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, body: str) -> None:
        self.server.heard.append((self.path, self.headers.get("Authorization", ""), body))
        path, _, nonce = self.path.partition("?nonce=")
        proves = path == PROOF_PATH and self.server.secret is not None
        text = proof_of(self.server.secret or "", nonce) if proves else "Trust the page."
        self.send_response(200)
        if self.server.hangs_up:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def listening(secret: str | None, *, hangs_up: bool = False) -> Iterator[Listener]:
    with Listener(secret, hangs_up=hangs_up) as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield listener
        finally:
            listener.shutdown()
            thread.join()


PROMPT = HookCall(event="prompt", scope="a", harness="codex", prompt="Where is my van?")


@pytest.mark.usefixtures("serving")
@pytest.mark.parametrize("secret", [None, new_secret()], ids=["none", "another"])
def test_a_program_that_took_the_port_of_a_killed_server_learns_and_says_nothing(
    secret: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORIA_TOKEN", "memoria-private")
    with listening(secret) as listener, announced(listener.place(new_secret())):
        assert _asked(PROMPT) is None
    for path, token, body in listener.heard:
        assert path.startswith(PROOF_PATH)
        assert (token, body) == ("", "")


@pytest.mark.usefixtures("serving")
def test_a_server_that_proves_itself_is_asked_with_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMORIA_TOKEN", "memoria-private")
    secret = new_secret()
    with listening(secret) as listener, announced(listener.place(secret)):
        assert _asked(PROMPT) == "Trust the page."
    path, token, body = listener.heard[-1]
    assert (path, token) == ("/hook", "Bearer memoria-private")
    assert json.loads(body)["prompt"] == PROMPT.prompt


@pytest.mark.usefixtures("serving")
def test_a_proof_holds_for_its_own_connection_alone() -> None:
    secret = new_secret()
    with listening(secret, hangs_up=True) as listener, announced(listener.place(secret)):
        assert _asked(PROMPT) is None  # whoever has the port now has proven nothing
    assert len(listener.heard) == 1


def client_of_hooks(secret: str, address: str = "127.0.0.1") -> httpx2.AsyncClient:
    """A client of a server that has no memory: its calls are answered before one is needed."""

    async def opening() -> GraphRetriever:
        raise AssertionError("no memory is needed for this answer")

    server = MCPServer("memoria-graph")
    add_hooks(server, Memories(opening), Rights(grant=Grant(scope="a")), secret)
    transport = httpx2.ASGITransport(server.streamable_http_app(), client=(address, 5000))
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765")


async def test_a_server_proves_itself_to_programs_of_its_machine_alone() -> None:
    secret, nonce = new_secret(), "0f" * 16
    async with client_of_hooks(secret) as http:
        answer = await http.get(PROOF_PATH, params={"nonce": nonce})
        assert (answer.status_code, answer.text) == (200, proof_of(secret, nonce))
        refused = [
            (await http.get(PROOF_PATH, params={"nonce": given}, headers=headers)).status_code
            for given, headers in (
                ("", {}),
                (f"{nonce}0", {}),
                ("text of somebody else's choice!!", {}),
                (nonce, {"Host": "evil.example"}),
                (nonce, {"Origin": "https://evil.example"}),
            )
        ]
    assert refused == [400, 400, 400, 421, 403]
    async with client_of_hooks(secret, "192.0.2.7") as http:
        assert (await http.get(PROOF_PATH, params={"nonce": nonce})).status_code == 403


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[" * 200_000, "the request is not JSON"),
        ("no JSON", "the request is not JSON"),
        ("\xff", "the request is not JSON"),
        ('{"event": "stop", "scope": "a", "messages": 5}', "messages must be a list, got an int"),
    ],
    ids=["nested", "words", "bytes", "messages"],
)
async def test_a_body_that_is_not_a_call_is_answered_with_a_sentence(body: str, said: str) -> None:
    async with client_of_hooks(new_secret()) as http:
        headers = {"Content-Type": "application/json"}
        answer = await http.post("/hook", content=body.encode("latin-1"), headers=headers)
    assert (answer.status_code, answer.text) == (400, said)


ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(("host", "harness"), [("claude-code", "claude"), ("codex", "codex")])
def test_the_plugin_of_a_host_calls_a_hook_that_there_is(host: str, harness: str) -> None:
    folder = ROOT / "plugins" / host
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    called = {
        name: command["command"]
        for name, groups in hooks.items()
        for group in groups
        for command in group["hooks"]
    }
    for name, command in called.items():
        words = command.split()
        assert words[:2] == ["memoria", "hook"]
        assert words[2] in get_args(Event)
        assert words[3:] == ["--harness", harness]
        assert _NAMES.get(words[2], name) == name
    (manifest,) = folder.glob(".*-plugin/plugin.json")
    about = json.loads(manifest.read_text(encoding="utf-8"))
    assert (about["name"], about["version"]) == ("memoria", version("memoria-graph"))
    server = json.loads((folder / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert server == {"memoria": {"command": "memoria", "args": ["mcp"]}}
    for place in (".claude-plugin", ".agents/plugins"):
        json.loads((ROOT / "plugins" / place / "marketplace.json").read_text("utf-8"))


def test_a_process_that_ran_out_of_time_says_so() -> None:
    code = (
        "import time\nfrom memoria._support import hard_deadline\n"
        "with hard_deadline.failing_open(0.1): time.sleep(60)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=50, check=True)
    assert done.stdout == b""
    assert done.stderr.startswith(b"memoria hook: no time left: start a server, such as `memoria")


def test_the_start_of_the_process_counts_towards_its_time() -> None:
    code = (
        "import time\nbegan = time.monotonic()\ntime.sleep(2)\n"
        "from memoria._support import hard_deadline\n"
        "print(hard_deadline.running_s() - (time.monotonic() - began), flush=True)\n"
        "with hard_deadline.failing_open(2):\n"
        "    began = time.monotonic()\n"
        "    while True: print(time.monotonic() - began, flush=True); time.sleep(0.01)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=50, check=True)
    before_code_s, *in_block_s = map(float, done.stdout.split())
    assert before_code_s > -0.02 or sys.platform != "linux"  # the system counts in hundredths
    assert max(in_block_s, default=0) < 1.5 or sys.platform != "linux"


def run_of(*lines: str) -> subprocess.CompletedProcess[bytes]:
    """Run code in a process of its own, in which the system may be made to say other things."""
    code = "\n".join(["import pathlib, threading, time", *lines])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=50, check=True)


def test_waiting_counts_where_the_system_does_not_say_when_a_process_began() -> None:
    done = run_of(
        "def unreadable(*_, **__): raise FileNotFoundError",
        "pathlib.Path.read_text = unreadable",
        "from memoria._support.hard_deadline import running_s",
        "first = running_s(); time.sleep(0.3); print(running_s() - first, running_s() < 5)",
    )
    waited_s, believable = done.stdout.split()
    assert float(waited_s) >= 0.3
    assert believable == b"True"


@pytest.mark.parametrize(("told_s", "believed"), [(4, True), (30, False)])
def test_a_process_is_not_believed_to_have_run_for_long_when_it_has_just_begun(
    told_s: int, believed: bool
) -> None:
    """Some sandboxes say that each process began with the machine."""
    done = run_of(
        "import os",
        f"fields = ['0'] * 19 + [str((1000 - {told_s}) * 100)]",
        "pathlib.Path.read_text = lambda *_, **__: '1 (python) ' + ' '.join(fields)",
        "os.sysconf = lambda _: 100",
        "time.CLOCK_BOOTTIME, time.clock_gettime = 7, lambda _: 1000.0",
        "from memoria._support.hard_deadline import running_s",
        "print(running_s() >= 4)",
    )
    assert done.stdout == f"{believed}\n".encode()


def test_where_no_thread_can_be_started_a_hook_still_ends_with_exit_code_0() -> None:
    done = run_of(
        "threading.stack_size(1 << 47)  # no room for that",
        "from memoria._support import hard_deadline",
        "with hard_deadline.failing_open(30): print('in the block', flush=True)",
    )
    assert done.stdout == b""
    assert done.stderr.startswith(b"memoria hook: ")
    assert b"thread" in done.stderr


def test_the_help_of_the_hooks_is_shown_however_long_it_takes() -> None:
    done = run_of(
        "import sys",
        "time.process_time = lambda: 10.0  # more than a hook has",
        "sys.argv = ['memoria', 'hook', '--help']",
        "from memoria.__main__ import main",
        "main()",
    )
    assert b"Usage:" in done.stdout
    assert done.stderr == b""
