"""Compute the features of each candidate; most are in 0 to 1.

In: a query, candidates, and facts about them. Out: arrays by name. Touches nothing.
`RelevanceConfig` says what each feature means.

Joint coverage, residual coverage and mentions are memoria's own features, made for multi-hop
questions: a seed answers one half, and a memory behind the seed the other half. They are measured
in ``docs/quality.md``.
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
# Powers of a neighbour's own match when it counts as support: a cosine says little unless it is
# high.
_COSINE_POWER = 3
_BM25_POWER = 2
# A shorter heading stands in other texts by chance; a longer first line is not a heading.
_MIN_HEADING_CHARS = 3
_MAX_HEADING_CHARS = 200
# Mentions are looked for in this many of the best matches, and this far into each text: a search
# of everything would take longer than the recall.
_MENTIONING_TEXTS = 400
_MENTIONING_CHARS = 10_000
_HALF_LIFE = timedelta(days=30)


def features(query: str, candidates: Sequence[Candidate], facts: Facts) -> dict[str, Array]:
    """Compute every feature that `RelevanceConfig` has a weight for.

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
    """Divide by the highest value; all zeros if no value is above 0."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else np.zeros_like(values)


def _strengths(candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """Return, by seed, the root of the energy over the highest energy of all."""
    energies = [energy for each in candidates for energy in each.energy.values()]
    best = max(energies, default=0.0) or 1.0
    return [
        {seed: math.sqrt(energy / best) for seed, energy in each.energy.items()}
        for each in candidates
    ]


def _together(
    candidates: Sequence[Candidate], masses: Array, strength: Sequence[dict[str, float]]
) -> tuple[Array, Array]:
    """Return joint and residual coverage, each with the best of the seeds of a candidate."""
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
    """Return the roots of the strongest support and of the summed support, over the best."""
    place = {id_: row for row, id_ in enumerate(ids)}
    edges: dict[tuple[int, int], float] = {}
    for id_, neighbours in facts.neighbours.items():
        one = place.get(id_)
        for neighbour, weight in neighbours:
            other = place.get(neighbour)
            if one is not None and other is not None:
                edges[one, other] = edges[other, one] = weight
    order = sorted(edges)  # added up in one order, so that the sum is always the same
    giver, taker = np.array(order, int).reshape(-1, 2).T
    weights = np.array([edges[edge] for edge in order])
    # At least 1: the query reads neighbours before degrees, and an edge may be deleted in between.
    degrees = np.array([max(facts.degrees[ids[row]], 1) for row, _ in order])
    given = match[giver] * weights / np.sqrt(degrees)
    strongest, total = np.zeros(len(ids)), np.zeros(len(ids))
    np.maximum.at(strongest, taker, given)
    np.add.at(total, taker, given)
    return np.sqrt(_over_best(strongest)), np.sqrt(_over_best(total))


def _mentions(texts: Sequence[str], headings: Sequence[str], match: Array) -> Array:
    """Return the root of the best match among the texts that mention a heading, over the best."""
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
                if heading in text  # true of very few texts, and the fastest test
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
    """Tell whether a text holds these words as whole words.

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
    """Return 1 for the newest candidate, half of it per month of age, and 0 without a time."""
    times = [each.memory.created_at for each in candidates]
    newest = max((time for time in times if time is not None), default=None)
    if newest is None:
        return np.zeros(len(times))
    return np.array(
        [0.0 if time is None else 0.5 ** ((newest - time) / _HALF_LIFE) for time in times]
    )


def _heading(text: str) -> str:
    """Return the first of several lines, without any text in parentheses; else nothing."""
    line, _, rest = text.strip().partition("\n")
    if not rest or len(line) > _MAX_HEADING_CHARS:
        return ""
    return _PARENTHESIS.sub("", line).strip()


def _is_named(heading: str, terms: Sequence[str]) -> bool:
    """Tell whether the query holds all words of a heading."""
    words = content_words(heading)
    return bool(words) and {stem(word) for word in words} <= set(terms)
