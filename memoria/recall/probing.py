"""Make the model of subjects for an embedder, and search with its probe.

In: an embedder, the vector of a question. Out: a `Probe`, and the hits of a search with it. Reads
and keeps the model that an earlier process made. Queries: those of the search by vector.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from zipfile import BadZipFile

import numpy as np

from memoria._support.throttling import throttled_warning
from memoria.embed import Embedder
from memoria.errors import MemoriaError
from memoria.recall import asides
from memoria.recall.examples import Background, Examples, is_default
from memoria.recall.ranking import Likeness
from memoria.recall.seeds import SeedRequest, joined, search_seeds
from memoria.recall.subjects import (
    FITTED,
    Array,
    Example,
    Model,
    Probe,
    edition,
    fit,
    parts,
    shipped,
)
from memoria.store import Store
from memoria.types import Seeds

#: Result of a search with a probe, or its error; None without a probe.
OfSubject = Seeds | MemoriaError | None

log = logging.getLogger(__name__)


class Subjects:
    """The model by one embedder, made at most once: of a few examples, then of all of them.

    Parameters
    ----------
    small_talk
        Texts that state no fact, by the same embedder.
    """

    def __init__(self, small_talk: Examples) -> None:
        self._small_talk = small_talk
        self._few: Examples | None = None
        self._others: Examples | None = None
        self._model: Model | None = None
        self._is_complete = False  # whether the model is of all examples
        self._making, self._completing = Background(), Background()
        self._fault = "it takes long"

    async def probe(
        self, vector: Sequence[float], *, like: Likeness, until: float, notes: list[str]
    ) -> Probe | None:
        """Return a vector near statements that may answer; None without a known subject.

        Parameters
        ----------
        like
            How close it is to small talk.
        until
            Time of the loop's clock until which to wait for the model; seconds. It is made after
            that, too, and later questions do not wait for it.
        notes
            List to which the reason is added if there is no model; then the result is None.
        """
        if self._model is None:
            await self._making.wait(self._make, until)
        if self._model is None:
            notes.append(
                f"examples of facts are not embedded ({self._fault}): statements in other words "
                "may be missing"
            )
            return None
        if not self._is_complete:  # no question waits for this
            await self._completing.wait(self._complete, until=-math.inf)
        return self._model.probe(np.asarray(vector, np.float64), like)

    async def embed_few(self) -> Array | None:
        """Embed the first examples, however long it takes, and keep them; None if that fails."""
        if self._few is None:
            self._few = self._facts((await asyncio.to_thread(parts))[0])
        told = await self._few.vectors()
        if told is None:
            self._fault = self._few.fault
        return told

    async def _make(self) -> None:
        try:
            if is_default(self._small_talk.embedder):
                self._model, self._is_complete = await asyncio.to_thread(shipped, FITTED), True
            else:
                await self._find_or_fit()
        except Exception as exc:  # noqa: BLE001  # a file that can't be read, say
            self._fault = type(exc).__name__
            throttled_warning(log, "the model of facts can't be made (%s)", self._fault)

    async def _find_or_fit(self) -> None:
        """Read the model that an earlier process made of all examples; else fit one to a few."""
        talk = await self._small_talk.vectors()
        if talk is None:
            self._fault = self._small_talk.fault
            return
        if self._small_talk.kept.are_current:
            self._model = await asyncio.to_thread(self._kept_model)
            self._is_complete = self._model is not None
        if self._model is None:
            told = await self.embed_few()
            if told is None:
                return
            # On a busy machine, the regressions take seconds.
            self._model = await asyncio.to_thread(fit, parts()[0], told, talk)

    async def _complete(self) -> None:
        """Fit a model to all examples, and keep it for later processes."""
        few, others = parts()
        if self._others is None:
            self._others = self._facts(others)
        more = await self._others.vectors()
        told = None if self._few is None else await self._few.vectors()
        talk = await self._small_talk.vectors()
        if more is None or told is None or talk is None:
            return  # a later question tries again
        try:
            both = np.concatenate([told, more])
            self._model = await asyncio.to_thread(fit, (*few, *others), both, talk)
            await asyncio.to_thread(self._keep, self._model)
        except Exception as exc:  # noqa: BLE001  # too little memory, say
            throttled_warning(log, "the model of all facts can't be made (%s)", type(exc).__name__)
        self._is_complete = True  # or can't be
        self._few = self._others = None

    def _facts(self, some: Sequence[Example]) -> Examples:
        talk = self._small_talk
        return Examples(talk.embedder, [one.text for one in some], name="facts", kept=talk.kept)

    def _kept_model(self) -> Model | None:
        try:
            content = self._small_talk.kept.file(edition()).read_bytes()
            return Model.read(BytesIO(content))
        except (OSError, RuntimeError, ValueError, KeyError, EOFError, BadZipFile):
            return None  # it was not kept, or not whole

    def _keep(self, model: Model) -> None:
        content = BytesIO()
        model.write(content)
        self._small_talk.kept.write_file(content.getvalue(), edition())


async def embed_examples(embedder: Embedder) -> None:
    """Embed the examples of small talk and the first ones of facts, and keep their vectors.

    Later retrievers read them. For measurements, whose first recalls would not have them in time.
    """
    if is_default(embedder):
        return
    known = asides.Asides(embedder)
    if await known.make():
        await Subjects(known.examples).embed_few()


async def search_subject(store: Store, request: SeedRequest, probe: Probe | None) -> OfSubject:
    """Find the memories nearest to a probe; return the error if the database does not answer.

    Notes
    -----
    One round trip, as a search by vector; none without a probe.
    """
    if probe is None:
        return None
    try:
        return await search_seeds(store, replace(request, text="", vector=probe.vector))
    except MemoriaError as exc:
        return exc


def with_subject(found: Seeds, hits: OfSubject) -> tuple[Seeds, frozenset[str]]:
    """Add what `search_subject` found to the result of a search.

    Returns
    -------
    tuple
        The result, and the ids of the memories that only the probe found. If the database did not
        answer, the result stays as it is, and `Seeds.degraded` says so.
    """
    if hits is None:
        return found, frozenset()
    if isinstance(hits, MemoriaError):
        note = f"statements in other words could not be searched ({hits})"
        return replace(found, degraded=(*found.degraded, note)), frozenset()
    known = {seed.id for seed in (*found.seeds, *found.runners_up)}
    both = joined(found, hits)
    return both, frozenset(seed.id for seed in both.runners_up if seed.id not in known)
