"""Decide which memories of a scope take part in one call: those that hold.

In: the settings of the call, and the present. Out: a `Validity`. Reads only, and only where the
call names a situation. Query: ``recall.conditions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memoria._support import foreign
from memoria.formulas.situation import holds
from memoria.recall.config import RetrieverConfig
from memoria.store import Store
from memoria.store.queries import load
from memoria.types.validity import Validity


async def validity_of(
    store: Store, config: RetrieverConfig, *, scope: str, now: datetime, until: float | None
) -> Validity:
    """Return which memories take part.

    Parameters
    ----------
    now
        The present, aware; it counts where the settings name no ``as_of``.
    until
        Time of the loop's clock at which the answer must be there; seconds.

    Notes
    -----
    No round trip; one if the settings name a situation, in which the server reads the scope once.
    """
    outside: tuple[str, ...] = ()
    if config.situation:
        record = (await store.run(load("recall.conditions"), {"scope": scope}, until=until))[0]
        outside = tuple(
            sorted(text for text in record["conditions"] if contradicts(text, config.situation))
        )
    return Validity(
        at=None if config.include_outdated else config.as_of or now,
        made_by=config.as_of,
        outside=outside,
    )


def contradicts(when: str, situation: Mapping[str, Any]) -> bool:
    """Tell whether a situation rules out a stored ``when``.

    It does if it has another value for one of the conditions. A condition of which it says nothing
    may hold.

    >>> contradicts('{"language": "go"}', {"language": "rust"})
    True
    >>> contradicts('{"language": "go"}', {"task": "docs"})
    False
    """
    return any(
        key in situation and not holds(wanted, situation[key])
        for key, wanted in foreign.json_map(when).items()
    )
