"""Parts of chats that readers leave out and count. All exports are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memoria._support.progress import silent
from memoria.cli.tally import Tally
from memoria.importers import READERS
from memoria.types import ImportReport
from tests.unit.importers.test_importers import counted, said

BLOCKS = [
    {"type": "text", "text": "See."},
    {"type": "image", "source": {}},
    {"type": "tool_use", "name": "search", "input": {}},
    {"type": "tool_result", "content": "x"},
    {"type": "thinking", "thinking": "?"},
]
OF_BLOCKS = {"picture": 1, "tool call": 1, "result of a tool": 1, "thoughts": 1}


def test_parts_of_messages_and_branches_that_are_left_out_are_counted(tmp_path: Path) -> None:
    def export(name: str, value: Any) -> Path:
        path = tmp_path / name / "conversations.json"
        path.parent.mkdir()
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    def node(parent: str | None, *parts: Any) -> dict[str, Any]:
        message = {"author": {"role": "user"}, "content": {"parts": parts}}
        return {"parent": parent, "message": message}

    picture, spoken = ({"content_type": f"{kind}_asset_pointer"} for kind in ("image", "audio"))
    nodes = {"a": node(None, "See.", picture, spoken), "b": node("a", "No.")}
    nodes |= {
        "c": node("a", "Yes."),
        "d": node("c", picture, picture, spoken),
        "root": {"parent": None, "message": None},
    }
    chatgpt = export("chatgpt", [{"id": "c", "mapping": nodes, "current_node": "d"}])
    (found,), reasons = counted(READERS["chatgpt"], chatgpt)
    assert said(found) == [("user", "See."), ("user", "Yes.")]
    assert reasons == {"picture": 3, "recording": 2, "abandoned branch": 1}

    def message(uuid: str, parent: str, **more: Any) -> dict[str, Any]:
        return {"uuid": uuid, "parent_message_uuid": parent, "sender": "human", **more}

    # A block shows x.png, and the text of soil.md is there.
    files = [{"file_name": name} for name in ("x.png", "soil.md", "plan.pdf")]
    texts = [{"file_name": "soil.md", "extracted_content": "Loam."}]
    said_here = [message("a", "0", content=BLOCKS, files=files, attachments=texts)]
    said_here += [message("b", "a", text="No."), message("c", "a", text="Yes.")]
    claude = export("claude", [{"uuid": "c", "chat_messages": said_here}])
    (found,), reasons = counted(READERS["claude"], claude)
    assert said(found) == [("user", "See.\n\nsoil.md:\nLoam."), ("user", "Yes.")]
    assert reasons == {**OF_BLOCKS, "file": 1, "abandoned branch": 1}

    lists = export("lists", [[{"role": "user", "content": BLOCKS, "tool_calls": [{}]}]])
    (found,), reasons = counted(READERS["openai"], lists)
    assert said(found) == [("user", "See.")]
    assert reasons == OF_BLOCKS


def test_files_previews_and_deleted_messages_of_slack_are_counted(tmp_path: Path) -> None:
    (tmp_path / "kiln").mkdir()
    (tmp_path / "channels.json").write_text('[{"id": "C1", "name": "kiln"}]', encoding="utf-8")
    file, preview = {"title": "i.png", "name": "i.png"}, {"title": "A page"}
    said_here = [
        {"user": "U1", "text": "See.", "ts": "1.1", "files": [file], "attachments": [preview]},
        {"user": "U1", "text": "Secret.", "ts": "1.2"},
        {"subtype": "message_deleted", "deleted_ts": "1.2", "ts": "1.3"},
    ]
    (tmp_path / "kiln" / "1970-01-01.json").write_text(json.dumps(said_here), encoding="utf-8")
    (found,), reasons = counted(READERS["slack"], tmp_path)
    assert said(found) == [("U1", "See.")]
    assert reasons == {"file": 1, "preview": 1, "deleted": 1}


@pytest.mark.parametrize("day", ["1970-01-01", "1970-01-02", "1970-02-03"])
def test_a_message_of_slack_deleted_on_whatever_day_is_left_out(day: str, tmp_path: Path) -> None:
    days: dict[str, list[dict[str, Any]]] = {
        "1970-01-01": [
            {"user": "U1", "text": "See.", "ts": "1.1"},
            {"user": "U1", "text": "Secret.", "ts": "1.2", "files": [{"title": "s.png"}]},
        ],
    }
    days.setdefault(day, []).append({"subtype": "message_deleted", "deleted_ts": "1.2"})
    kept = {"user": "U1", "text": "Elsewhere.", "ts": "1.2"}
    for name, messages in {
        **{f"kiln/{day}": days[day] for day in days},
        "shed/1970-01-01": [kept],
    }.items():
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(messages), encoding="utf-8")
    (tmp_path / "channels.json").write_text("[]", encoding="utf-8")
    found, reasons = counted(READERS["slack"], tmp_path)
    assert [said(each) for each in found] == [[("U1", "See.")], [("U1", "Elsewhere.")]]
    assert reasons == {"deleted": 1}


@pytest.mark.parametrize("day", ["1970-01-01", "1970-01-02", "1970-02-03"])
@pytest.mark.parametrize("gone", [False, True])
def test_a_message_of_slack_edited_on_whatever_day_has_its_last_text_where_it_was_said(
    day: str, gone: bool, tmp_path: Path
) -> None:
    def edit(text: str, ts: str, **more: Any) -> dict[str, Any]:
        return {"subtype": "message_changed", "message": {"text": text, "ts": ts, **more}}

    days: dict[str, list[dict[str, Any]]] = {
        "1970-01-01": [
            {"user": "U1", "text": "At 7.", "ts": "1.1", "thread_ts": "1.1"},
            {"user": "U2", "text": "Fine.", "ts": "1.2", "thread_ts": "1.1"},
            {"user": "U1", "text": "Wrong.", "ts": "1.3"},
            edit("At 7:30.", "1.1"),
        ],
    }
    days.setdefault(day, [])
    days[day] += [edit("At 8.", "1.1"), edit("Of an earlier export.", "0.9", user="U2")]
    days[day] += [edit("This message was deleted.", "1.3", subtype="tombstone")] if gone else []
    (tmp_path / "kiln").mkdir()
    for name, messages in days.items():
        (tmp_path / "kiln" / f"{name}.json").write_text(json.dumps(messages), encoding="utf-8")
    (tmp_path / "channels.json").write_text("[]", encoding="utf-8")
    found, reasons = counted(READERS["slack"], tmp_path)
    here = [("U1", "At 8."), ("U2", "Fine.")] + [("U1", "Wrong.")] * (not gone)
    assert [each for one in found for each in said(one)] == [
        *here, ("U2", "Of an earlier export.")]  # fmt: skip
    assert [each.metadata for each in found[0].messages][:2] == [{"edited": True}, {}]
    assert reasons == ({"deleted": 1} if gone else {})


def test_messages_of_json_lines_that_share_an_id_are_named_and_numbers_take_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.jsonl"
    lines = [("one", None), ("two", "1"), ("one", "1"), ("nine", "9"), ("ten", None)]
    path.write_text(
        "\n".join(json.dumps({"conversation": "x", "text": t, "id": id_}) for t, id_ in lines),
        encoding="utf-8",
    )
    (found,), _ = counted(READERS["messages"], path)
    assert [each.id for each in found.messages] == ["1", "1", "1", "9", "10"]
    tally = Tally(skip_invalid=False, rehearsed=True)
    list(tally.counted([found], silent))
    facts = tally.facts(ImportReport())
    assert facts["left_out"] == {"id of another message": 1, "repeated": 1}
    assert facts["messages"] == facts["parts"] == 3
    (problem,) = facts["problems"]
    assert "conversation 'x'" in problem
    assert "id '1'" in problem
