"""Embed texts as far as it can be done now: an embedder may be down, slow, or wrong for one text.

In: an embedder, texts. Out: their vectors, and why some are missing. Touches only what the
embedder touches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from memoria._support.wording import in_short
from memoria.embed.base import Embedder, good_vectors
from memoria.errors import ConfigError, InvalidInputError

# An embedder that checks by itself refuses all texts for one of them. So many are left out, one by
# one, before the rest has to wait as well.
_REFUSED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What an embedder made of texts.

    Attributes
    ----------
    vectors
        One for each text, in order; None where there is none.
    error
        Why the first of them is missing; None if none is.
    place
        Place of the text that the error is about; None if it is about all of them.
    """

    vectors: Sequence[list[float] | None]
    error: Exception | None = None
    place: int | None = None

    @property
    def fault(self) -> str | None:
        """The error in one line; None without one."""
        if isinstance(self.error, TimeoutError):
            return "the embedder took too long"
        if isinstance(self.error, InvalidInputError):
            return str(self.error)
        return None if self.error is None else f"the embedder failed ({in_short(self.error)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponed:
    """Stands for the embedder of a database where it takes too long to load: it makes no vector.

    What a writer stores with it gets its vectors by later writes, which have the embedder.
    """

    name: str
    dimensions: int

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Raise ``TimeoutError``."""
        raise TimeoutError(f"{len(texts)} vectors are made later")

    async def embed_query(self, text: str) -> Sequence[float]:
        """Raise ``TimeoutError``."""
        raise TimeoutError(f"no vector for {len(text)} characters")


async def embed_what_can_be(
    embedder: Embedder, texts: Sequence[str], *, timeout_s: float | None = None
) -> Embedded:
    """Embed texts to be stored; whatever the embedder does, only its configuration is an error.

    Parameters
    ----------
    timeout_s
        Time for all of the texts; seconds. None: as long as it takes.

    Raises
    ------
    ConfigError
        The embedder can't be used as it is configured.
    """
    vectors: list[list[float] | None] = [None] * len(texts)
    places, error, place = list(range(len(texts))), None, None
    try:
        async with asyncio.timeout(timeout_s):
            for _ in range(_REFUSED):
                if not places:
                    break
                try:
                    made = await embedder.embed_documents([texts[place] for place in places])
                except InvalidInputError as exc:
                    at = None if exc.item is None else places.pop(exc.item)
                    if error is None:
                        error, place = exc, at
                    if at is None:
                        break
                    continue
                found, refused = good_vectors(
                    made, name=embedder.name, count=len(places), dimensions=embedder.dimensions
                )
                for at, vector in zip(places, found, strict=True):
                    vectors[at] = vector
                if error is None and refused is not None:
                    error, place = refused, places[refused.item or 0]
                break
    except ConfigError:
        raise
    except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
        return Embedded(vectors=vectors, error=exc)
    return Embedded(vectors=vectors, error=error, place=place)
