"""Exports of chats: what becomes of each part of each format. The fixtures are made up."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults import hostile_files
from memoria.errors import InvalidInputError
from memoria.importers import (
    FORMATS,
    detect_format,
    read_chatgpt,
    read_claude,
    read_langchain,
    read_memory_server,
    read_messages,
    read_openai,
    read_slack,
)
from memoria.importers import (
    READERS as ALL_READERS,
)
from memoria.importers.chats.artifacts import Artifacts
from memoria.importers.chats.messages import _Held
from memoria.importers.chats.parsing import MAX_TEXT_CHARS, Aside
from memoria.types import Conversation, Document, Memory, Message, Relation
from tests.exports import EXPORTS

DATA = Path(__file__).parents[2] / "data" / "chats"
Reader = Callable[..., Iterator[Conversation]]


def zipped(folder: Path, path: Path, *, inside: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*.json")):
            archive.write(file, inside + file.relative_to(folder).as_posix())
    return path


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def conversations(found: Iterable[object]) -> Iterator[Conversation]:
    """The conversations that were read, and nothing else."""
    for each in found:
        assert isinstance(each, Conversation)
        yield each


def said(conversation: Conversation) -> list[tuple[str, str, str | None]]:
    """Role, text and what it answers, of each message."""
    return [(message.role, message.text, message.reply_to) for message in conversation.messages]


# --- ChatGPT --------------------------------------------------------------------------------------


def test_chatgpt_gives_the_line_that_the_user_saw_last() -> None:
    beans, slugs = conversations(read_chatgpt(DATA / "chatgpt"))
    assert (beans.source, beans.id, beans.title) == ("chatgpt", "conv-seeds", "Sowing beans")
    assert said(beans) == [
        ("user", "When do I sow broad beans?", None),
        ("assistant", "From February on, as soon as the soil is open.", None),
        ("user", "How deep do they go,\n\nthe ones in the picture?", None),
        ("tool", "5.0", None),
        ("assistant", "Five centimetres.", None),
    ]
    first = beans.messages[0]
    assert first.id == "u1"
    assert first.created_at == datetime(2026, 3, 2, 9, 0, 0, 250_000, tzinfo=UTC)
    assert beans.messages[1].metadata == {"model": "gpt-5"}
    assert beans.messages[3].speaker == "python"
    assert said(slugs)[1] == ("assistant", "A copper band.\n\nAnd a toad.", None)


def test_chatgpt_branches_answer_where_they_begin() -> None:
    beans, _ = conversations(read_chatgpt(DATA / "chatgpt", all_branches=True))
    ids = [(message.id, message.reply_to) for message in beans.messages]
    assert ids == [
        ("u1", None),
        ("a1", None),
        ("u2", None),  # the branch that was left, by its time the first
        ("a2", None),
        ("u2b", "a1"),
        ("out", None),
        ("a3", None),
    ]


def test_chatgpt_says_what_it_leaves_out() -> None:
    reasons: Counter[str] = Counter()
    list(read_chatgpt(DATA / "chatgpt", on_left_out=lambda reason: reasons.update([reason])))
    assert reasons == {
        "hidden": 1, "internal": 2, "tool call": 1, "picture": 1, "abandoned branch": 2,
    }  # fmt: skip


def test_a_conversation_of_the_oldest_exports_has_the_id_of_its_first_message() -> None:
    _, slugs = conversations(read_chatgpt(DATA / "chatgpt"))
    assert (slugs.id, slugs.title) == ("q", None)
    assert slugs.messages[0].created_at is None


@pytest.mark.parametrize("form", ["folder", "zip", "zip in a folder", "file", "gzip", "split"])
def test_an_export_may_be_a_zip_a_folder_a_file_or_several_files(form: str, tmp_path: Path) -> None:
    folder = DATA / "chatgpt"
    path = folder
    if form == "zip":
        path = zipped(folder, tmp_path / "export.zip")
    elif form == "zip in a folder":
        path = zipped(folder, tmp_path / "export.zip", inside="my export/")
    elif form == "file":
        path = folder / "conversations.json"
    elif form == "gzip":
        path = tmp_path / "mine.json.gz"
        path.write_bytes(gzip.compress((folder / "conversations.json").read_bytes()))
    elif form == "split":
        path = zipped(DATA / "chatgpt-split", tmp_path / "split.zip")
    assert list(read_chatgpt(path)) == list(read_chatgpt(folder))
    assert detect_format(path) == "chatgpt"


def test_what_macos_adds_to_a_zip_is_no_export(tmp_path: Path) -> None:
    path = zipped(DATA / "chatgpt", tmp_path / "export.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/conversations.json", b"\x00\x05")
        archive.writestr("._conversations.json", b"\x00\x05")
    assert len(list(read_chatgpt(path))) == 2


def test_one_conversation_by_itself_is_an_export_too(tmp_path: Path) -> None:
    beans = json.loads((DATA / "chatgpt" / "conversations.json").read_text("utf-8"))[0]
    (found,) = conversations(read_chatgpt(written(tmp_path / "beans.json", beans)))
    assert found.id == "conv-seeds"


def test_without_a_current_node_the_newest_leaf_is_the_end(tmp_path: Path) -> None:
    export = json.loads((DATA / "chatgpt" / "conversations.json").read_text("utf-8"))
    for node in (None, "of another export"):
        export[0]["current_node"] = node
        path = written(tmp_path / "conversations.json", export)
        beans = next(conversations(read_chatgpt(path)))
        assert beans.messages[-1].id == "a3"


def test_unknown_fields_kinds_and_roles_are_read_as_far_as_they_have_text(tmp_path: Path) -> None:
    message = {
        "author": {"role": "critic", "mood": 3},
        "content": {"content_type": "poem", "parts": ["O toad."], "rhyme": None},
        "recipient": "all",
    }
    export = [{"id": "c", "mapping": {"n": {"message": message, "parent": None, "x": 1}}, "v": 9}]
    (found,) = conversations(read_chatgpt(written(tmp_path / "conversations.json", export)))
    assert said(found) == [("other", "O toad.", None)]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    message = {"author": {"role": "user"}, "content": {"parts": ["again"]}}
    nodes = {"a": {"message": message, "parent": "b"}, "b": {"message": message, "parent": "a"}}
    export = [{"id": "c", "current_node": "a", "mapping": nodes}]
    path = written(tmp_path / "conversations.json", export)
    (found,) = conversations(read_chatgpt(path))
    assert [message.id for message in found.messages] == ["b", "a"]
    assert list(read_chatgpt(path, all_branches=True)) == []  # no root leads there


def canvas_export(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """A conversation whose messages follow one another, each with a second more."""
    mapping: dict[str, Any] = {}
    for number, message in enumerate(messages, start=1):
        mapping[f"n{number}"] = {
            "parent": f"n{number - 1}" if number > 1 else None,
            "message": {"author": {"role": "assistant"}, "create_time": number, **message},
        }
    return [{"id": "c", "title": "Beans", "mapping": mapping, "current_node": f"n{len(messages)}"}]


def call(kind: str, **given: Any) -> dict[str, Any]:
    """A call of the tool that writes canvases."""
    content = {"content_type": "code", "text": json.dumps(given)}
    return {"recipient": f"canmore.{kind}_textdoc", "content": content}


def text(said: str, role: str = "user", **more: Any) -> dict[str, Any]:
    """A message that somebody said."""
    return {"author": {"role": role}, "content": {"parts": [said]}, **more}


def test_a_canvas_is_a_document_and_its_revisions_are_superseded(tmp_path: Path) -> None:
    def update(pattern: str, replacement: str) -> dict[str, Any]:
        return call("update", updates=[{"pattern": pattern, "replacement": replacement}])

    export = canvas_export(
        text("Write me a plan for the beans."),
        call("create", name="bean_plan", type="document", content="# Plan\nSow in March."),
        text(
            "Successfully created text document with textdoc_id: 'x'",
            "tool",
            metadata={"canvas": {"title": "Plan for beans"}},
        ),
        text("I wrote a plan.", "assistant"),
        update("March", "April"),
        update("a(b|c)+", "x"),  # a pattern that may take for ever is not run
        update("not there", "x"),
        call("comment", comments=[]),
        {"recipient": "canmore.create_textdoc", "content": {"text": '{"name": "cut'}},
        call("create", name="list", content="peas"),
        update(".*", "peas, beans"),
        {"recipient": "bio", "content": {"parts": ["The user grows beans."]}},
        text("Model set context updated.", "tool"),
    )
    reasons: Counter[str] = Counter()
    found = list(
        read_chatgpt(
            written(tmp_path / "conversations.json", export),
            on_left_out=lambda reason: reasons.update([reason]),
        )
    )
    (conversation,) = conversations(found[:1])
    documents = [each for each in found if isinstance(each, Document)]
    edges = [each for each in found if isinstance(each, Relation)]
    assert [conversation, *documents, *edges] == found
    assert [message.text for message in conversation.messages] == [
        "Write me a plan for the beans.",
        "I wrote a plan.",
        "The user grows beans.",
    ]
    at = [datetime(1970, 1, 1, 0, 0, second, tzinfo=UTC) for second in range(12)]
    assert [
        (d.id, d.title, d.sections[0].text, d.created_at, d.valid_until) for d in documents
    ] == [
        ("c/canvas-1", None, "# Plan\nSow in March.", at[2], at[5]),
        ("c/canvas-1@2", "Plan for beans", "# Plan\nSow in April.", at[5], None),
        ("c/canvas-2", None, "peas", at[10], at[11]),
        ("c/canvas-2@2", "list", "peas, beans", at[11], None),
    ]
    assert [(e.source, e.target, e.relation) for e in edges] == [
        ("chatgpt:c:n1", "chatgpt/c/canvas-1", "links_to"),
        ("chatgpt:c:n4", "chatgpt/c/canvas-1@2", "links_to"),
        ("chatgpt:c:n4", "chatgpt/c/canvas-2", "links_to"),
        ("chatgpt:c:n4", "chatgpt/c/canvas-2@2", "links_to"),
    ]
    assert reasons == {"tool that says done": 2, "edit of a canvas": 3, "tool call": 1}


# --- Claude ---------------------------------------------------------------------------------------


def test_claude_text_is_that_of_the_blocks_and_attachments_follow() -> None:
    compost, apples = conversations(read_claude(DATA / "claude"))  # the third conversation is empty
    assert said(compost) == [
        (
            "user",
            "What is wrong with my compost?\n\ndiary.txt:\n"
            "3 March: only grass clippings, nothing dry.",
            None,
        ),
        ("assistant", "It is too wet: add torn cardboard.", None),
    ]
    assert compost.messages[0].metadata == {"attachments": ["diary.txt"]}
    assert (compost.source, compost.id, compost.title) == ("claude", "cl-1", "Compost")
    assert compost.messages[0].created_at == datetime(2026, 4, 1, 8, tzinfo=UTC)
    assert apples.title is None


def test_claude_edited_questions_are_branches() -> None:
    _, apples = conversations(read_claude(DATA / "claude"))
    assert [message.id for message in apples.messages] == ["n3", "n4"]
    _, apples = conversations(read_claude(DATA / "claude", all_branches=True))
    assert [message.id for message in apples.messages] == ["n1", "n2", "n3", "n4"]


def test_older_claude_exports_have_a_text_and_no_blocks(tmp_path: Path) -> None:
    message = {
        "uuid": "m",
        "sender": "human",
        "text": "Hello",
        "created_at": "2024-01-01T00:00:00Z",
    }
    export = [{"uuid": "c", "name": "Old", "chat_messages": [message]}]
    (found,) = conversations(read_claude(written(tmp_path / "conversations.json", export)))
    assert said(found) == [("user", "Hello", None)]


def test_claude_leaves_out_what_has_no_text() -> None:
    reasons: Counter[str] = Counter()
    list(read_claude(DATA / "claude", on_left_out=lambda reason: reasons.update([reason])))
    assert reasons == {
        "thoughts": 1, "tool call": 2, "result of a tool": 1, "file": 1, "abandoned branch": 2,
    }  # fmt: skip


def test_claude_artifacts_projects_and_memories_are_documents(tmp_path: Path) -> None:
    def message(id_: str, *blocks: dict[str, Any]) -> dict[str, Any]:
        at = f"2026-04-01T08:0{id_}:00Z"
        return {"uuid": id_, "sender": "assistant", "content": list(blocks), "created_at": at}

    def tool(name: str, **given: Any) -> dict[str, Any]:
        return {"type": "tool_use", "name": name, "input": given}

    def write(command: str, **given: Any) -> dict[str, Any]:
        return tool("artifacts", command=command, id="plan", **given)

    chat = [
        message("1", {"type": "text", "text": "Here it is."}, write(
            "create", title="Plan", content="Sow in March.")),
        message("2", write("update", old_str="March", new_str="April")),
        message("3", write("update", old_str="May", new_str="June"), tool("search", query="x")),
        message("4", {"type": "text", "text":
            'A <antArtifact identifier="old" title="Old one">Text.</antArtifact> <antArtifact'}),
        message("5", tool("create_file", path="/home/list.md", file_text="peas"),
                tool("str_replace", path="/home/list.md", old_str="peas", new_str="beans")),
    ]  # fmt: skip
    written(tmp_path / "conversations.json", [{"uuid": "c", "chat_messages": chat}])
    (tmp_path / "projects").mkdir()
    project = {
        "uuid": "p1",
        "name": "Garden",
        "description": "All about it",
        "prompt_template": "Be brief.",
        "created_at": "2026-01-01T00:00:00Z",
        "docs": [{"uuid": "d1", "filename": "soil.md", "content": "Loam."}],
    }
    written(tmp_path / "projects" / "p1.json", project)
    memory = {"account_uuid": "a", "conversations_memory": "Likes beans.", "project_memories": {
        "p1": "Has loam."}}  # fmt: skip
    written(tmp_path / "memories.json", [memory])
    reasons: Counter[str] = Counter()
    found = list(read_claude(tmp_path, on_left_out=lambda reason: reasons.update([reason])))
    documents = {each.id: each for each in found if isinstance(each, Document)}
    assert {id_: (d.title, d.sections[0].text) for id_, d in documents.items()} == {
        "c/plan": (None, "Sow in March."),
        "c/plan@2": ("Plan", "Sow in April."),
        "c/old": ("Old one", "Text."),
        "c//home/list.md": (None, "peas"),
        "c//home/list.md@2": ("list.md", "beans"),
        "project/p1": ("Garden", "All about it\n\nBe brief."),
        "project/p1/d1": ("soil.md", "Loam."),
        "memory/a": ("Memory of Claude", "Likes beans."),
        "memory/a/p1": ("Memory of Claude, project p1", "Has loam."),
    }
    assert documents["c/plan"].valid_until == documents["c/plan@2"].created_at
    (conversation,) = conversations(found[:1])
    assert conversation.messages[1].text == "A Old one <antArtifact"
    assert reasons == {"edit of an artifact": 1, "tool call": 1}
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in tmp_path.rglob("*.json"):
            archive.write(file, f"data/{file.relative_to(tmp_path).as_posix()}")
    assert list(read_claude(path)) == found


# --- Slack ----------------------------------------------------------------------------------------


def test_slack_threads_answer_and_what_is_outside_goes_on() -> None:
    direct, garden = read_slack(DATA / "slack")
    assert (garden.source, garden.id, garden.title) == ("slack", "C01/2026-03", "garden")
    assert said(garden) == [
        (
            "other",
            "@Tom Vogt, did you order the beans (https://seeds.example/beans)? "
            "See #garden & shop@seeds.example",
            None,
        ),
        ("other", "The water barrel is full.", None),
        ("other", "Yes, on Friday.", "1772442001.000200"),
        ("other", "Then I need not water today.", "1772442050.000300"),  # what Ida said outside
        ("other", "They have arrived! @channel", "1772442001.000200"),  # on the next day
    ]
    assert [message.speaker for message in garden.messages] == [
        "Ida",
        "Ida",
        "Tom Vogt",
        "Tom Vogt",
        "Lea",  # from org_users.json
    ]
    assert garden.messages[0].created_at == datetime(2026, 3, 2, 9, 0, 1, 200, tzinfo=UTC)
    assert (direct.id, direct.title) == ("D01/2026-03", "Ida, Tom Vogt")


def test_slack_leaves_out_bots_and_notices() -> None:
    reasons: Counter[str] = Counter()
    list(read_slack(DATA / "slack", on_left_out=lambda reason: reasons.update([reason])))
    assert reasons == {"notice": 1, "bot": 1, "empty": 1}


def test_each_month_of_a_channel_is_a_conversation(tmp_path: Path) -> None:
    written(tmp_path / "channels.json", [{"id": "C1", "name": "a"}])
    (tmp_path / "a").mkdir()
    for day in ("2026-01-30", "2026-01-31", "2026-02-01"):
        text = {"type": "message", "user": "U1", "text": day, "ts": "1.0"}
        written(tmp_path / "a" / f"{day}.json", [text])
    found = list(read_slack(tmp_path))
    assert [(each.id, len(each.messages)) for each in found] == [
        ("C1/2026-01", 2),
        ("C1/2026-02", 1),
    ]


def test_a_slack_channel_is_mentioned_by_its_name_and_one_without_a_name_by_its_id(
    tmp_path: Path,
) -> None:
    channels = [{"id": "C1", "name": "garden"}, {"id": "D2", "members": ["U1"]}]
    written(tmp_path / "channels.json", channels)
    (tmp_path / "garden").mkdir()
    said = {"type": "message", "user": "U1", "text": "See <#C1> and <#D2>", "ts": "1.0"}
    written(tmp_path / "garden" / "2026-03-01.json", [said])
    (found,) = read_slack(tmp_path)
    assert [message.text for message in found.messages] == ["See #garden and #D2"]


def test_a_thread_that_a_bot_began_goes_on_from_its_first_answer(tmp_path: Path) -> None:
    def message(ts: str, **fields: Any) -> dict[str, Any]:
        return {"type": "message", "user": "U1", "text": f"at {ts}", "ts": ts, **fields}

    written(tmp_path / "channels.json", [{"id": "C1", "name": "a"}])
    (tmp_path / "a").mkdir()
    day = [
        message("1.0", subtype="bot_message", thread_ts="1.0"),
        message("2.0"),
        message("3.0", thread_ts="1.0"),
        message("4.0"),
        message("5.0", thread_ts="1.0"),
    ]
    written(tmp_path / "a" / "2026-03-01.json", day)
    (found,) = read_slack(tmp_path)
    assert [(m.id, m.reply_to) for m in found.messages] == [
        ("2.0", None),
        ("3.0", None),
        ("4.0", "2.0"),
        ("5.0", "3.0"),
    ]


@pytest.mark.parametrize("inside", ["", "acme export/"])
def test_a_slack_zip_is_read_as_the_folder_is(inside: str, tmp_path: Path) -> None:
    path = zipped(DATA / "slack", tmp_path / "slack.zip", inside=inside)
    assert list(read_slack(path)) == list(read_slack(DATA / "slack"))
    assert detect_format(path) == "slack"


def test_names_of_channels_are_read_from_zips_that_do_not_say_that_they_are_utf_8(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "export"
    shutil.copytree(DATA / "slack", folder)
    written(folder / "channels.json", [{"id": "C01", "name": "gärten"}])
    (folder / "garden").rename(folder / "gXrten")
    path = zipped(folder, tmp_path / "slack.zip")
    # zipfile itself says when a name is UTF-8; other programs don't.
    data = path.read_bytes().replace(b"gXrten/", "gä".encode() + b"ten/")
    assert len("gXrten") == len("gä".encode() + b"ten") == 6
    path.write_bytes(data)
    names = {conversation.id for conversation in read_slack(path)}
    assert "gäten/2026-03" in names  # not in the list, so it goes by the name of its folder


def test_slack_reads_blocks_edits_titles_of_files_and_alerts_if_they_are_wanted(
    tmp_path: Path,
) -> None:
    def line(*elements: dict[str, Any], kind: str = "rich_text_section") -> dict[str, Any]:
        return {"type": kind, "elements": list(elements)}

    rich = {
        "type": "rich_text",
        "elements": [
            line(
                {"type": "text", "text": "Frost, says "},
                {"type": "user", "user_id": "U1"},
                {"type": "emoji", "name": "cold_face"},
                {"type": "link", "url": "https://frost.example", "text": "here"},
            ),
            line(
                line({"type": "text", "text": "beans"}),
                line({"type": "text", "text": "peas"}),
                kind="rich_text_list",
            ),
        ],
    }
    fields = {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "*Low*"},
        "fields": [{"type": "mrkdwn", "text": "-3"}, {"type": "mrkdwn", "text": "Tuesday"}],
    }
    alert = {
        "title": "Barn",
        "text": "Door is open",
        "fields": [{"title": "Since", "value": "9:00"}],
    }
    day = [
        {"user": "U1", "text": "", "blocks": [rich], "ts": "1.0"},
        {"user": "U2", "text": "", "blocks": [fields], "ts": "2.0"},
        {"user": "U2", "text": "Wrong", "ts": "3.0"},
        {"subtype": "message_changed", "ts": "3.5", "message": {
            "user": "U2", "text": "Right", "ts": "3.0", "edited": {"user": "U2", "ts": "3.5"}}},
        {"user": "U1", "text": "", "ts": "4.0", "files": [
            {"name": "p.pdf", "title": "Plan of the oven"}, {"name": "x.png", "title": "x.png"}]},
        {"subtype": "bot_message", "bot_id": "B1", "username": "Watch", "ts": "5.0", "text": "",
         "attachments": [alert]},
        {"bot_id": "B2", "ts": "6.0", "text": "Deployed", "bot_profile": {"name": "Deploy"}},
        {"user": "U1", "text": "See", "ts": "7.0", "attachments": [{"text": "preview of a page"}]},
    ]  # fmt: skip
    written(tmp_path / "users.json", [{"id": "U1", "name": "ida"}])
    (tmp_path / "a").mkdir()
    written(tmp_path / "a" / "2026-03-01.json", day)
    (people,) = read_slack(tmp_path)
    assert [(each.speaker, each.text, each.metadata) for each in people.messages] == [
        ("ida", "Frost, says @ida:cold_face:here (https://frost.example)\nbeans\npeas", {}),
        ("U2", "*Low*\n-3\nTuesday", {}),
        ("U2", "Right", {"edited": True}),
        ("ida", "file: Plan of the oven", {}),
        ("ida", "See", {}),
    ]
    (everybody,) = read_slack(tmp_path, bots=True)
    bots = [each for each in everybody.messages if each.role == "tool"]
    assert [(each.speaker, each.text) for each in bots] == [
        ("Watch", "Barn\nDoor is open\nSince: 9:00"),
        ("Deploy", "Deployed"),
    ]


# --- lists of messages ----------------------------------------------------------------------------


def test_openai_lists_are_read_with_their_blocks_and_names() -> None:
    (found,) = read_openai(DATA / "openai.json")
    assert said(found) == [
        ("system", "You are a gardener.", None),
        ("user", "How tall do sunflowers get?", None),
        ("tool", "3 m", None),
        ("assistant", "Up to three metres.", None),
    ]
    assert found.messages[1].speaker == "ida"


def test_conversations_on_lines_are_several() -> None:
    moss, thanks = read_openai(DATA / "openai-conversations.jsonl")
    assert [message.role for message in moss.messages] == ["user", "assistant"]
    assert thanks.id == "own-id"
    assert thanks.messages[0].created_at == datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_a_list_of_lists_is_a_list_of_conversations(tmp_path: Path) -> None:
    lists = [[{"role": "user", "content": text}] for text in ("one", "two")]
    found = list(read_openai(written(tmp_path / "x.json", lists)))
    assert [said(each) for each in found] == [[("user", "one", None)], [("user", "two", None)]]


def test_langchain_messages_keep_the_ids_that_they_have() -> None:
    (found,) = read_langchain(DATA / "langchain.json")
    assert said(found) == [
        ("system", "You are a gardener.", None),
        ("user", "Is the rhubarb ripe?", None),
        ("assistant", "From April on.", None),
        ("tool", "14 stalks", None),
    ]
    assert [message.id for message in found.messages[2:]] == ["run-1", "tool-1"]
    assert found.messages[3].speaker == "count"


def test_a_list_that_has_grown_has_the_same_ids_and_one_more(tmp_path: Path) -> None:
    listed = json.loads((DATA / "openai.json").read_text("utf-8"))
    (before,) = read_openai(DATA / "openai.json")
    listed.append({"role": "user", "content": "And in pots?"})
    (after,) = read_openai(written(tmp_path / "another name.json", listed))
    assert after.id == before.id
    assert after.messages[:-1] == before.messages


def test_lists_that_begin_alike_share_ids_only_as_long_as_they_are_alike(tmp_path: Path) -> None:
    def ids(name: str, *texts: str) -> list[str | None]:
        listed = [{"role": "user", "content": text} for text in texts]
        (found,) = read_openai(written(tmp_path / name, listed))
        return [message.id for message in found.messages]

    first, second = ids("a.json", "hi", "one", "end"), ids("b.json", "hi", "two", "end")
    assert first[0] == second[0]
    assert not set(first[1:]) & set(second[1:])


# --- JSON Lines of messages, and the memory server ------------------------------------------------


def test_lines_are_messages_with_their_places_as_ids() -> None:
    found = list(read_messages(DATA / "messages.jsonl"))
    ids = {each.id: [message.id for message in each.messages] for each in found}
    assert ids == {"plot-8": ["k1"], "plot-7": ["1", "2", "3"]}
    first, second, third = found[1].messages
    assert first.speaker == "Ida"
    assert second.metadata == {"tool": "planner"}
    assert third.reply_to == "2"


def test_mixed_conversations_end_when_they_have_rested_too_long() -> None:
    held, aside = _Held(), Aside(None, None)
    given = []
    for name in "ababb":
        held.add({"conversation": name, "text": name}, aside)
        given += list(held.conversations(above=4))
    assert [(each.id, len(each.messages)) for each in given] == [("a", 2)]
    with pytest.raises(InvalidInputError, match="conversation 'a' continues after 50000 messages"):
        held.add({"conversation": "a", "text": "late"}, aside)
    assert [each.id for each in held.conversations()] == ["b"]


def test_a_message_dumped_as_a_line_is_read_as_it_was(tmp_path: Path) -> None:
    message = Message(
        text="Frost tonight.",
        role="assistant",
        id="m-1",
        speaker="Station",
        created_at=datetime(2026, 3, 1, 18, tzinfo=UTC),
        reply_to="m-0",
        metadata={"degrees": -2},
    )
    line = json.dumps({"conversation": "weather", **asdict(message)}, default=str)
    path = tmp_path / "lines.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    (found,) = read_messages(path)
    assert list(found.messages) == [message]


def test_an_observation_is_a_memory_joined_to_its_entity() -> None:
    reasons: Counter[str] = Counter()
    found = list(
        read_memory_server(
            DATA / "memory.jsonl", on_left_out=lambda reason: reasons.update([reason])
        )
    )
    memories = {each.text: each for each in found if isinstance(each, Memory)}
    edges = [each for each in found if isinstance(each, Relation)]
    assert list(memories) == [
        "Ida",
        "Ida: grows broad beans",  # it has no name of its own
        "Ida is allergic to wasps",
        "Plot 7",
        "Plot 7: has a pear tree",
    ]
    assert memories["Ida"].kind == "Topic"
    assert memories["Ida"].category == "person"
    assert memories["Ida is allergic to wasps"].kind == "Event"
    ids = {memory.id: text for text, memory in memories.items()}
    assert [(ids[edge.source], edge.relation, ids[edge.target]) for edge in edges] == [
        ("Ida: grows broad beans", "about", "Ida"),
        ("Ida is allergic to wasps", "about", "Ida"),
        ("Plot 7: has a pear tree", "about", "Plot 7"),
        ("Ida", "tends", "Plot 7"),
    ]
    assert reasons == {"relation without its entity": 1}


# --- all ------------------------------------------------------------------------------------------

READERS: dict[str, tuple[Any, str]] = {
    "chatgpt": (read_chatgpt, "chatgpt"),
    "claude": (read_claude, "claude"),
    "slack": (read_slack, "slack"),
    "openai": (read_openai, "openai.json"),
    "langchain": (read_langchain, "langchain.json"),
    "messages": (read_messages, "messages.jsonl"),
    "memory-server": (read_memory_server, "memory.jsonl"),
}


def test_every_format_has_an_export_and_faces_hostile_files() -> None:
    assert EXPORTS.keys() == ALL_READERS.keys()
    assert {name.replace("-", "_") for name in FORMATS} <= hostile_files.READERS.keys()


@pytest.mark.parametrize("name", READERS)
def test_each_fixture_is_told_apart_and_read_twice_the_same(name: str) -> None:
    reader, path = READERS[name]
    assert detect_format(DATA / path) == name
    assert list(reader(DATA / path)) == list(reader(DATA / path)) != []


@pytest.mark.parametrize("content", ["[]", "{}", '["a"]', '[{"text": "x"}]', '{"a": 1}\n'])
def test_what_may_be_anything_is_asked_for(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInputError, match="name the format, one of chatgpt, claude"):
        detect_format(path)


def test_a_text_of_more_than_a_message_may_hold_becomes_several(tmp_path: Path) -> None:
    listed = [
        {"role": "user", "content": "ä" * (MAX_TEXT_CHARS + 5), "id": "long"},
        {"role": "assistant", "content": "Read."},
    ]
    (found,) = read_openai(written(tmp_path / "x.json", listed))
    first, further = found.messages[:2]
    assert (first.id, len(first.text), first.reply_to) == ("long", MAX_TEXT_CHARS, None)
    assert (len(further.text), further.reply_to) == (5, None)
    assert str(further.id).startswith("long/2~")


def test_no_part_of_a_long_text_takes_the_id_of_another_message(tmp_path: Path) -> None:
    long, name = "a" * (MAX_TEXT_CHARS + 1), "ä" * 255 + "."
    lines = [("1", long), ("1/2", "b"), ("1/2/2", "c"), (name, long)]
    path = tmp_path / "x.jsonl"
    said = [{"conversation": "c", "id": id_, "text": text} for id_, text in lines]
    path.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    (found,) = read_messages(path)
    ids = [str(message.id) for message in found.messages]
    assert len(set(ids)) == len(ids) == 6
    assert {id_ for id_, _ in lines} < set(ids)
    (again,) = read_messages(path)
    assert again == found


def test_halves_of_characters_do_not_stop_an_import(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"role": "user", "content": "cut \\ud83d off"}]', encoding="utf-8")
    (found,) = read_openai(path)
    assert found.messages[0].text == "cut \ufffd off"


def test_two_objects_on_a_line_are_two(tmp_path: Path) -> None:
    lines = (DATA / "memory.jsonl").read_text("utf-8").splitlines()
    path = tmp_path / "memory.jsonl"
    path.write_text(f"{lines[0]}{lines[1]} {lines[2]}\n" + "\n".join(lines[3:]), encoding="utf-8")
    assert list(read_memory_server(path)) == list(read_memory_server(DATA / "memory.jsonl"))
    null = {"type": "entity", "name": "Ada", "observations": [None, "is here"]}
    path.write_text(json.dumps(null) + '{"type": "ent', encoding="utf-8")
    errors: list[InvalidInputError] = []
    found = list(read_memory_server(path, on_invalid=errors.append))
    assert [each.text for each in found if isinstance(each, Memory)] == ["Ada", "Ada: is here"]
    assert len(errors) == 1


@pytest.mark.parametrize("answer", ["Done.", "ok", "File has been created successfully."])
def test_an_answer_of_a_tool_that_only_says_done_is_left_out(tmp_path: Path, answer: str) -> None:
    lists = [{"role": "user", "content": "Save it"}, {"role": "tool", "content": answer}]
    (found,) = read_openai(written(tmp_path / "x.json", lists))
    assert [message.text for message in found.messages] == ["Save it"]


def test_the_head_of_an_artifact_is_looked_through_once() -> None:
    artifacts = Artifacts(Aside(None, None))
    said = f'A <antArtifact {"a" * 400_000} title="T">Text.</antArtifact>'
    assert artifacts.read(said, None, "n", None) == "A T"
