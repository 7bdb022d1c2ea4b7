"""Broken exports: errors that name the place, and never anything but our own errors."""

from __future__ import annotations

import copy
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoria.errors import InvalidInputError, MemoriaError
from memoria.importers import (
    detect_format,
    read_chatgpt,
    read_claude,
    read_langchain,
    read_memory_server,
    read_messages,
    read_openai,
    read_slack,
)
from memoria.importers.chats.items import CHUNK_BYTES, MAX_ITEM_CHARS, read_items
from memoria.types import Conversation

DATA = Path(__file__).parents[2] / "data" / "chats"
FILES: dict[str, tuple[Callable[..., Iterator[Any]], str]] = {
    "chatgpt": (read_chatgpt, "chatgpt/conversations.json"),
    "claude": (read_claude, "claude/conversations.json"),
    "openai": (read_openai, "openai.json"),
    "langchain": (read_langchain, "langchain.json"),
}
LINES: dict[str, tuple[Callable[..., Iterator[Any]], str]] = {
    "messages": (read_messages, "messages.jsonl"),
    "memory-server": (read_memory_server, "memory.jsonl"),
}


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def changed(name: str, keys: tuple[str | int, ...], value: Any) -> Any:
    """A fixture with another value at a place."""
    export = json.loads((DATA / name).read_text("utf-8"))
    at = export
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    return export


# --- the place of what is wrong -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "keys", "value", "message"),
    [
        ("chatgpt", (1,), 5, "conversation 2: a conversation must be a JSON object, got an int"),
        ("chatgpt", (1,), {}, "conversation 2: mapping is missing: this is not a ChatGPT export"),
        (
            "chatgpt",
            (0, "mapping"),
            [],
            "conversation 1: mapping must be a JSON object",
        ),
        ("chatgpt", (0, "title"), 5, "conversation 1: title must be a string, got an int"),
        (
            "chatgpt",
            (0, "mapping", "u1", "message", "create_time"),
            "soon",
            "conversation 1: message u1: create_time must be a time in ISO 8601 or seconds since "
            "1970, got 'soon'",
        ),
        (
            "chatgpt",
            (0, "mapping", "u1", "message", "create_time"),
            1e300,
            "conversation 1: message u1: create_time must be a time",
        ),
        (
            "chatgpt",
            (0, "mapping", "a1", "message", "content", "parts"),
            "text",
            "conversation 1: message a1: parts must be a list, got a str",
        ),
        ("claude", (0, "chat_messages"), {}, "conversation 1: chat_messages must be a list, got a"),
        ("claude", (1,), {"uuid": "x"}, "conversation 2: chat_messages is missing"),
        (
            "claude",
            (0, "chat_messages", 1, "content", 3),
            7,
            "conversation 1: message 2: content must be a JSON object, got an int",
        ),
        ("openai", (2,), "hello", "element 3: a message must be a JSON object, got a str"),
        ("openai", (1, "role"), None, "element 2: role is missing"),
        ("langchain", (3, "data"), None, "element 4: a message has type, and data with content"),
    ],
)
def test_an_error_names_file_place_and_field(
    name: str, keys: tuple[str | int, ...], value: Any, message: str, tmp_path: Path
) -> None:
    reader, file = FILES[name]
    path = written(tmp_path / "conversations.json", changed(file, keys, value))
    with pytest.raises(InvalidInputError) as caught:
        list(reader(path))
    assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("name", FILES)
def test_what_is_wrong_is_passed_over_if_that_is_wanted(name: str, tmp_path: Path) -> None:
    reader, file = FILES[name]
    whole = list(reader(DATA / file))
    export = json.loads((DATA / file).read_text("utf-8"))
    errors: list[str] = []
    path = written(tmp_path / "conversations.json", [*export, 5])
    kept = list(reader(path, on_invalid=lambda error: errors.append(str(error))))
    assert kept == whole
    assert len(errors) == 1
    assert errors[0].startswith(f"{path}: ")


