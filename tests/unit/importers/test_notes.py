"""Notes in Markdown: folders written by hand, and what is read from them."""

from __future__ import annotations

import errno
import os
import subprocess
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import InvalidInputError
from memoria.importers import read_notes
from memoria.importers.notes.cleaning import cleaned
from memoria.importers.notes.links import Links
from memoria.importers.notes.markdown import read_markdown
from memoria.importers.notes.note import Folder
from memoria.types import Document
from tests.for_each import for_each

HERE = Folder(source="notes", links=Links(["a.md"]), left_out=lambda _: None)


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


def git(root: Path, *arguments: str) -> None:
    """Run git as somebody."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(root), *who, *arguments], check=True)


def test_a_folder_that_can_not_be_read_is_named_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refusing(path: str) -> Any:
        if Path(path).name == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    folder(tmp_path, a="Bread.", locked__b="Oven.")
    monkeypatch.setattr(os, "scandir", refusing)  # for root, no folder is locked
    problems: list[InvalidInputError] = []
    notes = list(read_notes(tmp_path, on_invalid=problems.append))
    assert [note.id for note in notes] == ["a.md"]
    assert [str(one) for one in problems] == [
        f"{tmp_path}/locked: can't be read: Permission denied"
    ]


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


def test_a_note_without_a_date_has_that_of_its_name_or_of_git_or_none(tmp_path: Path) -> None:
    folder(tmp_path, **{"2024-05-01 Monday": "a", "sub__öther": "b"})
    assert [note.created_at for note in read_notes(tmp_path)] == [
        datetime(2024, 5, 1, tzinfo=UTC),
        None,  # the time of a file is that of a copy or a checkout
    ]
    git(tmp_path, "init", "-q")
    for day, text in ((2, "b"), (3, "edited")):
        folder(tmp_path, sub__öther=text)
        git(tmp_path, "add", ".")
        git(
            tmp_path, "commit", "-q", "--allow-empty", "-m", "x", "--date", f"2023-01-0{day}T00:00Z"
        )
    folder(tmp_path, new="c")
    times = {note.id: note.created_at for note in read_notes(tmp_path)}
    assert times == {
        "2024-05-01 Monday.md": datetime(2024, 5, 1, tzinfo=UTC),
        "new.md": None,
        "sub/öther.md": datetime(2023, 1, 2, tzinfo=UTC),
    }
    (below,) = read_notes(tmp_path / "sub")
    assert (below.id, below.created_at) == ("öther.md", datetime(2023, 1, 2, tzinfo=UTC))
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path}", "clone")
    cloned = {note.id: note.created_at for note in read_notes(tmp_path / "clone")}
    assert cloned["sub/öther.md"] is None  # the beginning of its history is not there


def test_a_repository_of_somebody_else_runs_no_program(tmp_path: Path) -> None:
    folder(tmp_path, note="n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "x")
    mark = tmp_path / "ran"
    for name in ("core.pager", "core.fsmonitor", "gpg.program", "diff.external", "core.sshCommand"):
        git(tmp_path, "config", name, f"touch {mark}")
    for name in ("log.showSignature", "gpg.format"):
        git(tmp_path, "config", name, "true" if name.startswith("log") else "openpgp")
    (note,) = read_notes(tmp_path)
    assert note.created_at is not None
    assert not mark.exists()


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


def test_only_a_heading_of_the_first_level_is_a_title(tmp_path: Path) -> None:
    note = read(tmp_path, **{"Plans and limits": "## Storage limits\nText."})["Plans and limits.md"]
    assert (note.title, note.sections[1].headings) == ("Plans and limits", ("Storage limits",))


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
    [(b"fine\nnot \xff fine", "line 2: not UTF-8"), (b"a\0b", "zero bytes")],
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


@pytest.mark.parametrize(
    ("front", "title", "tags", "others"),
    [
        # what YAML reads, as it was written
        ("title: 0123\ntags: [no, on, 1.10, 12:30]", "0123", "no on 1.10 12:30", {}),
        (
            "country: NO\nrating: 4\nshare: 1.5\ndone: true",
            None,
            "",
            {"country": "NO", "rating": 4, "share": 1.5, "done": True},
        ),
        (
            "title: 2026-05-26\nn: 007\nhex: 0x1F\nnan: .nan\nwhen: 9:59:59",
            "2026-05-26",
            "",
            {"n": "007", "hex": "0x1F", "nan": ".nan", "when": "9:59:59"},
        ),
        ("title: true\ntags: yes\nempty:\n~: x", "true", "yes", {"none": "x"}),
        ("created: 12/05/2024\ndate: May 5", None, "", {"created": "12/05/2024", "date": "May 5"}),
        ("tags: [[a]]\nup: '[[Tea]]'\n2024: x", None, "a", {"up": "[[Tea]]", "2024": "x"}),
        ("big: 123456789012345678901", None, "", {"big": "123456789012345678901"}),
        ("a: !!python/object:os.system x\nb: !!binary aGk=", None, "", {"a": "x", "b": "aGk="}),
        ("title: One\ntitle: Two\nx: 1\nx: 2\ntags: [b]\ntags: a", "One", "a b", {"x": [1, 2]}),
        # what YAML refuses, line by line
        ("title: a: b\nx: 1\nx: 2\nx:\n- 3\n- 4", "a: b", "", {"x": [1, 2, 3, 4]}),
        ("title: a: b: c\ntags: [x]", "a: b: c", "x", {}),
        ("title: {{title}}\ncreated: {{date}}", "{{title}}", "", {"created": "{{date}}"}),
        ('title: "Half\ntags:\n- x\n- 0123', "Half", "x 0123", {}),
        ("tags:\n\t- x\n\t- y\ntitle: T", "T", "x y", {}),
        ("a: &a [*a]\ntitle: T", "T", "", {"a": "&a [*a]"}),
        ("title: T\n@mention", "T", "", {}),
        ("title: T\nstars: ***", "T", "", {"stars": "***"}),
        pytest.param("title: T\na: " + "[" * 50_000, "T", "", {"a": "[" * 50_000}, id="nested"),
        pytest.param("title: T\n" + "a: b\n" * 20_000, "T", "", {"a": "b"}, id="long"),
        pytest.param("title: T\nn: " + "9" * 5_000, "T", "", {"n": "9" * 5_000}, id="digits"),
    ],
)
def test_front_matter_is_read_as_it_is_written(
    tmp_path: Path, front: str, title: str | None, tags: str, others: dict[str, object]
) -> None:
    note = read(tmp_path, name=f"---\n{front}\n---\nThe body.")["name.md"]
    assert "Two" in note.aliases or "Two" not in front  # another title is not lost
    assert (note.title, note.tags) == (title or "name", tuple(sorted(tags.split())))
    assert note.metadata == {**others, "path": "name.md"}
    assert note.created_at is None
    assert note.sections[0].text == "The body."


@pytest.mark.parametrize("value", ["2024/05/01", "2024-05-01", "2024.5.1", "20240501"])
def test_a_day_that_begins_with_its_year_is_a_date(tmp_path: Path, value: str) -> None:
    note = read(tmp_path, a=f"---\ncreated: {value}\n---\n")["a.md"]
    assert note.created_at == datetime(2024, 5, 1, tzinfo=UTC)


def test_front_matter_that_is_not_yaml_is_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left_out: Counter[str] = Counter()
    as_read = "---\ntitle: a: b\n---\n"  # nothing is lost, so there is nothing to say
    bad = "---\ntitle: a: b\n@x\n---\n"
    folder(tmp_path, **{"a": bad, "b": as_read, "c\n\x1b[31m\u202e": bad})
    list(read_notes(tmp_path, on_left_out=lambda reason: left_out.update([reason])))
    list(read_notes(tmp_path))  # as a dry run does
    assert left_out == {"front matter that is not YAML": 2}
    said = ".md: line 2: the front matter is not YAML: it was read line by line, and a line was"
    first, second = (message.rpartition("/")[2] for message in caplog.messages)
    assert first.startswith(f"a{said}")
    assert second.startswith(rf"c\x0a\x1b[31m\u202e{said}")


@for_each("shape, most", [("# a\n", 400_000), ("[[a]]", 500_000), ("*a_ ", 500_000)])
def test_a_note_whose_markdown_takes_too_much_memory_is_refused(
    tmp_path: Path, shape: str, most: int
) -> None:
    folder(tmp_path, a=shape * (most + 1))
    with pytest.raises(InvalidInputError, match="too many lines and marks"):
        list(read_notes(tmp_path))


def test_a_second_front_matter_is_read_too(tmp_path: Path) -> None:
    first = "title: One\ntags: a\nalias: Uno\nauthor: Ida\nplace: Lund"
    second = "title: Two\ntags: [b]\ndate: 2024-05-01\nauthor: Tom\nplace: Lund"
    note = read(tmp_path, n=f"---\n{first}\n---\n\n---\n{second}\n---\nText.")["n.md"]
    assert (note.title, note.tags, note.sections[0].text) == ("One", ("a", "b"), "Text.")
    assert note.aliases == ("n", "Uno", "Two")
    assert note.created_at == datetime(2024, 5, 1, tzinfo=UTC)
    assert note.metadata == {"author": ["Ida", "Tom"], "place": "Lund", "path": "n.md"}


def test_fields_with_the_names_of_others_are_kept_apart(tmp_path: Path) -> None:
    """A web clipper writes ``source``; memoria says there which notes these are."""
    text = "---\nsource: https://oven.example/a\npath: x\nheadings: [a]\nrating: 4\n---\nText."
    note = read(tmp_path, n=text)["n.md"]
    own = {"source": "https://oven.example/a", "path": "x", "headings": ["a"]}
    assert note.metadata == {"rating": 4, "path": "n.md", "front_matter": own}


PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 40_000
LINES = "\n".join(["data:image/png;base64,iVBORw0KGgo", *["iVBORw0KGgo+/" * 6] * 9, "AAAA="])
SVG = (
    '<svg viewBox="0 0 9 9">\n<!-- made by hand --><title>Plan</title>\n\n'
    "<style>\n\ntext > a { fill: red }</style>\n    <path d='M0 0 L9 9'/>\n\n"
    "<g><svg><text>Oven <tspan>door</tspan></text></svg></g>\n\n</svg>"
)
QUOTED_SVG = "data:image/svg+xml;utf8,<svg viewBox='0 0 9 9'><path d='M0 0'/> </svg>"
CODED_SVG = "data:image/svg+xml,%3Csvg viewBox='0 0 9 9'%3E %3Cpath d='M0 0'/%3E %3C/svg%3E"
PARTS_OF_NOTES = [
    (f"a\n\n{SVG}\n\nb", "a\n\nPlan Oven door\n\nb", {"picture": 1, "comment": 1}),
    (f"a {SVG} b {SVG}", "a Plan Oven door b Plan Oven door", {"picture": 2, "comment": 2}),
    (f"```\n{SVG}\n```\n`<svg></svg>`", f"```\n{SVG}\n```\n`<svg></svg>`", {}),
    ("<svg> and </svg> <svg/> </svg> <svg", "and <svg/> </svg> <svg", {"picture": 1}),
    (f"a ![the oven]({QUOTED_SVG}) b", "a the oven b", {"picture": 1}),
    (f'a <img src="{QUOTED_SVG}" alt="x"> b', "a  b", {"picture": 1}),
    (f'a <img src="{CODED_SVG}"> b', "a  b", {"picture": 1}),
    ("a %3Csvg%3E b %3C/svg%3E", "a %3Csvg%3E b %3C/svg%3E", {}),
    (f"Before ![the oven]({LINES}) after.", "Before the oven after.", {"picture": 1}),
    (f'<img src="{LINES}">\nafter', "after", {"picture": 1}),
    (f"[i]: {LINES.removesuffix('AAAA=')}\nAfter it all.", "After it all.", {"picture": 1}),
    (f"Before ![the oven]({PICTURE}) after.", "Before the oven after.", {"picture": 1}),
    (f"![][i]\n\n[i]: <{PICTURE}>\n", "![][i]", {"picture": 1}),
    (f'<img src="{PICTURE}" width=3>x', "x", {"picture": 1}),
    (f"```\nbg: url({PICTURE})\n```", "```\nbg: url(data:image/png;base64,…)\n```", {"picture": 1}),
    ("a %%hidden%% b\n%%\nmore\n\n```\nx\n```\n%%\nc", "a  b\n\nc", {"comment": 2}),
    ("a <!-- x\ny --> b `<!-- z -->` 5%% <!-- c", "a  b `<!-- z -->` 5%% <!-- c", {"comment": 1}),
    ("```\n%%code%%\n```", "```\n%%code%%\n```", {}),
    ("![[photo.png|200]]![the oven](oven.jpg)!", "the oven!", {"file": 2}),
    (
        "See [[Tea]], [[Tea#Green]], [[Tea|it]], ![[Tea]] and `[[Tea]]`.",
        "See Tea, Tea › Green, it (Tea), Tea and `[[Tea]]`.",
        {},
    ),
    (
        "[T](Tea.md) [w](https://x.org/y) [g](gone.md) [[Gone]] [m](mailto:a@b.c) [h](#h)",
        "T [w](https://x.org/y) [g](gone.md) Gone [m](mailto:a@b.c) [h](#h)",
        {"link to x.org": 1, "link to no note": 2},
    ),
]


@pytest.mark.parametrize(("text", "kept", "reasons"), PARTS_OF_NOTES)
def test_what_nobody_reads_in_a_note_is_left_out_and_counted(
    tmp_path: Path, text: str, kept: str, reasons: dict[str, int]
) -> None:
    left_out: Counter[str] = Counter()
    folder(tmp_path, n=text, Tea="t")
    notes = read_notes(tmp_path, on_left_out=lambda reason: left_out.update([reason]))
    note = next(note for note in notes if note.id == "n.md")
    assert ("\n\n".join(section.text for section in note.sections), left_out) == (kept, reasons)


def test_pictures_that_begin_and_never_end_are_looked_through_once() -> None:
    data = "data:a/svg,<svg "
    for begin in ("![a](data:image/png;base64,", "<svg><text", "<svg ", data, "</svg>"):
        begun = begin * 20_000
        assert cleaned(begun, pytest.fail) == begun


@pytest.mark.parametrize("hidden", [True, False])
def test_of_a_drawing_only_its_words_are_kept(tmp_path: Path, hidden: bool) -> None:
    comment = "%%\n" if hidden else ""
    text = (
        "---\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n---\n"
        "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu. ⚠==\n\nThe plan of the oven.\n\n"
        f"{comment}# Excalidraw Data\n\n## Text Elements\nFirebox ^aB3dE5gH\n\n"
        "See [[Tea]] ^zzzzzzzz\n\n"
        "## Embedded Files\n0a1b2c: [[photo.png]]\n\n%%\n## Drawing\n```compressed-json\nN4Kg"
        f"{'DZSU' * 15_000}\n```\n%%"
    )
    left_out: Counter[str] = Counter()
    folder(tmp_path, plan=text, Tea="t")
    notes = read_notes(tmp_path, on_left_out=lambda reason: left_out.update([reason]))
    note = next(note for note in notes if note.id == "plan.md")
    (section,) = note.sections
    assert section.text == "The plan of the oven.\n\nFirebox\n\nSee Tea"
    assert section.links == ("Tea.md",)
    assert left_out == {"drawing": 1}


def test_no_length_loses_a_note(tmp_path: Path) -> None:
    lines = [f"Line {number} of the diary." for number in range(100_000)]
    note = read(tmp_path, long="# Diary\n" + "\n".join(lines))["long.md"]
    assert len(note.sections) > 10
    assert "\n".join(section.text for section in note.sections[1:]).split("\n") == lines


def test_a_note_in_utf_16_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, a="# Grün".encode("utf-16"))["a.md"].title == "Grün"


def test_links_by_published_address_title_and_alias_resolve(tmp_path: Path) -> None:
    sites = ["https://til.example.net/", "http://www.github.example/ada/til/blob/main"]
    text = (
        "[a](https://til.example.net/baking/stone-oven) "
        "[b](https://github.example/ada/til/blob/main/baking/Stone%20Oven.md#heat) "
        "[c](https://TIL.example.net/drinks/) [d](https://til.example.net) "
        "[e](https://til.example.net/gone) [[Wood fire]] [[Earl]] [[the-link]]"
    )
    folder(
        tmp_path,
        a=text,
        **{
            "baking__Stone Oven": "# Wood Fire",
            "drinks__index": "---\naliases: [earl]\npermalink: the-link\n---\n",
            "README": "r",
        },
    )
    left_out: Counter[str] = Counter()
    notes = read_notes(tmp_path, sites=sites, on_left_out=lambda reason: left_out.update([reason]))
    note = next(note for note in notes if note.id == "a.md")
    links = {link for section in note.sections for link in section.links}
    assert links == {"baking/Stone Oven.md", "drinks/index.md", "README.md"}
    assert left_out == {"link to til.example.net": 1}


def test_links_in_the_front_matter_are_links(tmp_path: Path) -> None:
    text = "---\nup: '[[Tea|it]]'\nrelated: [[Water]]\n---\n"
    assert read(tmp_path, a=text, Tea="", Water="")["a.md"].links == ("Tea.md", "Water.md")


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ([], {"README.md", "a/README.md", "a/b.md", "templates/x/y.md"}),
        (["README.md"], {"a/b.md", "templates/x/y.md"}),
        (["templates/", "a/*.md"], {"README.md"}),
        (["a", "*/x/*"], {"README.md"}),
    ],
)
def test_notes_can_be_excluded(tmp_path: Path, exclude: list[str], left: set[str]) -> None:
    names = ("README", "a__README", "a__b", "templates__x__y")
    folder(tmp_path, **dict.fromkeys(names, "x"))
    left_out: Counter[str] = Counter()
    notes = read_notes(
        tmp_path, exclude=exclude, on_left_out=lambda reason: left_out.update([reason])
    )
    assert {note.id for note in notes} == left
    assert left_out["excluded"] == len(names) - len(left)


def test_one_note_can_be_read_by_itself(tmp_path: Path) -> None:
    folder(tmp_path, README="See [[Tea]].", Tea="t")
    (note,) = read_notes(tmp_path / "README.md")
    assert (note.id, note.title) == ("README.md", "README")


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
