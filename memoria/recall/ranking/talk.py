"""Compute the features of a conversation: speakers, and the messages around each message.

In: a query, candidates, facts about them. Out: arrays by feature. Touches nothing.
`RelevanceConfig` explains each feature. Without roles, speakers, sessions and edges that say an
order, all features are 0, and memories rank as if these features did not exist.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memoria._support.sentences import asks, sentences
from memoria.graph.vocabulary import REMEMBERED
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.recall.ranking.substance import only_asks
from memoria.recall.ranking.words import Pool
from memoria.types import MemoryNode

Array = NDArray[np.float64]

USER, ASSISTANT = "user", "assistant"
# Matches a question about what "you" did in the past. "What would you suggest?" asks for something
# new and does not match. English, German, French, Spanish, Italian, Portuguese, Dutch, Russian.
_ASKS_YOU = re.compile(
    r"""
    \b(?: (?:did|had|have)\s+you | (?:were|was)\s+your
        | (?:hast|hattest)\s+du | (?:war|waren)\s+deine? | (?:haben|hatten)\s+Sie
        | (?:as|avais)-tu | (?:avez|aviez)-vous
        | (?:me|qué|cuál|cuáles|cómo|cuándo|dónde)\s+(?:me\s+)?(?:\w{2,}[ai]ste|has\s+\w+[dt]o)
        | (?:mi\s+)?(?:hai|avevi)\s+\w+[st]?to | você\s+(?:me\s+)?(?:disse|\w+[oei]u)
        | (?:heb|had|zei|gaf)\s+(?:je|jij|u)
        | ты\s+(?:мне\s+)?\w+ла? | вы\s+(?:мне\s+)?\w+ли )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Share of the odds of the session's best other message that a message gets. Not fitted, but chosen
# among several shares; see docs/project/ranking.md.
_SHARE = 0.2
# Openings of sessions with so many edges or fewer count fully.
_SHORT = 9


def talk_features(
    query: str, candidates: Sequence[Candidate], facts: Facts, pool: Pool, match: Array
) -> dict[str, Array]:
    """Compute the features of a conversation; each (N,).

    Parameters
    ----------
    pool
        The words of the query in the candidates' texts.
    match
        How well each candidate matches the query by itself; (N,), >= 0.

    Notes
    -----
    O(N T) for N candidates and T words of the query.
    """
    ids = [each.memory.id for each in candidates]
    by_role = _by_role(query, [role_of(each.memory) for each in candidates])
    return {
        **by_role,
        "speaker": _is_named(query, [speaker_of(each.memory) for each in candidates]),
        "echo": _echo(ids, facts, pool),
        "session": _session(ids, facts, match),
        "opening": _opening(candidates, facts, by_role["user"]),
    }


def role_of(memory: MemoryNode) -> str:
    """Return the role of the speaker, as chat models name it; "" if the memory has none."""
    role = memory.metadata.get("role")
    return role if isinstance(role, str) else ""


def speaker_of(memory: MemoryNode) -> str:
    """Return the name of the speaker; "" if it is not known."""
    speaker = memory.metadata.get("speaker")
    return speaker if isinstance(speaker, str) else ""


def asks_what_you_said(query: str) -> bool:
    """Tell whether a query is one question about what the assistant said or did earlier.

    >>> asks_what_you_said("Which dose did you recommend?")
    True
    >>> asks_what_you_said("Which dose would you recommend?")
    False
    """
    [asked, *others] = sentences(query)
    return not others and asks(asked) and _ASKS_YOU.search(asked) is not None


def _by_role(query: str, roles: Sequence[str]) -> dict[str, Array]:
    """Mark the user's messages, or the assistant's if the query asks for them.

    Nothing is marked unless the candidates include messages of both.
    """
    by_user = np.array([role == USER for role in roles], float)
    by_assistant = np.array([role == ASSISTANT for role in roles], float)
    if not (by_user.any() and by_assistant.any()):
        return {"user": np.zeros(len(roles)), "assistant": np.zeros(len(roles))}
    if asks_what_you_said(query):
        return {"user": np.zeros(len(roles)), "assistant": by_assistant}
    return {"user": by_user, "assistant": np.zeros(len(roles))}


def _is_named(query: str, speakers: Sequence[str]) -> Array:
    """Mark the messages of speakers whom the query names, by the whole name or a part of it.

    A part of a name counts only if it is capitalised, both in the name and within the query:
    neither "the project" nor "Project status?" names the "Project Manager".
    """
    words = re.findall(r"\w+", query)
    said = f" {' '.join(words).lower()} "
    capitals = {word for word in words[1:] if word[0].isupper()}
    named = {
        speaker: f" {' '.join(parts).lower()} " in said or not capitals.isdisjoint(parts)
        for speaker in {*speakers}
        if (parts := re.findall(r"\w{2,}", speaker))
    }
    return np.array([named.get(speaker, False) for speaker in speakers], float)


