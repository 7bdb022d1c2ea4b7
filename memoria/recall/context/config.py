"""Settings of the context: one frozen object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memoria._support.settings_check import SettingsCheck
from memoria._support.wording import value_of
from memoria.errors import ConfigError

_PREFIX = re.compile("[a-z]{0,8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextConfig:
    """Settings of the context: its order and form, and which memories stay out of it.

    Attributes
    ----------
    order
        ``relevance``: the best memory first. Messages of the same conversation and day are grouped,
        and a memory is nested below a better one if an edge between them says more than their
        texts. ``time``: the oldest memory first, undated ones last; each line names the memory that
        it is joined to.
    format
        ``text``, ``markdown`` or ``json``; the budget counts the tokens of this format.
    names
        How the text names a memory. ``label``: by a short number, such as ``[1]``, in the order of
        the text; `ContextItem.label` maps it to the memory. ``id``: by its id, which may be long.
    label_prefix
        Lower-case letters before the number of a label; at most 8. If an id on the paths looks like
        a label, ``m`` is added.
    duplicate_overlap
        Lowest share of common words (Jaccard), above 0, up to 1, at which a memory that adds only
        filler words to a better memory is left out as its duplicate. None: never.
    duplicate_cosine
        Lowest cosine of two embeddings, above 0, up to 1, at which the less good memory is left
        out; `GraphRetriever` asks the database for such pairs among the best 100 memories. None:
        never.
    min_relevance
        Lowest `RankedMemory.relevance` with which a memory of a recall enters, a probability, 0 to
        1; 0 lets every memory in. A memory to which paths bring a relevance of 0.1 enters, too, and
        so do memories whose relevance is not known.
    min_best_relevance
        Lowest relevance of the best memory, a probability, 0 to 1. If it is below, nothing that was
        found is taken for an answer, and the context is empty; 0: no limit.
    """

    order: Literal["relevance", "time"] = "relevance"
    format: Literal["text", "markdown", "json"] = "text"
    names: Literal["label", "id"] = "label"
    label_prefix: str = ""
    duplicate_overlap: float | None = 0.8
    duplicate_cosine: float | None = None
    min_relevance: float = 0.0005
    min_best_relevance: float = 0.02

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.one_of("order", ("relevance", "time"))
        check.one_of("format", ("text", "markdown", "json"))
        check.one_of("names", ("label", "id"))
        prefix: object = self.label_prefix
        if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
            raise ConfigError(
                f"label_prefix must be at most 8 letters a to z, got {value_of(self.label_prefix)}",
                field="label_prefix",
            )
        for name in ("duplicate_overlap", "duplicate_cosine"):
            if getattr(self, name) is not None:
                check.within(name, 0.0, 1.0, above_low=True)
        check.within("min_relevance", 0.0, 1.0)
        check.within("min_best_relevance", 0.0, 1.0)

    @property
    def limit_of_best(self) -> tuple[str, float]:
        """Name and value of the setting that the best memory must reach for anything to enter."""
        both = (
            ("min_relevance", self.min_relevance),
            ("min_best_relevance", self.min_best_relevance),
        )
        return max(both, key=lambda limit: limit[1])
