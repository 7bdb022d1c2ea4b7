"""Time phrases in questions, and the windows that they mean."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memoria.recall.seeds import joined
from memoria.recall.when import window_of
from memoria.recall.when.grammar import LANGUAGES
from memoria.recall.when.phrases import MAX_CHARS
from memoria.types import Seed, Seeds
from memoria.types.window import TimeWindow
from tests.for_each import for_each

NOW = datetime(2026, 5, 20, 14, 30, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 10, 14, 30, tzinfo=UTC)
CASES = Path(__file__).parents[3] / "cases"


def table(name: str) -> list[tuple[str, str]]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    parts = [line.rsplit("=", 1) for line in lines if not line.startswith("#")]
    return [(phrase.strip(), days.strip()) for phrase, days in parts]


LINES = table("when.txt")


def shown(window: TimeWindow | None) -> str:
    if window is None:
        return "none"
    ends = (window.starts, window.ends)
    return " ".join(end.strftime("%Y-%m-%d") if end else "-" for end in ends)


def test_there_are_at_least_three_hundred_phrases() -> None:
    assert len(LINES) >= 300


@for_each("phrase, days", LINES)
def test_phrase_means_its_window(phrase: str, days: str) -> None:
    assert shown(window_of(phrase, now=NOW)) == days


@for_each("question, days", table("future.txt"))
def test_in_the_future_tense_a_month_or_weekday_is_the_next_one(question: str, days: str) -> None:
    assert shown(window_of(question, now=NOVEMBER)) == days


@for_each(
    "now, days",
    [("2026-03-28", "2026-04-03 2026-04-07"), ("2026-04-20", "2027-03-26 2027-03-30")],
)
def test_easters_less_than_a_year_apart_are_not_skipped(now: str, days: str) -> None:
    asked = datetime.fromisoformat(now).replace(hour=12, tzinfo=UTC)
    assert shown(window_of("Where will we be at Easter?", now=asked)) == days


@for_each(
    "now, phrase, days",
    [
        ("2026-01-01", "last week", "2025-12-22 2025-12-29"),
        ("2026-01-01", "yesterday", "2025-12-31 2026-01-01"),
        ("2026-01-01", "last month", "2025-12-01 2026-01-01"),
        ("2026-01-01", "last quarter", "2025-10-01 2026-01-01"),
        ("2026-01-31", "a month ago", "2025-12-01 2026-01-01"),
        ("2026-03-31", "over the last month", "2026-02-28 2026-04-01"),
        ("2024-02-29", "a year ago", "2023-01-01 2024-01-01"),
        ("2024-02-29", "over the last year", "2023-02-28 2024-03-01"),
        ("2024-02-29", "on February 29", "2024-02-29 2024-03-01"),
        ("2026-02-10", "this winter", "2025-12-01 2026-03-01"),
        ("2026-07-10", "last summer", "2025-06-01 2025-09-01"),
        ("2026-11-26", "last summer", "2026-06-01 2026-09-01"),
        ("2026-05-17", "last weekend", "2026-05-09 2026-05-11"),  # a Sunday
        ("2026-05-17", "last week", "2026-05-04 2026-05-11"),
        ("2026-05-18", "last week", "2026-05-11 2026-05-18"),  # a Monday
        ("2026-05-18", "on Monday", "2026-05-11 2026-05-12"),
        ("2026-12-25", "last Christmas", "2025-12-24 2025-12-27"),
        ("2026-12-28", "last Christmas", "2026-12-24 2026-12-27"),
        ("0001-01-01", "last year", "none"),
        ("0001-01-03", "two weeks ago", "none"),
        ("9999-12-31", "next year", "none"),
    ],
)
def test_edges_of_years_weeks_and_leap_days(now: str, phrase: str, days: str) -> None:
    moment = datetime.fromisoformat(now).replace(hour=12, tzinfo=UTC)
    assert shown(window_of(phrase, now=moment)) == days


LATE = datetime(2026, 5, 20, 23, 30, tzinfo=UTC)  # the 21st in Berlin
EAST = datetime(2026, 5, 20, 1, tzinfo=timezone(timedelta(hours=10)))


@pytest.mark.parametrize(
    ("phrase", "now", "zone", "starts"),
    [
        ("yesterday", LATE, ZoneInfo("Europe/Berlin"), datetime(2026, 5, 19, 22, tzinfo=UTC)),
        ("today", EAST, None, datetime(2026, 5, 19, 14, tzinfo=UTC)),
    ],
)
def test_days_begin_in_the_zone_of_the_caller_or_of_the_present(
    phrase: str, now: datetime, zone: ZoneInfo | None, starts: datetime
) -> None:
    window = window_of(phrase, now=now, zone=zone)
    assert window is not None
    assert (window.starts, window.ends) == (starts, starts + timedelta(days=1))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25)])
def test_a_day_of_a_changed_clock_has_its_own_length(day: str, hours: int) -> None:
    window = window_of(f"on {day}", now=NOW, zone=ZoneInfo("Europe/Berlin"))
    assert window is not None
    assert window.starts is not None
    assert window.ends is not None
    assert window.ends - window.starts == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("phrase", "minutes"), [("2 hours ago", (-150, -90)), ("in the last hour", (-60, 1))]
)
def test_hours_lie_around_the_clock(phrase: str, minutes: tuple[int, int]) -> None:
    window = window_of(phrase, now=NOW)
    assert window is not None
    first, last = (NOW + timedelta(minutes=each) for each in minutes)
    assert (window.starts, window.ends) == (first, last)


ONLY_A_TIME = [
    "What did I do last week?",
    "Show me everything from yesterday.",
    "What happened in May?",
    "Summarise the last 3 days",
    "What did we talk about on Monday?",
    "Was habe ich letzte Woche gemacht?",
    "Was ist im Mai passiert?",
    "Qu'est-ce que j'ai fait la semaine dernière ?",
    "¿Qué hice la semana pasada?",
    "Cosa ho fatto la settimana scorsa?",
    "O que eu fiz na semana passada?",
    "Wat heb ik vorige week gedaan?",
    "Что я делал на прошлой неделе?",
]
MORE_THAN_A_TIME = [
    "What did I say about the boat in May?",
    "Who fixed the oven last week?",
    "Wer hat letzte Woche den Ofen repariert?",
    "¿Quién arregló el horno la semana pasada?",
]


@for_each(
    "question, only",
    [*((one, True) for one in ONLY_A_TIME), *((one, False) for one in MORE_THAN_A_TIME)],
)
def test_some_questions_ask_for_nothing_but_a_time(question: str, only: bool) -> None:
    window = window_of(question, now=NOW)
    assert window is not None
    assert window.only is only


def test_the_phrase_is_as_it_was_written() -> None:
    window = window_of("Was war, im  MÄRZ 2025, los?", now=NOW)
    assert window is not None
    assert window.phrase == "im  MÄRZ 2025"


def test_a_long_text_is_no_question() -> None:
    assert window_of("yesterday " + "x" * MAX_CHARS, now=NOW) is None


def test_nothing_ends_in_an_error() -> None:
    """Try words of all tables, numbers and signs in any order."""
    rng = random.Random(7)
    words = [
        word
        for table in LANGUAGES.values()
        for text in table.values()
        for word in text.replace("/", " ").replace("_", " ").split()
        if word.isalpha()
    ]
    words += [*"?!.,:-/'’|(){}[]\\^$*+", "0", "29", "31", "2024", "9999", "٣", "½", "\u0301", "🙂"]
    for _ in range(3_000):
        text = " ".join(rng.choice(words) for _ in range(rng.randrange(1, 9)))
        for now in (NOW, NOW.replace(year=1), NOW.replace(year=9999)):
            window_of(text, now=now)


@pytest.mark.parametrize("seeds", [(), (Seed(id="a", score=1.0),)])
def test_faults_of_the_search_within_a_time_are_reported_too(seeds: tuple[Seed, ...]) -> None:
    found = Seeds(seeds=seeds, degraded=("no embedder", "late"))
    hits = Seeds(seeds=(Seed(id="b", score=0.5),), degraded=("late", "vector search failed"))
    both = joined(found, hits)
    assert both.degraded == ("no embedder", "late", "vector search failed")
