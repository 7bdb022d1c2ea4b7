"""Compute the features of each candidate; most are in 0 to 1.

In: a query, candidates, and facts about them. Out: arrays by name. Touches nothing.
`memoria.recall.ranking.config.MEANINGS` says what each feature means.

The features of links count what a neighbour adds to a memory's own match: of a question whose
halves two memories answer, the second needs no words of the question. A memory that says nothing,
such as "Thanks!", gets none of it, and one that much is joined to gets less of it. The features are
memoria's own, and measured in ``docs/project/ranking.md``.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoria._support.stems import content_words, query_terms
from memoria.recall.ranking.candidates import Candidate, Facts, rise
from memoria.recall.ranking.links import link_features, over_best
from memoria.recall.ranking.substance import substance
from memoria.recall.ranking.talk import talk_features
from memoria.recall.ranking.words import Pool

Array = NDArray[np.float64]

# A place far behind counts as the hundredth; from the fifth on, being first is half gone.
_LAST = 100.0
_FIRST = 5.0
# The rank whose cosine counts as that of the crowd.
_CROWD = 20
_BEST = 3
# What counts as the cosine of a memory without a word of the query, where nothing has a vector.
_WORDLESS = 0.8
_PARENTHESIS = re.compile(r"\([^()]*\)")
# Powers of a neighbour's own match when it counts as support: a cosine says little unless it is
# high.
_COSINE_POWER = 3
_BM25_POWER = 2
# A longer first line is not a heading.
_MAX_HEADING_CHARS = 200
# Power of the degree by which a hub gets less from links. Any from 0.15 to 0.3 does as well.
_DAMPING = 0.25


def features(query: str, candidates: Sequence[Candidate], facts: Facts) -> dict[str, Array]:
    """Compute every feature that `RelevanceConfig` has a weight for.

    Returns
    -------
    dict
        Feature -> N values, in the order of ``candidates``.

    Notes
    -----
    O(N (words + T S + log N) + E log E) for N candidates, T words of the query, S seeds, E edges.
    """
    terms = query_terms(query)
    texts = [candidate.memory.text for candidate in candidates]
    headings = [_heading(text) for text in texts]
    pool = Pool(terms, texts)
    ids = [candidate.memory.id for candidate in candidates]
    mass = pool.masses.sum(axis=1)
    best_mass = mass.max(initial=0.0) or 1.0
    bm25 = mass / best_mass
    raw = _cosines(ids, facts, bm25)
    place = _place(raw)
    relative = over_best(facts.on_default_scale(raw)) if facts.cosines else np.zeros(len(ids))
    cosine = relative if facts.cosines else raw
    strength = _strengths(candidates)
    carried = _carried(candidates, pool.masses / best_mass, strength)
    match = np.clip(relative, 0.0, None) ** _COSINE_POWER + bm25**_BM25_POWER
    by_links = {"carried": carried, **link_features(candidates, facts, match, cosine, bm25)}
    share = np.array([substance(text) for text in texts], np.float64) * _rarity(ids, facts)
    return {
        "cosine": cosine,
        "cosine_rise": _rise(raw) if facts.cosines else np.zeros(len(ids)),
        "cosine_place": 1 - np.log1p(np.minimum(place, _LAST)) / math.log1p(_LAST),
        "cosine_first": _FIRST / (_FIRST + place),
        "bm25": bm25,
        "bm25_first": (mass > 0) * _FIRST / (_FIRST + _place(mass)),
        "cosine_bm25": cosine * bm25,
        "coverage": (pool.masses > 0) @ pool.idf / (pool.idf.sum() or 1.0),
        "beyond_best": _beyond_best(pool, match),
        "heading": np.array([_is_named(heading, pool) for heading in headings], float),
        **{name: column * share for name, column in by_links.items()},
        **talk_features(query, candidates, facts, pool, match),
    }


def _rarity(ids: Sequence[str], facts: Facts) -> Array:
    """Return the fourth root of the mean degree of the candidates over the degree of each; (N,).

    What joins everything, such as the article on a country, is reached from everywhere and so says
    little of the question. The mean is the geometric one, so graphs that are denser get no less.

    Source: D. Himmelstein & S. Baranzini, "Heterogeneous Network Edge Prediction", 2015, whose
    degree-weighted path count damps each node of a path by a power of its degree.
    """
    if not ids:
        return np.ones(0)
    logs = np.log([max(facts.degrees.get(id_, 1), 1) for id_ in ids])
    rarity: Array = np.exp(_DAMPING * (logs.mean() - logs))
    return rarity


def _cosines(ids: Sequence[str], facts: Facts, bm25: Array) -> Array:
    """Return the cosines; a memory without one, such as a new one, is as near as its words say.

    With no word of the query it is as near as small talk, at most as the median of the others; with
    the most words as near as the nearest. Without any cosine, as in a recall without
    an embedder, the words stand in for them.
    """
    known = [facts.cosines[id_] for id_ in ids if id_ in facts.cosines]
    if not known:
        return _WORDLESS + (1 - _WORDLESS) * bm25
    highest, unrelated = max(known), float(np.median(known))
    if facts.like is not None:
        unrelated = min(unrelated, facts.like.aside)
    by_words = (unrelated + (highest - unrelated) * bm25).tolist()
    return np.array([facts.cosines.get(id_, of) for id_, of in zip(ids, by_words, strict=True)])


def _place(values: Array) -> Array:
    """Return how many candidates have a higher value; (N,).

    A place says nothing of how far apart the values are, so a search that knows little of the query
    can't outvote one that knows it well.
    """
    return np.searchsorted(np.sort(-values), -values).astype(np.float64)


def _rise(cosines: Array) -> Array:
    """Return how much of the way from the crowd's cosine to 1 a cosine covers: 0 to 1."""
    ordered = np.sort(cosines)[::-1]
    crowd = float(ordered[min(len(ordered) - 1, _CROWD)])  # of the 21st candidate, or the last one
    return rise(cosines, crowd)


