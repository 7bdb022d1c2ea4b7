"""The entropy gate: what says the same, what must never be taken for the same."""

from __future__ import annotations

import random
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.formulas.repeats import adds_nothing
from memoria.recall.context import ContextBuilder
from memoria.recall.context.config import ContextConfig
from memoria.recall.context.duplicates import find_duplicates
from memoria.types import ContextPack, MemoryNode, Path
from tests.for_each import for_each

LONG = (
    "the build host ran out of room during the night because old logs were kept on its only disk "
    "and the job that cleans them had been stopped by hand"
)


def same(one: str, other: str, **options: Any) -> bool:
    return bool(find_duplicates([("a", one), ("b", other)], **{"overlap": 0.9, **options}))


@pytest.mark.parametrize(
    "other",
    [
        LONG,
        LONG.upper().lower() + ".",
        f"  {LONG}!\n",
        LONG.capitalize(),
        LONG.replace(" old ", " the old "),
        LONG.replace(" by hand", ""),
        LONG.replace("because old", "because really old"),
    ],
)
def test_text_whose_words_a_better_one_has_adds_nothing(other: str) -> None:
    assert same(LONG, other)


@pytest.mark.parametrize("other", [LONG + " tonight", LONG.replace("stopped", "started")])
def test_text_with_one_more_word_adds_something(other: str) -> None:
    assert not same(LONG, other, overlap=0.5)


def test_text_that_is_much_shorter_stays() -> None:
    short = "old logs were kept by hand"
    assert not same(LONG, short)
    assert same(LONG, short, overlap=0.2)


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("were", ["were not", "weren't", "were never"]),
        ("night", ["night of 3 May", "night twice", "second night"]),
        ("host", ["host Berlin", "host Paris", "host 7", "host -7"]),
        ("hand", ["hand?", "hand without need", "hand today"]),
    ],
)
def test_a_number_a_negation_a_name_or_a_question_is_never_the_same(
    word: str, others: list[str]
) -> None:
    texts = [LONG, *(LONG.replace(word, other, 1) for other in others)]
    named = [(str(number), text) for number, text in enumerate(texts)]
    assert find_duplicates(named, overlap=0.8) == {}


@for_each(
    "one, other",
    [
        ("open from 3 to 5", "open from 5 to 3"),
        ("Anna paid Tom", "Tom paid Anna"),
        ("anna: parents: bob", "bob: parents: anna"),
        ("the dog bit the man in the park", "the man bit the dog in the park"),
        ("we keep old logs and old disks", "we keep new logs and old disks"),
        ("all logs and old disks were kept", "all logs and all disks were kept"),
        ("it is not full, it is slow", "it is full, it is not slow, not"),
        ("Sold for $5", "Sold for \u20ac5"),
        ("Written in C++", "Written in C#"),
        ("Moved from C++ to C", "Moved from C to C++"),
        ("4/5 for food, 4.5 for rooms", "4.5 for food, 4/5 for rooms"),
        ("It takes 2-5 days", "It takes 2.5 days"),
        ("Written in C", "Written in C#."),
        ("Eve got an A- in maths", "Eve got an A+ in maths"),
        ("Eve got an A in maths", "Eve got an A- in maths"),
        ("The film got 4/5", "The film got 4.5"),
        ("Starts at 9:30", "Starts at 9/30"),
        ("It holds for p < 0.05", "It holds for p > 0.05"),
        ("It holds for n>=3", "It holds for n<=3"),
        ("It holds if x = y", "It holds if x != y"),
        ("Sounds good \U0001f44d", "Sounds good \U0001f44e"),
        ("...", "!!!"),
        ("\u6771\u4eac\u306b\u884c\u304f", "\u5927\u962a\u306b\u884c\u304f"),
    ],
)
def test_the_same_words_in_another_sense_are_not_the_same(one: str, other: str) -> None:
    assert not same(one, other)
    assert same(one, one)


@for_each(
    "one, other, repeats",
    [
        ("the ferry\u2019s late at the pier", "the ferry's late at the pier", True),
        ("a house in the Stra\u00dfe there", "a house in the STRASSE there", True),
        ("it isn\u2019t late at the pier", "it is late at the pier", False),
        ("costs $5 by the kilo", "costs \u20ac5 by the kilo", False),
        ("outside at -7 degrees today", "outside at 7 degrees today", False),
        ("up by 5% in the year", "up by 5 in the year", False),
        ("the area is x\u00b2 by now", "the area is x by now", False),
        ("room a-5 in the house", "room a 5 in the house", True),
        ("# the *old* logs of the house", "> the old logs of the house", True),
        ("the rent is 3.50 a day", "the rent is 3,50 a day", True),
        ("well done \U0001f642 in the end", "well done \U0001f641 in the end", False),
    ],
)
def test_signs_units_and_apostrophes_belong_to_the_word(
    one: str, other: str, repeats: bool
) -> None:
    assert same(one, other) is repeats
    assert same(other, one) is repeats


def test_near_vectors_make_duplicates_of_other_words() -> None:
    rows = [("a", "The disk is full"), ("b", "No room on the disk"), ("c", "no room on its drive")]
    assert find_duplicates(rows, overlap=None) == {}
    # "No" stands against "a", so that c repeats b alone.
    assert find_duplicates(rows, overlap=None, near=[("b", "a"), ("c", "a"), ("c", "b")]) == {
        "c": "b"
    }


