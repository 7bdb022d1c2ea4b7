"""The time to read a text grows with its length, whatever its author wrote.

Each of these texts took minutes, or hours, with a pattern that was tried again at every place. The
limits are some ten times what is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoria._support.stems import query_terms, search_words
from memoria.agents.mcp.chatgpt import title_of
from memoria.importers.notes.cleaning import cleaned, words_of_drawing
from memoria.importers.notes.front_matter import split_front_matter
from memoria.importers.notes.links import Links
from memoria.importers.notes.markdown import read_markdown
from memoria.importers.notes.note import Folder, shown
from memoria.ingest.vault import LINKS, vault_lines
from memoria.recall.when import tense_of, window_of
from memoria.remember.documents.titles import names_in
from memoria.remember.rules import RuleExtractor
from tests.unit.recall.ranking.test_relevance import candidate, feature
from tests.unit.recall.when.test_when import LINES

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)

# A slow text would take minutes; the first few must do to see it.
pytestmark = pytest.mark.timeout(120)


def slow(read: Callable[[str], object], texts: Iterable[str], limit_s: float) -> list[str]:
    """The beginnings of the texts that take longer than a limit, and how long they take."""
    found = []
    for text in texts:
        began_s = time.process_time()
        read(text)
        if (took_s := time.process_time() - began_s) > limit_s:
            found.append(f"{text[:20]!r}: {took_s:.1f} s")
    return found


def repeated(length: int, *units: str) -> list[str]:
    return [unit * (length // len(unit)) for unit in units]


def test_mentions_of_a_text() -> None:
    units = ["a", "A ", '"', "Ab ", ".", "-a", "a_", "/", "«", "http://", "「x", "a'", "漢", "のカ"]
    units += ["\n", "@a.b", "Lord of the ", "0123456789abcdef", "😀", "\x00", "é", '"a', "A-"]
    assert slow(RuleExtractor().extract, repeated(250_000, *units), 5) == []


def test_names_of_documents_in_a_text() -> None:
    units = ("Ab ", "a.", "a'", "(", "A-", "漢", "Ab\n")
    assert slow(names_in, repeated(200_000, *units), 10) == []


def test_the_tense_of_a_question() -> None:
    def read(text: str) -> None:
        for end in ("", "a", "a?"):
            tense_of(f"x{text}{end}")

    units = (" ", "\n", "\n    ", ". ", ".", "?", "? ", "！", "a. ", "a\n    ")
    assert slow(read, repeated(200_000, *units), 2) == []


def test_the_time_that_a_question_names() -> None:
    phrases = [phrase for phrase, _ in LINES]

    def read(_: str) -> None:
        for phrase in phrases:
            window_of(phrase, now=NOW)

    read("")  # compiles the patterns
    assert slow(read, ["all phrases"], 0.005 * len(phrases)) == []


def test_the_edges_of_an_exported_note(tmp_path: Path) -> None:
    note = tmp_path / "note.md"

    def read(text: str) -> None:
        note.write_bytes(LINKS + b"- " + text.encode())
        assert [*vault_lines(tmp_path)] == []

    assert slow(read, repeated(250_000, " %%{", " %%", "{", "}%%"), 2) == []


def test_cleaning_a_note() -> None:
    here = Folder(source="notes", links=Links(["a.md"]), left_out=lambda _: None)

    def read(text: str) -> None:
        split_front_matter(f"---\n{text}", lambda _: None)
        split_front_matter(f"---\n{text}\n---\n", lambda _: None)
        shown(words_of_drawing(cleaned(text, lambda _: None), lambda _: None), "a.md", here)

    units = ["%%", "<!--", "` ", "```x\n", "![](data:", "[](a ", "data:image/a;b", "---\n"]
    units += ["# Drawing\n", "data:a/b,cc ", "<img '", "[[a]] ", "^a ", "a: [\n"]
    assert slow(read, repeated(200_000, *units), 10) == []


def test_reading_markdown() -> None:
    units = ("[[", "![[", "[", "*a_", "`", "<a ", "> ", "#a", "- ")
    assert slow(read_markdown, repeated(50_000, *units), 3.5) == []


def test_words_of_a_long_word() -> None:
    for read in (search_words, query_terms):
        assert slow(read, repeated(150_000, "a", "a.", "v1", "aB"), 2) == []


def test_what_is_no_heading() -> None:
    def read(text: str) -> None:
        assert feature("heading", "q", candidate("a", text)) == [0.0]

    assert slow(read, ("(" * 100_000 + "\nx", "ab" * 100_000 + "\nx"), 1) == []


def test_the_title_of_a_long_text_takes_no_longer_than_that_of_a_short_one() -> None:
    def read(text: str) -> None:
        for _ in range(20):
            assert len(title_of("the-id", text)) == 80

    # The whole texts would take more than a second.
    assert slow(read, ["one long line " * 70_000], 0.4) == []
    assert title_of("the-id", "\n" * 1_000_000 + "The van.") == "The van."
