"""Notes in Markdown: folders written by hand, and what is read from them."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import InvalidInputError
from memoria.importers import read_notes
from memoria.importers.notes.links import Links
from memoria.importers.notes.markdown import read_markdown
from memoria.types import Document


def folder(root: Path, **notes: str | bytes) -> Path:
    """A folder of notes; of a name, ``__`` is a slash, and ``.md`` is added."""
    for name, text in notes.items():
        path = root / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def read(root: Path, **notes: str | bytes) -> dict[str, Document]:
    """The documents of such a folder, by id."""
    return {note.id: note for note in read_notes(folder(root, **notes))}


def test_headings_become_sections_with_their_path(tmp_path: Path) -> None:
    text = "Before.\n\n# Bread\n\n## Oven\nHot.\n### Gas\nBlue.\n## Flour\nRye.\n"
    note = read(tmp_path, bread=text)["bread.md"]
    assert note.title == "bread"
    assert [(section.headings, section.text) for section in note.sections] == [
        ((), "Before."),
        (("Bread",), ""),
        (("Bread", "Oven"), "Hot."),
        (("Bread", "Oven", "Gas"), "Blue."),
        (("Bread", "Flour"), "Rye."),
    ]


def test_the_first_heading_is_the_title_and_the_name_an_alias(tmp_path: Path) -> None:
    note = read(tmp_path, sourdough="# Bread\nText.\n## Oven\nHot.")["sourdough.md"]
    assert (note.title, note.aliases) == ("Bread", ("sourdough",))
    assert [section.headings for section in note.sections] == [(), (), ("Oven",)]


def test_front_matter_gives_title_tags_aliases_and_date(tmp_path: Path) -> None:
    text = (
        "---\ntitle: 'Bread: a book'\ntags: [baking, '#food/rye']\naliases: Loaf\n"
        "date: 2024-05-01\nrating: 4\nseen: 2024-05-02\n---\nText with #slow tags."
    )
    note = read(tmp_path, bread=text)["bread.md"]
    assert (note.title, note.aliases) == ("Bread: a book", ("bread", "Loaf"))
    assert note.tags == ("baking", "food/rye", "slow")
    assert note.created_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert note.metadata == {"rating": 4, "seen": "2024-05-02", "path": "bread.md"}
    assert note.sections[0].text == "Text with #slow tags."


def test_a_note_without_a_date_has_that_of_its_name_or_of_its_file(tmp_path: Path) -> None:
    folder(tmp_path, **{"2024-05-01 Monday": "a", "other": "b"})
    os.utime(tmp_path / "other.md", (0, 86_400))
    times = {note.id: note.created_at for note in read_notes(tmp_path)}
    assert times == {
        "2024-05-01 Monday.md": datetime(2024, 5, 1, tzinfo=UTC),
        "other.md": datetime(1970, 1, 2, tzinfo=UTC),
    }


def test_links_lead_to_notes_and_to_nothing_else(tmp_path: Path) -> None:
    text = (
        "[[Tea]] [[tea#Green|it]] ![[Water]] [[missing]] [[#Own heading]] [own](a.md) "
        "[rel](drinks/Water.md#hot) [enc](my%20note.md) [abs](/Tea.md) [ref] "
        "<https://x.org/Tea.md> [out](../../etc/passwd) [web](https://example.org/Tea.md) "
        "![pic](photo.png) `[[Code]]`\n\n    [[Code]]\n\n```\n[[Code]]\n```\n\n[ref]: Code.md\n"
    )
    notes = {"a": text, "Tea": "", "drinks__Water": "", "my note": "", "Code": ""}
    note = read(tmp_path, **notes)["a.md"]
    links = {link for section in note.sections for link in section.links}
    assert links == {"Tea.md", "drinks/Water.md", "my note.md", "Code.md"}  # Code by [ref]


def test_code_stays_text_and_has_neither_headings_nor_tags(tmp_path: Path) -> None:
    text = "```\n# no heading\n#notag\n```\n`#notag` a#notag #42 https://x.org/#notag #tag"
    note = read(tmp_path, code=text)["code.md"]
    assert [section.text for section in note.sections] == [text]
    assert note.tags == ("tag",)


def test_of_several_notes_of_a_name_the_one_beside_is_meant_else_the_nearest_to_the_top() -> None:
    links = Links(["x/Tea.md", "y/z/Tea.md", "y/Note.md"])
    assert links.of_wiki_link("Tea", "y/z/Note.md") == "y/z/Tea.md"
    assert links.of_wiki_link("Tea", "y/Note.md") == "x/Tea.md"
    assert links.of_wiki_link("z/Tea", "x/Note.md") == "y/z/Tea.md"
    assert links.of_wiki_link("ea", "x/Note.md") is None


def test_hidden_files_links_and_other_files_are_left_out(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", secret="s")
    vault = folder(tmp_path / "vault", note="n", **{".obsidian__plugin": "p", ".hidden": "h"})
    (vault / "picture.png").write_bytes(b"\x89PNG")
    (vault / "loop").symlink_to(vault)
    (vault / "out").symlink_to(outside)
    (vault / "secret.md").symlink_to(outside / "secret.md")
    (vault / "folder.md").mkdir()
    assert [note.id for note in read_notes(vault)] == ["note.md"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"fine\nnot \xff fine", "line 2: not UTF-8"),
        ("x".encode("utf-16"), "UTF-16"),
        (b"a\0b", "zero bytes"),
        pytest.param(b"x" * 1_000_001, "1000001 bytes", id="huge"),
        (b"---\ntitle: a: b\n---\n", "line 2: the front matter is not YAML"),
        (b"---\na: &a [*a]\n---\n", "front matter"),
        pytest.param(b"---\na: " + b"[" * 50_000 + b"\n---\n", "nested deeper", id="nested"),
        pytest.param(b"---\n" + b"- " * 20_000 + b"\n---\n", "front matter", id="lists"),
        pytest.param(b"---\n" + b"a: b\n" * 20_000 + b"---\n", "100000 characters", id="long"),
        (b"---\ndate: soon\n---\n", "must be a date"),
        (b"---\na: !!python/object:os.system x\n---\n", "line 2: the front matter is not YAML"),
        (b"---\ntags: [[a]]\n---\n", "tags of the front matter"),
        (b"---\na: 2024-13-45\n---\n", "can't be read"),
        (b"---\na: .nan\n---\n", "not finite"),
    ],
)
def test_a_note_that_cannot_be_read_is_named_and_passed_over(
    tmp_path: Path, data: bytes, message: str
) -> None:
    folder(tmp_path, bad=data, good="g")
    problems: list[InvalidInputError] = []
    notes = list(read_notes(tmp_path, on_invalid=problems.append))
    assert [note.id for note in notes] == ["good.md"]
    assert len(problems) == 1
    assert str(problems[0]).startswith(f"{tmp_path / 'bad.md'}")
    assert message in str(problems[0])
    with pytest.raises(InvalidInputError, match=r"bad\.md"):
        list(read_notes(tmp_path))


def test_a_folder_that_does_not_exist_is_named() -> None:
    with pytest.raises(InvalidInputError, match="nowhere"):
        read_notes("nowhere")


def test_a_rule_at_the_beginning_is_no_front_matter(tmp_path: Path) -> None:
    text = "---\nA text between rules.\n---\nMore."
    assert read(tmp_path, a=text)["a.md"].sections[0].text.startswith("---")


def test_line_ends_of_all_systems_are_the_same(tmp_path: Path) -> None:
    notes = read(tmp_path, a=b"# T\r\nx\r\ny", b=b"# T\nx\ny", c=b"\xef\xbb\xbf# T\rx\ry")
    assert {note.sections[1].text for note in notes.values()} == {"x\ny"}
    assert {note.title for note in notes.values()} == {"T"}


@given(st.text(alphabet="[]!|#`*_()\\\n -a1<>:/.\t", max_size=200))
def test_any_text_is_read_and_its_words_stand_in_one_section(text: str) -> None:
    sections, tags = read_markdown(text)
    assert not any("#" in tag for tag in tags)
    kept = sum(section.text.count("a") for section in sections)
    headed = sum(section.headings[-1].count("a") for section in sections if section.headings)
    assert kept <= text.count("a")
    assert headed or kept == text.count("a")  # a heading's link has a target that is not shown


@pytest.mark.parametrize("unit", ["[[", "![[", "[", "*a_", "`", "<a ", "> ", "#a", "- "])
def test_the_time_is_linear_for_hostile_notes(unit: str) -> None:
    started = time.process_time()
    read_markdown(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 15  # about one second; a quadratic one takes minutes