def _echo(ids: Sequence[str], facts: Facts, pool: Pool) -> Array:
    """Return the share of the query's words that are in the message and in the one before it.

    Only messages of a session count, because parts of a document always repeat its title.
    """
    held = pool.masses > 0
    found = np.zeros(len(ids))
    for row, before in _rows_before(ids, facts).items():
        held_before = held[before].any(axis=0) if before[1:] else held[before[0]]
        found[row] = (held[row] & held_before) @ pool.idf
    return found / float(pool.idf.sum() or 1.0)


def _rows_before(ids: Sequence[str], facts: Facts) -> dict[int, list[int]]:
    """Return, by row of a message of a session, the rows of the messages right before it."""
    place = {id_: row for row, id_ in enumerate(ids)}
    found = {}
    for row, id_ in enumerate(ids):
        adjacent = facts.adjacent.get(id_, ()) if id_ in facts.sessions else ()
        if not adjacent:
            continue
        before = [
            place[other]
            for other, _, outgoing in facts.neighbours.get(id_, ())
            if not outgoing and other in adjacent and other in place
        ]
        if before:
            found[row] = before
    return found


def odds_of_replies(
    query: str, by_query: Array, memories: Mapping[str, MemoryNode], facts: Facts
) -> Array:
    """Return the log odds that the assistant's replies get from the messages that they answer.

    They get some only if the query asks what the assistant said. The user's own earlier question is
    then often nearest to the query, but the answer is the reply: at least as likely as the message
    before it.

    Parameters
    ----------
    by_query
        As for `with_adjacent`.
    memories
        Id -> candidate, in the order of the sums.
    facts
        Facts about the candidates.

    Returns
    -------
    Array
        (N,); minus infinity for all other candidates.
    """
    found = np.full(len(by_query), -np.inf)
    if not asks_what_you_said(query):
        return found
    roles = [role_of(memory) for memory in memories.values()]
    for row, before in _rows_before([*memories], facts).items():
        asked = [by_query[other] for other in before if roles[other] == USER]
        if asked and roles[row] == ASSISTANT:
            found[row] = max(asked)
    return found


def _session(ids: Sequence[str], facts: Facts, match: Array) -> Array:
    """Return the best match of another message of the session, divided by the root of its size."""
    best, size = _best_others(match, ids, facts.sessions)
    return np.maximum(best, 0.0) / np.sqrt(size)


def _opening(candidates: Sequence[Candidate], facts: Facts, by_user: Array) -> Array:
    """Mark the user's messages that open a session; the larger the session, the less they count.

    A courtesy, or a text that only asks, opens nothing. A remembered text is complete by itself, so
    it gets as much as any message. Other memories outside of sessions, such as notes, get the mean
    of the messages, and so keep their places.
    """
    found = np.zeros(len(candidates))
    memories = [each.memory for each in candidates]
    outside = np.array([memory.id not in facts.sessions for memory in memories], bool)
    for row, memory in enumerate(memories):
        if memory.id in facts.opening and not only_asks(memory.text):
            _, size = facts.sessions[memory.id]
            found[row] = by_user[row] * math.sqrt(_SHORT / max(size, _SHORT))
    highest = found.max(initial=0.0)
    if not outside.all():
        found[outside] = found[~outside].mean()
    found[[memory.metadata.get(REMEMBERED) is True for memory in memories]] = highest
    return found


def with_session(
    sums: Array, by_query: Array, ids: Sequence[str], sessions: Mapping[str, tuple[str, int]]
) -> Array:
    """Return the sums of candidates, each with its gain from its session.

    The odds of a message, e to the power of its sum, grow by a fifth of the odds of the best other
    message of its session, divided by the root of the session's size. As in `with_adjacent`, these
    other odds come from the query alone, without learning.

    Parameters
    ----------
    sums, by_query, ids
        As for `with_adjacent`.
    sessions
        As `Facts.sessions`.

    Returns
    -------
    Array
        (N,); nowhere below ``sums``, and equal to them without sessions.
    """
    best, size = _best_others(by_query, ids, sessions)
    found: Array = np.logaddexp(sums, best + (np.log(_SHARE) - np.log(size) / 2))
    return found


def _best_others(
    values: Array, ids: Sequence[str], sessions: Mapping[str, tuple[str, int]]
) -> tuple[Array, Array]:
    """Return the best value among the other candidates of each one's session, and its size.

    Both (N,). Without another candidate of the session, the value is minus infinity.
    """
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, id_ in enumerate(ids):
        if id_ in sessions:
            rows[sessions[id_][0]].append(row)
    best, size = np.full(len(ids), -np.inf), np.ones(len(ids))
    for of_session in rows.values():
        if len(of_session) > 1:
            *_, second, first = sorted(of_session, key=lambda row: values[row])
            best[of_session] = values[first]
            best[first] = values[second]
            size[of_session] = max(sessions[ids[of_session[0]]][1], len(of_session))
    return best, size
