"""What holds, in plain Python: the oracle of the engine.

In: what a memory says of its own time and conditions, and the settings of a call. Out: whether the
memory takes part. Where the definition is open:

- a value of another type than it should be says nothing, as if it were not there;
- a moment belongs to what comes after it: superseded at noon, a memory does not hold at noon;
- an earlier state has no memory that was made later; a memory without a time was always there.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from memoria.recall.config import RetrieverConfig

#: Generated times lie far before or after the present of any run of the tests.
PAST, BETWEEN, EARLIER, PRESENT, LATER = (
    datetime(year, 1, 1, tzinfo=UTC) for year in (2001, 2005, 2010, 2026, 2222)
)
TIMES: list[Any] = [None, None, PAST, EARLIER, LATER]
ODD_TIMES: list[Any] = ["2001-01-01", 7, True, ["2001-01-01"], PAST.replace(tzinfo=None)]
CONDITIONS: list[Any] = [
    *(None, None, '{"task": "docs"}', '{"os": "x", "task": "code"}', '{"os": "y"}', "not JSON", 7),
]
#: Settings of calls.
CALLS: list[dict[str, Any]] = [
    *({}, {}, {}, {"include_outdated": True}),
    *({"as_of": time} for time in (PAST, BETWEEN, EARLIER, LATER)),
    *({"situation": {"task": "docs"}}, {"situation": {"os": "x", "task": "docs"}}),
    {"situation": {"os": "x"}, "as_of": BETWEEN, "include_outdated": True},
]


@dataclass(frozen=True, kw_only=True)
class Span:
    """What a memory says of its own time and conditions, as any writer may have left it."""

    superseded_at: Any = None
    valid_until: Any = None
    created_at: Any = None
    when: Any = None

    def properties(self) -> dict[str, Any]:
        """The properties of the stored memory."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def holds(span: Span | None, config: RetrieverConfig) -> bool:
    """Whether a memory takes part in a call with these settings."""
    if span is None:
        return True
    at = config.as_of or PRESENT
    ends = [time for time in (span.superseded_at, span.valid_until) if _is_time(time)]
    if not config.include_outdated and any(end <= at for end in ends):
        return False
    if config.as_of is not None and _is_time(span.created_at) and span.created_at > config.as_of:
        return False
    wanted = _conditions(span.when)
    return all(config.situation.get(key, value) == value for key, value in wanted.items())


def _is_time(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _conditions(when: Any) -> dict[str, Any]:
    try:
        parsed = json.loads(when) if isinstance(when, str) else {}
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
