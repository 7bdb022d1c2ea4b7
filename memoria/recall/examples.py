"""Vectors of the example texts that come with the package.

In: an embedder, texts. Out: an array of unit vectors. Reads the shipped vectors if there are any
and the embedder is the default one; any other embedder embeds the texts once, and the vectors are
kept for later processes in the folder ``examples`` of memoria's home, which holds no memories.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import os
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoria._support.home import default_home
from memoria._support.throttling import throttled_warning
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, Embedder, embed_what_can_be
from memoria.errors import InvalidInputError

Array = NDArray[np.float64]

log = logging.getLogger(__name__)

# So many texts are embedded in one call, and their vectors are one file.
_BATCH = 64
# An embedder that refuses more texts of a batch refuses them all.
_MOST_REFUSED = 8
# So many texts tell whether an embedder is still the same model.
_COMPARED = 3
# Least mean cosine of their vectors, now and then. A model may give one text another vector in a
# batch: cosines go down to 0.955. The vectors of two models have nothing to do with each other.
_SAME_MODEL = 0.9
# Lengths of vectors differ from 1 by no more than this, if a file is not damaged.
_ROUNDING = 0.02
# After a failure; seconds.
_PAUSE_S = 60.0


class Background:
    """Work that is done by one task at a time, which outlives the calls that wait for it.

    A recall may have less time than the work needs. Then it takes long, and later ones do not wait
    for it: in the end, one of them finds it done.

    Attributes
    ----------
    was_late
        Whether a call has waited in vain for the work that was begun last.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self.was_late = False

    @property
    def is_running(self) -> bool:
        """Whether the work has begun in this event loop and is not done."""
        task, loop = self._task, asyncio.get_running_loop()
        return task is not None and task.get_loop() is loop and not task.done()

    async def wait(self, work: Callable[[], Coroutine[Any, Any, None]], until: float) -> None:
        """Begin the work unless it is running, and wait for it until a time of the loop's clock.

        Nothing waits for work that an earlier call has waited for in vain, unless ``until`` is
        infinite.
        """
        loop = asyncio.get_running_loop()
        if self._task is None or not self.is_running:
            self._task, self.was_late = loop.create_task(work()), False
        if until == math.inf:
            await asyncio.wait({self._task})
        elif not self.was_late:
            await asyncio.wait({self._task}, timeout=max(0.0, until - loop.time()))
            self.was_late = not self._task.done()


class KeptVectors:
    """Vectors of example texts by one embedder, a file for each batch of texts.

    All methods but ``check`` block.

    Parameters
    ----------
    embedder
        Its name and dimensions belong to the names of the files.
    folder
        Folder of the files; by default ``examples`` in memoria's home.

    Attributes
    ----------
    are_current
        Whether the embedder still makes the vectors that are kept under its name.
    """

    def __init__(self, embedder: Embedder, folder: Path | None = None) -> None:
        self._embedder = embedder
        self._folder = folder
        self.are_current = self._is_checked = False

    async def check(self, batches: Sequence[Sequence[str]]) -> None:
        """Find out whether the vectors are current: ask the embedder once for three of the texts.

        They are the first texts of a batch that is kept; if none is, nothing is current.
        """
        if self._is_checked:
            return
        for texts in batches:
            kept = await asyncio.to_thread(self.read, texts)
            if kept is not None:
                made = await self._embedder.embed_documents(texts[:_COMPARED])
                self.are_current = _is_same_model(np.array(made, np.float64), kept[:_COMPARED])
                if not self.are_current:
                    log.info("another model is named %s: examples are embedded again", self._name)
                break
        self._is_checked = True

    def read(self, texts: Sequence[str]) -> Array | None:
        """Return the unit vectors of a batch; None if they were not kept, or are damaged."""
        shape = (len(texts), self._embedder.dimensions)
        try:
            found = np.fromfile(self.file(*texts), np.float16).astype(np.float64)
        except (OSError, RuntimeError):  # a home that can't be read, or that is not known
            return None
        if found.size != math.prod(shape):
            return None
        vectors = found.reshape(shape)
        is_whole = np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1.0) <= _ROUNDING)
        return unit_vectors(vectors) if is_whole else None

    def write(self, texts: Sequence[str], vectors: Array) -> None:
        """Keep the unit vectors of a batch, unless the embedder has refused any of its texts."""
        if np.all(vectors.any(axis=1)):
            self.write_file(vectors.astype(np.float16).tobytes(), *texts)

    def file(self, *made_of: str) -> Path:
        """Return the name of the file for what the embedder made of some texts."""
        folder = default_home() / "examples" if self._folder is None else self._folder
        of = repr((self._name, self._embedder.dimensions, *made_of))
        return folder / hashlib.sha256(of.encode()).hexdigest()

    def write_file(self, content: bytes, *made_of: str) -> None:
        """Write the file of that name; if it can't be written, only say so."""
        try:
            file = self.file(*made_of)
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(content)
        except (OSError, RuntimeError) as exc:
            throttled_warning(log, "vectors of examples can't be kept (%s)", type(exc).__name__)

    @property
    def _name(self) -> str:
        return self._embedder.name


