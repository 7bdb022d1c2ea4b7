"""Statements about one thing: the newest first, or in order of time. Cases checked by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.ranking import (
    NOTHING_KNOWN,
    Candidate,
    Facts,
    Likeness,
    rank_by_relevance,
)
from memoria.recall.ranking.about import NO_SUBJECT, Subject, about
from memoria.recall.ranking.alike import to_compare
from memoria.recall.ranking.changes import Changes, Replacements, replacements
from memoria.recall.ranking.config import RelevanceConfig
from memoria.remember.statement import Statement
from memoria.types import MemoryNode, RankedMemory
from memoria.types.window import Tense, TimeWindow, When
from tests.for_each import for_each
from tests.unit.recall.ranking.test_relevance import lone

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
BY_WORDS = RelevanceConfig(weights={"bm25": 3.0})


def said(name: str, text: str, day: int | None, role: str = "user", **more: str) -> Candidate:
    made = None if day is None else FIRST + timedelta(days=day)
    metadata = {"role": role, **more}
    node = MemoryNode(id=name, kind="Event", text=text, created_at=made, metadata=metadata)
    return Candidate(memory=node, path=lone(name, 0.5))


OLD = said("old", "My boss is Ann Lee", 1)
NEW = said("new", "Ben Kerr became my boss", 90)
NOTES = [said(f"n{day:02}", f"Bought {day} apples at the market", day) for day in range(10, 40)]
FAR, NEAR = 0.5, 0.85


def alike(*near: tuple[str, str], among: list[Candidate]) -> dict[str, dict[str, float]]:
    """Return the cosines of every statement with every other one; `near` pairs are alike."""
    pairs = {frozenset(pair) for pair in near}
    ids = [one.memory.id for one in among]
    return {
        one: {other: NEAR if {one, other} in pairs else FAR for other in ids if other != one}
        for one in ids
    }


def ranked(
    *all_: Candidate,
    when: Tense | TimeWindow | None,
    near: list[tuple[str, str]],
    query: str = "Who is my boss?",
    facts: Facts = NOTHING_KNOWN,
) -> tuple[RankedMemory, ...]:
    facts = replace(facts, alike=alike(*near, among=[*all_]))
    known = When(window=when) if isinstance(when, TimeWindow) else When(tense=when)
    return rank_by_relevance(query, sorted_(all_), facts, BY_WORDS, None, known)


def sorted_(all_: tuple[Candidate, ...]) -> list[Candidate]:
    return sorted(all_, key=lambda one: one.memory.id)


def first_ids(found: tuple[RankedMemory, ...], count: int) -> list[str]:
    return [one.id for one in found[:count]]


def test_a_question_about_the_present_gets_the_newest_statement_then_the_older() -> None:
    words = ranked(OLD, NEW, *NOTES, when=None, near=[("old", "new")])
    found = ranked(OLD, NEW, *NOTES, when="present", near=[("old", "new")])
    assert first_ids(words, 2) == ["old", "new"]
    assert first_ids(found, 2) == ["new", "old"]
    assert {one.id: one.newer for one in found if one.newer} == {"old": "new"}
    assert found[0].shares["newest"] > 0 > found[1].shares["newest"]
    assert [one.id for one in found[2:]] == [one.id for one in words[2:]]


@pytest.mark.parametrize("tense", ["past", "course"])
def test_a_question_about_the_past_or_a_course_gets_them_in_order_of_time(tense: Tense) -> None:
    last = said("last", "Since today, Cem Ates is the boss", 120)
    near = [("old", "new"), ("new", "last"), ("old", "last")]
    found = ranked(NEW, last, OLD, *NOTES, when=tense, near=near)
    assert first_ids(found, 3) == ["old", "new", "last"]
    assert [one.newer for one in found[:3]] == ["last", "last", None]


def test_the_newest_of_three_gets_the_odds_of_both() -> None:
    last = said("last", "Cem Ates leads the team now", 120)
    near = [("old", "new"), ("new", "last")]
    found = ranked(OLD, NEW, last, *NOTES, when="present", near=near)
    assert found[0].id == "last"
    assert next(one for one in found if one.id == "old").newer == "last"


def test_statements_that_are_not_alike_stay_as_they_are() -> None:
    assert ranked(OLD, NEW, *NOTES, when="present", near=[]) == ranked(
        OLD, NEW, *NOTES, when=None, near=[]
    )


@for_each("tense", ["present", "past", "course"])
@for_each(
    "old, new",
    [
        (said("old", "My boss is Ann Lee", None), said("new", "Ben Kerr became my boss", 90)),
        (said("old", "My boss is Ann Lee", 90), said("new", "Ben Kerr became my boss", None)),
        (said("old", "My boss is Ann Lee", 90), said("new", "Ben Kerr became my boss", 90)),
        (OLD, said("new", "Is Ben Kerr my boss?", 90)),
        (OLD, said("new", "Ben Kerr became your boss", 90, role="assistant")),
        (
            said("old", "My boss is Ann Lee", 1, role="other", speaker="Tom"),
            said("new", "Ben Kerr became my boss", 90, role="other", speaker="Tom"),
        ),
        (
            said("old", "My boss is Ann Lee", 1, speaker="Tom"),
            said("new", "Ben Kerr became my boss", 90, speaker="Ida"),
        ),
    ],
)
def test_nothing_replaces_what_is_not_an_older_statement_of_the_same_person(
    old: Candidate, new: Candidate, tense: Tense
) -> None:
    near = [("old", "new")]
    found = ranked(old, new, *NOTES, when=tense, near=near)
    assert found == ranked(old, new, *NOTES, when=None, near=near)


def test_without_cosines_between_statements_nothing_changes() -> None:
    all_ = sorted_((OLD, NEW, *NOTES))
    plain = rank_by_relevance("Who is my boss?", all_, NOTHING_KNOWN, BY_WORDS)
    past = When(tense="past")
    assert rank_by_relevance("Who is my boss?", all_, NOTHING_KNOWN, BY_WORDS, None, past) == plain


def test_where_the_question_names_a_time_that_time_counts() -> None:
    window = TimeWindow(phrase="in January", starts=FIRST, ends=FIRST + timedelta(days=31))
    found = ranked(OLD, NEW, *NOTES, when=window, near=[("old", "new")])
    assert found[0].id == "old"
    assert not any(one.newer for one in found)


def test_a_question_about_today_prefers_this_day_and_the_newest_statement() -> None:
    met = said("met", "The boss cancelled the meeting", 100)
    day = TimeWindow(
        phrase="today", starts=FIRST + timedelta(days=100), ends=FIRST + timedelta(days=101)
    )
    facts = replace(NOTHING_KNOWN, alike=alike(("old", "new"), among=[OLD, NEW, met, *NOTES]))
    found = rank_by_relevance(
        "Who is my boss today?",
        sorted_((OLD, NEW, met, *NOTES)),
        facts,
        BY_WORDS,
        None,
        When(window=day, tense="present"),
    )
    shares = {one.id: one.shares for one in found}
    assert shares["met"]["in_window"] > 0 < shares["new"]["newest"]
    assert next(one for one in found if one.id == "old").newer == "new"


def test_what_the_assistant_repeated_is_outdated_too() -> None:
    echo = said("echo", "As Ann Lee is your boss, ask Ann Lee, your boss", 2, role="assistant")
    near = [("old", "new"), ("echo", "new")]
    found = ranked(OLD, NEW, echo, *NOTES, when="present", near=near)
    assert first_ids(found, 1) == ["new"]
    assert next(one for one in found if one.id == "echo").newer == "new"


def test_an_answer_to_an_outdated_statement_loses_as_much_as_the_statement() -> None:
    answer = said("old-2", "My boss is strict, too", 1, role="assistant")
    facts = replace(NOTHING_KNOWN, adjacent={"old": ["old-2"]})
    near = [("old", "new")]
    before = ranked(OLD, NEW, answer, *NOTES, when=None, near=near, facts=facts)
    found = ranked(OLD, NEW, answer, *NOTES, when="present", near=near, facts=facts)
    share = {one.id: one.shares.get("newest", 0.0) for one in found}
    assert share["old-2"] == pytest.approx(share["old"])
    assert share["old"] < 0
    assert {one.id for one in before} == {one.id for one in found}


def log_odds(shares: Replacements, older: str = "old", newer: str = "new") -> float:
    share = shares[older][newer]
    return math.log(share / (1 - share))


def test_the_probability_of_a_replacement_by_hand() -> None:
    # Cosines of `old`: 30 of 0.5 and one of 0.85. Mean (30 * 0.5 + 0.85) / 31 = 0.51129; mean
    # square of the distances from it (30 * 0.01129**2 + 0.33871**2) / 31 = 0.003824, root 0.06184.
    # The cosine stands out by 0.33871 / 0.06184 = 5.477. Its sum is 2 below the best, so the log
    # odds are -4.0 + 2.0 * 5.477 - 0.2 * 2 = 6.55.
    all_ = sorted_((OLD, NEW, *NOTES))
    facts = replace(NOTHING_KNOWN, alike=alike(("old", "new"), among=all_))
    sums = np.array([-2.0 if one.memory.id == "new" else 0.0 for one in all_])
    replaced, answers, _ = replacements(all_, sums, facts, NO_SUBJECT)
    assert replaced.keys() == answers.keys() == {"old"}
    assert log_odds(replaced) == log_odds(answers) == pytest.approx(6.55, abs=0.01)


def test_with_two_statements_the_usual_mean_and_deviation_count() -> None:
    # One cosine of 0.85 and seven of mean 0.5 and deviation 0.1: mean 4.35 / 8 = 0.54375; mean
    # square (0.30625**2 + 7 * (0.1**2 + 0.04375**2)) / 8 = 0.022148, root 0.14882. It stands out
    # by 2.0578: log odds -4.0 + 2.0 * 2.0578 = 0.1157.
    all_ = sorted_((OLD, NEW))
    facts = replace(NOTHING_KNOWN, alike=alike(("old", "new"), among=all_))
    replaced, *_ = replacements(all_, np.zeros(2), facts, NO_SUBJECT)
    assert log_odds(replaced) == pytest.approx(0.1157, abs=0.001)


def test_a_statement_that_is_nearer_to_others_hardly_replaces_this_one() -> None:
    # As in the first test, but three notes are nearer to `new` than `old` is: the log odds are
    # lower by 1.6 * ln(1 + 3) = 2.218.
    all_ = sorted_((OLD, NEW, *NOTES))
    facts = replace(NOTHING_KNOWN, alike=alike(("old", "new"), among=all_))
    alone, *_ = replacements(all_, np.zeros(len(all_)), facts, NO_SUBJECT)
    near = {one.memory.id: {"new": 0.9} for one in NOTES[:3]}
    crowded = replace(facts, alike={"old": facts.alike["old"], **near})
    found, *_ = replacements(all_, np.zeros(len(all_)), crowded, NO_SUBJECT)
    assert log_odds(alone) - log_odds(found) == pytest.approx(2.218, abs=0.001)


def test_a_newer_statement_that_is_farther_from_the_subject_hardly_replaces_the_older_one() -> None:
    # `new` is 2 deviations less near than `old`: 1.4 * 2 less. As an answer, its own nearness of
    # 1 deviation counts half: 1.2 * 1 * 0.5 more. A nearer one gains only by its own nearness.
    all_ = sorted_((OLD, NEW, *NOTES))
    facts = replace(NOTHING_KNOWN, alike=alike(("old", "new"), among=all_))
    sums = np.zeros(len(all_))
    plain, *_ = replacements(all_, sums, facts, NO_SUBJECT)
    away = Subject(counts=0.5, near={"old": 3.0, "new": 1.0})
    replaced, answers, _ = replacements(all_, sums, facts, away)
    assert log_odds(replaced) - log_odds(plain) == pytest.approx(-2.8)
    assert log_odds(answers) - log_odds(plain) == pytest.approx(-2.8 + 0.6)
    toward = Subject(counts=0.5, near={"old": 1.0, "new": 3.0})
    replaced, answers, _ = replacements(all_, sums, facts, toward)
    assert log_odds(replaced) == pytest.approx(log_odds(plain))
    assert log_odds(answers) - log_odds(plain) == pytest.approx(1.2 * 3.0 * 0.5)


def test_two_likely_statements_are_compared_as_answers_without_their_cosine() -> None:
    # Log odds -1.6 + 1.2 * 2.0 = 0.8; the other way round, nothing: the older one replaces none.
    subject = Subject(counts=1.0, near={"old": 2.0, "new": 2.0}, likely={"old": 0.6, "new": 0.6})
    replaced, answers, _ = replacements([OLD, NEW], np.zeros(2), NOTHING_KNOWN, subject)
    assert replaced == {}
    assert answers.keys() == {"old"}
    assert log_odds(answers) == pytest.approx(0.8)


@for_each("share, kept", [(0.09, False), (0.11, True)])
def test_a_replacement_counts_from_a_probability_of_a_tenth_on(share: float, kept: bool) -> None:
    # Log odds -1.6 + 1.2 * near.
    near = (math.log(share / (1 - share)) + 1.6) / 1.2
    subject = Subject(counts=1.0, near={"old": near, "new": near}, likely={"old": 0.5, "new": 0.5})
    _, answers, sure = replacements([OLD, NEW], np.zeros(2), NOTHING_KNOWN, subject)
    assert bool(answers) == kept
    assert not sure


def test_a_cosine_that_is_not_a_number_replaces_nothing() -> None:
    facts = replace(NOTHING_KNOWN, alike={"old": {"new": math.nan}})
    assert replacements([OLD, NEW], np.zeros(2), facts, NO_SUBJECT) == ({}, {}, {})


@for_each("likely, marked", [(0.92, False), (0.94, True)])
def test_two_statements_that_are_surely_about_the_subject_mark_the_older_one(
    likely: float, marked: bool
) -> None:
    subject = Subject(counts=1.0, likely={"old": likely, "new": 0.99})
    *_, sure = replacements([OLD, NEW], np.zeros(2), NOTHING_KNOWN, subject)
    assert sure == ({"old": ["new"]} if marked else {})
    # The same text twice changes nothing.
    same = replace(NOTHING_KNOWN, alike={"old": {"new": 0.99}})
    *_, sure = replacements([OLD, NEW], np.zeros(2), same, subject)
    assert sure == {}


def test_the_cosine_and_the_subject_mark_together() -> None:
    # By the cosine 0.529 (two statements, above), by the subject 0.9: 1 - 0.471 * 0.1 = 0.953.
    all_ = sorted_((OLD, NEW))
    facts = replace(NOTHING_KNOWN, alike=alike(("old", "new"), among=all_))
    *_, sure = replacements(all_, np.zeros(2), facts, NO_SUBJECT)
    assert sure == {}
    subject = Subject(likely={"old": 0.9, "new": 0.9})
    *_, sure = replacements(all_, np.zeros(2), facts, subject)
    assert sure == {"old": ["new"]}


def test_an_assistants_answer_that_is_outdated_itself_passes_on_its_odds_once() -> None:
    answer = said("old-2", "So your boss is Ann Lee", 2, role="assistant")
    memories = {one.memory.id: one.memory for one in (OLD, answer, NEW)}
    answers = {"old": {"new": 0.5}, "old-2": {"new": 0.5}}
    changes = Changes(memories=memories, replaced={}, answers=answers, adjacent={"old": ["old-2"]})
    assert np.exp(changes.with_newest(np.zeros(3))).tolist() == pytest.approx([0.5, 0.5, 2.0])


def test_several_weak_guesses_make_no_statement_outdated() -> None:
    memories = {one.memory.id: one.memory for one in (OLD, NEW, *NOTES)}
    weak = {"old": {one.memory.id: 0.3 for one in NOTES[:6]}}
    sums = np.arange(len(memories), 0.0, -1.0)
    changes = Changes(memories=memories, replaced=weak, adjacent={}, likely={"old": 0.3})
    assert changes.with_former(sums).tolist() == sums.tolist()


def test_only_statements_with_a_vector_and_several_times_are_compared() -> None:
    memories = [one.memory for one in (OLD, NEW, said("bye", "Thanks!", 3))]
    assert to_compare(memories, {"old": 0.4, "new": 0.5, "bye": 0.9}) == (
        ["new", "old"],
        ["old", "new"],
    )
    assert to_compare(memories, {"old": 0.4}) == ([], [])


@pytest.mark.parametrize(
    "question", ["Who is my boss?", "私の上司は誰ですか？", "Who is my boss? 🤔"]
)
def test_a_question_states_nothing(question: str) -> None:
    memories = [one.memory for one in (OLD, NEW, said("asked", question, 100))]
    cosines = {"old": 0.4, "new": 0.5, "asked": 0.9}
    assert to_compare(memories, cosines) == (["new", "old"], ["old", "new"])


def test_events_outside_of_a_conversation_do_not_replace_each_other() -> None:
    """The guess made a sample's sales figures of one week outdated by those of another."""
    both = [replace(one.memory, metadata={}) for one in (OLD, NEW)]
    cosines = {"old": 0.4, "new": 0.5}
    assert to_compare(both, cosines) == ([], [])
    preferences = [replace(one, kind="UserPreference") for one in both]
    assert to_compare(preferences, cosines) == (["new", "old"], ["old", "new"])


