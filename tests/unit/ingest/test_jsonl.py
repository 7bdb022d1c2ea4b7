"""Reading JSON Lines: what a line may be, and where an error says it is."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.foreign_files import MAX_LINE_BYTES
from memoria.errors import InvalidInputError
from memoria.ingest.jsonl import parse_line, read_lines
from memoria.types import (
    CoActivation,
    EdgeHistory,
    Memory,
    MemoryHistory,
    Relation,
    ScopeClock,
    Suppression,
)

MEMORY = {"id": "m1", "kind": "Event", "text": "the mill closed"}
EDGE = {"source": "m1", "target": "m2"}


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def write(path: Path, *lines: bytes | dict[str, Any]) -> Path:
    raw = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in lines]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def test_a_memory_needs_only_id_kind_and_text() -> None:
    assert parse_line(line(**MEMORY)) == Memory(id="m1", kind="Event", text="the mill closed")


def test_every_field_of_a_memory_is_read() -> None:
    memory = parse_line(
        line(
            **MEMORY,
            tags=["b", "a", "b"],
            topics=["t"],
            entities=["e"],
            category="work",
            priority=1,
            when={"season": ["winter"]},
            created_at="2026-03-01T09:30:00+02:00",
            metadata={"n": None},
            embedding=[1, 0.5],
        )
    )
    assert isinstance(memory, Memory)
    assert memory.tags == ("a", "b")
    assert memory.priority == 1.0
    assert memory.when == {"season": ["winter"]}
    assert memory.created_at == datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))
    assert memory.metadata == {"n": None}
    assert memory.embedding == (1.0, 0.5)


def test_a_time_without_zone_is_utc() -> None:
    memory = parse_line(line(**MEMORY, created_at="2026-03-01"))
    assert isinstance(memory, Memory)
    assert memory.created_at == datetime(2026, 3, 1, tzinfo=UTC)


def test_a_line_with_source_and_target_is_an_edge() -> None:
    assert parse_line(line(**EDGE, weight=0.75, relation="caused_by", tags=["x"])) == Relation(
        source="m1", target="m2", relation="caused_by", weight=0.75, tags=["x"]
    )


def test_null_in_an_optional_field_is_a_field_left_out() -> None:
    assert parse_line(line(**MEMORY, tags=None, priority=None)) == parse_line(line(**MEMORY))
    assert parse_line(line(**EDGE, weight=None)) == parse_line(line(**EDGE))


def test_only_a_memory_whose_time_is_null_is_undated(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    lines = [
        line(**MEMORY, created_at=None),
        line(**MEMORY),
        line(**MEMORY, created_at="2026-03-01"),
        line(**EDGE, created_at=None),
        line(**MEMORY | {"text": "created_at"}),
    ]
    file.write_bytes(b"\n".join(lines))
    assert [each.undated for each in read_lines([file])] == [True, False, False, False, False]


@pytest.mark.parametrize("raw", [b"", b"   ", b"\t"])
def test_a_blank_line_is_nothing(raw: bytes) -> None:
    assert parse_line(raw) is None


def test_lines_of_an_export_say_what_was_learned() -> None:
    time = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    memory = parse_line(line(**MEMORY, learned={"use_count": 2, "linked_at": time.isoformat()}))
    assert isinstance(memory, Memory)
    assert memory.learned == MemoryHistory(use_count=2, linked_at=time)
    edge = parse_line(line(**EDGE, created_at=time.isoformat(), learned={"lif_weight": 1.5}))
    assert isinstance(edge, Relation)
    assert (edge.created_at, edge.learned) == (time, EdgeHistory(lif_weight=1.5))
    ends = (EDGE["source"], EDGE["target"])
    assert parse_line(line(**EDGE, suppresses="overrides")) == Suppression(
        source=ends[0], target=ends[1], suppresses="overrides"
    )
    assert parse_line(line(**EDGE, co_activated=[1, 2.5])) == CoActivation(
        source=ends[0], target=ends[1], co_activated=(1.0, 2.5)
    )
    assert parse_line(line(clock={"active_hours": 3})) == ScopeClock(active_hours=3.0)


@pytest.mark.parametrize("value", [{}, EdgeHistory()])
def test_a_memory_takes_no_other_history(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="learned must be MemoryHistory"):
        Memory(id="a", kind="Event", text="t", learned=value)


@pytest.mark.parametrize(
    ("raw", "field", "message"),
    [
        (line(**EDGE, weight=3), "weight", "weight must be in [0, 1], got 3"),
        (line(**EDGE, weight="1"), "weight", "weight must be a number, got a str"),
        (line(**EDGE, weight=True), "weight", "weight must be a number, got a bool"),
        (line(**EDGE, weight=10**400), "weight", "weight must be in [0, 1]"),
        (line(source="a"), "target", "target is missing"),
        (line(target="a"), "source", "source is missing"),
        (line(**EDGE, text="x"), "text", "unknown field 'text': an edge has source, target"),
        (line(id="a", kind="Event"), "text", "text is missing"),
        (line(id="a", text="b"), "kind", "kind is missing"),
        (line(**MEMORY, colour="red"), "colour", "unknown field 'colour': a memory has id"),
        (line(**{**MEMORY, "id": 7}), "id", "id must be a string, got an int"),
        (line(**{**MEMORY, "id": ""}), "id", "id must not be empty"),
        (line(**{**MEMORY, "text": None}), "text", "text must be a string, got nothing"),
        (line(**{**MEMORY, "kind": "A`B"}), "kind", "kind must match"),
        (line(**{**MEMORY, "id": "\ud800"}), "id", "lone surrogate"),
        (line(**MEMORY, tags="a"), "tags", "tags must be a list of strings"),
        (line(**MEMORY, tags=[1]), "tags", "tags must be a string"),
        (line(**MEMORY, priority=2), "priority", "priority must be in [0, 1], got 2"),
        (line(**MEMORY, created_at="soon"), "created_at", "ISO 8601"),
        (line(**MEMORY, created_at=5), "created_at", "ISO 8601"),
        (line(**MEMORY, embedding=["1"]), "embedding", "must contain numbers only"),
        (line(**MEMORY, embedding=[True]), "embedding", "must contain numbers only"),
        (line(**MEMORY, embedding=[10**400]), "embedding", "must contain numbers only"),
        (line(**MEMORY, embedding=[[1]]), "embedding", "must contain numbers only"),
        (line(**MEMORY, embedding=[0, 0]), "embedding", "all zeros"),
        (line(**MEMORY, embedding=[1e300]), "embedding", "length outside"),
        (line(**MEMORY, when=[1]), "when", "when must be a map"),
        (line(**MEMORY, learned=[]), "learned", "learned must be a JSON object"),
        (line(**MEMORY, learned={"uses": 1}), "uses", "unknown field 'uses': learned has active_"),
        (line(**MEMORY, learned={"use_count": -1}), "use_count", "from 0 to "),
        (line(**MEMORY, learned={"use_count": 1.5}), "use_count", "must be a whole number"),
        (line(**MEMORY, learned={"use_times": 3}), "use_times", "must be a list of numbers"),
        (line(**MEMORY, learned={"use_times": ["x"]}), "use_times", "must be a number"),
        (line(**MEMORY, learned={"use_times": [1] * 1_001}), "use_times", "at most 1000"),
        (line(**MEMORY, learned={"right_for": "why"}), "right_for", "must be a list of strings"),
        (line(**MEMORY, learned={"wrong_for": [1]}), "wrong_for", "must be a string"),
        (line(**MEMORY, learned={"wrong_for": ["x"] * 1_001}), "wrong_for", "at most 1000"),
        (line(**MEMORY, learned={"linked_at": 5}), "linked_at", "ISO 8601"),
        (line(**MEMORY, learned={"linked_before": 1}), "linked_before", "true or false"),
        (line(**EDGE, created_at="soon"), "created_at", "ISO 8601"),
        (line(**EDGE, learned={"base_weight": -1}), "base_weight", "must be in [0, "),
        (line(**EDGE, learned={"origin": ""}), "origin", "must not be empty"),
        (line(**EDGE, learned={"decayed_at": "soon"}), "decayed_at", "ISO 8601"),
        (line(**EDGE, suppresses="all"), "suppresses", "must be one of conflicts, overrides"),
        (line(**EDGE, suppresses="overrides", weight=1), "weight", "a suppression has source"),
        (line(source="a", target="a", suppresses="overrides"), "target", "both are 'a'"),
        (line(**EDGE, co_activated=[]), "co_activated", "must contain a time"),
        (line(**EDGE, co_activated=None), "co_activated", "must be a list of numbers"),
        (line(source="a", co_activated=[1]), "target", "target is missing"),
        (line(clock=1), "clock", "clock must be a JSON object"),
        (line(clock={"active_hours": "1"}), "active_hours", "must be a number"),
        (line(clock={}, id="a"), "id", "unknown field 'id': a clock has clock"),
        (b'{"id":"a","kind":"Event","text":"b","metadata":{"x":1e999}}', "metadata", "not finite"),
        (b'{"source":"a","target":"b","weight":NaN}', None, "NaN is not JSON"),
        (b'{"source":"a","target":"b","weight":-Infinity}', None, "-Infinity is not JSON"),
        (b'{"source":"a","target":"b","weight":' + b"9" * 5_000 + b"}", None, "too many digits"),
        (b"{" * 200_000, None, "not JSON"),
        (b"[" * 200_000, None, "nested too deep"),
        pytest.param(
            b"[" + b"[]," * 3_000_001,
            None,
            "more than 3000000 lists and objects",
            id="three million lists",
        ),
        (b'{"a":' * 200_000, None, "nested too deep"),
        (b'["id"]', None, "must be a JSON object"),
        (b"id,kind,text", None, "not JSON: Expecting value at character 1"),
        (b'{"id":"a"', None, "not JSON"),
        (b'{"id":"\xff"}', None, "not UTF-8: byte 8"),
        (b" " * (MAX_LINE_BYTES + 1), None, "longer than"),
    ],
)
def test_a_bad_line_names_its_field(raw: bytes, field: str | None, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_line(raw)
    assert message in str(caught.value)
    assert caught.value.field == field


def test_metadata_nested_deeper_than_32_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"d": deep}
    with pytest.raises(InvalidInputError, match="nested deeper than 32"):
        parse_line(line(**MEMORY, metadata=deep))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_typed_error(raw: bytes) -> None:
    with contextlib.suppress(InvalidInputError):
        parse_line(raw)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "id",
                "kind",
                "text",
                "tags",
                "when",
                "embedding",
                "source",
                "target",
                "learned",
                "suppresses",
                "co_activated",
                "clock",
            ]
        ),
        JSON_VALUES,
    )
)
def test_any_json_object_is_a_value_or_a_typed_error(fields: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidInputError):
        parse_line(json.dumps(fields).encode())


def test_an_error_names_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path / "file.jsonl", MEMORY, b"", {**EDGE, "weight": 3})
    with pytest.raises(InvalidInputError) as caught:
        list(read_lines([path]))
    assert str(caught.value) == f"{path}:3: weight must be in [0, 1], got 3"
    assert caught.value.field == "weight"


def test_bad_lines_can_be_passed_over_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b"nonsense", MEMORY, {"id": "x"}, EDGE)
    bad: list[InvalidInputError] = []
    good = list(read_lines([path], on_invalid=bad.append))
    assert [found.number for found in good] == [2, 4]
    assert [str(error).split(":")[1] for error in bad] == ["1", "3"]


def test_gzip_is_told_by_its_bytes_not_its_name(tmp_path: Path) -> None:
    path = tmp_path / "packed.jsonl"
    path.write_bytes(gzip.compress(json.dumps(MEMORY).encode()))
    plain = write(tmp_path / "plain.jsonl.gz", EDGE)
    assert [found.file for found in read_lines([path, plain])] == [str(path), str(plain)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_in_utf_16_is_read_line_by_line(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.jsonl"
    memory = json.dumps(MEMORY | {"text": "Öfen 🔥" * 50_000}, ensure_ascii=False)
    path.write_bytes(pack(f"{memory}\r\n{json.dumps(EDGE)}\r\n".encode("utf-16")))
    first, second = read_lines([path])
    assert (first.number, second.number) == (1, 2)
    assert isinstance(first.value, Memory)
    assert first.value.text == "Öfen 🔥" * 50_000


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_damaged_gzip_is_a_typed_error(tmp_path: Path, damage: str) -> None:
    packed = gzip.compress(b"\n".join([json.dumps(MEMORY).encode()] * 5_000))
    middle = len(packed) // 2
    bad = packed[:middle] if damage == "cut" else packed[:middle] + b"\0" * 40 + packed[middle:]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(bad)
    with pytest.raises(InvalidInputError, match=r"a\.jsonl\.gz"):
        list(read_lines([path]))


def test_standard_input_is_read_plain_or_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (json.dumps(MEMORY).encode(), gzip.compress(json.dumps(MEMORY).encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert [found.place for found in read_lines(["-"])] == ["<stdin>:1"]


def test_windows_line_ends_and_a_byte_order_mark_are_no_part_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([line(**MEMORY), line(**EDGE)]) + b"\r\n\r\n")
    assert [found.number for found in read_lines([path])] == [1, 2]


@pytest.mark.parametrize("name", ["missing.jsonl", ".", "nul\0.jsonl"])
def test_a_file_that_cannot_be_read_is_a_typed_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match="can't be read"):
        list(read_lines([f"{tmp_path}/{name}"]))


def test_a_line_too_long_is_passed_over_as_a_whole(tmp_path: Path) -> None:
    huge = b'{"id":"' + b"x" * (3 * MAX_LINE_BYTES) + b'"}'
    path = write(tmp_path / "a.jsonl", huge, MEMORY, b"y" * (MAX_LINE_BYTES + 1), EDGE)
    bad: list[InvalidInputError] = []
    good = list(read_lines([path], on_invalid=bad.append))
    assert [found.number for found in good] == [2, 4]
    assert len(bad) == 2
