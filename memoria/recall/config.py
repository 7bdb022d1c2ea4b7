"""Settings of a retriever: the settings of every stage, composed.

Change one for a call with ``dataclasses.replace(config, budget_tokens=500)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, TypedDict
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memoria._support.checks import check_json_map, check_whole
from memoria._support.settings_check import SettingsCheck
from memoria._support.wording import kind_of, value_of
from memoria.errors import ConfigError, InvalidInputError
from memoria.recall.context.config import ContextConfig
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.history import HistoryConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import STRATEGIES, Strategy, TransferEnergy
from memoria.types import RelationRoles
from memoria.types.history import aware_time, utc_time


class RecallSettings(TypedDict, total=False):
    """Single settings of a call; those that are missing or None are the retriever's.

    They override ``config``, where both are given. `RetrieverConfig`, `SeedConfig` and
    `ContextConfig` say what each means, with its range.
    """

    budget_tokens: int | None
    deadline_s: float | None
    strategy: Strategy | None
    max_seeds: int | None
    min_relevance: float | None
    min_best_relevance: float | None
    as_of: datetime | None
    time_zone: str | tzinfo | None


_OF_CONTEXT = ("min_relevance", "min_best_relevance")


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
    history
        How far what is known of a memory's past moves it in the ranking by relevance. None: not at
        all.
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
    as_of
        Ask for an earlier state: memories that were made, and neither superseded nor outdated, at
        this time; a naive time counts as UTC. Edges and texts are those of today. None: now.
    time_phrases
        Whether a time phrase in the question, such as "last week", makes the recall prefer memories
        of that time. A filter by time (`MemoryFilter`) takes precedence. Without a time phrase,
        whether the newest statement comes first for a question about the present, and statements
        come in order of time for one about the past or a change.
    time_zone
        The caller's time zone, which decides when a day begins: a name such as ``Europe/Berlin``,
        or a ``tzinfo``. None: that of ``as_of``, else UTC.
    include_outdated
        Whether superseded and outdated memories take part as the others do.
    situation
        What the ``when`` of memories is compared with, such as ``{"language": "go"}``: a memory
        with another value for one of these keys takes no part. Empty: conditions rule nothing out.
    roles
        Roles of relations, used instead of those that the scope declares; for a graph that you can
        only read. A role that is None is taken from the scope.
    """

    strategy: Strategy = field(default_factory=TransferEnergy)
    seeds: SeedConfig | None = None
    relevance: RelevanceConfig | None = field(default_factory=RelevanceConfig.default)
    history: HistoryConfig | None = field(default_factory=HistoryConfig)
    context: ContextConfig = field(default_factory=ContextConfig)
    max_weight: float = 1.0
    seeds_per_session: int | None = None
    deadline_s: float = 10.0
    budget_tokens: int = 2_000
    as_of: datetime | None = None
    time_phrases: bool = True
    time_zone: str | tzinfo | None = None
    include_outdated: bool = False
    situation: Mapping[str, Any] = field(default_factory=dict, hash=False)
    roles: RelationRoles = field(default_factory=RelationRoles)

    def __post_init__(self) -> None:
        _check_strategy(self.strategy)
        check = SettingsCheck(self)
        check.instance("seeds", SeedConfig, optional=True)
        check.instance("relevance", RelevanceConfig, optional=True)
        check.instance("history", HistoryConfig, optional=True)
        check.instance("context", ContextConfig)
        check.positive("max_weight")
        if self.seeds_per_session is not None:
            check.whole("seeds_per_session", 1, 1_000)
        check.seconds("deadline_s")
        check.whole("budget_tokens", 1, 100_000_000)
        if not isinstance(self.roles, RelationRoles):
            raise ConfigError(
                f"roles must be RelationRoles, got {kind_of(self.roles)}", field="roles"
            )
        check.flag("include_outdated")
        check.flag("time_phrases")
        _zone_of(self.time_zone)
        try:
            object.__setattr__(self, "situation", check_json_map(self.situation, "situation"))
            if self.as_of is not None:
                object.__setattr__(self, "as_of", aware_time(self.as_of, "as_of"))
                utc_time(self.as_of, "as_of")  # queries take it so
        except InvalidInputError as exc:
            raise ConfigError(str(exc), field=exc.field) from exc

    @property
    def seed_search(self) -> SeedConfig:
        """The settings of the search for seeds: the given ones, else those of the strategy."""
        return self.seeds or self.strategy.seeds or SeedConfig()

    def overridden(self, settings: RecallSettings) -> RetrieverConfig:
        """Return these settings with some single ones changed.

        Raises
        ------
        InvalidInputError
            A value is out of its range, or a name is not known.
        """
        unknown = [name for name in settings if name not in RecallSettings.__annotations__]
        if unknown:
            known = ", ".join(RecallSettings.__annotations__)
            raise InvalidInputError(
                f"a call has no setting {value_of(unknown[0])}: there are {known}; give others in "
                "a RetrieverConfig",
                field=unknown[0],
            )
        given: dict[str, Any] = {name: each for name, each in settings.items() if each is not None}
        try:
            if context := {name: given.pop(name) for name in _OF_CONTEXT if name in given}:
                given["context"] = replace(self.context, **context)
            if "max_seeds" in given:
                max_seeds = check_whole(given.pop("max_seeds"), "max_seeds", low=1, high=100)
                search = given.get("strategy", self.strategy).seeds
                search = self.seeds or search or SeedConfig()
                candidates = max(search.candidates, max_seeds)
                given["seeds"] = replace(search, max_seeds=max_seeds, candidates=candidates)
            return replace(self, **given)
        except ConfigError as exc:
            raise InvalidInputError(str(exc), field=exc.field) from exc

    @property
    def zone(self) -> tzinfo | None:
        """The caller's time zone; None if it is not given."""
        return _zone_of(self.time_zone)


def _zone_of(value: object) -> tzinfo | None:
    """Return the zone with this name, or a ``tzinfo`` as it is."""
    if value is None or isinstance(value, tzinfo):
        return value
    if isinstance(value, str):
        try:
            return ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
            raise ConfigError(
                f"time_zone {value!r:.80} is not known: give a name such as Europe/Berlin "
                "(on a system without zones, install the package tzdata)",
                field="time_zone",
            ) from exc
    raise ConfigError(
        f"time_zone must be a name or a tzinfo, got {kind_of(value)}", field="time_zone"
    )


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
    raise ConfigError(
        f"strategy must be an object, got {value_of(strategy)}: give {give}", field="strategy"
    )
