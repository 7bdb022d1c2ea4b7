"""Hooks of coding agents without a database: transcripts, calls as data, where servers listen."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import pytest

from memoria.cli.hook import _NAMES, MOST_CHARS
from memoria.errors import InvalidInputError
from memoria.serve.agent import transcripts
from memoria.serve.agent.hooks import CONTEXT_TOKENS, HookCall
from memoria.serve.agent.kinds import Event, Harness
from memoria.serve.agent.transcripts import read_transcript
from memoria.serve.mcp.places import addresses, announced
from memoria.types import Message

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
    assert HookCall.of(json.loads(json.dumps(call.plain()))) == call


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"event": "nonsense"},
        {"event": "stop", "scope": 5},
        {"event": "prompt", "scope": "a", "deadline_s": 0},
        {"event": "prompt", "scope": "a", "deadline_s": 1e9},
    ],
)
def test_what_is_not_a_call_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError):
        HookCall.of(value)


def test_a_context_of_all_its_tokens_has_no_more_characters_than_the_hosts_take() -> None:
    assert CONTEXT_TOKENS * 4 <= MOST_CHARS  # a token is four bytes, and no character is less


def test_a_server_is_found_while_it_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORIA_HOME", str(tmp_path))
    assert addresses() == []
    with announced("127.0.0.1", 8765), announced("::1", 9000):
        (tmp_path / "serving" / "1.json").write_text("{", encoding="utf-8")
        assert addresses() == [("127.0.0.1", 8765), ("::1", 9000)]
    assert addresses() == []


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("host", "harness"), [("claude-code", "claude"), ("codex", "codex")])
def test_the_plugin_of_a_host_calls_a_hook_that_there_is(host: str, harness: str) -> None:
    folder = ROOT / "integrations" / host
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
        json.loads((ROOT / "integrations" / place / "marketplace.json").read_text("utf-8"))