def test_events_that_were_remembered_one_by_one_may_replace_each_other() -> None:
    both = [
        Statement(
            id=one.memory.id, text=one.memory.text, scope="ada", created_at=one.memory.created_at
        ).memory
        for one in (OLD, NEW)
    ]
    assert to_compare(both, {"old": 0.4, "new": 0.5}) == (["new", "old"], ["old", "new"])


@given(st.lists(st.floats(-30, 30), min_size=6, max_size=6), st.floats(0.34, 1))
def test_passing_odds_on_neither_makes_nor_loses_any(sums: list[float], share: float) -> None:
    memories = {f"s{n}": said(f"s{n}", f"statement number {n}", n).memory for n in range(6)}
    replaced = {one: {other: share} for one, other in pairwise(memories)}
    changes = Changes(memories=memories, replaced=replaced, answers=replaced, adjacent={})
    given_ = np.array(sums)
    found = changes.with_newest(given_)
    assert np.logaddexp.reduce(found) == pytest.approx(np.logaddexp.reduce(given_))
    assert sorted(changes.in_time(given_)) == pytest.approx(
        sorted(changes.in_time(found * 0 + given_))
    )


def test_of_two_best_statements_the_first_id_is_put_in_order_of_time() -> None:
    memories = [said(name, f"statement {name}", n).memory for n, name in enumerate("abyz")]
    changes = Changes(
        memories={one.id: one for one in memories},
        replaced={"a": {"b": 1.0}, "y": {"z": 1.0}},
        adjacent={},
    )
    found = changes.in_time(np.array([1.0, 0.0, 0.0, 1.0]))
    assert found.tolist() == [1.0, 1.0, 0.0, 1.0]


