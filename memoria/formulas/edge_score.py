"""How strongly two memories belong together: several signals in one number.

In: the cosine of two embeddings, and three more signals. Out: a score in [0, 1].
"""

from __future__ import annotations

from collections.abc import Collection

MIN_COSINE = 0.30
CROSS_CATEGORY = 0.30

# The shares of the composite score; they add up to 1.
COSINE_SHARE = 0.55
TAG_SHARE = 0.20
CATEGORY_SHARE = 0.15
TEMPORAL_SHARE = 0.10


def above_unrelated(cosine: float, unrelated: float) -> float:
    """Return how far a cosine lies above the cosine of unrelated texts: 0 there, 1 for equal texts.

    Some embedders give any two texts a cosine far above 0, and thresholds for cosines suppose that
    unrelated texts have a cosine near 0.

    Parameters
    ----------
    cosine
        Cosine of two embeddings, -1 to 1.
    unrelated
        Cosine that two unrelated texts have on average; 0 up to, but not including, 1.

    >>> above_unrelated(0.43, 0.43), above_unrelated(1.0, 0.43), above_unrelated(0.3, 0.0)
    (0.0, 1.0, 0.3)
    """
    return (cosine - unrelated) / (1.0 - unrelated)


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """Return the share of common entries among all entries of both; 0 if either is empty.

    Source: 002, section 5.

    >>> jaccard(["a", "b"], ["b", "c"])
    0.3333333333333333
    >>> jaccard([], [])
    0.0
    """
    first, second = frozenset(one), frozenset(other)
    if not first or not second:
        return 0.0
    return len(first & second) / len(first | second)


def category_match(one: str | None, other: str | None) -> float:
    """Return 1 for equal categories, else 0.30; a missing category counts as an empty one.

    Source: 002, sections 5 and 10.

    >>> category_match("fact", "fact"), category_match("fact", "plan"), category_match(None, "")
    (1.0, 0.3, 1.0)
    """
    return 1.0 if (one or "") == (other or "") else CROSS_CATEGORY


def composite_score(
    cosine: float, *, tags: float, category: float, temporal: float, min_cosine: float = MIN_COSINE
) -> float:
    """Add up cosine, tags, category and time; 0 if the cosine is below ``min_cosine``.

    Without that minimum, two memories of the same session and category would score 0.25 whatever
    their texts say.

    Parameters
    ----------
    cosine
        Cosine of the two embeddings, -1 to 1; a negative cosine counts as 0.
    tags
        The `jaccard` of their tags, 0 to 1.
    category
        Their `category_match`, 0 to 1.
    temporal
        Their `temporal_proximity`, 0 to 1.

    Notes
    -----
    Source: 002, section 6.

    >>> round(composite_score(0.78, tags=1.0, category=1.0, temporal=1.0), 9)
    0.879
    >>> composite_score(0.28, tags=1.0, category=1.0, temporal=1.0)
    0.0
    """
    clamped = min(max(cosine, 0.0), 1.0)
    if clamped < min_cosine:
        return 0.0
    total = (
        COSINE_SHARE * clamped
        + TAG_SHARE * tags
        + CATEGORY_SHARE * category
        + TEMPORAL_SHARE * temporal
    )
    return min(total, 1.0)
