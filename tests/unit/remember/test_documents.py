"""What documents are cut into, and which titles texts name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import ConfigError, InvalidInputError
from memoria.remember import DocumentConfig
from memoria.remember.documents.cutting import cut
from memoria.remember.documents.document_writer import DOCUMENT_EXTRACTOR
from memoria.remember.documents.plan import plan_document, without_code
from memoria.remember.documents.titles import MAX_TITLE_WORDS, names_in, title_name
from memoria.types import Document, Section
from tests.for_each import for_each

LONG = "A sentence of thirty characters. " * 4


@for_each(
    "title, name",
    [
        ("Peter Pan (1924 film)", "peter pan"),
        ("Honolulu County, Hawaii", "honolulu county hawaii"),
        ("Handmaid’s Tale", "handmaid tale"),
        ("Spider-Man", "spider-man"),
        ("C# notes", "c notes"),
        ("2013", None),
        ("2024-05-01", "2024-05-01"),
        ("The", None),
        ("The Who", "the who"),
        ("(untitled)", None),
        ("…", None),
        (" ".join(["word"] * 9), None),
    ],
)
def test_a_title_is_named_without_case_punctuation_and_parentheses(
    title: str, name: str | None
) -> None:
    assert title_name(title) == name


@for_each(
    "text, title, named",
    [
        ("He read Peter Pan's tale.", "Peter Pan", True),
        ("In Honolulu County, Hawaii, it rains.", "Honolulu County, Hawaii", True),
        ("It rains in Eastern United States today.", "United States", True),
        ("tips about bread baking at home", "Bread baking", True),
        ("a slice of bread", "Bread", False),  # a single word needs a capital
        ("A slice of Bread", "Bread", True),
        ("I saw Peter. He ate. Pan", "Peter Pan", False),
        ("Peter\nPan flew", "Peter Pan", True),  # a line may break anywhere
        ("they knew the who and why", "The Who", False),
        ("They heard The Who in Leeds", "The Who", True),
        ("Carpet", "Car", False),
    ],
)
def test_a_text_names_titles_by_whole_words_in_a_row(text: str, title: str, named: bool) -> None:
    assert (title_name(title) in names_in(text)) is named


@given(st.lists(st.sampled_from(["Ada", "went", "to", "Paris", "in", "the"]), max_size=30))
def test_every_name_has_at_most_eight_words_of_the_text(words: list[str]) -> None:
    names = names_in(" ".join(words))
    assert all(len(name.split()) <= MAX_TITLE_WORDS for name in names)
    assert all(name in " ".join(words).lower() for name in names)


def test_a_short_document_is_one_part_with_its_headings() -> None:
    sections = [
        Section(text="Before.", links=["x"]),
        Section(text="Hot.", headings=["Oven", "Gas"], links=["y", "x"]),
    ]
    (part,) = cut(Document(id="a:b", source="notes", title="Bread", sections=sections), 2_000)
    assert part.id == "notes/a%3Ab"
    assert part.text == "Bread\nBefore.\n\n## Gas\nHot."
    assert (part.headings, part.links) == ((), ("x", "y"))


def test_a_long_document_has_a_part_for_each_section_with_the_path_of_its_headings() -> None:
    sections = [
        Section(text=LONG),
        Section(text="", headings=["Oven"]),
        Section(text="Blue.", headings=["Oven", "Gas"]),
        Section(text="Green.", headings=["Oven", "Gas"]),
    ]
    parts = cut(Document(id="bread", title="Bread", sections=sections, links=["z"]), 100)
    assert [(part.id, part.text.partition("\n")[0]) for part in parts] == [
        ("bread", "Bread"),
        ("bread#~2", "Bread"),
        ("bread#Oven/Gas", "Bread › Oven › Gas"),
        ("bread#Oven/Gas~2", "Bread › Oven › Gas"),
    ]
    assert [part.links for part in parts] == [("z",), (), (), ()]


def test_a_document_without_text_is_its_title_or_nothing() -> None:
    assert [part.text for part in cut(Document(id="a", title="Bread"), 100)] == ["Bread"]
    assert cut(Document(id="a", text=" \n"), 100) == []


def test_a_document_has_a_text_or_sections() -> None:
    with pytest.raises(InvalidInputError, match="not both"):
        Document(id="a", text="t", sections=[Section(text="s")])
    with pytest.raises(InvalidInputError, match="sections must contain Section"):
        Document(id="a", sections=["s"])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="links must be a list"):
        Document(id="a", links="b")


def test_settings_of_documents_are_checked() -> None:
    for wrong in ({"kind": "no kind"}, {"max_chars": 5}, {"name_weight": 2}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            DocumentConfig(**wrong)


@for_each(
    "text, said",
    [
        ("a\n```py\nx\n```\nb\n~~~~\ny\n```\n~~~\n~~~~~\nc", "a\n\nb\n\nc"),
        ("> a\n> ```\n> x\n> ```\n> b", "> a\n\n> b"),
        ("a `x` b", "a `x` b"),
        ("x\n```\nafter a block that began before", None),
        ("before a block that ends later\n```\nx", None),
    ],
)
def test_blocks_of_code_are_not_what_a_text_says(text: str, said: str | None) -> None:
    assert without_code(text) == (text if said is None else said)


def test_names_in_blocks_of_code_are_neither_mentions_nor_titles() -> None:
    text = "Ida Berg mends the Stone Oven.\n\n```py\nprint('Tom Vogt', Well)\nsrc/app.py\n```"
    planned = plan_document(
        Document(id="d", text=text), extractor=DOCUMENT_EXTRACTOR, config=DocumentConfig()
    )
    assert planned is not None
    assert {"stone oven", "ida berg"} <= planned.named["d"]
    assert not {"tom vogt", "well"} & planned.named["d"]
    assert [mention.name for mention in planned.mentions["d"]] == ["ida berg", "stone oven"]
    assert planned.parts[0].text == text