def probed(**cosines: float) -> dict[str, float]:
    """Return cosines with the probe: those given, and 0.0 and 0.2 in turn for the notes."""
    notes = {one.memory.id: (0.0, 0.2)[row % 2] for row, one in enumerate(NOTES)}
    return {**notes, **cosines}


def test_the_probability_to_be_about_the_subject_by_hand() -> None:
    # 15 cosines of 0.0, 15 of 0.2, one of 0.5, and 40 examples, whose mean is 0.1 and deviation
    # 0.1: mean 7.5 / 71 = 0.10563; mean of the squares (15 * 0.2**2 + 0.5**2 + 40 * 2 * 0.1**2) /
    # 71 = 0.02324; deviation sqrt(0.02324 - 0.10563**2) = 0.10992. The statement stands out by
    # 0.39437 / 0.10992 = 3.588, and its sum is 2 below the best: log odds
    # -3.9 + 1.95 * 3.588 - 0.14 * 2 = 2.816.
    all_ = [OLD, *NOTES]
    sums = np.array([-2.0, *[0.0] * len(NOTES)])
    facts = replace(NOTHING_KNOWN, asks=1.0, probed=probed(old=0.5), usual=(0.1, 0.1))
    found = about(all_, sums, facts, present=True)
    assert found.near["old"] == pytest.approx(3.588, abs=0.001)
    assert math.log(1 / found.likely["old"] - 1) == pytest.approx(-2.816, abs=0.005)


