"""What speaks for each candidate: named features, most in 0 to 1.

In: a query's words, candidates, what the database knows of them. Out: arrays by name. Touches
nothing. The features are those of `RelevanceConfig`, which says what each one is.

Source: joint and residual coverage of a multi-hop question, where a seed answers one half and a
memory behind it the other, and mentions are memoria's own; measured in ``docs/quality.md``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from memoria.ranking.candidates import Candidate, Facts
from memoria.ranking.words import Pool, content_words, query_terms, stem

Array = NDArray[np.float64]

_PARENTHESIS = re.compile(r"\([^()]*\)")
# How a neighbour's own match counts as support: a cosine tells little unless it is high.
_COSINE_POWER = 3
_BM25_POWER = 2
# Shorter headings stand in texts by chance; a longer first line is no heading.
_MIN_HEADING_CHARS = 3
_MAX_HEADING_CHARS = 200
# Mentions are looked for in so many texts, the best matches, and so far into each: beyond, the
# search would take longer than the recall.
_MENTIONING_TEXTS = 400
_MENTIONING_CHARS = 10_000
_HALF_LIFE = timedelta(days=30)


def features(query: str, candidates: Sequence[Candidate], facts: Facts) -> dict[str, Array]:
    """Weigh candidates in every way that `RelevanceConfig` has a weight for.

    Returns
    -------
    dict
        Feature -> N values, in the order of ``candidates``.

    Notes
    -----
    O(N (words + T S) + E) for N candidates, T words of the query, S seeds and E edges; and for each
    heading a search of the texts, from the best match to the first that holds it.
    """
    terms = query_terms(query)
    texts = [candidate.memory.text for candidate in candidates]
    headings = [_heading(text) for text in texts]
    pool = Pool(terms, texts)
    ids = [candidate.memory.id for candidate in candidates]
    cosine = _over_best(np.array([facts.cosines.get(id_, 0.0) for id_ in ids]))
    mass = pool.masses.sum(axis=1)
    best_mass = mass.max(initial=0.0) or 1.0
    bm25 = mass / best_mass
    strength = _strengths(candidates)
    joint, residual = _together(candidates, pool.masses / best_mass, strength)
    match = np.clip(cosine, 0.0, None) ** _COSINE_POWER + bm25**_BM25_POWER
    strongest, support = _support(ids, match, facts)
    reached = np.array([max(by_seed.values(), default=0.0) for by_seed in strength])
    return {
        "cosine": cosine,
        "bm25": bm25,
        "coverage": (pool.masses > 0) @ pool.idf / (pool.idf.sum() or 1.0),
        "heading": np.array([_is_named(heading, terms) for heading in headings], float),
        "mention": _mentions(texts, headings, match),
        "question": np.array([text.rstrip().endswith("?") for text in texts], float),
        "recency": _recency(candidates),
        "energy": reached,
        "energy_bm25": reached * bm25,
        "joint_coverage": joint,
        "residual_coverage": residual,
        "support": strongest,
        "support_cosine": support * cosine,
        "hybrid": np.array([candidate.hybrid for candidate in candidates]),
    }


def _over_best(values: Array) -> Array:
    """Scale by the highest; without one above 0, nothing speaks for anything."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else np.zeros_like(values)