def test_one_wrong_message_costs_the_message_and_not_its_conversation(tmp_path: Path) -> None:
    export = changed("chatgpt/conversations.json", (0, "mapping", "a1", "message", "author"), 5)
    errors: list[str] = []
    path = written(tmp_path / "conversations.json", export)
    beans, _ = read_chatgpt(path, on_invalid=lambda error: errors.append(str(error)))
    assert isinstance(beans, Conversation)
    assert [message.id for message in beans.messages] == ["u1", "u2b", "out", "a3"]
    assert errors == [
        f"{path}: conversation 1: message a1: author must be a JSON object, got an int"
    ]


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("messages", '{"text": "x"}', ":2: conversation must be given, as a string"),
        (
            "messages",
            '{"conversation": "a", "text": "x", "rol": "user"}',
            ":2: unknown field 'rol'",
        ),
        ("messages", '{"conversation": "a", "text": "x", "role": "me"}', ":2: role must be one of"),
        ("messages", '{"conversation": "", "text": "x"}', ":2: conversation must not be empty"),
        ("messages", "{", ":2: not JSON"),
        ("memory-server", '{"type": "entity", "observations": []}', ":2: name is missing"),
        (
            "memory-server",
            '{"type": "entity", "name": "a", "observations": [1]}',
            ":2: observations must contain strings",
        ),
        ("memory-server", '{"type": "relation", "from": "a", "to": "b"}', ":2: relationType is"),
        ("memory-server", "[]", ":2: must be a JSON object"),
    ],
)
def test_a_wrong_line_names_file_line_and_field(
    name: str, line: str, message: str, tmp_path: Path
) -> None:
    reader, file = LINES[name]
    good = (DATA / file).read_text("utf-8").splitlines()
    path = written(tmp_path / "x.jsonl", "\n".join([good[0], line, *good[1:]]))
    with pytest.raises(InvalidInputError) as caught:
        list(reader(path))
    assert str(caught.value).startswith(f"{path}{message}")
    errors: list[InvalidInputError] = []
    assert list(reader(path, on_invalid=errors.append)) == list(reader(DATA / file))
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("day", "message"),
    [
        ([{"type": "message", "text": "x", "user": "U1"}], "message 1: ts is missing"),
        ([{"text": "x", "user": "U1", "ts": "noon"}], "message 1: ts must be seconds since 1970"),
        (["x"], "message 1: a message must be a JSON object, got a str"),
    ],
)
def test_a_wrong_message_of_slack_names_its_day(day: Any, message: str, tmp_path: Path) -> None:
    written(tmp_path / "users.json", [])
    (tmp_path / "a").mkdir()
    path = written(tmp_path / "a" / "2026-03-01.json", day)
    with pytest.raises(InvalidInputError) as caught:
        list(read_slack(tmp_path))
    assert str(caught.value).startswith(f"{path}: {message}")


def test_names_that_no_memory_can_have_are_refused_with_their_place(tmp_path: Path) -> None:
    long = "a" * 600
    written(tmp_path / "channels.json", [{"id": long, "name": "a"}])
    (tmp_path / "a").mkdir()
    written(tmp_path / "a" / "2026-03-01.json", [{"text": "x", "user": "U", "ts": "1.0"}])
    with pytest.raises(InvalidInputError, match=f"^{tmp_path}/a: id has 608 bytes"):
        list(read_slack(tmp_path))
    said = {"messages": [{"role": "user", "content": "x"}], "id": long}
    path = written(tmp_path / "x.json", [said])
    with pytest.raises(InvalidInputError, match=r"x\.json: element 1: id has 600 bytes"):
        list(read_openai(path))
    line = {"conversation": "c", "text": "x", "source": long}
    path = written(tmp_path / "x.jsonl", line)
    with pytest.raises(InvalidInputError, match=r"x\.jsonl:1: source has 600 bytes"):
        list(read_messages(path))


# --- files that can't be read ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"role": "user", "content": "x"}', "the file ends too early|comma"),
        ('[{"role": "user", "content": "x', "element 1: not JSON: the file ends too early"),
        ('[{"role": "user"} {"role"', "element 2: not JSON: a comma or the end of the list"),
        ('[{"role": }]', "element 1: not JSON: Expecting value, at character 11"),
        ("[]]", "not JSON: more text follows the list, at character 3"),
        ("\x00", "not JSON"),
        ("[" * 100_000, "not JSON: nested too deep"),
        ('[{"a":' * 100_000, "not JSON: nested too deep"),
        (f'[{{"a": {"9" * 5_000}}}]', "a number has too many digits"),
        (f'[{{"a": "{"x" * (3 * CHUNK_BYTES)}', "the file ends too early"),
    ],
)
def test_a_damaged_file_is_refused_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", text)
    errors: list[InvalidInputError] = []
    for on_invalid in (None, errors.append):
        with pytest.raises(InvalidInputError, match=message):
            list(read_openai(path, on_invalid=on_invalid))


def test_what_is_not_utf_8_is_refused_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[{"role": "user", "content": "\xff"}]')
    with pytest.raises(InvalidInputError, match=r"x\.json: element 1: not UTF-8, after byte 30"):
        list(read_openai(path))


def test_an_element_larger_than_memory_should_hold_is_refused() -> None:
    def endless(size: int) -> bytes:
        return b'["' if size == 0 else b"x" * size

    started = iter([b'["'])
    with pytest.raises(InvalidInputError, match=f"longer than {MAX_ITEM_CHARS} characters"):
        list(read_items(lambda size: next(started, None) or endless(size)))


def test_an_element_may_be_longer_than_a_read_and_numbers_may_be_cut() -> None:
    values = [{"a": "ü🙂" * 1_000}, 12345, {"b": [1.5e10, True, None]}, "\\u00fc"]
    text = json.dumps(values, ensure_ascii=False).encode()
    for size in (1, 2, 3, 7, 4_096):
        at = 0

        def read(_: int, size: int = size) -> bytes:
            nonlocal at
            at += size
            return text[at - size : at]

        assert list(read_items(read)) == values


