"""Settings of a retriever: the settings of every stage, composed.

Change one for a call with ``dataclasses.replace(config, budget_tokens=500)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memoria._support.settings import SettingsCheck
from memoria.context.config import ContextConfig
from memoria.ranking.config import RelevanceConfig
from memoria.seeds.config import SeedConfig
from memoria.strategies.config import ExploreConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverConfig:
    """Settings of a `GraphRetriever`.

    Attributes
    ----------
    seeds, explore, context
        Settings of the stages. Where ``seeds`` are the default ones, a strategy that wants others
        has its own (`lif`: eight, `anchor`: by cosine).
    relevance
        Weights of the model that ranks what was found, or None: rank by energy alone, seeds by
        their score (source: 001).
    deadline_s
        Time for one call, unless the call says otherwise; seconds, > 0.
    budget_tokens
        Size of a context, unless the call says otherwise; tokens, >= 1.
    """

    seeds: SeedConfig = field(default_factory=SeedConfig)
    explore: ExploreConfig = field(default_factory=ExploreConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    relevance: RelevanceConfig | None = field(default_factory=RelevanceConfig.default)
    deadline_s: float = 10.0
    budget_tokens: int = 2_000

    def __post_init__(self) -> None:
        """Check every range."""
        check = SettingsCheck(self)
        check.seconds("deadline_s")
        check.whole("budget_tokens", 1, 100_000_000)
