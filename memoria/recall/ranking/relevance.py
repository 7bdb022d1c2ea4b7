"""Order the memories that a recall found by how relevant they are to the query.

In: a query, candidates, and facts about them. Out: `RankedMemory`s. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from memoria.graph.vocabulary import CONFLICTS
from memoria.recall.ranking.calibration import of_question, probabilities
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.recall.ranking.changes import Changes, changes_of, with_changes, with_order
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.features import Array, features
from memoria.recall.ranking.folding import folded
from memoria.recall.ranking.history import HistoryConfig, history_features, history_weights
from memoria.recall.ranking.needs import turned, with_needs
from memoria.recall.ranking.order import adjacent_of, with_adjacent
from memoria.recall.ranking.talk import odds_of_replies, with_session
from memoria.recall.ranking.within import with_window
from memoria.types import Edge, MemoryNode, RankedMemory
from memoria.types.window import ANY_TIME, When

# By how much the newer of two memories in conflict exceeds the older one: enough for an order.
_MORE = 1e-9


def rank_by_relevance(
    query: str,
    candidates: Sequence[Candidate],
    facts: Facts,
    config: RelevanceConfig,
    history: HistoryConfig | None = None,
    when: When = ANY_TIME,
) -> tuple[RankedMemory, ...]:
    """Rank candidates by the weighted sum of their features, and raise companions of likely ones.

    Companions are neighbours in one text, messages of one session, and memories that likely ones
    need. The parts of a message are one candidate; see `memoria.recall.ranking.folding`.

    With ``history``, the known past of a memory counts as well. ``when`` is the time that the
    query is about; for its tense, see `memoria.recall.ranking.changes`.

    The score of a memory is in (0, 1] and relative to the best one: e to the power of the
    difference of the two sums. In the model that the weights were fitted for, that is the ratio of
    the two odds. Its relevance is a probability, by the calibration that belongs to the weights;
    without a vector, it is not known. Ties by id.
    """
    if not candidates:
        return ()
    candidates, facts = folded(candidates, facts)
    values = features(query, candidates, facts)
    weights = dict(config.weights)
    by_query = by_features = weighted_sum(values, weights)
    if history is not None:
        values |= history_features(query, candidates, facts.past, history.least_shared)
        weights |= history_weights(history)
        by_features = weighted_sum(values, weights)
    shares = {name: weights[name] * column for name, column in values.items() if weights[name]}
    memories = {each.memory.id: each.memory for each in candidates}
    adjacent = adjacent_of({id_: one.text for id_, one in memories.items()}, facts.adjacent)
    changes = changes_of(candidates, by_query, facts, adjacent=adjacent, tense=when.tense)
    steps = _steps(query, by_features, by_query, changes, facts, when)
    _note_steps(values, shares, by_features, steps)
    total = steps["in_time"]
    scores = np.exp(total - total.max()).tolist()
    relevance: list[float] | list[None] = [None] * len(candidates)
    if facts.cosines and (like := facts.like) is not None:
        known = of_question(like, max(facts.cosines.values()))
        values |= {name: np.full(len(candidates), value) for name, value in known.items()}
        if config.calibration is not None:
            by_match = probabilities(values, total, config.calibration)
            relevance = np.maximum(by_match, changes.relevance()).tolist()
    newer = changes.newer()
    needed_by = turned({id_: facts.needs.get(id_, {}) for id_ in memories})
    ranked = {
        (-sum_, candidate.memory.id): RankedMemory(
            memory=candidate.memory,
            score=score,
            path=candidate.path,
            features=of_features,
            shares=of_shares,
            relevance=probability,
            needed_by=needed_by.get(candidate.memory.id, {}),
            adjacent=adjacent.get(candidate.memory.id, ()),
            session=facts.sessions.get(candidate.memory.id),
            newer=newer.get(candidate.memory.id),
        )
        for candidate, sum_, score, probability, of_features, of_shares in zip(
            candidates,
            total.tolist(),
            scores,
            relevance,
            _by_row(values),
            _by_row(shares),
            strict=True,
        )
    }
    return tuple(ranked[place] for place in sorted(ranked))


def _steps(
    query: str,
    by_features: Array,
    by_query: Array,
    changes: Changes,
    facts: Facts,
    when: When,
) -> dict[str, Array]:
    """Return the sums after each step, by its name, in order."""
    ids = [*changes.memories]
    times = [memory.created_at for memory in changes.memories.values()]
    by_query = with_changes(changes, changes.with_subject(by_query), when.tense)
    found = {"subject": changes.with_subject(by_features)}
    found["newest"] = with_changes(changes, found["subject"], when.tense)
    replied = odds_of_replies(query, by_query, changes.memories, facts)
    found["reply"] = np.logaddexp(found["newest"], replied)
    by_query = np.logaddexp(by_query, replied)
    found["adjacent"] = with_adjacent(found["reply"], by_query, ids, changes.adjacent)
    found["in_session"] = with_session(found["adjacent"], by_query, ids, facts.sessions)
    found["needed"] = with_needs(found["in_session"], ids, facts.needs)
    found["wanted"] = with_needs(found["needed"], ids, facts.wanted)
    found["conflicts"] = _with_newer_first(found["wanted"], changes.memories, facts.edges)
    found["in_window"] = with_window(found["conflicts"], times, when.window)
    found["in_time"] = with_order(changes, found["in_window"], when.tense)
    return found


def _with_newer_first(
    sums: Array, memories: Mapping[str, MemoryNode], edges: Iterable[Edge]
) -> Array:
    """Give the newer of two conflicting memories at least the sum of the older one.

    Without two different times, the one that matches better stays first. The context shows the
    conflict; see `memoria.recall.context.arrange`.
    """
    pairs = []
    for edge in edges:
        one, other = memories.get(edge.source), memories.get(edge.target)
        if edge.relation != CONFLICTS or one is None or other is None:
            continue
        if one.created_at and other.created_at and one.created_at != other.created_at:
            older, newer = (one, other) if one.created_at < other.created_at else (other, one)
            pairs.append((older.created_at, older.id, newer.id))
    if not pairs:
        return sums
    row_of = {id_: row for row, id_ in enumerate(memories)}
    found = sums.copy()
    for _, older_id, newer_id in sorted(pairs):
        least = found[row_of[older_id]] + _MORE
        found[row_of[newer_id]] = max(found[row_of[newer_id]], least)
    return found


def _note_steps(
    values: dict[str, Array],
    shares: dict[str, Array],
    before: Array,
    steps: Mapping[str, Array],
) -> None:
    """Note how much each step changed the sums, if it did."""
    for name, after in steps.items():
        if (after != before).any():
            values[name] = np.sign(after - before) * (1.0 - np.exp(-np.abs(after - before)))
            shares[name] = after - before
        before = after


def _by_row(columns: Mapping[str, Array]) -> Iterator[dict[str, float]]:
    """Turn columns by name into a dictionary for each row."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in rows)


def weighted_sum(values: Mapping[str, Array], weights: Mapping[str, float]) -> Array:
    """Add up features, each times its weight; in a fixed order, so equal rows have equal sums."""
    total = np.zeros(len(next(iter(values.values()))))
    for name, column in values.items():
        total += weights[name] * column
    return total
