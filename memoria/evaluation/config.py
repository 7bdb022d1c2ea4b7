"""Settings of an evaluation.

In: values from a caller. Out: frozen data, checked once. Touches nothing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from memoria._support.settings_check import SettingsCheck
from memoria.errors import ConfigError
from memoria.recall.config import RetrieverConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """Settings of an evaluation.

    Attributes
    ----------
    methods
        Names among `METHODS`, and that of the strategy of ``retriever``, which may be one of your
        own; each once. They are asked one after the other. Empty: this strategy alone.
    ks
        The k of recall@k: how many of the first ranks count; each 1 to 1,000, ascending, each once.
    excluded
        Categories that the headline figures leave out.
    limit
        How many questions to ask at most, evenly spread; None for all.
    depth
        How many ids of a ranking are kept; at least the largest of ``ks``.
    warm_up
        How many questions each method is asked before the measurement begins; >= 0.
    retriever
        Settings of every recall; a method with the name of another strategy asks with the default
        settings of that strategy.
    """

    methods: tuple[str, ...] = ()
    ks: tuple[int, ...] = (2, 5, 10, 25)
    excluded: tuple[str, ...] = ()
    limit: int | None = None
    depth: int = 100
    warm_up: int = 3
    # With enough time for a slow machine.
    retriever: RetrieverConfig = field(default_factory=lambda: RetrieverConfig(deadline_s=60.0))

    def __post_init__(self) -> None:
        """Check every range, and remove duplicates from the lists."""
        methods = self.methods or (self.retriever.strategy.name,)
        object.__setattr__(self, "methods", tuple(dict.fromkeys(methods)))
        object.__setattr__(self, "ks", tuple(sorted(set(self.ks))))
        object.__setattr__(self, "excluded", tuple(dict.fromkeys(self.excluded)))
        if not self.ks or not 1 <= self.ks[0] <= self.ks[-1] <= 1_000:
            raise ConfigError(
                f"ks must be whole numbers from 1 to 1000, got {list(self.ks)}", field="ks"
            )
        check = SettingsCheck(self)
        if self.limit is not None:
            check.whole("limit", 1, sys.maxsize)
        check.whole("warm_up", 0, sys.maxsize)
        object.__setattr__(self, "depth", max(self.depth, self.ks[-1]))