def test_a_duplicate_names_the_best_text_that_it_repeats() -> None:
    texts = [("z", "old logs"), ("m", "new disk"), ("a", "Old logs"), ("b", "New disk.")]
    assert find_duplicates(texts, overlap=1.0) == {"a": "z", "b": "m"}
    assert find_duplicates(texts, overlap=1.0, near=[("b", "z")]) == {"a": "z", "b": "z"}


def test_what_two_speakers_say_is_not_the_same() -> None:
    texts = [("a", "I like tea"), ("b", "I like tea."), ("c", "I really like tea")]
    speakers = {"a": "Anna", "b": "Tom", "c": "Anna"}
    assert find_duplicates(texts, overlap=0.5) == {"b": "a", "c": "a"}
    assert find_duplicates(texts, overlap=0.5, speakers=speakers) == {"c": "a"}
    near = [("a", "b"), ("b", "c")]
    assert find_duplicates(texts, overlap=None, near=near, speakers=speakers) == {}


def test_pairs_of_what_is_not_there_are_left_alone() -> None:
    assert find_duplicates([("a", "x")], overlap=None, near=[("a", "gone"), ("a", "a")]) == {}


def packed(*steps: tuple[str, float, str], near: Any = (), **settings: Any) -> ContextPack:
    builder = ContextBuilder(10_000, config=ContextConfig(**settings))
    for name, energy, text in steps:
        node = MemoryNode(id=name, kind="Event", text=text)
        builder.add(
            Path(seed_id=name, hops=(), memories=(node,), end_reason="dead_end", energy=energy)
        )
    return builder.build(near=near)


def test_gate_keeps_the_better_and_says_so() -> None:
    result = packed(("a", 0.2, "old logs"), ("b", 0.5, "Old logs."), ("c", 0.1, "new"))
    assert [item.id for item in result.items] == ["b", "c"]
    assert [(o.id, o.reason, o.duplicate_of) for o in result.omitted] == [("a", "duplicate", "b")]
    off = packed(("a", 0.2, "old logs"), ("b", 0.5, "Old logs."), duplicate_overlap=None)
    assert [item.id for item in off.items] == ["b", "a"]


def test_gate_takes_pairs_from_the_caller() -> None:
    steps = (("a", 0.2, "logs"), ("b", 0.5, "records"), ("c", 0.1, "new"))
    result = packed(*steps, near=[("a", "b"), ("c", "gone")])
    assert [(o.id, o.duplicate_of) for o in result.omitted] == [("a", "b")]


LETTERS = string.ascii_lowercase
NAMES = ("Old", "Anna")
WORDS = ("logs", "disk", "host", "night", *NAMES, "not", "7", "is", "the", "a", "\U0001f44d")
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9), max_size=12).map(
    lambda rows: [(f"m{number}", " ".join(row)) for number, row in enumerate(rows)]
)


def content(raw: list[str]) -> list[str]:
    folded = [word.casefold() for word in raw]
    return [word for word in folded if word not in ("the", "a")] or folded


def in_order(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(word in rest for word in few)


def by_comparing_all(rows: list[tuple[str, str]], overlap: float) -> dict[str, str]:
    """The same by the definition, each text with each better one that stays."""
    kept: list[tuple[str, list[str]]] = []
    found: dict[str, str] = {}
    for name, text in rows:
        raw = text.split()
        for other, words in kept:
            one, two = {w.casefold() for w in raw}, {w.casefold() for w in words}
            decisive = [[w for w in row if w in ("not", "7")] for row in (raw, words)]
            shared = {*raw} & {*words} & {*NAMES}
            names = [[w for w in row if w in shared] for row in (raw, words)]
            if (
                Counter(content(raw)) <= Counter(w.casefold() for w in words)
                and len(one & two) >= overlap * len(one | two) - 1e-9
                and decisive[0] == decisive[1]
                and names[0] == names[1]
                and in_order(content(raw), content(words))
            ):
                found[name] = other
                break
        else:
            kept.append((name, raw))
    return found


@given(texts, st.sampled_from([0.3, 0.5, 2 / 3, 0.75, 0.9, 1.0]))
def test_gate_agrees_with_comparing_all_pairs(rows: Any, overlap: float) -> None:
    assert find_duplicates(rows, overlap=overlap) == by_comparing_all(rows, overlap)


@given(texts, st.sampled_from([0.3, 0.6, 0.9]), st.data())
def test_gate_is_idempotent(rows: Any, overlap: float, data: st.DataObject) -> None:
    names = [name for name, _ in rows] or ["none"]
    pair = st.tuples(st.sampled_from(names), st.sampled_from(names))
    near = data.draw(st.lists(pair, max_size=6))
    found = find_duplicates(rows, overlap=overlap, near=near)
    rest = [(name, text) for name, text in rows if name not in found]
    assert find_duplicates(rest, overlap=overlap, near=near) == {}
    assert set(found.values()) <= {name for name, _ in rest}


def test_few_pairs_of_many_texts_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    # Counted, not timed: all pairs of 1,200 texts would be 719,400.
    from memoria.recall.context import duplicates

    calls = 0
    compare = adds_nothing

    def counted(*arguments: Any) -> bool:
        nonlocal calls
        calls += 1
        return compare(*arguments)

    monkeypatch.setattr(duplicates, "adds_nothing", counted)
    rng = random.Random(7)
    common, rare = LONG.split(), [f"rare{letter}{other}" for letter in LETTERS for other in LETTERS]
    rows = [
        (str(number), " ".join(rng.choices(common, k=20) + rng.choices(rare, k=5)))
        for number in range(1_200)
    ]
    assert find_duplicates(rows, overlap=0.9) == {}
    assert calls < 12_000
