"""Compute what a conversation tells about its messages: who speaks, and what was said around them.

In: a query, candidates, facts about them. Out: arrays by feature. Touches nothing.
`RelevanceConfig` says what each feature means. All are 0 where nothing is known of speakers and
sessions, so texts that nobody said rank as if these features did not exist.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoria.graph.vocabulary import ANSWER, REQUEST
from memoria.ranking.candidates import Candidate, Facts
from memoria.ranking.words import Pool
from memoria.types import MemoryNode

Array = NDArray[np.float64]

USER, ASSISTANT = "user", "assistant"
# Roles of memories that no conversation writer made.
_ROLES = {REQUEST: USER, ANSWER: ASSISTANT}
# Asks for what "you" did in the past. "What would you suggest?" wants something new, and so is no
# such question. English, German, French, Spanish, Italian, Portuguese, Dutch, Russian.
_ASKS_YOU = re.compile(
    r"""
    \b(?: (?:did|had|have|were|was)\s+your? | (?:hast|hattest|war|waren)\s+(?:du|deine?)
        | (?:haben|hatten)\s+Sie | (?:as|avais)-tu | (?:avez|aviez)-vous
        | (?:me\s+)?\w{2,}[ai]ste | (?:me\s+)?has\s+\w+[dt]o | (?:mi\s+)?(?:hai|avevi)\s+\w+[st]?to
        | você\s+(?:me\s+)?(?:disse|\w+[oei]u) | (?:heb|had|zei|gaf)\s+(?:je|jij|u)
        | ты\s+(?:мне\s+)?\w+ла? | вы\s+(?:мне\s+)?\w+ли )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Ends a sentence within a text.
_SENTENCE_END = re.compile(r"[.!?。！？]\s|\n")
_LEAST_NAME_CHARS = 2


def talk_features(
    query: str, candidates: Sequence[Candidate], facts: Facts, pool: Pool, match: Array
) -> dict[str, Array]:
    """Compute the features of what was said; each (N,).

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
    return {
        **_by_role(query, [role_of(each.memory) for each in candidates]),
        "speaker": _is_named(query, [speaker_of(each.memory) for each in candidates]),
        "echo": _echo(ids, facts, pool),
        "session": _session(ids, facts, match),
    }


def role_of(memory: MemoryNode) -> str:
    """Return the role of who said it, as chat models name it; "" if nobody is known."""
    role = memory.metadata.get("role")
    return role if isinstance(role, str) else _ROLES.get(memory.kind, "")


def speaker_of(memory: MemoryNode) -> str:
    """Return the name of who said it; "" if none is known."""
    speaker = memory.metadata.get("speaker")
    return speaker if isinstance(speaker, str) else ""


def asks_what_you_said(query: str) -> bool:
    """Tell whether a query is one question, and asks for what the assistant said earlier.

    >>> asks_what_you_said("Which dose did you recommend?")
    True
    >>> asks_what_you_said("Which dose would you recommend?")
    False
    """
    asked = query.strip()
    one = asked.endswith("?") and _SENTENCE_END.search(asked) is None
    return one and _ASKS_YOU.search(asked) is not None


def _by_role(query: str, roles: Sequence[str]) -> dict[str, Array]:
    """Mark what the user said; or, where the question asks for it, what the assistant said."""
    by_user = np.array([role == USER for role in roles], float)
    by_assistant = np.array([role == ASSISTANT for role in roles], float)
    if not (by_user.any() and by_assistant.any()):
        return {"user": np.zeros(len(roles)), "assistant": np.zeros(len(roles))}
    if asks_what_you_said(query):
        return {"user": np.zeros(len(roles)), "assistant": by_assistant}
    return {"user": by_user, "assistant": np.zeros(len(roles))}


def _is_named(query: str, speakers: Sequence[str]) -> Array:
    """Mark what was said by those whom the query names, by their whole name or a part of it."""
    words = {*re.findall(r"\w+", query.lower())}
    named = {
        speaker
        for speaker in {*speakers}
        if any(
            len(part) >= _LEAST_NAME_CHARS and part in words
            for part in re.findall(r"\w+", speaker.lower())
        )
    }
    return np.array([speaker in named for speaker in speakers], float)


def _echo(ids: Sequence[str], facts: Facts, pool: Pool) -> Array:
    """Return the share of the query's words that the message right before holds, too."""
    place = {id_: row for row, id_ in enumerate(ids)}
    held = pool.masses > 0
    found = np.zeros(len(ids))
    for row, id_ in enumerate(ids):
        beside = facts.beside.get(id_, ())
        before = [
            place[other]
            for other, _, outgoing in facts.neighbours.get(id_, ())
            if not outgoing and other in beside and other in place
        ]
        if before:
            found[row] = (held[row] & held[before].any(axis=0)) @ pool.idf
    return found / float(pool.idf.sum() or 1.0)


def _session(ids: Sequence[str], facts: Facts, match: Array) -> Array:
    """Return the best match of another message of the session, over the root of its size."""
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, id_ in enumerate(ids):
        if id_ in facts.sessions:
            rows[facts.sessions[id_][0]].append(row)
    found = np.zeros(len(ids))
    for of_session in rows.values():
        if len(of_session) > 1:
            *_, second, best = sorted(of_session, key=lambda row: match[row])
            size = max(facts.sessions[ids[best]][1], len(of_session))
            found[of_session] = match[best] / np.sqrt(size)
            found[best] = match[second] / np.sqrt(size)
    return found