def test_among_many_statements_about_a_subject_each_is_still_about_it() -> None:
    # Their own mean alone would make each usual. With 40 examples: mean 0.2, deviation 0.22.
    same = [said(f"same{n}", f"I work at number {n}", n) for n in range(10)]
    cosines = {one.memory.id: 0.6 for one in same}
    facts = replace(NOTHING_KNOWN, asks=1.0, probed=cosines, usual=(0.1, 0.1))
    found = about(same, np.zeros(10), facts, present=True).likely
    assert len(found) == 10
    assert min(found.values()) > 0.4


def test_likely_statements_come_in_order_of_time_without_a_clear_replacement() -> None:
    memories = [said(name, f"statement {name}", n).memory for n, name in enumerate("abc")]
    by_id = {one.id: one for one in memories}
    likely = {"a": 0.3, "b": 0.1, "c": 0.4}
    changes = Changes(memories=by_id, replaced={}, adjacent={}, likely=likely)
    found = changes.in_time(np.array([-3.0, -1.0, 0.0]))
    # The share of a is 0.3, so its sum becomes log 0.3; then both are in order of time.
    assert found.tolist() == pytest.approx([0.0, -1.0, math.log(0.3)])


def test_few_statements_say_nothing_about_the_subject() -> None:
    facts = replace(NOTHING_KNOWN, asks=1.0, probed={"old": 0.9, "new": 0.1})
    assert about([OLD, NEW], np.zeros(2), facts, present=True) == NO_SUBJECT
    assert about([OLD, *NOTES], np.zeros(31), NOTHING_KNOWN, present=True) == NO_SUBJECT


