"""What the writers of conversations and of documents have in common: options, and limits.

In: nothing. Out: types and numbers. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Generic, TypedDict

from memoria.ingest.batch_writer import AnyLinker
from memoria.remember.mentions import Extractor

#: How often a write starts again because others write the same meanwhile.
MAX_ATTEMPTS = 100


class TextOptions(TypedDict, Generic[AnyLinker], total=False):
    """The options that both writers have, in addition to store, scope and embedder."""

    extractor: Extractor | None
    linker: AnyLinker | None
    clock: Callable[[], datetime]
