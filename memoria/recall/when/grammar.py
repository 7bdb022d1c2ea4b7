"""Compile the tables of a language into patterns, and map their words to meanings.

In: the tables of the languages. Out: a `Grammar` for each language. Touches nothing.

In the lists of a table, a space separates entries, and ``/`` separates spellings of one entry; an
underscore is a space within an entry. Patterns are one per line. In them, ``{u}`` is a unit,
``{n}`` a number, ``{d}`` a day of a month, ``{m}`` a month, ``{w}`` a weekday, ``{q}`` an ordinal
of a quarter, ``{y}`` an optional year and ``{year}`` a required one. ``{x}`` is anything that can
be last or next: a unit, weekday, weekend, month, season or holiday. Texts are compared without
accents and apostrophes, and with a space around every sign.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from memoria.recall.when.germanic import GERMANIC
from memoria.recall.when.romance import ROMANCE
from memoria.recall.when.slavic import SLAVIC

#: Meanings of the entries of ``units``, ``days`` and ``holidays``, in order.
UNITS: Final = ("minute", "hour", "day", "week", "month", "quarter", "year")
DAYS: Final = (-2, -1, 0, 1, 2)
HOLIDAYS: Final = (
    *("christmas_eve", "christmas", "new_years_eve", "new_year", "easter", "valentine"),
    "halloween",
)
LANGUAGES: Final = GERMANIC | ROMANCE | SLAVIC

#: Kind of a phrase, and its pattern.
Pattern: TypeAlias = tuple[str, re.Pattern[str]]

_LISTS = {
    "u": "units",
    "w": "weekdays",
    "m": "months",
    "s": "seasons",
    "h": "holidays",
    "q": "ordinals",
    "day": "days",
}
_YEAR = r"(?P<y>(?:19|20)\d\d)"
_ORDINAL = r"(?: (?:st|nd|rd|th|er|e|o|a|го|\.))?"
_SLOT = re.compile(r"\{([a-z]\w*)\}")


def folded(text: str) -> str:
    """Return a text in lower case, without accents.

    >>> folded("Été")
    'ete'
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


class Grammar:
    """The patterns of a language.

    Attributes
    ----------
    meaning
        Name of a slot -> word -> its index in the list, or its number.
    strong, weak
        Phrases that count alone, and those that count only after a word such as "in".
    intro, since, until, before, after
        Words before a phrase.
    ranges
        Pairs of words around the first of two phrases, such as "from" and "to".
    never
        Words, such as "every", after which nothing is a phrase.
    unless
        Exceptions: texts that look like a phrase but are not.
    names
        Whether capitalised words may be names.
    """

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = {name: folded(text) for name, text in table.items()}
        numbers = enumerate(_entries(table["numbers"]), 1)
        self.meaning: dict[str, dict[str, int]] = {
            slot: _by_place(_entries(table[name])) for slot, name in _LISTS.items()
        }
        self.meaning["n"] = {word: number for number, words in numbers for word in words}
        self.meaning["n"] |= dict.fromkeys(_entries(table["few"])[0], 0)
        self._slots = self._slots_of()
        self.strong = [*self._strong()]
        self.weak = [self._compiled("x", "(?:{m}|{s}|{h}|{w}|{e})"), self._compiled("x", _YEAR)]
        self.intro, self.since, self.until, self.before, self.after = map(
            self._words, ("in", "since", "until", "before", "after")
        )
        self.ranges = [
            (self._words("from"), self._words("to")),
            (self._words("between"), self._words("and")),
        ]
        self.never = re.compile(rf" (?:{self._table['never']}) $")
        self.unless = re.compile(
            self._table["unless"] or "(?!)"
        )  # including the sign or letter after it
        self.names = table is LANGUAGES["english"]

    def _words(self, name: str) -> re.Pattern[str]:
        return re.compile(rf"(?:{self._table[name]}) {self._table['the']}")

    def _compiled(self, kind: str, pattern: str) -> Pattern:
        filled = _SLOT.sub(lambda slot: self._slots[slot[1]], pattern)
        return kind, re.compile(f"(?:{filled})(?= )")

    def _slots_of(self) -> dict[str, str]:
        """Return the pattern that replaces each name in braces."""
        table = self._table
        slots = {name: f"(?P<{name}>{_any_of(words)})" for name, words in self.meaning.items()}
        slots["n"] = rf"(?P<n>\d{{1,4}}|{_any_of(self.meaning['n'])})"
        slots["e"] = f"(?P<e>{_any_of(_entries(table['weekend'])[0])})"
        slots["night"] = _any_of(_entries(table["night"])[0])
        slots["d"], slots["d2"] = (rf"(?P<{d}>[0-3]?\d){_ORDINAL}" for d in ("d", "d2"))
        last, this = f"(?P<ly>{table['last_year']})", f"(?P<ty>{table['this_year']})"
        slots["year"] = f"(?:{table['of']} {_YEAR}|{last}|{this})"
        slots["y"] = f"{slots['year']}?"
        slots["x"] = f"(?:{'|'.join(slots[name] for name in 'uwemsh')})"
        return slots

    def _strong(self) -> Iterator[Pattern]:
        table = self._table
        yield self._compiled("day", "{day}")
        yield self._compiled("night", "(?:{night})")
        kinds = ("prev", "this", "next", "past", "ago", "ahead", "spans", "dates", "first", "final")
        for kind in kinds:
            for pattern in table[kind].split("\n"):
                yield self._compiled(kind, pattern)
        for pattern in table["quarter"].replace("(?p<", "(?P<").split("\n"):
            yield self._compiled("x", f"{pattern}{{y}}")
        for number, pattern in enumerate(table["parts"].split("\n")):
            yield self._compiled(f"part{number}", f"(?:{pattern}) {{m}}{{y}}")
        yield self._compiled("x", "(?:{m}|{s}|{h}){year}")
        yield self._compiled("week after", f"{{w}}(?:{table['week_after']})")
        yield self._compiled("x", table["bare"])


def _entries(text: str) -> list[list[str]]:
    """Return the entries of a list, each as a list of spellings."""
    entries = folded(text).split()
    return [[one.replace("_", " ") for one in entry.split("/")] for entry in entries]


def _by_place(entries: list[list[str]]) -> dict[str, int]:
    return {word: place for place, words in enumerate(entries) for word in words}


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern that matches any of the words, longest first, with dots escaped."""
    return "|".join(word.replace(".", r"\.") for word in sorted(words, key=len, reverse=True))


@cache
def grammar(language: str) -> Grammar:
    """Return the grammar of a language, compiled once."""
    return Grammar(LANGUAGES[language])


@cache
def triggers() -> dict[str, frozenset[str]]:
    """Return language -> words; every time phrase of a language contains one of its words."""
    lists = ("units", "weekend", "weekdays", "months", "seasons", "holidays", "days", "night")
    return {
        language: frozenset(
            max(phrase.split(), key=len)
            for name in lists
            for words in _entries(table[name])
            for phrase in words
        )
        | {"q", "t"}
        for language, table in LANGUAGES.items()
    }
