"""What a caller may pass in: limits, types, and an error that names the field."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.checks import (
    MAX_NESTING,
    MAX_PARTS,
    check_id,
    check_ids,
    check_json_map,
    check_kind,
    check_number,
    check_scope,
    check_score,
    check_string,
    check_strings,
    check_vector,
    check_whole,
    mended_text,
)
from memoria.errors import ConfigError, InvalidInputError, ScopeError
from memoria.graph.vocabulary import scope_key
from memoria.recall.call import RecallCall
from memoria.recall.config import RetrieverConfig
from memoria.recall.plain_settings import exploration_from
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.remember import ConversationConfig, RuleExtractor
from memoria.remember.statement import Statement
from memoria.types import Conversation, Document, Memory, MemoryFilter, Message, Section
from tests.for_each import for_each

SURROGATES = ["\ud800", "a\udfff", "\udc80b", "\udc00\ud800"]


def refused(check: Callable[..., Any], *args: Any, **settings: Any) -> InvalidInputError:
    """The error with which ``check`` refuses its arguments."""
    with pytest.raises(InvalidInputError) as caught:
        check(*args, **settings)
    return caught.value


# --- strings, ids, scopes, kinds ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "a", "\x00", "é" * 500_000, "a" * 1_000_000, "😀" * 250_000])
def test_text_of_up_to_a_million_bytes_passes(text: str) -> None:
    assert check_string(text, "text") is text


@pytest.mark.parametrize("text", ["a" * 1_000_001, "é" * 500_001, "😀" * 250_001])
def test_larger_text_is_refused(text: str) -> None:
    error = refused(check_string, text, "text")
    assert error.field == "text"
    assert "at most 1000000" in str(error)
    assert len(str(error)) < 200, "the text itself stays out of the message"


@pytest.mark.parametrize("text", SURROGATES)
def test_lone_surrogate_is_refused_everywhere(text: str) -> None:
    for check in (check_string, check_id, check_kind):
        assert refused(check, text, "field").field == "field"
    assert refused(check_scope, text).field == "scope"
    assert refused(check_strings, [text], "tags").field == "tags"
    assert refused(check_json_map, {"a": text}, "metadata").field == "metadata"
    assert refused(check_json_map, {text: 1}, "metadata").field == "metadata"
    assert refused(check_json_map, {"a": [{"b": (text,)}]}, "metadata").field == "metadata"


@pytest.mark.parametrize("text", SURROGATES)
def test_half_a_character_becomes_a_sign_in_every_text(text: str) -> None:
    mended = mended_text(text, "text")
    assert "\N{REPLACEMENT CHARACTER}" in mended
    mended.encode("utf-8")
    texts = [
        Memory(id="a", kind="Event", text=text).text,
        Message(text=text).text,
        Document(id="a", text=text).text,
        Section(text=text).text,
        Section(text="", headings=[text]).headings[0],
        str(Document(id="a", title=text).title),
        str(Conversation(id="a", messages=[], title=text).title),
        Statement(text=text, scope="s").text,
        RecallCall.checked(text, (), MemoryFilter(), RetrieverConfig()).query,
    ]
    assert set(texts) == {mended}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
def test_a_blank_text_is_no_text_wherever_it_comes_from(text: str) -> None:
    texts = [
        Memory(id="a", kind="Event", text=text).text,
        Message(text=text).text,
        Document(id="a", text=text).text,
        Section(text=text).text,
    ]
    assert set(texts) == {""}
    assert refused(Statement, text=text, scope="s").field == "text"
    call = (text, (), MemoryFilter(), RetrieverConfig())
    assert refused(RecallCall.checked, *call).field == "query"


@for_each("value", [None, 1, 1.5, True, b"a", ["a"], {"a": 1}, object()])
def test_only_a_string_is_a_string(value: object) -> None:
    for check in (check_string, check_id, check_kind):
        assert "must be a string" in str(refused(check, value, "field"))


@for_each("value", ["a", " ", "\n", "a b", "a" * 512, "é" * 256, "😀" * 128, "'\"`\\"])
def test_id_of_up_to_512_bytes_passes(value: str) -> None:
    assert check_id(value) is value
    assert check_scope(value) is value


@pytest.mark.parametrize("value", ["a" * 513, "é" * 257, "😀" * 129, "é" * 256 + "a"])
def test_longer_id_is_refused(value: str) -> None:
    assert refused(check_id, value).field == "id"
    assert refused(check_scope, value).field == "scope"


def test_empty_id_is_refused() -> None:
    assert "must not be empty" in str(refused(check_id, "", "source"))


@pytest.mark.parametrize("value", [None, ""])
def test_missing_scope_is_a_scope_error(value: object) -> None:
    assert isinstance(refused(check_scope, value), ScopeError)


@pytest.mark.parametrize("value", ["Event", "_", "a1", "A" * 64, "DataSource"])
def test_kind_is_an_identifier(value: str) -> None:
    assert check_kind(value) is value


@for_each(
    "value",
    [
        *("", "1a", "a b", "a-b", "a`b", "Event\n", "\nEvent", "A" * 65, "é", "Ｅvent", "a\x00"),
        *("\\u0060", "Event:Memory", "Event) DETACH DELETE n //", "$p"),
    ],
)
def test_anything_else_is_no_kind(value: str) -> None:
    assert refused(check_kind, value).field == "kind"


@given(st.text())
def test_kind_has_only_characters_that_need_no_quotes(text: str) -> None:
    try:
        kind = check_kind(text)
    except InvalidInputError:
        return
    assert kind.isascii()
    assert kind.isidentifier()


# --- lists of ids ---------------------------------------------------------------------------------


def test_ids_are_kept_sorted_and_once() -> None:
    assert check_ids(["b", "a", "b"]) == ("a", "b")
    assert check_ids({"b", "a"}) == check_ids(id_ for id_ in "ba") == ("a", "b")
    assert check_ids([]) == ()


@pytest.mark.parametrize("value", ["abc", b"abc", None, 1, [1], [""], ["a", None]])
def test_anything_but_a_list_of_ids_is_refused(value: object) -> None:
    assert refused(check_ids, value, "used").field == "used"


# --- lists of strings -----------------------------------------------------------------------------


def test_tags_are_kept_sorted_and_once() -> None:
    assert check_strings(["b", "a", "b", "B", "ä"], "tags") == ("B", "a", "b", "ä")
    assert check_strings({"b", "a"}, "tags") == ("a", "b")
    assert check_strings((tag for tag in "ba"), "tags") == ("a", "b")
    assert check_strings([], "tags") == ()


def test_256_tags_pass_and_257_do_not() -> None:
    tags = [f"t{number:03}" for number in range(257)]
    assert check_strings(tags[:256] * 2, "tags") == tuple(tags[:256])
    error = refused(check_strings, tags, "tags")
    assert error.field == "tags"
    assert "257" in str(error)


def test_tag_of_256_characters_passes_and_of_257_does_not() -> None:
    assert check_strings(["😀" * 256], "tags") == ("😀" * 256,)
    assert refused(check_strings, ["a" * 257], "tags").field == "tags"


@for_each("value", [None, "abc", b"abc", 1, {"a": 1}, ["a", 1], ["a", None], [["a"]]])
def test_anything_but_a_list_of_strings_is_no_tags(value: object) -> None:
    assert refused(check_strings, value, "topics").field == "topics"


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 1, 0.0, -0.0, 0.5, 5e-324, np.float64(0.25)])
def test_number_in_its_range_becomes_a_float(value: float) -> None:
    number = check_number(value, "weight", low=0, high=1)
    assert type(number) is float
    assert number == value


@for_each(
    "value",
    [
        *(-1, 2, -5e-324, 1.0000000000000002, math.nan, math.inf, -math.inf),
        *(True, False, None, "0.5", "", b"1", [0.5], 1j, 10**400, -(10**400), 10**5000),
    ],
)
def test_number_out_of_range_or_no_number_is_refused(value: object) -> None:
    error = refused(check_number, value, "weight", low=0, high=1)
    assert error.field == "weight"
    assert len(str(error)) < 120


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400], ids=lambda _: "")
def test_open_range_still_takes_finite_numbers_only(value: float) -> None:
    refused(check_number, value, "size", low=0, high=math.inf)


def test_whole_number_in_its_range_passes() -> None:
    assert [check_whole(value, "max_seeds", low=1, high=100) for value in (1, 100)] == [1, 100]


@for_each("value", [0, 101, -1, 1.0, 1.5, True, "5", None, math.nan, 10**400])
def test_other_whole_number_is_refused(value: object) -> None:
    assert refused(check_whole, value, "max_seeds", low=1, high=100).field == "max_seeds"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"low": 0, "high": 1}, "in [0, 1]"),
        ({"low": 0, "high": 1, "above_low": True}, "in (0, 1]"),
        ({"low": 0, "high": math.inf}, "at least 0"),
        ({"low": 0, "high": math.inf, "above_low": True}, "above 0"),
    ],
)
def test_refusal_names_the_range_and_the_number(limits: dict[str, Any], said: str) -> None:
    assert str(refused(check_number, -1, "weight", **limits)) == f"weight must be {said}, got -1"


def test_same_rule_refuses_a_setting_with_an_error_of_its_own() -> None:
    for check in (check_number, check_whole):
        with pytest.raises(ConfigError, match=r"^size must be .*1.*3\]?, got 7$"):
            check(7, "size", low=1, high=3, error=ConfigError)


@pytest.mark.parametrize("value", [5e-324, 0.005, 1, 1.0])
def test_score_is_above_zero_and_at_most_one(value: float) -> None:
    assert check_score(value) == value


@for_each("value", [0, 0.0, -0.0, -0.1, 1.0000000000000002, math.nan, True, "1"])
def test_other_score_is_refused(value: object) -> None:
    assert refused(check_score, value).field == "score"


# --- vectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [[1, 0], (0.5, -0.5), np.array([1, 2], dtype=np.float32), (x for x in [1.0, 2.0])]
)
def test_vector_becomes_floats(value: Any) -> None:
    vector = check_vector(value)
    assert len(vector) == 2
    assert {type(number) for number in vector} == {float}


@for_each(
    "value",
    [
        *([], [0.0, 0.0], [-0.0], [math.nan, 1], [1, math.inf], [-math.inf], [10**400]),
        *([1e-20, 0], [1e200, 1e200], ["1"], [b"1"], [True], [None], [[1.0]], [1j]),
        *("12", b"12", None, 1.0),
    ],
)
def test_anything_without_a_usable_direction_is_no_vector(value: object) -> None:
    assert refused(check_vector, value).field == "embedding"


# --- JSON maps ------------------------------------------------------------------------------------


def nested(levels: int, leaf: object, *, of: str) -> dict[str, Any]:
    """A map that holds ``leaf``, in ``levels`` maps or lists altogether."""
    value = leaf
    for _ in range(levels - 1):
        value = {"k": value} if of == "maps" else [value]
    return {"k": value}


@for_each("leaf", [1, None, "text", {}, []])
@for_each("of", ["maps", "lists"])
def test_32_levels_pass(of: str, leaf: object) -> None:
    levels = MAX_NESTING - (leaf in ({}, []))
    value = nested(levels, leaf, of=of)
    assert check_json_map(value, "metadata") == value


@for_each("leaf", [1, None, "text", {}, []])
@for_each("of", ["maps", "lists"])
def test_33_levels_are_refused(of: str, leaf: object) -> None:
    levels = MAX_NESTING + 1 - (leaf in ({}, []))
    error = refused(check_json_map, nested(levels, leaf, of=of), "metadata")
    assert error.field == "metadata"
    assert "deeper than 32" in str(error)


@pytest.mark.parametrize("levels", [1_000, 12_000, 100_000])
@pytest.mark.parametrize("of", ["maps", "lists"])
def test_value_nested_thousands_deep_is_refused_and_crashes_nothing(of: str, levels: int) -> None:
    refused(check_json_map, nested(levels, 1, of=of), "when")


def test_value_that_holds_itself_is_refused_at_once() -> None:
    ring: dict[str, Any] = {}
    ring["a"] = ring["b"] = ring["c"] = [ring, ring]
    start = time.thread_time()
    refused(check_json_map, ring, "metadata")
    assert time.thread_time() - start < 5


def test_value_that_unfolds_to_billions_of_parts_is_refused_at_once() -> None:
    bomb: Any = "x"
    for _ in range(30):
        bomb = [bomb, bomb]
    start = time.thread_time()
    assert "parts" in str(refused(check_json_map, {"a": bomb}, "metadata"))
    assert time.thread_time() - start < 5


def test_map_may_have_as_many_parts_as_fit_into_a_text() -> None:
    check_json_map({"a": [0] * (MAX_PARTS - 1)}, "metadata")
    refused(check_json_map, {"a": [0] * MAX_PARTS}, "metadata")


@for_each(
    "value",
    [
        *({"a": math.nan}, {"a": [math.inf]}, {"a": {"b": -math.inf}}),
        *({1: "a"}, {None: 1}, {("a",): 1}, {"a": {2: 3}}),
        *({"a": b"1"}, {"a": {1}}, {"a": object()}, {"a": 1j}, {"a": [math.sin]}),
    ],
)
def test_what_is_no_json_is_refused(value: object) -> None:
    assert refused(check_json_map, value, "when").field == "when"


@pytest.mark.parametrize("value", [None, [], "a", 1, [("a", 1)]])
def test_only_a_map_is_a_map(value: object) -> None:
    assert "must be a map" in str(refused(check_json_map, value, "metadata"))


def test_map_keeps_what_json_can_say() -> None:
    value = {"a": [1, 2.5, None, True, "x", {"b": ()}], "": {}, "n": 2**64}
    assert check_json_map(value, "metadata") == value


# --- scope keys -----------------------------------------------------------------------------------


def test_scopes_that_an_analyzer_takes_for_one_have_keys_of_their_own() -> None:
    scopes = ["user-1", "User-1", "user 1", "user_1", "user1", "user-1 ", "uſer-1", "user-１"]
    keys = {scope_key(scope) for scope in scopes}
    assert len(keys) == len(scopes)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_scope_key_is_one_plain_word(scope: str) -> None:
    key = scope_key(scope)
    assert key.isascii()
    assert key.isalnum()
    assert key[0] == "s"
    assert len(key) == 33


def deep_list(depth: int) -> list[Any]:
    """A list within a list, and so on; Python can't print it."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


