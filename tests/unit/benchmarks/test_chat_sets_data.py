"""The sets in ``benchmarks/data``: who said something, which statement is still true, small talk.

They were written by hand and frozen before the first run. These tests only check the files; they
do not run a retrieval.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
SETS = ("speakers", "changes", "lives")
NOW = {"now", "currently", "these", "moment", "still", "nowadays", "jetzt", "zurzeit", "ahora"}
LANGUAGES = {"en", "de", "es", "fr"}
Row = Mapping[str, Any]


@cache
def rows(name: str, what: str) -> list[Row]:
    """The lines of a file of a set."""
    text = (DATA / name / f"{what}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@cache
def messages(name: str) -> Mapping[tuple[str, str], Row]:
    """The messages of a set, by chat and id."""
    return {(row["chat"], row["id"]): row for row in rows(name, "messages")}


def when(text: str) -> datetime:
    """Read a time, which must have an offset."""
    at = datetime.fromisoformat(text)
    assert at.tzinfo is not None, text
    return at


def named(row: Row) -> list[str]:
    """The ids of all messages that a question names."""
    return [*row["evidence"], *row.get("older", []), *row.get("also", [])]


@pytest.mark.parametrize("name", SETS)
def test_ids_are_unique(name: str) -> None:
    assert len(messages(name)) == len(rows(name, "messages"))
    questions = [row["id"] for row in rows(name, "questions")]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("name", SETS)
def test_the_messages_of_a_chat_are_in_the_order_of_time(name: str) -> None:
    last: dict[str, datetime] = {}
    for row in rows(name, "messages"):
        assert row["text"].strip()
        at = when(row["created_at"])
        assert last.get(row["chat"], at) <= at, row["id"]
        last[row["chat"]] = at


@pytest.mark.parametrize("name", SETS)
def test_only_groups_name_the_speaker(name: str) -> None:
    for row in rows(name, "messages"):
        assert row["role"] in {"user", "assistant", "other"}
        assert ("speaker" in row) == (row["role"] == "other"), row["id"]


@pytest.mark.parametrize("name", SETS)
def test_each_question_has_evidence_from_before_it_was_asked(name: str) -> None:
    for row in rows(name, "questions"):
        assert row["answerable"]
        assert row["evidence"]
        assert row["answer"] or name == "lives"
        assert row["language"] in LANGUAGES
        assert len(set(named(row))) == len(named(row)), row["id"]
        for id_ in named(row):
            at = when(messages(name)[row["chat"], id_]["created_at"])
            assert row["asked_at"] is None or at < when(row["asked_at"]), row["id"]


@pytest.mark.parametrize("name", SETS)
def test_no_question_is_asked_twice(name: str) -> None:
    asked = [(row["chat"], row["question"], row["asked_at"]) for row in rows(name, "questions")]
    assert len(set(asked)) == len(asked)


def test_the_evidence_of_speakers_has_the_role_of_the_category() -> None:
    roles = {"assistant": "assistant", "user": "user", "group": "other"}
    for row in rows("speakers", "questions"):
        found = {messages("speakers")[row["chat"], id_]["role"] for id_ in row["evidence"]}
        assert found == {roles[row["category"]]}, row["id"]


def test_speakers_asks_as_often_for_the_assistant_as_for_the_user() -> None:
    questions = rows("speakers", "questions")
    count = Counter(row["category"] for row in questions)
    assert len(questions) >= 70
    assert count["group"] >= 15
    assert 0.45 <= count["assistant"] / (count["assistant"] + count["user"]) <= 0.55
    assert sum(row["language"] != "en" for row in questions) >= 8


def test_about_half_the_questions_about_the_assistant_do_not_name_it() -> None:
    asked = [
        f" {row['question'].lower()} "
        for row in rows("speakers", "questions")
        if row["category"] == "assistant" and row["language"] == "en"
    ]
    named_in = sum(" you " in text or " your " in text for text in asked)
    assert 0.4 <= named_in / len(asked) <= 0.6


def test_speakers_has_long_answers_and_many_sessions() -> None:
    found = rows("speakers", "messages")
    answers = [len(row["text"]) for row in found if row["role"] == "assistant"]
    assert min(answers) >= 600
    assert max(answers) <= 3_000
    alone = [row for row in found if row["role"] != "other"]
    assert 160 <= len(alone) <= 220
    assert len({(row["chat"], row["session"]) for row in alone}) >= 30
    group = [row for row in found if row["role"] == "other"]
    assert len(group) >= 80
    assert len({row["speaker"] for row in group}) == 4


def test_speakers_covers_months() -> None:
    times = [when(row["created_at"]) for row in rows("speakers", "messages")]
    assert max(times) - min(times) > timedelta(days=180)


def told(id_: str) -> datetime:
    """The time of a message of ``changes``."""
    return when(messages("changes")["edda", id_]["created_at"])


def of_kind(kind: str) -> list[Row]:
    """The questions of ``changes`` of one category."""
    return [row for row in rows("changes", "questions") if row["category"] == kind]


def test_changes_asks_for_now_before_and_the_course() -> None:
    questions = rows("changes", "questions")
    count = Counter(row["category"] for row in questions)
    assert set(count) == {"now", "before", "course"}
    assert len(questions) >= 80
    assert min(count.values()) >= 15
    assert sum(row["language"] != "en" for row in questions) >= 10


def test_what_is_true_now_is_told_by_the_newest_statement() -> None:
    for row in of_kind("now"):
        [newest] = row["evidence"]
        assert row["older"]
        assert max(map(told, row["older"])) < told(newest), row["id"]


def test_half_the_questions_for_now_do_not_say_so() -> None:
    asked = [set(re.findall(r"\w+", row["question"].lower())) for row in of_kind("now")]
    assert 0.45 <= sum(not words & NOW for words in asked) / len(asked) <= 0.55


def test_what_was_true_before_is_outdated() -> None:
    outdated = {id_ for row in of_kind("now") for id_ in row["older"]}
    for row in of_kind("before"):
        assert set(row["evidence"]) <= outdated, row["id"]


def test_the_course_names_its_statements_in_order() -> None:
    for row in of_kind("course"):
        times = [told(id_) for id_ in row["evidence"]]
        assert len(times) >= 2
        assert times == sorted(times), row["id"]


def test_the_statements_are_hidden_in_a_year_of_daily_life() -> None:
    found = rows("changes", "messages")
    stated = {id_ for row in rows("changes", "questions") for id_ in named(row)}
    others = [row for row in found if row["id"] not in stated]
    assert len(others) >= 700
    assert sum("recombined" not in row for row in others) >= 250
    assert all(row["role"] == "user" for row in found if row["id"] in stated)
    assert not any("recombined" in row for row in found if row["id"] in stated)
    times = [when(row["created_at"]) for row in found]
    assert max(times) - min(times) > timedelta(days=365)
    assert len({row["text"] for row in found}) == len(found)


def test_what_is_remembered_is_asked_for_in_each_way() -> None:
    count = Counter(row["category"] for row in rows("remembered", "questions"))
    assert count == {"now": 59, "before": 16, "course": 12, "unchanged": 13, "never": 15}
    scopes = {row["chat"]: row["language"] for row in rows("remembered", "questions")}
    assert Counter(scopes.values()) == {"en": 5, "de": 1, "fr": 1}


def test_remembered_texts_and_messages_are_in_the_order_of_time() -> None:
    assert len(messages("remembered")) == len(rows("remembered", "messages"))
    last: dict[str, datetime] = {}
    for row in rows("remembered", "messages"):
        at = when(row["created_at"])
        assert last.get(row["chat"], at) <= at, row["id"]
        assert ("role" in row) != row.get("remembered", False), row["id"]
        last[row["chat"]] = at


def test_the_evidence_of_remembered_is_newer_than_what_it_replaces() -> None:
    for row in rows("remembered", "questions"):
        times = [
            when(messages("remembered")[row["chat"], id_]["created_at"])
            for id_ in (*row["older"], *row["evidence"])
        ]
        assert times == sorted(times), row["id"]
        assert bool(row["evidence"]) == row["answerable"]
        assert bool(row["older"]) == (row["category"] == "now"), row["id"]


def test_no_text_is_remembered_twice() -> None:
    texts = [row["text"] for row in (*rows("remembered", "pool"), *rows("remembered", "messages"))]
    replies = {row["text"] for row in rows("remembered", "messages") if "role" in row}
    assert len({*texts} - replies) == len([text for text in texts if text not in replies])


def test_asides_has_200_messages_that_ask_nothing_and_40_that_ask_memory() -> None:
    found = rows("asides", "messages")
    silent = Counter(row["language"] for row in found if not row["asks"])
    asking = Counter(row["language"] for row in found if row["asks"])
    assert silent == {"en": 100, "de": 25, "es": 25, "fr": 25, "it": 25}
    assert asking == {"en": 20, "de": 5, "es": 5, "fr": 5, "it": 5}
    assert len({row["id"] for row in found}) == len({row["text"] for row in found}) == 240


def test_each_message_of_asides_that_asks_has_the_memory_that_answers_it() -> None:
    for row in rows("asides", "messages"):
        assert row["asks"] == (row["category"] == "asks") == ("memory" in row), row["id"]
        assert row.get("memory", "-").strip()
        assert row.get("memory") != row["text"]


def test_every_language_of_asides_has_every_category() -> None:
    pairs = {(row["language"], row["category"]) for row in rows("asides", "messages")}
    assert len(pairs) == 5 * 12


def test_the_page_of_the_sets_counts_the_categories_of_asides() -> None:
    page = (DATA / "README.md").read_text(encoding="utf-8")
    for name, number in Counter(row["category"] for row in rows("asides", "messages")).items():
        assert f"| `{name}` | {number} |" in page


def test_facts_that_never_changed_are_followed_by_newer_ones() -> None:
    assert len(messages("steady")) == len(rows("steady", "messages"))
    count = Counter(row["category"] for row in rows("steady", "questions"))
    assert count == {"unchanged": 86, "now": 4}
    followed = 0
    for row in rows("steady", "questions"):
        (stated,) = (messages("steady")[row["chat"], id_] for id_ in row["evidence"])
        told_by = [one for one in rows("steady", "messages") if one["chat"] == row["chat"]]
        followed += (
            sum(when(one["created_at"]) > when(stated["created_at"]) for one in told_by) >= 3
        )
        assert (row["category"] == "now") == bool(row["older"]), row["id"]
    assert followed >= 80
