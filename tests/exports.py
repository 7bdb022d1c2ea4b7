"""Exports of every format that `memoria import-chats` reads, made up, of some size; and a vault.

In: a folder. Out: the path to import. Writes files.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TALKS, TURNS = 12, 8
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
THINGS = ("oven", "roof", "fence", "pear tree", "shed", "van", "well", "gate")
PEOPLE = ("Ida", "Tom Vogt", "Lea")


def said(talk: int, turn: int) -> str:
    """The text of a message; no two are alike."""
    thing, person = THINGS[(talk + turn) % len(THINGS)], PEOPLE[turn % len(PEOPLE)]
    return f"{person} looked at the {thing} of plot {talk}, visit {turn}."


def at(talk: int, turn: int) -> datetime:
    """When it is said."""
    return NOON + timedelta(days=talk, minutes=turn)


def turns() -> Iterator[tuple[int, int, str, str]]:
    """Talk, turn, role and text."""
    for talk in range(TALKS):
        for turn in range(TURNS):
            yield talk, turn, ("user", "assistant")[turn % 2], said(talk, turn)


def _json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def _lines(path: Path, values: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    return path


def _chatgpt(folder: Path) -> Path:
    talks = []
    for talk in range(TALKS):
        mapping = {
            f"n{turn}": {
                "id": f"n{turn}",
                "parent": f"n{turn - 1}" if turn else None,
                "message": {
                    "author": {"role": ("user", "assistant")[turn % 2]},
                    "create_time": at(talk, turn).timestamp(),
                    "content": {"content_type": "text", "parts": [said(talk, turn)]},
                },
            }
            for turn in range(TURNS)
        }
        given = {"name": f"plan {talk}", "content": f"Mend the {THINGS[talk % 8]} first."}
        mapping["canvas"] = {
            "id": "canvas",
            "parent": f"n{TURNS - 1}",
            "message": {
                "author": {"role": "assistant"},
                "recipient": "canmore.create_textdoc",
                "create_time": at(talk, TURNS).timestamp(),
                "content": {"text": json.dumps(given)},
            },
        }
        talks.append({"id": f"c{talk}", "title": f"Plot {talk}", "mapping": mapping})
    return _json(folder / "conversations.json", talks)


def _claude(folder: Path) -> Path:
    talks = [
        {
            "uuid": f"c{talk}",
            "name": f"Plot {talk}",
            "chat_messages": [
                {
                    "uuid": f"m{talk}-{turn}",
                    "sender": ("human", "assistant")[turn % 2],
                    "text": said(talk, turn),
                    "created_at": at(talk, turn).isoformat(),
                }
                for turn in range(TURNS)
            ],
        }
        for talk in range(TALKS)
    ]
    projects = [
        {"uuid": f"p{n}", "name": f"Plan {n}", "docs": [
            {"uuid": f"d{n}", "filename": "soil.md", "content": f"The soil of plot {n} is loam."}]}
        for n in range(TALKS)
    ]  # fmt: skip
    _json(folder / "projects.json", projects)
    return _json(folder / "conversations.json", talks).parent


def _slack(folder: Path) -> Path:
    people = [{"id": f"U{n}", "real_name": name} for n, name in enumerate(PEOPLE)]
    _json(folder / "users.json", people)
    _json(folder / "channels.json", [{"id": "C01", "name": "garden"}])
    for talk in range(TALKS):
        day = [
            {
                "type": "message",
                "user": f"U{turn % len(PEOPLE)}",
                "text": said(talk, turn),
                "ts": f"{at(talk, turn).timestamp():.6f}",
            }
            for turn in range(TURNS)
        ]
        _json(folder / "garden" / f"{at(talk, 0):%Y-%m-%d}.json", day)
    return folder


def _gemini(folder: Path) -> Path:
    activities = [
        {
            "header": "Gemini Apps",
            "products": ["Gemini Apps"],
            "time": at(talk, turn).isoformat(),
            "title": f"Prompted {said(talk, turn)}",
            "safeHtmlItem": [{"html": f"<p>{said(talk, turn + 1)}</p>"}],
        }
        for talk in range(TALKS)
        for turn in range(0, TURNS, 2)
    ]
    return _json(folder / "MyActivity.json", activities[::-1])


def _whatsapp(folder: Path) -> Path:
    path = folder / "WhatsApp Chat with Plot 7.txt"
    chat = (
        f"[{at(talk, turn):%d/%m/%Y, %H:%M:%S}] {PEOPLE[turn % 3]}: {said(talk, turn)}\n"
        for talk in range(0, 5 * TALKS, 5)
        for turn in range(TURNS)
    )
    path.write_text("".join(chat), encoding="utf-8")
    return path


def _mbox(folder: Path) -> Path:
    path = folder / "all.mbox"
    mails = []
    for talk, turn, _, text in turns():
        answers = f"In-Reply-To: <{talk}.{turn - 1}@x>\n" if turn else ""
        mails.append(
            f"From a@x Mon Mar  2 09:00:00 2026\nMessage-ID: <{talk}.{turn}@x>\n{answers}"
            f"From: {PEOPLE[turn % 3]} <p{turn % 3}@x.example>\nSubject: Plot {talk}\n"
            f"Date: {at(talk, turn):%a, %d %b %Y %H:%M:%S +0000}\n\n{text}\n\n"
        )
    path.write_text("".join(mails), encoding="ascii")
    return path


def _claude_code(folder: Path) -> Path:
    for talk in range(TALKS):
        _lines(
            folder / "projects" / "-srv-shed" / f"s{talk}.jsonl",
            (
                {
                    "type": role,
                    "uuid": f"{talk}-{turn}",
                    "sessionId": f"s{talk}",
                    "timestamp": at(talk, turn).isoformat(),
                    "cwd": "/srv/shed",
                    "message": {"role": role, "content": text},
                }
                for number, turn, role, text in turns()
                if number == talk
            ),
        )
    return folder / "projects"


def _codex(folder: Path) -> Path:
    for talk in range(TALKS):
        meta = {"id": f"s{talk}", "timestamp": at(talk, 0).isoformat(), "cwd": "/srv/shed"}
        items = [
            {
                "timestamp": at(talk, turn).isoformat(),
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": role,
                    "content": [{"type": "input_text", "text": text}],
                },
            }
            for number, turn, role, text in turns()
            if number == talk
        ]
        _lines(
            folder / "sessions" / f"rollout-s{talk}.jsonl",
            [{"type": "session_meta", "payload": meta}, *items],
        )
    return folder / "sessions"


def _openai(folder: Path) -> Path:
    talks = [
        [{"role": role, "content": text} for number, _, role, text in turns() if number == talk]
        for talk in range(TALKS)
    ]
    return _json(folder / "talks.json", talks)


def _langchain(folder: Path) -> Path:
    kinds = {"user": "human", "assistant": "ai"}
    talks = [
        [
            {"type": kinds[role], "data": {"content": text, "id": f"{talk}-{turn}"}}
            for number, turn, role, text in turns()
            if number == talk
        ]
        for talk in range(TALKS)
    ]
    return _json(folder / "talks.json", talks)


def _messages(folder: Path) -> Path:
    return _lines(
        folder / "messages.jsonl",
        (
            {"conversation": f"c{talk}", "role": role, "text": text, "speaker": PEOPLE[turn % 3]}
            for talk, turn, role, text in turns()
        ),
    )


def _memory_server(folder: Path) -> Path:
    entities = [
        {"type": "entity", "name": f"Plot {talk}", "entityType": "place",
         "observations": [said(talk, turn) for turn in range(TURNS)]}
        for talk in range(TALKS)
    ]  # fmt: skip
    relations = [
        {"type": "relation", "from": f"Plot {n}", "to": f"Plot {n + 1}", "relationType": "near"}
        for n in range(TALKS - 1)
    ]
    return _lines(folder / "memory.jsonl", [*entities, *relations])


def _mem0(folder: Path) -> Path:
    path = folder / "history.db"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE history (id TEXT, memory_id TEXT, old_memory TEXT, new_memory TEXT, "
            "event TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER)"
        )
        for talk, turn, _, text in turns():
            event, when = ("UPDATE" if turn % 2 else "ADD"), at(talk, turn).isoformat()
            row = (f"{talk}-{turn}", f"m{talk}-{turn // 2}", None, text, event, when, when, 0)
            database.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    database.close()
    return path


def _letta(folder: Path) -> Path:
    agents = [
        {
            "id": f"agent-{talk}",
            "name": f"Plot {talk}",
            "messages": [
                {"id": f"{talk}-{turn}", "role": role, "created_at": at(talk, turn).isoformat(),
                 "content": [{"type": "text", "text": text}]}
                for number, turn, role, text in turns()
                if number == talk
            ],
        }
        for talk in range(TALKS)
    ]  # fmt: skip
    blocks = [{"id": f"b{n}", "label": f"plot {n}", "value": said(n, 99)} for n in range(TALKS)]
    return _json(folder / "agent.af", {"agents": agents, "blocks": blocks, "files": []})


def _langgraph(folder: Path) -> Path:
    return _lines(
        folder / "store.jsonl",
        (
            {"namespace": ["memories", f"plot{talk}"], "key": f"k{turn}", "value": {"text": text},
             "created_at": at(talk, turn).isoformat(), "updated_at": at(talk, turn).isoformat()}
            for talk, turn, _, text in turns()
        ),
    )  # fmt: skip


def write_vault(folder: Path) -> Path:
    """Write notes that link to each other."""
    for talk in range(TALKS):
        body = "\n\n".join(said(talk, turn) for turn in range(TURNS))
        text = f"---\ntags: [plot]\n---\n# Plot {talk}\n\n{body}\n\nNext: [[Plot {talk + 1}]]\n"
        path = folder / "vault" / f"Plot {talk}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "vault"


#: Name of a format -> what writes an export of it.
EXPORTS: dict[str, Callable[[Path], Path]] = {
    "chatgpt": _chatgpt,
    "claude": _claude,
    "slack": _slack,
    "gemini": _gemini,
    "whatsapp": _whatsapp,
    "mbox": _mbox,
    "claude-code": _claude_code,
    "codex": _codex,
    "openai": _openai,
    "langchain": _langchain,
    "messages": _messages,
    "memory-server": _memory_server,
    "mem0": _mem0,
    "letta": _letta,
    "langgraph": _langgraph,
}
