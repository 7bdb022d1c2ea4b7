"""Tell which of the nearest memories a new text may replace.

In: the text, and the memories nearest to it with their cosines. Out: memories. Touches nothing.

The odds are those by which the ranking joins two statements about one thing (`log_odds`), times how
rare their rarest common word is among the nearest memories. The name of a user is in most of
them, and so is "now" where many texts have it; "dentist" is in few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import chain, pairwise

from memoria._support.sentences import asks
from memoria._support.stems import UNSPACED, query_terms
from memoria.formulas.repeats import repeats
from memoria.recall.ranking.about import ENOUGH
from memoria.recall.ranking.changes import log_odds, usual_of
from memoria.recall.ranking.talk import ASSISTANT, role_of
from memoria.types import MemoryNode

#: How many of the nearest memories tell how alike the texts of a scope are, and how rare a word is.
READ = 20
# From this probability on, a memory is named. It keeps 93 % of the right proposals that a cosine of
# 0.6 and any common word gave; see docs/project/ranking-notes.md#proposals-for-replacement.
_LEAST_ODDS = math.log(0.8 / 0.2)
# A fact is a sentence or two; the words of a longer text are not all read.
_MOST_CHARS = 2_000


def replaceable(
    text: str, made_at: datetime | None, near: Sequence[tuple[float, MemoryNode]]
) -> tuple[MemoryNode, ...]:
    """Return the memories that a text may replace, the nearest first.

    Parameters
    ----------
    made_at
        When the text came about; None: after all memories.
    near
        The nearest memories with their cosines, the nearest first; at most `READ`.
    """
    if asks(text):
        return ()
    mean, deviation = usual_of([cosine for cosine, _ in near])
    words = [_words(memory.text) for _, memory in near]
    holders = Counter(chain.from_iterable(words))
    own = _words(text)
    found, place = [], 0
    for (cosine, memory), its_words in zip(near, words, strict=True):
        if not _is_earlier_statement(memory, made_at):
            continue
        odds = log_odds((cosine - mean) / deviation, nearer=place)
        place += 1
        shared = own & its_words
        if shared and not repeats(text, memory.text):
            rarity = max(len(near), ENOUGH) / min(holders[word] for word in shared)
            if odds + math.log(rarity) >= _LEAST_ODDS:
                found.append(memory)
    return tuple(found)


def _words(text: str) -> set[str]:
    """Return the stems of a text; of scripts without spaces, pairs of letters."""
    text = text[:_MOST_CHARS]
    pairs = {"".join(pair) for pair in pairwise(text) if all(map(UNSPACED.match, pair))}
    return {*query_terms(text)} | pairs


def _is_earlier_statement(memory: MemoryNode, made_at: datetime | None) -> bool:
    if role_of(memory) == ASSISTANT or asks(memory.text):
        return False
    return made_at is None or memory.created_at is None or memory.created_at <= made_at