def test_in_the_present_a_memory_far_ahead_of_the_next_outweighs_the_subject() -> None:
    # Its sum is 1.5 above the next one at most: the subject counts fully; 2.0: half; 2.5: not.
    all_ = [OLD, NEW, *NOTES]
    facts = replace(NOTHING_KNOWN, asks=1.0, probed=probed(old=0.5, new=0.5), usual=(0.1, 0.1))

    def counts(lead: float, *, present: bool = True) -> float:
        sums = np.array([lead, *[0.0] * (len(all_) - 1)])
        return about(all_, sums, facts, present=present).counts

    assert counts(0.0) == counts(1.5) == counts(9.0, present=False) == 1.0
    assert counts(2.0) == pytest.approx(0.5)
    assert counts(2.5) == 0.0


def test_a_memory_about_something_else_that_matches_the_question_outweighs_its_subject() -> None:
    # Its margin is (cosine - 0.4) / 0.4: 0.25 at a cosine of 0.5, half way at 0.52, 0.35 at 0.54.
    asked = said("asked", "Who is my boss now?", 100)
    all_ = [OLD, NEW, asked, *NOTES]
    facts = replace(NOTHING_KNOWN, asks=1.0, probed=probed(old=0.5, new=0.5), usual=(0.1, 0.1))
    like = Likeness(aside=0.4, leaning=0.4, spread=0.4, unrelated=0.4)

    def likely(**cosines: float) -> float:
        known = replace(facts, like=like, cosines=cosines)
        return about(all_, np.zeros(len(all_)), known, present=True).likely.get("new", 0.0)

    full = about(all_, np.zeros(len(all_)), facts, present=True).likely["new"]
    assert full > 0.9
    assert likely(n10=0.3) == likely(n10=0.5) == full
    assert likely(n10=0.52) == pytest.approx(full / 2)
    assert likely(n10=0.55) == 0.0
    # A statement about the subject may match as well as it likes: a newer one is still an answer.
    # An earlier question, and a memory that is not a candidate, answer nothing.
    assert likely(old=0.9) == likely(asked=0.9) == likely(elsewhere=0.9) == full


