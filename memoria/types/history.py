"""Traces of use and linking in a scope: on memories, on edges, between memories, on its clock.

In: values from a file or the graph, checked once. Out: frozen data. With it a scope that is
exported, and ingested elsewhere, continues there from the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar, get_args

from memoria._support import checks
from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.types.learning import SuppressionKind

T = TypeVar("T")

MAX_TIMES = 1_000
MAX_COUNT = 2**53
MAX_WEIGHT = 1e300


class _History:
    """A part of the history of a scope, each field of which may be missing."""

    __slots__ = ()

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the properties in the graph."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def said(self) -> dict[str, Any]:
        """Return the fields that have a value, as JSON values."""
        values = {name: getattr(self, name) for name in self.names()}
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in values.items()
            if value not in (None, ())
        }

    def stored(self) -> dict[str, Any]:
        """Return all fields as the graph stores them; None for a missing field."""
        return {name: _stored(getattr(self, name)) for name in self.names()}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHistory(_History):
    """Traces of use and linking on a memory.

    Attributes
    ----------
    active_hours
        Hour of the scope's clock when the memory was last linked or used; >= 0.
    linked_at
        When the memory was linked; None if its text has changed since.
    linked_before
        True if an earlier text of the memory was linked, and its present text is not linked yet.
    use_count
        How often the memory was used.
    use_times
        Times of its latest uses; epoch seconds, the latest at the end.
    confirmed, overridden
        How often the memory proved right, and how often it was contradicted.
    right_for, wrong_for
        The questions that it proved right, or wrong, for; the latest at the end.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the message names the field.
    """

    active_hours: float | None = None
    linked_at: datetime | None = None
    linked_before: bool | None = None
    use_count: int | None = None
    use_times: Iterable[float] = ()
    confirmed: int | None = None
    overridden: int | None = None
    right_for: Iterable[str] = ()
    wrong_for: Iterable[str] = ()

    def __post_init__(self) -> None:
        for name in ("right_for", "wrong_for"):
            questions = _listed(getattr(self, name), name, "strings", checks.check_string)
            object.__setattr__(self, name, questions)
        _check_numbers(self, "active_hours")
        _check_times(self, "linked_at")
        if self.linked_before is not None and not isinstance(self.linked_before, bool):
            raise InvalidInputError("linked_before must be true or false", field="linked_before")
        _check_counts(self, "use_count", "confirmed", "overridden")
        object.__setattr__(self, "use_times", _moments(self.use_times, "use_times"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeHistory(_History):
    """Traces of use and linking on an edge, in addition to its weight.

    Attributes
    ----------
    origin
        Part of memoria that made the edge: ``ingest``, ``similarity`` or ``learned``.
    uses, last_used_at
        How often the edge was used, and when it was used last.
    lif_weight
        Weight of the edge for leaky integrate and fire; >= 0.
    base_weight
        The part of the weight that does not fade; >= 0.
    given_weight
        The weight that a writer gave the edge, if learning has changed it since; >= 0.
    promoted_uses
        Number of uses when the learned weight was last made permanent.
    decayed_at
        Time up to which the weight has faded.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the message names the field.
    """

    origin: str | None = None
    uses: int | None = None
    last_used_at: datetime | None = None
    lif_weight: float | None = None
    base_weight: float | None = None
    given_weight: float | None = None
    promoted_uses: int | None = None
    decayed_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.origin is not None:
            checks.check_id(self.origin, "origin")
        _check_counts(self, "uses", "promoted_uses")
        _check_numbers(self, "lif_weight", "base_weight", "given_weight")
        _check_times(self, "last_used_at", "decayed_at")

    @property
    def is_that_of_ingest(self) -> bool:
        """Whether an ingest of the edge alone would leave the same."""
        return self.said().items() <= {"origin": "ingest", "uses": 0}.items()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """States that a memory suppresses another.

    Attributes
    ----------
    source, target
        Ids of the two memories; with ``conflicts`` each suppresses the other.
    suppresses
        Kind of suppression: ``conflicts``, ``overrides``, ``deprecated-to`` or ``merged-into``.
    created_at
        When this was stated; None for the time of writing.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the message names the field.
    """

    source: str
    target: str
    suppresses: SuppressionKind
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        _check_ends(self.source, self.target)
        kinds = get_args(SuppressionKind)
        if not isinstance(self.suppresses, str) or self.suppresses not in kinds:
            raise InvalidInputError(
                f"suppresses must be one of {', '.join(kinds)}", field="suppresses"
            )
        _check_times(self, "created_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoActivation:
    """Two memories that were active together, but not often enough for an edge yet.

    Attributes
    ----------
    source, target
        Ids of the two memories, ``source`` < ``target``.
    co_activated
        Times at which both were active; epoch seconds, the latest at the end.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the message names the field.
    """

    source: str
    target: str
    co_activated: Iterable[float]

    def __post_init__(self) -> None:
        _check_ends(self.source, self.target)
        times = _moments(self.co_activated, "co_activated")
        if not times:
            raise InvalidInputError("co_activated must contain a time", field="co_activated")
        object.__setattr__(self, "co_activated", times)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeClock(_History):
    """How long a scope was in use.

    Attributes
    ----------
    active_hours
        Hours of use; >= 0.
    last_active_at
        When the scope was last in use.
    log_since
        Start of the log of learning in the scope that ingests this. Earlier learning is in effect
        there, but can't be undone. None if nothing was learned.

    Raises
    ------
    InvalidInputError
        A field has the wrong type or is out of its range; the message names the field.
    """

    active_hours: float | None = None
    last_active_at: datetime | None = None
    log_since: datetime | None = None

    def __post_init__(self) -> None:
        _check_numbers(self, "active_hours")
        _check_times(self, "last_active_at", "log_since")


#: Items of a scope's history that have lines of their own in a file.
HistoryItem = Suppression | CoActivation | ScopeClock

MEMORY_HISTORY = MemoryHistory.names()
EDGE_HISTORY = EdgeHistory.names()
#: Everything that memoria stores on the node of a memory.
MEMORY_PROPERTIES = (
    "id",
    "scope",
    "scope_key",
    "text",
    "connector_name",
    "search_words",
    "tags",
    "topics",
    "entities",
    "category",
    "priority",
    "when",
    "created_at",
    "valid_until",
    "metadata",
    "metadata_pairs",
    "embedding",
    "superseded_by",
    "superseded_at",
    *MEMORY_HISTORY,
)


def _check_ends(source: object, target: object) -> None:
    checks.check_id(source, "source")
    checks.check_id(target, "target")
    if source == target:
        raise InvalidInputError(
            f"target must be another memory than source, both are {source!r}", field="target"
        )


def _check_numbers(instance: object, *names: str) -> None:
    for name in names:
        if (value := getattr(instance, name)) is not None:
            number = checks.check_number(value, name, low=0, high=MAX_WEIGHT)
            object.__setattr__(instance, name, number)


def _check_counts(instance: object, *names: str) -> None:
    for name in names:
        if (value := getattr(instance, name)) is not None:
            checks.check_whole(value, name, low=0, high=MAX_COUNT)


def _check_times(instance: object, *names: str) -> None:
    for name in names:
        if (value := getattr(instance, name)) is not None:
            object.__setattr__(instance, name, aware_time(value, name))


def aware_time(value: object, field: str) -> datetime:
    """Return a time that says where it is; a naive one counts as UTC."""
    if not isinstance(value, datetime):
        how = ": datetime.fromisoformat makes one of it" if isinstance(value, str) else ""
        raise InvalidInputError(
            f"{field} must be a datetime, got {kind_of(value)}{how}", field=field
        )
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def utc_time(value: object, field: str) -> datetime:
    """Return a time in UTC; a naive one counts as UTC."""
    return in_utc(aware_time(value, field), field)


def in_utc(value: datetime, field: str) -> datetime:
    """Return the same instant in UTC, if it lies within the years 1 to 9999 there."""
    try:
        return value.astimezone(UTC)
    except (OverflowError, ValueError) as exc:
        raise InvalidInputError(
            f"{field} is outside the years 1 to 9999 in UTC", field=field
        ) from exc


def _moments(values: object, field: str) -> tuple[float, ...]:
    """Return epoch seconds as a tuple, if each is a finite number."""
    check = partial(checks.check_number, low=-MAX_WEIGHT, high=MAX_WEIGHT)
    return _listed(values, field, "numbers", check)


def _listed(
    values: object, field: str, of: str, check: Callable[[object, str], T]
) -> tuple[T, ...]:
    """Return values as a tuple, in their order, if each is right and they are not too many."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{field} must be a list of {of}", field=field)
    found = tuple(check(value, field) for value in values)
    if len(found) > MAX_TIMES:
        raise InvalidInputError(
            f"{field} has {len(found)} entries; at most {MAX_TIMES} are allowed", field=field
        )
    return found


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return (list(value) or None) if isinstance(value, tuple) else value
