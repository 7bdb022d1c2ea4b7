"""Keep what an embedder made of the example texts, on this machine, for later processes.

In: an embedder, texts, vectors. Out: vectors, the names of files. Reads and writes the folder
``examples`` in memoria's home, which holds no memories.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria._support.home import default_home
from memoria._support.throttling import throttled_warning
from memoria.embed import Embedder

Array = NDArray[np.float64]

log = logging.getLogger(__name__)

# So many texts tell whether an embedder is still the same model.
_COMPARED = 3
# Least mean cosine of their vectors, now and then. A model may give one text another vector in a
# batch: cosines go down to 0.955. The vectors of two models have nothing to do with each other.
_SAME_MODEL = 0.9
# Lengths of vectors differ from 1 by no more than this, if a file is not damaged.
_ROUNDING = 0.02


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
        if found.size != shape[0] * shape[1]:
            return None
        lengths = np.linalg.norm(found.reshape(shape), axis=1)
        if not np.all(np.abs(lengths - 1.0) <= _ROUNDING):
            return None
        units: Array = found.reshape(shape) / lengths[:, None]
        return units

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
    lengths = np.linalg.norm(made, axis=1)
    cosines = (made * kept).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    return bool(cosines.mean() >= _SAME_MODEL)
