"""A text that is to be remembered, and what is known of it, checked.

In: what a caller gives to `GraphWriter.remember`. Out: a `Statement`. Touches nothing.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypedDict

from memoria._support.checks import check_ids, mended_text
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError, ScopeError
from memoria.graph.vocabulary import ABOUT, CAUSED_BY, REMEMBERED, REQUEST
from memoria.types import Memory, Trace

#: Weights of the edges to what caused a memory, and to what it is about.
CAUSE_WEIGHT = 0.9
ABOUT_WEIGHT = 0.7


class RememberOptions(TypedDict, total=False):
    """The options of `GraphWriter.remember`; its docstring explains them."""

    kind: str
    id: str | None
    tags: Iterable[str]
    about: Iterable[str]
    because_of: Iterable[str]
    supersedes: Iterable[str]
    created_at: datetime | None
    valid_until: datetime | None
    duplicates: Literal["skip", "keep"]
    after: Trace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text to be remembered; `GraphWriter.remember` explains the arguments.

    Attributes
    ----------
    memory
        The memory as it is written if nothing says the same.

    Raises
    ------
    InvalidInputError
        A field is not valid; the error names it.
    ScopeError
        ``after`` is the trace of another scope.
    """

    text: str
    scope: str
    kind: str = "Event"
    id: str | None = None
    tags: Iterable[str] = ()
    about: Iterable[str] = ()
    because_of: Iterable[str] = ()
    supersedes: Iterable[str] = ()
    created_at: datetime | None = None
    valid_until: datetime | None = None
    duplicates: Literal["skip", "keep"] = "skip"
    after: Trace | None = None
    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", mended_text(self.text, "text"))
        if not self.text:
            raise InvalidInputError("text is blank: there is nothing to remember", field="text")
        memory = Memory(
            id=content_id(self.scope, self.text) if self.id is None else self.id,
            kind=self.kind,
            text=self.text,
            tags=self.tags,  # type: ignore[arg-type]  # a Memory takes any iterable
            metadata={REMEMBERED: True},
            created_at=self.created_at,
            valid_until=self.valid_until,
        )
        object.__setattr__(self, "memory", memory)
        for name in ("about", "because_of", "supersedes"):
            ids = check_ids(getattr(self, name), name)
            if memory.id in ids:
                raise InvalidInputError(f"{name} names the memory itself", field=name)
            object.__setattr__(self, name, ids)
        if self.duplicates not in ("skip", "keep"):
            raise InvalidInputError("duplicates must be skip or keep", field="duplicates")
        if self.after is not None and not isinstance(self.after, Trace):
            raise InvalidInputError(
                f"after must be the Trace of a recall, got {kind_of(self.after)}", field="after"
            )
        if self.after is not None:
            after = self.after.of(self.scope)
            if after is None:
                raise ScopeError("after is the trace of another scope", field="after")
            object.__setattr__(self, "after", after)

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """The edges to other memories: (target, relation, weight)."""
        return [
            *((id_, ABOUT, ABOUT_WEIGHT) for id_ in self.about),
            *((id_, CAUSED_BY, CAUSE_WEIGHT) for id_ in self.because_of),
        ]

    @property
    def named(self) -> tuple[str, ...]:
        """The memories that must exist, sorted."""
        return tuple(sorted({*self.about, *self.because_of, *self.supersedes}))

    @property
    def answers(self) -> tuple[str, ...]:
        """What may have answered a question: what its recall packed, best first.

        Empty for what is not a question, and where ``because_of`` says what it rests on.
        """
        if self.kind != REQUEST or self.after is None or self.because_of:
            return ()
        return self.after.packed


def content_id(scope: str, text: str) -> str:
    """Return the id of a text in a scope: the same for all who remember this text.

    Spaces and the encoding of accents do not count.

    >>> content_id("ada", "It rains.") == content_id("ada", " It  rains.")
    True
    >>> content_id("ada", "It rains.") == content_id("ada", "It rains!")
    False
    """
    digest = hashlib.sha256(json.dumps([scope, plain_text(text)]).encode())
    return f"mem-{digest.hexdigest()[:24]}"


def plain_text(text: str) -> str:
    """Return a text as it is compared: accents in one encoding, and one space between words."""
    return " ".join(unicodedata.normalize("NFC", text).split())