def _beyond_best(pool: Pool, match: Array) -> Array:
    """Return the share of the query's words that a text holds and the three best matches lack."""
    best = np.argsort(-match, kind="stable")[:_BEST]
    lacking = ~(pool.masses[best] > 0).any(axis=0)
    held: Array = ((pool.masses > 0) & lacking) @ pool.idf
    return held / float(pool.idf.sum() or 1.0)


def _strengths(candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """Return, by seed, the root of the energy over the highest energy of all."""
    energies = [energy for each in candidates for energy in each.energy.values()]
    best = max(energies, default=0.0) or 1.0
    return [
        {seed: math.sqrt(energy / best) for seed, energy in each.energy.items()}
        for each in candidates
    ]


def _carried(
    candidates: Sequence[Candidate], masses: Array, strength: Sequence[dict[str, float]]
) -> Array:
    """Return what a seed adds to the words that a candidate holds itself, the best of its seeds."""
    place = {candidate.memory.id: row for row, candidate in enumerate(candidates)}
    reached: dict[int, dict[int, float]] = defaultdict(dict)  # row of a seed -> row -> share
    for row, by_seed in enumerate(strength):
        for seed, share in by_seed.items():
            if seed in place:
                reached[place[seed]][row] = share
    carried = np.zeros(len(candidates))
    for seed_row, by_row in reached.items():
        rows, shares = list(by_row), np.array(list(by_row.values()))
        added = np.clip(masses[seed_row] - masses[rows], 0.0, None).sum(axis=1)
        carried[rows] = np.maximum(carried[rows], shares * added)
    return carried


def _heading(text: str) -> str:
    """Return the first of several lines, without any text in parentheses; else nothing."""
    line, _, rest = text.strip().partition("\n")
    if not rest or len(line) > _MAX_HEADING_CHARS:
        return ""
    return _PARENTHESIS.sub("", line).strip()


def _is_named(heading: str, pool: Pool) -> bool:
    """Tell whether the query holds all words of a heading."""
    words = content_words(heading)
    return bool(words) and all(map(pool.has_term, words))