def _is_same_model(made: Array, kept: Array) -> bool:
    if made.shape != kept.shape:
        return False
    return bool((unit_vectors(made) * kept).sum(axis=1).mean() >= _SAME_MODEL)


class Examples:
    """Example texts as vectors of one embedder, made at most once.

    Parameters
    ----------
    texts
        The examples; N.
    name
        Name of the examples, for the log and for notes.
    kept
        Keeps the vectors for later processes.
    shipped
        File with their vectors by the default embedder; ``scripts/embed_examples.py`` writes it.
    """

    def __init__(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        *,
        name: str,
        kept: KeptVectors,
        shipped: Path | None = None,
    ) -> None:
        self.embedder = embedder
        self.name = name
        self.kept = kept
        self._texts = texts
        self._shipped = shipped
        self._found: list[Array] = []  # of the first batches
        self._vectors: Array | None = None
        self._embedding = Background()
        self._again_at = -math.inf  # after a failure; time of the loop's clock
        #: The reason for missing vectors.
        self.fault = "it takes long"

    @property
    def made(self) -> Array | None:
        """The unit vectors of the examples, (N, dimensions); None as long as there are none."""
        return self._vectors

    async def vectors(self) -> Array | None:
        """Make the unit vectors of the examples, however long it takes; None if that fails."""
        may_begin = asyncio.get_running_loop().time() >= self._again_at
        if self._vectors is None and (self._embedding.is_running or may_begin):
            await self._embedding.wait(self._embed, math.inf)
        return self._vectors

    async def _embed(self) -> None:
        try:
            if self._shipped is not None and is_default(self.embedder):
                self._vectors = await asyncio.to_thread(_read, self._shipped)
                return
            starts = range(0, len(self._texts), _BATCH)
            batches = [self._texts[start : start + _BATCH] for start in starts]
            await self.kept.check(batches)
            for batch in batches[len(self._found) :]:
                self._found.append(await self._vectors_of(batch))
            self._vectors = await asyncio.to_thread(np.concatenate, self._found)
            self._found = []
        except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
            self.fault = type(exc).__name__
            self._again_at = asyncio.get_running_loop().time() + _PAUSE_S
            throttled_warning(log, f"examples of {self.name} can't be embedded (%s)", self.fault)

    async def _vectors_of(self, batch: Sequence[str]) -> Array:
        """Return the kept vectors of a batch, or embed it, and keep them."""
        if self.kept.are_current:
            kept = await asyncio.to_thread(self.kept.read, batch)
            if kept is not None:
                return kept
        made = _rounded(await _embedded(self.embedder, batch))
        await asyncio.to_thread(self.kept.write, batch, made)
        return made


def is_default(embedder: Embedder) -> bool:
    """Tell whether an embedder is the default one, whose vectors come with the package."""
    default = ONNX_MODELS[DEFAULT_ONNX_MODEL]
    return (embedder.name, embedder.dimensions) == (default.name, default.dimensions)


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
    """Embed texts; one that the embedder has no vector for, such as "?", is near to nothing."""
    made = await embed_what_can_be(embedder, texts)
    missing = made.vectors.count(None)
    is_all = missing > _MOST_REFUSED or missing == len(texts)
    if made.error is not None and (is_all or not isinstance(made.error, InvalidInputError)):
        raise made.error
    return [(0.0,) * embedder.dimensions if one is None else one for one in made.vectors]


def _rounded(vectors: Sequence[Sequence[float]]) -> Array:
    """Return unit vectors as they are read again once they are kept; those of zeros stay."""
    kept = unit_vectors(np.array(vectors, np.float64)).astype(np.float16)
    return unit_vectors(kept.astype(np.float64))


@cache  # an application may have a retriever for each of its users
def _read(file: Path) -> Array:
    """Return the unit vectors of a file of the package, which all retrievers share."""
    vectors = unit_vectors(np.load(file).astype(np.float64))
    vectors.flags.writeable = False
    return vectors


def unit_vectors(vectors: Array) -> Array:
    """Return the rows, each with length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return found
