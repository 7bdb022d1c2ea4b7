"""Which memories a new text may replace: about the same thing, not just of the same person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoria.remember.replacing import replaceable
from memoria.types import MemoryNode

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
# Facts of one person, each a little farther from the text than the one before.
DOES = ("swims", "sings", "votes", "snores", "cooks", "paints", "knits", "rows")
OTHERS = [
    (0.72 - place / 100, MemoryNode(id=does, kind="Event", text=f"Ana {does}."))
    for place, does in enumerate(DOES)
]


def memory(text: str, **given: object) -> MemoryNode:
    return MemoryNode(id="old", kind="Event", text=text, **given)  # type: ignore[arg-type]


def named(text: str, old: MemoryNode, *, cosine: float = 0.85) -> list[str]:
    found = replaceable(text, MONDAY, [(cosine, old), *OTHERS])
    return [one.id for one in found]


def test_an_earlier_statement_about_the_same_thing_is_named_and_no_other() -> None:
    assert named("Ana's dentist is Dr Roe.", memory("Ana's dentist is Dr Ito.")) == ["old"]


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Ana votes by post now.", "Ana is left-handed."),  # most of the memories have her name
        ("The dentist is Dr Roe.", "I have a new doctor."),
    ],
)
def test_a_memory_with_no_rarer_word_than_the_name_is_not_named(text: str, old: str) -> None:
    assert named(text, memory(old), cosine=0.75) == []


def test_a_memory_behind_nearer_ones_is_not_named() -> None:
    # Cosines 0.86, 0.86, 0.85 and twelve of 0.4: mean 0.491, deviation 0.182. The old fact stands
    # out by 1.97, and its word "dentist" is rare: -4.0 + 2.0 * 1.97 + ln 15 = 2.65. Behind two
    # nearer memories: 1.6 * ln 3 = 1.76 less, below the limit of ln 4 = 1.39.
    old, text = memory("Ana's dentist is Dr Ito."), "Ana's dentist is Dr Roe."
    others = [
        (cosine, MemoryNode(id=f"m{n}", kind="Event", text=f"Ben {does}."))
        for n, (cosine, does) in enumerate(zip((0.86, 0.86, *[0.4] * 12), DOES * 2, strict=False))
    ]
    assert replaceable(text, MONDAY, [(0.87, old), *others]) == (old,)
    assert replaceable(text, MONDAY, [*others[:2], (0.85, old), *others[2:]]) == ()


def test_the_only_memories_of_a_new_scope_are_named_by_a_common_word() -> None:
    old = memory("My phone plan is the small one.")
    found = replaceable("My phone plan is the large one.", None, [(0.9, old)])
    assert found == (old,)
    assert replaceable("My phone plan is the large one.", None, []) == ()


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Ana's dentist is Dr Roe.", memory("Is Ana's dentist Dr Ito?")),
        ("Ana's dentist is Dr Roe.", memory("Ana's dentist is Dr Ito\uff1f")),
        ("Is Ana's dentist Dr Roe?", memory("Ana's dentist is Dr Ito.")),
        (
            "Ana's dentist is Dr Roe.",
            memory("Ana's dentist is Dr Ito.", metadata={"role": "assistant"}),
        ),
        (
            "Ana's dentist is Dr Roe.",
            memory("Ana's dentist is Dr Ito.", created_at=MONDAY + timedelta(days=1)),
        ),
    ],
    ids=["a question", "a wide question mark", "by a question", "the assistant's", "newer"],
)
def test_a_question_a_reply_or_a_later_statement_is_not_named(text: str, old: MemoryNode) -> None:
    assert named(text, old) == []


def test_a_text_that_says_the_same_is_not_named() -> None:
    assert named("Ana's dentist is Dr Ito.", memory("Ana's dentist is Dr Ito."), cosine=1.0) == []


def test_a_text_that_differs_in_a_number_alone_is_named() -> None:
    old = memory("The wifi password is seagull88.")
    assert named("The wifi password is seagull89.", old, cosine=0.991) == ["old"]


@pytest.mark.parametrize(
    ("text", "old"),
    [("我的老板是王芳", "我的老板是李明"), ("ผมทำงานที่กรุงเทพ", "ผมทำงานที่เชียงใหม่")],
)
def test_without_spaces_between_words_pairs_of_letters_are_compared(text: str, old: str) -> None:
    assert named(text, memory(old)) == ["old"]
    assert named(text, memory("雨")) == []


def test_the_words_of_a_long_text_are_read_only_at_its_start() -> None:
    old = memory("It rains. " * 200 + "Ana's dentist is Dr Ito.")
    assert named("The dentist is Dr Roe.", old) == []
