"""Learning events: their ids, the statement that applies each event once, and their undoing.

In: the values that an event writes. Out: reports. Queries: those of `Event.query`, ``learn.log``,
``learn.undo``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from memoria._support.checks import check_id
from memoria.errors import InvalidInputError
from memoria.formulas.plasticity import DAY_S, oja_terms
from memoria.graph.vocabulary import CO_ACTIVATED, CONFLICTS, DIRECTIONAL, ORIGIN_LEARNED, clock_key
from memoria.learn.config import LearnConfig
from memoria.learn.trails import CoActive
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import LearningKind, LearnReport, SuppressionKind, UndoReport

#: How many times of use a memory keeps, the latest ones.
MAX_USE_TIMES = 32
#: How many questions a memory keeps that it proved right for, and wrong for, the latest ones; and
#: how much of each.
MAX_QUESTIONS = 8
MAX_QUESTION_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event to be applied once.

    Attributes
    ----------
    kind
        The call that makes it.
    query
        The statement that applies it.
    ids
        Memories that the event touches. They are locked in the order of their ids, as every writer
        locks them, so that two writers never wait for each other.
    parameters
        Further parameters of the statement.
    """

    id: str
    kind: LearningKind
    query: str
    ids: Iterable[str]
    parameters: Mapping[str, Any]


def event_id_of(given: str | None, *content: object) -> str:
    """Return the given id, or else an id made of the content of the event.

    An event with the same content has the same id, and counts once. Without content, the id is new.
    """
    if given is not None:
        return check_id(given, "event_id")
    if not content:
        return uuid4().hex
    text = json.dumps(content, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def event_key(scope: str, id_: str) -> str:
    """Return the key of an event's node: unique over all scopes, and of bounded size.

    >>> event_key("a:b", "c") == event_key("a", "b:c")
    False
    """
    text = json.dumps([scope, id_], ensure_ascii=True)
    return f"event:{hashlib.sha256(text.encode()).hexdigest()}"


def use_event(
    id_: str,
    kind: LearningKind,
    edges: Sequence[list[Any]],
    memories: Sequence[list[Any]],
    hours: float,
    question: str,
) -> Event:
    """Make the event of a use, from rows for ``learn.reinforce`` and the scope's hour.

    ``question`` is what was asked; it counts only where there are ``memories``.
    """
    ends = [end for row in edges for end in row[:2]]
    return Event(
        id=id_,
        kind=kind,
        query="learn.reinforce",
        ids=[*ends, *(row[0] for row in memories)],
        parameters={
            "hours": hours,
            "max_questions": MAX_QUESTIONS,
            "max_times": MAX_USE_TIMES,
            "memories": list(memories),
            "origin": ORIGIN_LEARNED,
            "question": question[:MAX_QUESTION_CHARS],
            "rows": list(edges),
        },
    )


def co_activation_event(id_: str, pairs: Sequence[CoActive], config: LearnConfig) -> Event:
    """Make the event of pairs that were active together."""
    return Event(
        id=id_,
        kind="co_activate",
        query="learn.co_activate",
        ids=[end for pair in pairs for end in (pair.one, pair.other)],
        parameters={
            "increment": config.increment,
            "needed": config.co_activations,
            "origin": ORIGIN_LEARNED,
            "relation": CO_ACTIVATED,
            "rows": [
                [pair.one, pair.other, *oja_terms(pair.earlier, pair.later, eta=config.eta)]
                for pair in pairs
            ],
            "window_s": config.window_days * DAY_S,
        },
    )


def suppression_event(
    id_: str, kind: LearningKind, pairs: Sequence[tuple[str, str]], suppression: SuppressionKind
) -> Event:
    """Make the event of memories that suppress others; ``pairs`` are (source, target)."""
    return Event(
        id=id_,
        kind=kind,
        query="learn.suppress",
        ids=[end for pair in pairs for end in pair],
        parameters={
            "directional": list(DIRECTIONAL),
            "rows": list(map(list, pairs)),
            "suppression": suppression,
            "symmetric": suppression == CONFLICTS,
        },
    )


async def apply(store: Store, scope: str, now: datetime, event: Event) -> LearnReport:
    """Apply an event in one transaction, unless it was applied before. ``now`` is aware.

    Raises
    ------
    InvalidInputError
        The id belongs to an event of another kind.
    """
    parameters = {
        **event.parameters,
        "call": uuid4().hex,
        "event": event_key(scope, event.id),
        "event_id": event.id,
        "ids": sorted(set(event.ids)),
        "key": clock_key(scope),
        "kind": event.kind,
        "now": now,
        "scope": scope,
        "time": now.timestamp(),
    }
    row = (await store.run(load(event.query), parameters))[0]
    if row["kind"] != event.kind:
        raise InvalidInputError(
            f"event_id belongs to an event of kind {row['kind']}: give each event its own id",
            field="event_id",
        )
    return LearnReport(
        event_id=event.id,
        applied=bool(row["fresh"]),
        memories=row["memories"],
        edges=row["changed"],
        edges_created=row["created"],
        pairs=row["pairs"],
        suppressions=row["suppressions"],
    )


async def undo_since(store: Store, scope: str, since: datetime, now: datetime) -> UndoReport:
    """Undo the events of a scope from ``since`` on; both times are aware.

    Each event takes one transaction. The newest event comes first, so that each event finds the
    weights that it wrote, unless something else has written them since.
    """
    key = clock_key(scope)
    log = await store.run(load("learn.log"), {"key": key, "since": since})
    keys: list[str] = log[0]["events"]
    gone = log[0]["log_since"]
    log_since = None if gone is None else gone.to_native()
    undo = uuid4().hex
    events = restored = kept = 0
    for event in keys:
        parameters = {
            "directional": list(DIRECTIONAL),
            "event": event,
            "key": key,
            "now": now,
            "scope": scope,
            "undo": undo,
        }
        row = (await store.run(load("learn.undo"), parameters))[0]
        if row["undone"]:
            events += 1
            restored += row["restored"]
            kept += row["changes"] - row["restored"]
    return UndoReport(since=since, events=events, restored=restored, kept=kept, log_since=log_since)
