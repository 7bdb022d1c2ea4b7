"""Counts of a dry run of every format, compared with those of its import."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoria.store import Store
from tests.exports import EXPORTS, write_vault
from tests.integration.cli.test_commands import Call, call, here, secret

__all__ = ["call", "here", "secret"]

NOTES = "notes"
LONG = "The pump ran all night and nobody knew why it did. " * 200


def in_json(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON file."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def more_lines(path: Path, *values: Any) -> None:
    """Add lines to a file of JSON Lines."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(value)}\n" for value in values)


def more_text(path: Path, text: str) -> None:
    """Add text to a file."""
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def odd_chatgpt(path: Path) -> None:
    def node(role: str, text: str, **more: Any) -> dict[str, Any]:
        message = {"author": {"role": role}, "content": {"parts": [text]}, **more}
        return {"parent": None, "message": message}

    def change(talks: Any) -> None:
        hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
        nodes = [node("system", "Be brief."), node("user", " "), node("user", "x", **hidden)]
        nodes += [node("assistant", "{}", recipient="browser"), node("user", LONG)]
        talks[0]["mapping"] |= {
            f"odd{number}": {**each, "parent": f"odd{number - 1}" if number else "n7"}
            for number, each in enumerate(nodes)
        }
        talks[0]["current_node"] = f"odd{len(nodes) - 1}"
        talks.append(talks[0])

    in_json(path, change)


def odd_claude(path: Path) -> None:
    def change(talks: Any) -> None:
        for text in (" ", LONG):
            message = {"uuid": f"odd{len(text)}", "sender": "human", "text": text}
            talks[0]["chat_messages"].append(message)
        talks[0]["chat_messages"].append(talks[0]["chat_messages"][0])
        grown = {"uuid": "grown", "sender": "human", "text": LONG}
        talks.append({**talks[0], "chat_messages": [*talks[0]["chat_messages"], grown]})

    in_json(path / "conversations.json", change)


def odd_slack(path: Path) -> None:
    day = min((path / "garden").iterdir())
    said = [
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "x", "ts": "1.1"},
        {"type": "message", "subtype": "bot_message", "text": "Frost", "ts": "1.2"},
        {"type": "message", "user": "U1", "text": "", "ts": "1.3"},
        {"type": "message", "user": "U1", "text": LONG, "ts": "1772900000.5"},
    ]
    in_json(day, lambda messages: messages.extend(said))


def odd_gemini(path: Path) -> None:
    other = {"header": "Search", "title": "Searched for beans", "time": "2026-03-01T08:00:00Z"}
    asked = {"header": "Gemini Apps", "title": f"Prompted {LONG}", "time": "2026-02-01T08:00:00Z"}
    in_json(path, lambda activities: activities.extend([other, {**asked, "imageFile": "x.png"}]))


def odd_whatsapp(path: Path) -> None:
    more_text(
        path,
        "[01/12/2026, 09:00:00] Tom joined\n[01/12/2026, 09:01:00] Ida: image omitted\n"
        f"[01/12/2026, 09:02:00] Ida: {LONG}\n" + "[01/12/2026, 09:03:00] Ida: ok\n" * 2,
    )


def odd_mbox(path: Path) -> None:
    head = "From a@x Mon Mar  2 09:00:00 2026\nMessage-ID: <{}@x>\nFrom: S <s@x.example>\n{}\n\n"
    more_text(path, head.format("a", "X-Gmail-Labels: Spam") + "Win.\n\n")
    more_text(path, head.format("b", "Subject: Long") + f"{LONG}\n> Who asked?\n\n")
    more_text(path, head.format("b", "Subject: Long") + f"{LONG}\n\n")
    more_text(path, head.format("c", "Subject: Empty") + "\n")


def odd_claude_code(path: Path) -> None:
    def turn(uuid: str, role: str, content: Any) -> dict[str, Any]:
        return {"type": role, "uuid": uuid, "message": {"role": role, "content": content}}

    more_lines(
        path / "-srv-shed" / "s0.jsonl",
        turn("r", "user", [{"type": "tool_result", "content": "x"}]),
        turn("t", "assistant", [{"type": "thinking", "thinking": "?"}]),
        turn("l", "user", LONG),
        turn("l", "user", LONG),
    )


def odd_codex(path: Path) -> None:
    def item(kind: str, **payload: Any) -> dict[str, Any]:
        return {"type": "response_item", "payload": {"type": kind, **payload}}

    said = [{"type": "input_text", "text": LONG}]
    more_lines(
        path / "rollout-s0.jsonl",
        item("reasoning", summary=[]),
        item("function_call", name="shell"),
        item("message", role="user", content=said),
    )


