"""Learn from an agent that opened a memory of a recall, or cited it in an answer.

In: the trace of a recall, memories that were used, texts. Out: what was learned. Writes, by a
`Learner`: events of a log, which `undo` takes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a hook that asks a server needs no driver
    from memoria.learn import Learner
    from memoria.types import Trace

#: Names that are taken from one text, the first: a reply may be megabytes long.
MOST_CITED = 200
_CITED = re.compile(r"\[([^\[\]\n]{1,200})\]")


def cited_in(text: str) -> list[str]:
    """Return the first 200 names in brackets in a text, each once: labels, ids, whatever else.

    >>> cited_in("The van [h2] was towed [h1, evt-3] on Friday [h2].")
    ['h2', 'h1', 'evt-3']
    """
    inside = (name.strip() for found in _CITED.finditer(text) for name in found[1].split(","))
    return [*dict.fromkeys(islice(filter(None, inside), MOST_CITED))]


async def learn_used(learner: Learner, trace: Trace, ids: Iterable[str]) -> int:
    """Reinforce memories that a recall found and an agent used; return how many were new.

    Each memory counts once for a recall, and which memories were active together is noted once.
    """
    new = 0
    for id_ in ids:
        new += (await learner.reinforce(trace, [id_])).applied
    if new:
        await learner.co_activate(trace)
    return new