DEEP = deep_list(100_000)
ROUND: list[Any] = []
ROUND.append(ROUND)


class OddArray:
    """An array as some libraries make them: its rows are no numbers, and say so in their way."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[OddArray]:
        return iter((self, self))

    def __float__(self) -> float:
        raise RuntimeError("a tensor with 2 elements cannot be converted to a scalar")


@for_each("value", [DEEP, ROUND])
@for_each(
    "make",
    [
        lambda value: RetrieverConfig(strategy=value),
        lambda value: RetrieverConfig(deadline_s=value),
        lambda value: RetrieverConfig(situation=value),
        lambda value: RetrieverConfig(situation={"os": value}),
        lambda value: RetrieverConfig(as_of=value),
        lambda value: SeedConfig(fusion=value),
        lambda value: SeedConfig(fact_kinds=value),
        lambda value: RelevanceConfig(weights={"bm25": 1.0}, calibration=value),
        lambda value: RelevanceConfig(weights={"cosine": value}),
        lambda value: ConversationConfig(kinds={"user": value}),
        lambda value: RuleExtractor(language=value),
        lambda value: RuleExtractor(weights={"word": value}),
        lambda value: exploration_from({"strategy": {"name": "transfer", "max_depth": value}}),
        lambda value: exploration_from({"strategy": value}),
        lambda value: exploration_from({"as_of": value}),
    ],
)
def test_settings_that_cannot_be_printed_are_refused_as_any_other(
    make: Callable[[Any], object], value: list[Any]
) -> None:
    with pytest.raises((ConfigError, InvalidInputError)) as caught:
        make(value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("value", [OddArray(), DEEP, ROUND], ids=["odd", "deep", "round"])
def test_an_odd_array_is_not_an_embedding(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="embedding must"):
        Memory(id="a", kind="Event", text="x", embedding=value)


@pytest.mark.parametrize("value", [DEEP, ROUND], ids=["deep", "round"])
def test_a_message_with_a_role_that_cannot_be_printed_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="role"):
        Message(text="x", role=value)


@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ({"price": 10**5_000}, r"metadata\['price'\] holds a number of more than 4300 digits"),
        ({"price": math.nan}, r"metadata\['price'\] holds a number that is not finite"),
        ({"shops": [{"at": object()}]}, r"metadata\['shops'\]\[0\]\['at'\] holds an object"),
        ({"a": {"b": "\ud800"}}, r"metadata\['a'\]\['b'\] holds a lone surrogate"),
        ({"a": {1: 2}}, r"a key of metadata\['a'\] must be a string"),
    ],
)
def test_metadata_that_can_not_be_kept_are_named_by_their_key(
    metadata: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"^{place}") as caught:
        Memory(id="a", kind="Event", text="t", metadata=metadata)
    assert caught.value.field == "metadata"