def odd_openai(path: Path) -> None:
    more = [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": None, "tool_calls": [{}]},
        {"role": "tool", "content": "ok"},
        {"role": "user", "content": " "},
        {"role": "user", "content": LONG},
        {"role": "user", "content": LONG, "id": "twice"},
        {"role": "user", "content": LONG, "id": "twice"},
    ]
    in_json(path, lambda talks: talks[0].extend(more))


def odd_langchain(path: Path) -> None:
    more = [
        {"type": "system", "data": {"content": "Be brief."}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{}]}},
        {"type": "human", "data": {"content": LONG, "id": "twice"}},
        {"type": "human", "data": {"content": LONG, "id": "twice"}},
    ]
    in_json(path, lambda talks: talks[0].extend(more))


def odd_messages(path: Path) -> None:
    more_lines(
        path,
        {"conversation": "c0", "role": "system", "text": "Be brief."},
        {"conversation": "c0", "text": " "},
        {"conversation": "c0", "text": LONG, "id": "twice"},
        {"conversation": "c0", "text": LONG, "id": "twice"},
    )


def odd_memory_server(path: Path) -> None:
    twice = ["It is dry.", "It is dry.", ""]
    more_lines(
        path,
        {"type": "entity", "name": "Well", "entityType": "place", "observations": twice},
        {"type": "relation", "from": "Well", "to": "Nowhere", "relationType": "near"},
    )


def odd_mem0(path: Path) -> None:
    with sqlite3.connect(path) as database:
        for number, event, text in ((1, "ADD", "It is dry."), (2, "DELETE", None), (3, "ADD", "")):
            row = (f"odd{number}", f"odd{number > 2}", None, text, event, None, None, number == 2)
            database.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.close()


def odd_letta(path: Path) -> None:
    def change(agent: Any) -> None:
        said: list[dict[str, Any]] = [{"id": "t", "role": "tool", "content": "ok"}]
        said.append({"id": "e", "role": "user"})
        said += [{"id": "l", "role": "user", "content": [{"type": "text", "text": LONG}]}] * 2
        agent["agents"][0]["messages"].extend(said)

    in_json(path, change)


def odd_langgraph(path: Path) -> None:
    item = {"namespace": ["memories", "plot0"], "key": "k0", "created_at": None}
    more_lines(path, {**item, "value": {}}, {**item, "key": "long", "value": {"text": LONG}})


def odd_notes(path: Path) -> None:
    (path / "odd.md").write_text(f"---\na: b: c\n---\n%%no%% [[Gone]]\n\n{LONG}", encoding="utf-8")


ODD: dict[str, Callable[[Path], None]] = {
    "chatgpt": odd_chatgpt,
    "claude": odd_claude,
    "slack": odd_slack,
    "gemini": odd_gemini,
    "whatsapp": odd_whatsapp,
    "mbox": odd_mbox,
    "claude-code": odd_claude_code,
    "codex": odd_codex,
    "openai": odd_openai,
    "langchain": odd_langchain,
    "messages": odd_messages,
    "memory-server": odd_memory_server,
    "mem0": odd_mem0,
    "letta": odd_letta,
    "langgraph": odd_langgraph,
    NOTES: odd_notes,
}


@pytest.mark.parametrize("name", [*EXPORTS, NOTES])
async def test_a_dry_run_says_what_the_import_writes(
    call: Call, here: list[str], store: Store, scope: str, tmp_path: Path, name: str
) -> None:
    path = write_vault(tmp_path) if name == NOTES else EXPORTS[name](tmp_path)
    ODD[name](path)
    first = ["import-notes"] if name == NOTES else ["import-chats", name]

    def imported(*more: str) -> dict[str, Any]:
        done = call(*first, str(path), "--embedder", "none", "--json", *more, *here)
        assert done.code == 0, done.err
        counts: dict[str, Any] = json.loads(done.out)
        return counts

    rehearsed = imported("--dry-run")
    done = imported()
    told = rehearsed.pop("written", {})
    assert told.get("relations") == (done["written"]["relations"] if name == NOTES else None)
    assert {fact: done[fact] for fact in rehearsed} | {"dry_run": True} == rehearsed
    assert rehearsed["left_out"]

    rows = await store.driver.execute_query(
        "MATCH (m:Memory {scope: $scope}) "
        "RETURN sum(toInteger(m.connector_name IS NULL)) AS parts, "
        "sum(toInteger(m:Session)) AS sessions",
        scope=scope,
    )
    (stored,) = rows.records
    assert stored["parts"] == rehearsed["parts"]
    assert stored["sessions"] == rehearsed.get("sessions", 0)