def _strengths(candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """Return the root of the energy that came from each seed, over the highest of all."""
    energies = [energy for each in candidates for energy in each.energy.values()]
    best = max(energies, default=0.0) or 1.0
    return [
        {seed: math.sqrt(energy / best) for seed, energy in each.energy.items()}
        for each in candidates
    ]


def _together(
    candidates: Sequence[Candidate], masses: Array, strength: Sequence[dict[str, float]]
) -> tuple[Array, Array]:
    """Joint and residual coverage with the best of the seeds that reached each candidate."""
    place = {candidate.memory.id: row for row, candidate in enumerate(candidates)}
    reached: dict[int, dict[int, float]] = defaultdict(dict)  # row of a seed -> row -> share
    for row, by_seed in enumerate(strength):
        for seed, share in by_seed.items():
            if seed in place:
                reached[place[seed]][row] = share
    joint, residual = np.zeros(len(candidates)), np.zeros(len(candidates))
    for seed_row, by_row in reached.items():
        rows, shares = list(by_row), np.array(list(by_row.values()))
        own, seeds = masses[rows], masses[seed_row]
        both = np.maximum(own, seeds).sum(axis=1)
        lacking = own.compress(seeds == 0, axis=1).sum(axis=1)
        joint[rows] = np.maximum(joint[rows], shares * both)
        residual[rows] = np.maximum(residual[rows], shares * lacking)
    return joint, residual


def _support(ids: Sequence[str], match: Array, facts: Facts) -> tuple[Array, Array]:
    """Roots of the strongest support by a neighbour, and of that by all, over the best."""
    place = {id_: row for row, id_ in enumerate(ids)}
    edges: dict[tuple[int, int], float] = {}
    for id_, neighbours in facts.neighbours.items():
        one = place.get(id_)
        for neighbour, weight in neighbours:
            other = place.get(neighbour)
            if one is not None and other is not None:
                edges[one, other] = edges[other, one] = weight
    order = sorted(edges)  # what meets in one memory adds up in one order, to the same sum
    giver, taker = np.array(order, int).reshape(-1, 2).T
    weights = np.array([edges[edge] for edge in order])
    # At least 1: one query reads neighbours, then degrees, and edges may go in between.
    degrees = np.array([max(facts.degrees[ids[row]], 1) for row, _ in order])
    given = match[giver] * weights / np.sqrt(degrees)
    strongest, total = np.zeros(len(ids)), np.zeros(len(ids))
    np.maximum.at(strongest, taker, given)
    np.add.at(total, taker, given)
    return np.sqrt(_over_best(strongest)), np.sqrt(_over_best(total))


def _mentions(texts: Sequence[str], headings: Sequence[str], match: Array) -> Array:
    """Root of the best match among the texts that hold a text's heading, over the best."""
    by_match = [
        (texts[row][:_MENTIONING_CHARS], headings[row], float(match[row]))
        for row in np.argsort(-match, kind="stable")[:_MENTIONING_TEXTS]
        if match[row] > 0
    ]
    best = {
        heading: next(
            (
                worth
                for text, own, worth in by_match
                if heading in text  # nearly none: the quickest to tell comes first
                and own != heading
                and _holds(text, heading)
            ),
            0.0,
        )
        for heading in set(headings)
        if len(heading) >= _MIN_HEADING_CHARS
    }
    return np.sqrt(_over_best(np.array([best.get(heading, 0.0) for heading in headings])))


def _holds(text: str, words: str) -> bool:
    """Whether a text holds these words, and not only as parts of longer ones.

    >>> _holds("Lundgren lives in Lund.", "Lund"), _holds("Lundgren", "Lund")
    (True, False)
    """
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
            return True
        start = text.find(words, start + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _recency(candidates: Sequence[Candidate]) -> Array:
    """Halve with every month before the newest of the candidates; 0 without a time."""
    times = [each.memory.created_at for each in candidates]
    newest = max((time for time in times if time is not None), default=None)
    if newest is None:
        return np.zeros(len(times))
    return np.array(
        [0.0 if time is None else 0.5 ** ((newest - time) / _HALF_LIFE) for time in times]
    )


def _heading(text: str) -> str:
    """Return the first line of a text of several, without what stands in parentheses."""
    line, _, rest = text.strip().partition("\n")
    if not rest or len(line) > _MAX_HEADING_CHARS:
        return ""
    return _PARENTHESIS.sub("", line).strip()


def _is_named(heading: str, terms: Sequence[str]) -> bool:
    """Tell whether the query holds all words of a heading."""
    words = content_words(heading)
    return bool(words) and {stem(word) for word in words} <= set(terms)
