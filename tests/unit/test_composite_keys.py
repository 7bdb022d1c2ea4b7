"""Keys and ids that are made of several names: no two lists of names give the same.

The names are generated, and hold the separators on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memoria.graph.vocabulary import clock_key, documents_key, roles_key, scope_key
from memoria.importers.chats.parsing import digest
from memoria.integrations._items import item_id
from memoria.integrations._scopes import joined, parted
from memoria.learn.events import event_key
from memoria.remember.documents.config import DocumentConfig
from memoria.remember.documents.plan import plan_document
from memoria.remember.ids import (
    document_id,
    document_prefix,
    message_id,
    part_id,
    section_id,
    session_id,
    speaker_id,
    topic_id,
)
from memoria.types import Document, metadata_pairs

SCHEMA_KEY = "memoria"
PIECES = [
    *':/#@%~\x1f\x00"\\ .0129ab',
    "scope:",
    "event:",
    "documents:",
    "roles:",
    SCHEMA_KEY,
    "%2F",
    "%3A",
]
# No lower and upper case of one letter: of topics and speakers these are the same.
names = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
sources = st.one_of(st.just(""), names)
numbers = st.integers(1, 30)

MADE: Mapping[str, tuple[Callable[..., str], tuple[st.SearchStrategy[Any], ...]]] = {
    "key of an event": (event_key, (names, names)),
    "key of a clock": (clock_key, (names,)),
    "key of a count of documents": (documents_key, (names,)),
    "key of the roles of relations": (roles_key, (names,)),
    "key of a scope in the full-text index": (scope_key, (names,)),
    "id of a message": (message_id, (sources, names, names)),
    "id of a part of a message": (
        lambda source, talk, message, number: part_id(message_id(source, talk, message), number),
        (sources, names, names, st.integers(2, 30)),
    ),
    "id of a session": (session_id, (sources, names, numbers)),
    "id of a document": (document_id, (sources, names)),
    "id of a part of a document": (
        lambda source, document, heading, number: section_id(
            document_id(source, document), heading, number
        ),
        (sources, names, sources, numbers),
    ),
    "id of a speaker": (speaker_id, (names,)),
    "id of a topic": (topic_id, (names,)),
    "id of an item": (lambda *parts: item_id(parts[:-1], parts[-1]), (names, names, names)),
    "scope of an app and a user": (lambda *parts: joined(parts), (names, names)),
    "id made of content": (digest, (names, names)),
}
#: Those that stand in one property of the graph: under ``key``, and under ``id``.
KEYS = [name for name in MADE if name.startswith("key") and "full-text" not in name]
IDS = [name for name in MADE if name.startswith("id of")]


@pytest.mark.parametrize("name", MADE)
@given(data=st.data())
def test_other_names_make_another_key(name: str, data: st.DataObject) -> None:
    make, parts = MADE[name]
    one, other = data.draw(st.tuples(*parts)), data.draw(st.tuples(*parts))
    assume(one != other)
    assert make(*one) != make(*other)


@pytest.mark.parametrize("stored", [KEYS, IDS], ids=["keys", "ids"])
@given(data=st.data())
def test_keys_of_two_sorts_are_never_the_same(stored: list[str], data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(stored))
    other = data.draw(st.sampled_from([name for name in stored if name != one]))
    made = [MADE[name][0](*data.draw(st.tuples(*MADE[name][1]))) for name in (one, other)]
    assert made[0] != made[1]
    assert SCHEMA_KEY not in made


@given(one=st.tuples(sources, names), other=st.tuples(sources, names))
@example(one=("a/b", "c"), other=("a", "b/c"))
@example(one=("", "notes/c"), other=("notes", "c"))
@example(one=("a/b", "c"), other=("", "a%2Fb/c"))
def test_documents_of_two_sources_never_share_an_id(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assume(one != other)
    assert document_id(*one) != document_id(*other)
    if one[0] != other[0] and other[0]:
        assert not document_id(*one).startswith(document_prefix(other[0]))


@given(
    one=st.tuples(st.sampled_from(["Gas", "Gas~2", "Gas~", "~2", ""]), numbers),
    other=st.tuples(st.sampled_from(["Gas", "Gas~2", "Gas~", "~2", ""]), numbers),
)
@example(one=("Gas~2", 1), other=("Gas", 2))
def test_parts_of_a_document_never_share_an_id(
    one: tuple[str, int], other: tuple[str, int]
) -> None:
    assume(one != other)
    assert section_id("ovens.md", *one) != section_id("ovens.md", *other)


def test_a_long_document_has_an_id_for_each_of_its_parts() -> None:
    text = "\n\n".join(f"# {heading}\n\n{'words ' * 40}" for heading in ("Gas", "Gas", "Gas~2"))
    document = Document(id="ovens.md", title="Ovens", text=text)
    planned = plan_document(document, extractor=None, config=DocumentConfig(max_chars=250))
    assert planned is not None
    ids = [part.id for part in planned.parts]
    assert len(ids) > 2
    assert len(set(ids)) == len(ids)


@given(parts=st.lists(names, min_size=1, max_size=4))
def test_a_joined_name_can_be_taken_apart(parts: list[str]) -> None:
    assert parted(joined(parts)) == tuple(parts)


@given(one=st.tuples(names, names), other=st.tuples(names, names))
def test_pairs_of_metadata_are_told_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    assume(one != other)
    assert metadata_pairs(dict([one])) != metadata_pairs(dict([other]))
