"""Settings of a retriever: the settings of every stage, composed.

Change one for a call with ``dataclasses.replace(config, budget_tokens=500)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memoria._support.settings import SettingsCheck
from memoria.context.config import ContextConfig
from memoria.errors import ConfigError
from memoria.ranking.config import RelevanceConfig
from memoria.seeds.config import SeedConfig
from memoria.strategies import STRATEGIES, Strategy, TransferEnergy


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverConfig:
    """Settings of a `GraphRetriever`, or of one call.

    Attributes
    ----------
    strategy
        How energy moves: an object that holds all of its settings, such as `TransferEnergy`,
        `LeakyIntegrateAndFire`, `AnchorSpreading`, `Synapse`, or a strategy of your own.
    seeds
        Settings of the search for seeds. None: the settings that the strategy asks for (`lif`:
        eight seeds, `anchor`: by cosine), or the default ones if it asks for none.
    relevance
        Weights of the model that ranks what was found. None: the strategy's score orders it
        (for transfer energy, the energy), and in a context hits that nothing was explored from
        come last.
    context
        Order and format of the context, and what counts as a duplicate.
    max_weight
        Larger weights of edges count as this; > 0.
    seeds_per_session
        Explorations that share a session and its level queries, where their energy does not meet;
        None: 1 when streaming explorations, all in ``recall``.
    deadline_s
        Time for one call, unless the call says otherwise; seconds, > 0.
    budget_tokens
        Size of a context, unless the call says otherwise; tokens, >= 1.
    """

    strategy: Strategy = field(default_factory=TransferEnergy)
    seeds: SeedConfig | None = None
    relevance: RelevanceConfig | None = field(default_factory=RelevanceConfig.default)
    context: ContextConfig = field(default_factory=ContextConfig)
    max_weight: float = 1.0
    seeds_per_session: int | None = None
    deadline_s: float = 10.0
    budget_tokens: int = 2_000

    def __post_init__(self) -> None:
        """Check every range."""
        _check_strategy(self.strategy)
        check = SettingsCheck(self)
        check.positive("max_weight")
        if self.seeds_per_session is not None:
            check.whole("seeds_per_session", 1, 1_000)
        check.seconds("deadline_s")
        check.whole("budget_tokens", 1, 100_000_000)

    @property
    def seed_search(self) -> SeedConfig:
        """The settings of the search for seeds: the given ones, else those of the strategy."""
        return self.seeds or self.strategy.seeds or SeedConfig()


def _check_strategy(strategy: object) -> None:
    """Raise ConfigError for a name, a class, or an object that is not a strategy."""
    if isinstance(strategy, Strategy) and not isinstance(strategy, type):
        return
    if isinstance(strategy, str) and strategy in STRATEGIES:
        give = f"{type(STRATEGIES[strategy]).__name__}()"
    elif isinstance(strategy, type):
        give = f"{strategy.__name__}()"
    else:
        give = " or ".join(f"{type(each).__name__}()" for each in STRATEGIES.values())
    raise ConfigError(f"strategy must be an object, got {strategy!r:.100}: give {give}")
