"""How well a memory suits the situation: by its predicates, its feedback and its priority.

In: values of a memory, and of the situation. Out: shares in [0, 1]. Touches nothing.
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
#: Factor on the priority of a memory whose kind, or category, has this name.
KIND_BOOSTS: Mapping[str, float] = MappingProxyType(
    {"constraint": 2.0, "directive": 1.5, "procedure": 1.2}
)
# The share for a value that is not known; it speaks neither for a memory nor against it.
NEUTRAL = 0.5
# A longer text is not used as a pattern but compared literally.
MAX_PATTERN_CHARS = 256


def match(when: Mapping[str, Any], context: Mapping[str, Any]) -> float:
    """Return how well predicates fit a situation; 1 without predicates, as those always apply.

    The mean over the predicates: a predicate that `holds` counts 1, one that does not counts 0, and
    one whose key the context lacks counts 0.5.

    Parameters
    ----------
    when
        Key -> the value that is wanted.
    context
        Key -> the value that is there.

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
    """Tell whether a value is the one that a predicate wants.

    For lists, one common entry is enough. Texts are compared without regard to case, and a
    predicate may contain the wildcards ``*``, ``?`` and ``[...]``.

    >>> holds("*_test.go", "pkg/cache_test.go"), holds(["go", "rust"], "Rust"), holds(1, True)
    (True, True, False)
    """
    return any(_same(one, other) for one in _listed(wanted) for other in _listed(actual))


def feedback_share(confirmed: int, overridden: int) -> float:
    """Return the share of confirmations among all signals; 0.5 without signals.

    >>> feedback_share(3, 1), feedback_share(0, 0)
    (0.75, 0.5)
    """
    signals = confirmed + overridden
    return confirmed / signals if signals > 0 else NEUTRAL


def priority_share(priority: float | None, kinds: Iterable[str]) -> float:
    """Return the priority times the highest boost of the kinds, at most 1.

    Parameters
    ----------
    priority
        0 to 1; None counts as 0.5.
    kinds
        Kind and category of the memory; upper and lower case are the same.

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
    # In Python True equals 1, but in the caller's JSON true and 1 are different values.
    return isinstance(wanted, bool) == isinstance(actual, bool) and bool(wanted == actual)
