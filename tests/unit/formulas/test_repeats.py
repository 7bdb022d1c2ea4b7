"""When a text may be left unwritten: never where it says anything new."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from memoria.formulas.repeats import repeats
from memoria.recall.seeds.questions import Apart, StoredQuestion, is_echo
from memoria.types import Seed, Seeds
from tests.for_each import for_each

VAN = "The van is at Tullgatan."


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (VAN, VAN),
        ("the van is at tullgatan", VAN),
        ("The van really is at Tullgatan!", VAN),
        ("We ran out of butter on Saturday", "We ran out of butter on Saturday morning"),
        ("We ran out of butter on Saturday", "We ran out of Ada's butter on Saturday"),
        ("Är bilen på Tullgatan?", "är bilen på tullgatan?"),
    ],
)
def test_case_fillers_and_a_missing_word_are_nothing_new(text: str, known: str) -> None:
    assert repeats(text, known)


@for_each(
    "text, known",
    [
        ("The van is not at Tullgatan.", VAN),
        ("The van isn't at Tullgatan.", VAN),
        ("Is the van at Tullgatan?", VAN),
        ("The van is at Storgatan.", VAN),
        ("The van was at Tullgatan.", VAN),
        ("The red van is at Tullgatan.", VAN),
        ("The ticket costs 6 euro", "The ticket costs 5 euro"),
        ("The meeting is on 3 May at 10", "The meeting is on 10 May at 3"),
        ("We meet on Tuesday", "We meet on Monday"),
        ("Anna pays Bert", "Bert pays Anna"),
        ("the dog bit the man", "the man bit the dog"),
        (VAN, "The van is probably at Tullgatan."),
        ("The shop is closed", "The shop is closed if it rains"),
        ("The van is at Tullgatan", "The van that Petter drove yesterday is at Tullgatan now"),
    ],
)
def test_another_word_number_name_order_or_doubt_is_a_new_fact(text: str, known: str) -> None:
    assert not repeats(text, known)


def test_an_echo_has_no_word_that_the_query_lacks() -> None:
    assert is_echo("Why is the oven cold?", "why is the oven cold")
    assert is_echo("Why is the oven cold?", "Why is the oven so cold?")
    assert not is_echo("Why is the oven in Harbour Street cold?", "Why is the oven cold?")
    assert not is_echo("Why is the oven not cold?", "Why is the oven cold?")


def seeds(*names: str) -> tuple[Seed, ...]:
    return tuple(Seed(id=name, score=1.0 - n / 100) for n, name in enumerate(names))


def test_a_message_that_only_asks_the_same_is_loose_and_one_that_says_something_is_not() -> None:
    query = "Why did we run out of cinnamon buns on Saturday?"
    said = {
        "same": "Do you know why there were no cinnamon buns on Saturday?",
        "told": "We had butter for 310 cinnamon buns on Saturday.",
        "both": "We sold 310 cinnamon buns by ten on Saturday. Why did we run out?",
        "else": "Who has the key of the cold room?",
    }
    messages = {
        id_: StoredQuestion(text=text, loose=False, spoken=True) for id_, text in said.items()
    }
    assert Apart.of(messages, query) == Apart(ids=frozenset({"same"}), echoes=frozenset())
    joined = {"same": StoredQuestion(text=said["same"], loose=False)}
    assert not Apart.of(joined, query).ids


@pytest.mark.parametrize(
    "text",
    [
        "The key of the cold room is in the drawer, right?",
        "We keep the key of the cold room in the drawer, don't we?",
        "Greta has the cold room key\nok?",
        "Greta has the cold room key; is that so?",
    ],
)
def test_a_statement_that_asks_for_a_yes_is_an_answer(text: str) -> None:
    said = {"said": StoredQuestion(text=text, loose=False, spoken=True)}
    assert not Apart.of(said, "Where is the key of the cold room?").ids


QUESTIONS = {
    "echo": StoredQuestion(text="Why cold?", loose=False),
    "loose": StoredQuestion(text=None, loose=True),
    "other": StoredQuestion(text="Who fell?", loose=True),
    "joined": StoredQuestion(text="What else?", loose=False),
}


def test_questions_that_are_no_echo_and_lead_somewhere_stay_among_the_hits() -> None:
    apart = Apart.of(QUESTIONS, "Why cold")
    assert apart == Apart(ids=frozenset({"echo", "loose", "other"}), echoes=frozenset({"echo"}))


def chosen(number: int, *names: str) -> Seeds:
    """The first ``number`` of these hits are seeds."""
    hits = seeds(*names)
    return Seeds(seeds=hits[:number], runners_up=hits[number:])


def ids(found: Iterable[Seed]) -> list[str]:
    return [seed.id for seed in found]


def test_the_best_question_that_was_set_apart_is_one_seed_more() -> None:
    every = chosen(2, "echo", "loose", "a", "other", "b", "joined")
    back = Apart.of(QUESTIONS, "Why cold").back(chosen(2, "a", "b", "joined"), every)
    assert ids(back.seeds) == ["a", "echo", "b"]  # 1.0, 1.0, 0.99
    assert ids(back.runners_up) == ["loose", "joined", "other"]  # 0.99, 0.98, 0.97
    assert ids(back.echoes) == ["echo"]
    assert back.loose == ("loose", "other")


def test_a_question_that_would_have_been_no_seed_is_none() -> None:
    back = Apart.of(QUESTIONS, "x").back(chosen(2, "a", "b"), chosen(2, "a", "b", "loose"))
    assert (ids(back.seeds), ids(back.runners_up)) == (["a", "b"], ["loose"])


def test_questions_are_seeds_where_there_are_too_few_others() -> None:
    every = chosen(3, "loose", "other", "a", "echo")
    back = Apart.of(QUESTIONS, "Why cold").back(chosen(3, "a"), every)
    assert ids(back.seeds) == ["a", "loose", "other"]
    assert ids(back.runners_up) == []


def test_where_all_hits_are_seeds_their_order_stays() -> None:
    every = chosen(3, "loose", "a", "echo")
    back = Apart.of(QUESTIONS, "Why cold").back(chosen(3, "a"), every)
    assert (back.seeds, ids(back.echoes), back.loose) == (every.seeds, ["echo"], ("loose",))