@pytest.mark.parametrize("reader", [each for each, _ in FILES.values()])
def test_a_folder_or_zip_without_an_export_says_what_is_missing(
    reader: Callable[..., Iterator[Any]], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    folder = tmp_path / "empty"
    folder.mkdir()
    for path in (tmp_path / "x.zip", folder):
        with pytest.raises(InvalidInputError, match="in it"):
            list(reader(path))
        with pytest.raises(InvalidInputError, match="in it"):
            list(read_slack(path))


def test_a_file_that_does_not_exist_is_named() -> None:
    for reader in (read_chatgpt, read_slack, read_messages, detect_format):
        with pytest.raises(InvalidInputError, match=r"nowhere\.zip: can't be read: No such file"):
            list(reader("nowhere.zip"))


def test_a_zip_that_is_cut_off_or_damaged_is_refused(tmp_path: Path) -> None:
    whole = tmp_path / "x.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(DATA / "chatgpt" / "conversations.json", "conversations.json")
    data = whole.read_bytes()
    for damaged in (data[:-40], data[:200] + bytes(50) + data[250:], data[:4]):
        whole.write_bytes(damaged)
        with pytest.raises(InvalidInputError, match=r"x\.zip"):
            list(read_chatgpt(whole))


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(DATA / "chatgpt" / "conversations.json", "conversations.json")
    data = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(mark) + flags, 1)
    path.write_bytes(data)
    with pytest.raises(InvalidInputError, match="encrypted"):
        list(read_chatgpt(path))


def test_a_zip_made_to_fill_a_disk_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w") as member,
    ):
        for _ in range(60):
            member.write(b" " * 1_000_000)
    with pytest.raises(
        InvalidInputError, match="bytes unpack to 60000000: nothing that was written"
    ):
        list(read_chatgpt(path))


def test_a_name_in_a_zip_that_leads_out_of_it_opens_nothing(tmp_path: Path) -> None:
    outside = written(tmp_path / "conversations.json", [])
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../conversations.json", '[{"mapping": {}}]')
    assert list(read_chatgpt(path)) == []  # the member is read, as the member that it is
    assert outside.read_text("utf-8") == "[]"


# --- anything -------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["user", "text", "u1", "", "\ud83d", "a" * 600, "2026-03-01"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "id", "type", "role"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*at, key))


EXPORTS = {name: json.loads((DATA / file).read_text("utf-8")) for name, (_, file) in FILES.items()}
PLACES = [(name, place) for name, export in EXPORTS.items() for place in places(export)]
ANYTHING = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def read_as_it_may_be(reader: Callable[..., Iterator[Any]], path: Path, **options: Any) -> None:
    """Read it strictly and leniently; both give values or our own errors."""
    errors: list[InvalidInputError] = []
    for on_invalid in (None, errors.append):
        try:
            list(reader(path, on_invalid=on_invalid, **options))
        except MemoriaError as exc:
            assert str(path) in str(exc)  # noqa: PT017  # an error is allowed, not expected
    assert all(str(path) in str(error) for error in errors)


@ANYTHING
@given(place=st.sampled_from(PLACES), value=JSON, all_branches=st.booleans())
def test_any_value_at_any_place_is_read_or_refused(
    place: tuple[str, tuple[Any, ...]], value: Any, all_branches: bool, tmp_path: Path
) -> None:
    name, keys = place
    export = copy.deepcopy(EXPORTS[name])
    at = export
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    options = {"all_branches": all_branches} if name in ("chatgpt", "claude") else {}
    path = written(tmp_path / "conversations.json", export)
    read_as_it_may_be(FILES[name][0], path, **options)


@ANYTHING
@given(data=st.data(), value=JSON)
def test_any_value_in_any_field_of_a_line_is_read_or_refused(
    data: st.DataObject, value: Any, tmp_path: Path
) -> None:
    name = data.draw(st.sampled_from(sorted(LINES)))
    reader, file = LINES[name]
    lines = [json.loads(line) for line in (DATA / file).read_text("utf-8").splitlines()]
    line = data.draw(st.sampled_from(lines))
    line[data.draw(st.sampled_from([*line, "id", "title"]))] = value
    path = written(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines)))
    read_as_it_may_be(reader, path)


@ANYTHING
@given(data=st.data(), value=JSON)
def test_any_value_in_a_slack_export_is_read_or_refused(
    data: st.DataObject, value: Any, tmp_path: Path
) -> None:
    files = {
        file.relative_to(DATA / "slack"): json.loads(file.read_text("utf-8"))
        for file in sorted((DATA / "slack").rglob("*.json"))
    }
    name = data.draw(st.sampled_from(sorted(files)))
    keys = data.draw(st.sampled_from(list(places(files[name]))))
    at = files[name]
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = value
    for file, content in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        written(tmp_path / file, content)
    read_as_it_may_be(read_slack, tmp_path)


@ANYTHING
@given(content=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused_by_every_reader(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(content)
    for reader, _ in (*FILES.values(), *LINES.values(), (read_slack, "")):
        read_as_it_may_be(reader, path)
    try:
        detect_format(path)
    except MemoriaError as exc:
        assert str(path) in str(exc)  # noqa: PT017  # an error is allowed, not expected
