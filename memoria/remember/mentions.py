"""What a text mentions: the names and words by which it is joined to other texts.

In: a text. Out: `Mention`s. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from memoria._support.checks import check_number, check_string
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError

MentionKind = Literal["phrase", "word", "quote", "identifier", "link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """Something that a text mentions; texts that mention the same are joined by a topic.

    Attributes
    ----------
    name
        The name of the topic, in the form in which all texts share it.
    kind
        What it is.
    weight
        Weight of the edge to the topic, 0 to 1.
    shown
        A form of the name for people to read; None: the name. The topic is shown in the shortest
        of its forms, in small letters.
    """

    name: str
    kind: MentionKind
    weight: float
    shown: str | None = None

    def __post_init__(self) -> None:
        check_string(self.name, "name")
        check_number(self.weight, "weight", low=0, high=1)
        if self.shown is not None:
            check_string(self.shown, "shown")


def best_form(*forms: str) -> str:
    """Return the form in which a topic is shown: the same, in whatever order forms are found.

    >>> best_form("deliveries", "delivery")
    'delivery'
    """
    return min(forms, key=lambda form: (len(form), form))


@runtime_checkable
class Extractor(Protocol):
    """Finds what a text mentions. Implement it to use a model of your own."""

    def extract(self, text: str) -> Iterable[Mention]:
        """Return the mentions of a text, each name once."""
        ...


def mentions_in(text: str, extractor: Extractor) -> tuple[Mention, ...]:
    """Return the mentions that an extractor finds; third-party extractors are checked.

    Raises
    ------
    InvalidInputError
        The extractor returned something other than mentions.
    """
    found: object = extractor.extract(text)
    mentions = tuple(found) if isinstance(found, Iterable) else (found,)
    for each in mentions:
        if not isinstance(each, Mention):
            raise InvalidInputError(f"an extractor must return Mentions, got {kind_of(each)}")
    return mentions