def test_in_the_present_a_memory_that_matches_as_well_as_an_example_outweighs_the_subject() -> None:
    # The nearest example has the margin 1. A memory has (cosine - 0.4) / 0.4: half of it at a
    # cosine of 0.6, 0.6 of it at 0.64, 0.7 of it at 0.68.
    asked = said("asked", "Who is my boss now?", 100)
    all_ = [OLD, NEW, asked, *NOTES]
    facts = replace(NOTHING_KNOWN, asks=1.0, probed=probed(old=0.5, new=0.5), usual=(0.1, 0.1))
    like = Likeness(aside=0.4, leaning=0.4, spread=0.4, unrelated=0.4)

    def likely(*, present: bool = True, **cosines: float) -> float:
        known = replace(facts, like=like, asked=1.0, cosines=cosines)
        return about(all_, np.zeros(len(all_)), known, present=present).likely.get("new", 0.0)

    full = likely()
    assert full > 0.9
    assert likely(old=0.6) == likely(asked=0.9) == likely(old=0.9, present=False) == full
    assert likely(old=0.64) == pytest.approx(full / 2)
    assert likely(old=0.68) == 0.0


def test_a_statement_in_other_words_comes_first_if_it_is_the_newest_about_the_subject() -> None:
    implied = said("implied", "Torunn took over the group, she signs my holidays", 120)
    facts = replace(
        NOTHING_KNOWN, asks=1.0, probed=probed(old=0.7, new=0.7, implied=0.7), usual=(0.05, 0.05)
    )
    found = ranked(OLD, NEW, implied, *NOTES, when="present", near=[], facts=facts)
    assert first_ids(found, 3) == ["implied", "new", "old"]
    assert {one.id: one.newer for one in found[:3]} == {
        "implied": None,
        "new": "implied",
        "old": "implied",
    }
    for tense in ("past", "course"):
        found = ranked(OLD, NEW, implied, *NOTES, when=tense, near=[], facts=facts)
        assert first_ids(found, 3) == ["old", "new", "implied"]


