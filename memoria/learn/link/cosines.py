"""How near unrelated texts are to an embedder: the cosines from which the linkers count.

In: the name of the embedder that a database records, and the embedder, if it is at hand. Out:
`EmbedderCosines`. Touches the embedder, and the record of the measured cosines. Queries:
``link.cosines``, ``link.keep_cosines``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import combinations
from math import inf, sqrt
from operator import mul
from statistics import median
from typing import Protocol

from memoria._support import foreign
from memoria._support.throttling import throttled_warning
from memoria._support.wording import in_short
from memoria.errors import ConfigError, InvalidInputError
from memoria.formulas.edge_score import above_unrelated
from memoria.graph.vocabulary import cosines_key
from memoria.learn.link.config import MAX_UNRELATED, SIMILAR_COSINE, CompositeLinkConfig, LinkConfig
from memoria.store import Store
from memoria.store.queries import load

log = logging.getLogger(__name__)

# One pair in a hundred: of 2,016 pairs these are twenty, so a few texts that happen to share a
# subject do not decide.
_NEAR = 0.99
_DECIMALS = 2


class Embeds(Protocol):
    """The part of an embedder that is measured."""

    @property
    def name(self) -> str:
        """Name of the model and its variant."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of texts, in the same order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderCosines:
    """Cosines of an embedder between texts that have nothing to do with each other.

    Attributes
    ----------
    unrelated
        The median; 0 to 1.
    near
        The cosine that one pair in a hundred exceeds; 0 to 1.
    """

    unrelated: float
    near: float


#: Of memoria's own models, as `measured` finds them; a test measures them again.
KNOWN: Mapping[str, EmbedderCosines] = {
    "bge-small-en-v1.5-q": EmbedderCosines(unrelated=0.41, near=0.56),
    "all-minilm-l6-v2-q": EmbedderCosines(unrelated=0.04, near=0.27),
}
#: Where nothing is known: unrelated texts have a cosine near 0.
UNKNOWN = EmbedderCosines(unrelated=0.0, near=SIMILAR_COSINE)


async def cosines_of(
    store: Store, recorded: str | None, embedder: Embeds | None
) -> EmbedderCosines | None:
    """Return the cosines of the embedder that made the vectors of a database.

    An embedder of the caller is measured once, and the database keeps the figures. Where it is
    neither measured nor at hand, the answer is `UNKNOWN`, with a warning.

    Returns
    -------
    EmbedderCosines or None
        None if the embedder failed: try again later.
    """
    if recorded is None:
        return UNKNOWN
    if recorded in KNOWN:
        return KNOWN[recorded]
    key = cosines_key(recorded)
    for row in await store.run(load("link.cosines"), {"key": key}):
        unrelated, near = foreign.number(row["unrelated"]), foreign.number(row["near"])
        if unrelated is not None and near is not None and 0 <= unrelated <= near <= MAX_UNRELATED:
            return EmbedderCosines(unrelated=unrelated, near=near)
    if embedder is None or embedder.name != recorded:
        throttled_warning(
            log,
            "the cosines of unrelated texts are not known for the embedder %s, so they count as "
            "0: give the linker the embedder once, or unrelated_cosine",
            recorded,
        )
        return UNKNOWN
    try:
        found = await measured(embedder)
    except ConfigError:
        raise  # it says what to install
    except Exception as exc:  # noqa: BLE001  # foreign code, which may raise anything
        throttled_warning(log, "nothing was linked: the embedder failed (%s)", in_short(exc))
        return None
    parameters = {"key": key, "near": found.near, "unrelated": found.unrelated}
    await store.run(load("link.keep_cosines"), parameters)
    return found


def measured_config(config: LinkConfig, cosines: EmbedderCosines) -> LinkConfig:
    """Return settings in which everything that depends on the embedder has its value."""
    given = config.unrelated_cosine
    unrelated = cosines.unrelated if given is None else given
    least = config.min_cosine
    if least is None:
        least = max(above_unrelated(cosines.near, unrelated), 0.0)
        if isinstance(config, CompositeLinkConfig):  # whose guard the source gives for any embedder
            by_hand = given is not None or cosines == UNKNOWN
            least = config.least_cosine if by_hand else max(config.least_cosine, least)
    return replace(config, unrelated_cosine=unrelated, min_cosine=least)


async def measured(embedder: Embeds) -> EmbedderCosines:
    """Embed the texts of ``unrelated.txt``, and compare all pairs.

    Raises
    ------
    InvalidInputError
        The embedder makes no good vector of a text.
    """
    texts = unrelated_texts()
    vectors = await embedder.embed_documents(texts)
    sizes = [_length(vector) for vector in vectors]
    if len(sizes) != len(texts) or not all(0 < size < inf for size in sizes):
        raise InvalidInputError(
            f"embedder {embedder.name!r} did not return a good vector for each text",
            field="embedding",
        )
    return await asyncio.to_thread(_compare, vectors)


@cache
def unrelated_texts() -> tuple[str, ...]:
    """Return sentences on 64 different subjects."""
    text = (files(__package__) / "unrelated.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def _compare(vectors: Sequence[Sequence[float]]) -> EmbedderCosines:
    units = [[value / _length(vector) for value in vector] for vector in vectors]
    cosines = sorted(sum(map(mul, one, other)) for one, other in combinations(units, 2))
    middle, near = (
        min(max(round(cosine, _DECIMALS), 0.0), MAX_UNRELATED)
        for cosine in (median(cosines), cosines[int(_NEAR * (len(cosines) - 1))])
    )
    return EmbedderCosines(unrelated=middle, near=near)


def _length(vector: Sequence[float]) -> float:
    return sqrt(sum(map(mul, vector, vector)))
