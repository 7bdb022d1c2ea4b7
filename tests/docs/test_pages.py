"""The pages made from the code: complete, and an undocumented thing ends them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import memoria
from memoria.cli import all_commands
from memoria.errors import MemoriaError
from memoria.recall import config
from scripts import docs_pages

UNAVAILABLE = "The database could not serve a query."


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return docs_pages.pages()


def test_every_setting_has_a_row_with_its_default(pages: dict[str, str]) -> None:
    page = pages["configuration"]
    configs = [
        kind
        for kind in vars(config).values()
        if isinstance(kind, type) and dataclasses.is_dataclass(kind)
    ]
    assert configs
    for kind in configs:
        section = page.split(f"## {kind.__name__}\n")[1].split("\n## ")[0]
        for setting in dataclasses.fields(kind):
            (row,) = (
                line for line in section.splitlines() if line.startswith(f"| `{setting.name}`")
            )
            if setting.default is not dataclasses.MISSING:
                assert f"| `{setting.default!r}` |" in row


def test_every_error_says_what_to_do(pages: dict[str, str]) -> None:
    names = [
        name
        for name, value in vars(memoria).items()
        if isinstance(value, type) and issubclass(value, MemoriaError)
    ]
    sections = pages["errors"].split("\n## ")[1:]
    assert sorted(section.split("\n")[0] for section in sections) == sorted(names)
    assert all("**What to do.** " in section for section in sections)
    assert f"UnavailableError`](#unavailableerror) | {UNAVAILABLE} | yes |" in pages["errors"]


def test_every_command_and_option_is_on_the_page(pages: dict[str, str]) -> None:
    commands = all_commands()
    assert len(commands) >= 10
    for name, command in commands.items():
        section = pages["command-line"].split(f"## memoria {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            shown = getattr(parameter, "metavar", None) or parameter.opts[0]
            assert shown in section, f"memoria {name} {shown}"


def test_api_pages_hold_every_public_name_once() -> None:
    names = [name for _, group in docs_pages.API.values() for name in group]
    assert len(names) == len(set(names))
    assert set(docs_pages.PUBLIC) <= set(names)
    assert set(names) - set(docs_pages.PUBLIC) <= set(memoria.types.__all__)


def test_undocumented_setting_ends_the_page() -> None:
    @dataclasses.dataclass
    class Settings:
        """Of a stage.

        Attributes
        ----------
        known
            Described.
        """

        known: int = 1
        unknown: int = 2

    with pytest.raises(docs_pages.UndocumentedError, match="unknown"):
        docs_pages.configuration_page([Settings])


def test_error_without_advice_ends_the_page() -> None:
    class SilentError(Exception):
        """Something went wrong."""

    with pytest.raises(docs_pages.UndocumentedError, match="SilentError"):
        docs_pages.advice(SilentError)


def test_attributes_of_one_line_share_their_text() -> None:
    class Box:
        """Of cardboard.

        Attributes
        ----------
        width, height
            Outside;
            metres.
        lid
            Whether it has one.

        Raises
        ------
        ValueError
            Never.
        """

    assert docs_pages.attributes(Box) == {
        "width": "Outside; metres.",
        "height": "Outside; metres.",
        "lid": "Whether it has one.",
    }


def test_every_room_has_a_row_in_the_table_of_rooms() -> None:
    package = Path(memoria.__file__).parent
    rooms = {path.relative_to(package).parts[0] for path in package.rglob("*.py")}
    rooms = {name.removesuffix(".py") for name in rooms} - {"__init__", "__main__", "_cypher"}
    page = Path(__file__).parents[2] / "docs" / "project" / "rooms.md"
    table = page.read_text("utf-8").split("\n## The rooms\n")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)(?:\.py)?` \|", table, re.MULTILINE)) == rooms


def test_the_figures_of_the_readme_are_those_of_the_page_on_quality() -> None:
    root = Path(memoria.__file__).parents[1]
    quality = (root / "docs" / "quality.md").read_text("utf-8")
    against = quality.split("\n## Against other ways to rank\n")[1].split("\n## ")[0]
    against = against[against.index("| set |") :].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in against.splitlines() if line[:1] == "|"]
    names = [name.strip("`") for name in rows[0]]
    sets = {row[0]: dict(zip(names, row, strict=True)) for row in rows[2:]}
    columns = [sets[name] for name in ("BEAM R@10", "LoCoMo R@10", "MuSiQue R@5", "HotpotQA R@5")]
    readme = (root / "README.md").read_text("utf-8")
    for line, name in (
        ("vector search", "dense"),
        ("vector and BM25, reciprocal ranks", "rrf"),
        ("the same, then personalised PageRank", "ppr"),
        ("memoria", "leave-one-set-out"),
    ):
        figures = " | ".join(column[name] for column in columns)
        assert f"| {line} | {figures} |" in readme
