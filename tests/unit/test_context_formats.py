"""The renderings of a context: read back by parsers that know nothing of memoria."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memoria.context import ContextBuilder, estimate_tokens
from memoria.context.config import ContextConfig
from memoria.types import ContextPack, MemoryNode, Path
from tests.traces import path_of

PLENTY = 1_000_000
Format = Literal["text", "markdown", "json"]

# Every character that Markdown gives a meaning to, and some that it does not.
NASTY = st.text(alphabet="#*-+_`~<>[]()!|\\&=.:1aB \t\n\r\u2028", max_size=12)


def path(*memories: MemoryNode, energies: list[float], relation: str = "leads_to") -> Path:
    return path_of(
        memories, energies, lambda *_: (relation, "in" if relation == "caused_by" else "out")
    )


def build(paths: list[Path], config: ContextConfig, budget: int = PLENTY) -> ContextPack:
    builder = ContextBuilder(budget, config=config)
    for one in paths:
        builder.add(one)
    return builder.build()


def day(number: int) -> datetime:
    return datetime(2026, 5, 1, tzinfo=UTC) + timedelta(days=number - 1)


DISK = MemoryNode(id="evt-40", kind="Event", text="Disk *full*\n# again", created_at=day(3))
LOGS = MemoryNode(id="act-12", kind="AgentAction", text="Kept logs", created_at=day(2))
FIX = MemoryNode(id="act_13", kind="AgentAction", text="Cleaned up", created_at=day(4))
NOTE = MemoryNode(id="doc-1", kind="DataSource", text="Manual")
PATHS = [
    path(DISK, LOGS, energies=[0.9, 0.25], relation="caused_by"),
    path(DISK, FIX, energies=[0.9, 0.5]),
    path(DISK, FIX, NOTE, energies=[0.9, 0.5, 0.1]),
    path(NOTE, LOGS, energies=[0.05, 0.02]),
]


def test_markdown_is_a_nested_list() -> None:
    assert build(PATHS, ContextConfig(format="markdown")).text == (
        "- **evt-40** 2026-05-03: Disk \\*full\\*\\\n"
        "  \\# again\n"
        "  - leads\\_to -> **act\\_13** 2026-05-04: Cleaned up\n"
        "    - leads\\_to -> **doc-1**: Manual\n"
        "  - caused\\_by <- **act-12** 2026-05-02: Kept logs"
    )


def test_time_puts_the_oldest_first_and_names_what_led_there() -> None:
    assert build(PATHS, ContextConfig(order="time")).text == (
        "[evt-40] caused_by <- [act-12] 2026-05-02: Kept logs\n"
        "[evt-40] 2026-05-03: Disk *full*\n"
        "  | # again\n"
        "[evt-40] leads_to -> [act_13] 2026-05-04: Cleaned up\n"
        "[act_13] leads_to -> [doc-1]: Manual"
    )


def test_time_keeps_the_trees_by_energy() -> None:
    paths = [path(LOGS, energies=[0.3]), path(DISK, energies=[0.9]), path(FIX, energies=[0.6])]
    assert [i.id for i in build(paths, ContextConfig(order="time")).items] == [
        "evt-40",
        "act_13",
        "act-12",
    ]


def test_time_takes_dates_without_a_zone_as_utc() -> None:
    naive = replace(LOGS, created_at=datetime(2026, 5, 4, 1))
    paths = [
        path(DISK, naive, energies=[0.9, 0.5]),
        path(DISK, FIX, energies=[0.9, 0.2]),
    ]
    assert [i.id for i in build(paths, ContextConfig(order="time")).items] == [
        "evt-40",
        "act_13",
        "act-12",
    ]


def test_json_lists_the_memories_with_what_led_to_them() -> None:
    result = build(PATHS, ContextConfig(format="json"))
    entries = json.loads(result.text)
    assert entries[0] == {
        "id": "evt-40",
        "via": None,
        "date": "2026-05-03",
        "text": "Disk *full*\n# again",
    }
    assert entries[3]["via"] == {"from": "evt-40", "relation": "caused_by", "direction": "in"}
    assert entries[2]["date"] is None
    assert [entry["id"] for entry in entries] == [item.id for item in result.items]


def test_json_says_why_a_text_is_not_there() -> None:
    again = MemoryNode(id="again", kind="Event", text="kept LOGS.")
    blank = MemoryNode(id="blank", kind="Event", text=" ")
    end = MemoryNode(id="end", kind="Event", text="the end")
    paths = [
        path(LOGS, FIX, energies=[0.9, 0.8]),
        path(again, blank, LOGS, end, energies=[0.5, 0.4, 0.3, 0.2]),
    ]
    result = build(paths, ContextConfig(format="json"))
    notes = {entry["id"]: entry.get("note") for entry in json.loads(result.text)[2:]}
    assert notes == {
        "again": "same as act-12",
        "blank": "no text",
        "act-12": "shown elsewhere",
        "end": None,
    }
    text = build(paths, ContextConfig()).text.splitlines()
    assert text[2:5] == [
        "[again] (same as act-12)",
        "  leads_to -> [blank] (no text)",
        "    leads_to -> [act-12] (shown elsewhere)",
    ]


def test_json_of_nothing_is_an_empty_list_where_that_fits() -> None:
    config = ContextConfig(format="json")
    assert (build([], config).text, build([], config).tokens) == ("[]", 1)
    builder = ContextBuilder(5, config=config, count_tokens=lambda text: 3 * len(text))
    assert (builder.build().text, builder.build().tokens) == ("", 0)


def test_json_holds_a_lone_surrogate_and_is_utf8_all_the_same() -> None:
    odd = MemoryNode(id="a", kind="Event", text="half \ud83d gone")
    text = build([path(odd, energies=[0.5])], ContextConfig(format="json")).text
    assert json.loads(text.encode("utf-8"))[0]["text"] == odd.text


@pytest.mark.parametrize("order", ["relevance", "time"])
@pytest.mark.parametrize("kind", ["text", "markdown", "json"])
def test_whole_overhead_of_a_format_is_inside_the_budget(kind: Format, order: Any) -> None:
    config = ContextConfig(format=kind, order=order)
    whole = build(PATHS, config)
    for budget in range(1, whole.tokens + 1):
        result = build(PATHS, config, budget)
        assert result.tokens <= budget
        assert result.tokens == estimate_tokens(result.text)
    assert build(PATHS, config, whole.tokens + len(whole.items)) == whole


@st.composite
def nasty_paths(draw: st.DrawFn) -> list[Path]:
    """Two trees over a few memories whose every word tries to be Markdown."""
    names = draw(st.lists(NASTY, min_size=3, max_size=6, unique=True))
    nodes = [MemoryNode(id=name, kind=draw(NASTY), text=draw(NASTY)) for name in names]
    relation = draw(NASTY)
    paths = [path(*nodes[:n], energies=[1.0, 0.5, 0.25][:n], relation=relation) for n in (1, 2, 3)]
    return [*paths, *(path(node, energies=[0.2]) for node in nodes[3:])]


def squeezed(text: str) -> str:
    """The text without white space, which Markdown and the head of a line fold."""
    return "".join(text.split())


def visible(token: Token) -> str:
    return squeezed("".join(child.content for child in token.children or ()))


@given(nasty_paths(), st.sampled_from(["relevance", "time"]))
def test_no_text_breaks_the_structure_of_markdown(paths: list[Path], order: Any) -> None:
    config = ContextConfig(format="markdown", order=order, duplicate_overlap=None)
    result = build(paths, config)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(result.text)
    kinds = {token.type for token in tokens}
    lists = {f"{name}_{end}" for name in ("bullet_list", "list_item") for end in ("open", "close")}
    assert kinds <= lists | {"paragraph_open", "paragraph_close", "inline"}
    inline = [token for token in tokens if token.type == "inline"]
    inner = {child.type for token in inline for child in token.children or ()}
    assert inner <= {"text", "text_special", "strong_open", "strong_close", "hardbreak"}

    # One entry a place, as deep as its path is long, and every text to be read in it.
    entries = json.loads(build(paths, replace(config, format="json")).text)
    assert len(inline) == len(entries)
    for token, entry in zip(inline, entries, strict=True):
        assert visible(token).endswith(squeezed(entry.get("text", "")))
        assert squeezed(entry["id"]) in visible(token)
    if order == "relevance" and entries:
        deepest = max((token.level for token in inline), default=0)
        assert deepest == 1 + 2 * (max(depths(entries)) + 1)


def depths(entries: list[dict[str, Any]]) -> list[int]:
    """How many hops lead to each entry."""
    known: dict[str, int] = {}
    for entry in entries:
        known.setdefault(entry["id"], known[entry["via"]["from"]] + 1 if entry["via"] else 0)
    return list(known.values())


@given(nasty_paths(), st.integers(1, 200), st.sampled_from(["relevance", "time"]))
def test_json_is_valid_within_any_budget(paths: list[Path], budget: int, order: Any) -> None:
    result = build(paths, ContextConfig(format="json", order=order), budget)
    entries = json.loads(result.text)
    texts = {node.id: node.text.strip() for one in paths for node in one.memories}
    with_text = {entry["id"]: entry["text"] for entry in entries if "text" in entry}
    assert list(with_text) == [item.id for item in result.items]
    assert with_text == {item.id: texts[item.id] for item in result.items}
    known = {entry["id"] for entry in entries}
    assert {entry["via"]["from"] for entry in entries if entry["via"]} <= known


@pytest.mark.parametrize("kind", ["text", "markdown", "json"])
def test_kinds_and_energies_stand_in_the_items_and_not_in_the_text(kind: Format) -> None:
    result = build(PATHS, ContextConfig(format=kind))
    assert "Event" not in result.text
    assert "energy" not in result.text
    assert {(item.id, item.kind, item.score) for item in result.items} == {
        ("evt-40", "Event", 0.9),
        ("act_13", "AgentAction", 0.5),
        ("act-12", "AgentAction", 0.25),
        ("doc-1", "DataSource", 0.1),
    }


def test_a_text_that_looks_like_a_note_stands_behind_a_colon() -> None:
    sly = MemoryNode(id="sly", kind="Event", text="(shown elsewhere)")
    assert build([path(sly, energies=[0.9])], ContextConfig()).text == "[sly]: (shown elsewhere)"