def test_in_the_past_a_surely_outdated_statement_comes_before_a_doubtful_older_one() -> None:
    doubtful = said("doubtful", "The tall one from the office waved", 0)
    memories = {one.memory.id: one.memory for one in (doubtful, OLD, NEW)}
    likely = {"doubtful": 0.25, "old": 0.9, "new": 0.9}
    changes = Changes(memories=memories, replaced={}, adjacent={}, likely=likely)
    sums = changes.with_former(np.zeros(3))
    assert sums.argsort()[::-1].tolist() == [1, 0, 2]
    # As probable as it is, times a tenth and nine tenths of the odds that a newer one replaces it.
    assert sums[1] - sums[2] == pytest.approx(np.log((0.1 + 0.9 * 0.9) / 0.1))


def test_in_the_past_a_statement_that_nothing_has_outdated_keeps_its_place() -> None:
    memories = {one.memory.id: one.memory for one in (OLD, *NOTES)}
    changes = Changes(memories=memories, replaced={}, adjacent={}, likely={"old": 0.3})
    sums = np.arange(len(memories), 0.0, -1.0)
    assert changes.with_former(sums).tolist() == sums.tolist()


def test_the_subject_alone_makes_an_implied_answer_relevant() -> None:
    changes = Changes(
        memories={"a": OLD.memory, "b": NEW.memory}, replaced={}, adjacent={}, likely={"b": 0.8}
    )
    assert changes.relevance().tolist() == [0.0, 0.8]
