"""An embedder for models of the ``sentence-transformers`` library.

In: texts. Out: vectors of unit length.
Touches: the library's model cache, and the internet if the model isn't in the cache. Needs the
extra ``sentence-transformers``, which installs torch (5.9 GB on Linux).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from memoria._support.extras import install_command
from memoria.embed.base import check_name, check_text, check_texts, check_vectors
from memoria.embed.threads import map_pieces
from memoria.errors import ConfigError

_QUERY_PROMPTS = ("query",)
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_BATCHES_PER_PIECE = 4


class SentenceTransformerEmbedder:
    """Embeds texts with any model that ``sentence-transformers`` can load.

    The constructor does no work; the model is loaded, in a thread, by the first call or by
    ``load``. One thread does all the work, because the library's tokenizers can't be shared.

    Parameters
    ----------
    model
        Name on the model hub, or a folder.
    name
        Name that is recorded with the index; by default ``model``. Give a name if ``model`` is a
        folder, so that the folder may be moved.
    device
        ``"cpu"``, ``"cuda"``, ...; by default the best device of the machine.
    batch_size
        Texts in one run of the model, >= 1. A text's vector may differ by rounding (about 1e-6)
        from one batch to another.
    prompts
        Texts that are put before the input, by use: ``{"query": "...", "document": "..."}``. By
        default the prompts that come with the model.

    Raises
    ------
    ConfigError
        The name is empty, or ``batch_size`` is below 1.
    """

    def __init__(
        self,
        model: str = "sentence-transformers/all-MiniLM-L6-v2",
        *,
        name: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        if batch_size < 1:
            raise ConfigError(
                f"batch_size must be at least 1, got {batch_size}", field="batch_size"
            )
        self._path = check_name(model, "model")
        self._name = check_name(name) if name is not None else self._path
        self._device = device
        self._batch_size = batch_size
        self._prompts = dict(prompts) if prompts is not None else None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="memoria-embed")
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has. Blocking, unless ``load`` has loaded the model."""
        model = self._load()
        current = getattr(model, "get_embedding_dimension", None)  # its name in newer versions
        return int(current() if current else model.get_sentence_embedding_dimension())

    async def load(self) -> None:
        """Load the model now instead of in the first call.

        Raises
        ------
        ConfigError
            The extra ``sentence-transformers`` is not installed, or the model can't be loaded.
        """
        await asyncio.get_running_loop().run_in_executor(self._pool, self._load)

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
        ConfigError
            As for ``load``.
        """
        return await map_pieces(
            self._pool,
            partial(self._encode, uses=_DOCUMENT_PROMPTS),
            check_texts(texts),
            piece=_BATCHES_PER_PIECE * self._batch_size,
            workers=1,
        )

    async def embed_query(self, text: str) -> list[float]:
        """Embed a text to search with; errors as for ``embed_documents``."""
        checked = check_text(text, "query")
        loop = asyncio.get_running_loop()
        [vector] = await loop.run_in_executor(self._pool, self._encode, [checked], _QUERY_PROMPTS)
        return vector

    def count_tokens(self, text: str) -> int:
        """Count the tokens of ``text`` in this model's vocabulary, special tokens left out.

        Counts all tokens, also those beyond the model's own limit. For other models, the number is
        an estimate. Blocking: loads the model if it isn't loaded.
        """
        return self._pool.submit(self._count, text).result()

    def _count(self, text: str) -> int:
        tokens = self._load().tokenizer.encode(text, add_special_tokens=False)
        return len(getattr(tokens, "ids", tokens))  # an object of the tokenizers library, or a list

    def _encode(self, texts: Sequence[str], uses: tuple[str, ...]) -> list[list[float]]:
        model = self._load()
        prompt = next((use for use in uses if use in (model.prompts or {})), None)
        vectors = model.encode(
            list(texts),
            prompt_name=prompt,
            batch_size=self._batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return check_vectors(vectors, name=self.name, count=len(texts), dimensions=self.dimensions)

    def _load(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._build()
            return self._model

    def _build(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as exc:
            raise ConfigError(
                "SentenceTransformerEmbedder needs more packages: "
                f"{install_command('sentence-transformers')}"
            ) from exc
        try:
            return SentenceTransformer(self._path, device=self._device, prompts=self._prompts)
        except (OSError, ValueError) as exc:
            raise ConfigError(
                f"sentence-transformers can't load {self._path!r} ({type(exc).__name__}): check "
                "the name or folder, and your internet access if the model was never downloaded"
            ) from exc
