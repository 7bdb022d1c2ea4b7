"""How well a memory suits the situation: its predicates, feedback, priority, and the score.

In: what is known of a memory and of the situation. Out: shares in [0, 1]. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

WEIGHT_CONTEXT = 0.35
WEIGHT_BASE_LEVEL = 0.30
WEIGHT_FEEDBACK = 0.15
WEIGHT_PRIORITY = 0.20
#: By how much a kind, or a category, of this name counts for more than its priority.
KIND_BOOSTS: Mapping[str, float] = MappingProxyType(
    {"constraint": 2.0, "directive": 1.5, "procedure": 1.2}
)
# What is not known speaks neither for a memory nor against it.
NEUTRAL = 0.5
# A longer text is compared as it is, not as a pattern.
MAX_PATTERN_CHARS = 256


def match(when: Mapping[str, Any], context: Mapping[str, Any]) -> float:
    """Return how well predicates fit a situation; 1 without any: such a memory always applies.

    The mean over the predicates: 1 for one that `holds`, 0 for one that does not, 0.5 where the
    context does not say.

    Parameters
    ----------
    when
        Key -> what it must be.
    context
        Key -> what it is.

    Notes
    -----
    Source: 003, partial matching and the context signal.

    >>> match({"language": "go", "task": "testing"}, {"language": "Go", "task": "docs"})
    0.5
    >>> match({"language": "go"}, {}), match({}, {"language": "go"})
    (0.5, 1.0)
    """
    if not when:
        return 1.0
    fits = (
        (1.0 if holds(wanted, context[key]) else 0.0) if key in context else NEUTRAL
        for key, wanted in when.items()
    )
    return sum(fits) / len(when)


def holds(wanted: Any, actual: Any) -> bool:
    """Tell whether a value is what a predicate wants.

    Of lists one common entry is enough. Texts are compared without regard to case, and a predicate
    may have the wildcards ``*``, ``?`` and ``[...]``.

    >>> holds("*_test.go", "pkg/cache_test.go"), holds(["go", "rust"], "Rust"), holds(1, True)
    (True, True, False)
    """
    return any(_same(one, other) for one in _listed(wanted) for other in _listed(actual))


def feedback_share(confirmed: int, overridden: int) -> float:
    """Return the share of confirmations among all signals; 0.5 without any.

    >>> feedback_share(3, 1), feedback_share(0, 0)
    (0.75, 0.5)
    """
    signals = confirmed + overridden
    return confirmed / signals if signals > 0 else NEUTRAL


def priority_share(priority: float | None, kinds: Iterable[str]) -> float:
    """Return the priority, times the highest boost of its kinds, at most 1.

    Parameters
    ----------
    priority
        0 to 1; None counts as 0.5.
    kinds
        Kind and category, in any case.

    >>> priority_share(0.5, ["Directive"]), priority_share(0.7, ["Constraint"])
    (0.75, 1.0)
    >>> priority_share(None, ["Event", "Procedure"])
    0.6
    """
    boost = max((KIND_BOOSTS.get(kind.casefold(), 1.0) for kind in kinds), default=1.0)
    return min(1.0, (NEUTRAL if priority is None else priority) * max(boost, 1.0))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _same(wanted: Any, actual: Any) -> bool:
    if isinstance(wanted, str) and isinstance(actual, str):
        one, other = wanted.casefold(), actual.casefold()
        return one == other or (len(one) <= MAX_PATTERN_CHARS and fnmatchcase(other, one))
    # In Python, True is 1; in what a caller writes as JSON it is not.
    return isinstance(wanted, bool) == isinstance(actual, bool) and bool(wanted == actual)
