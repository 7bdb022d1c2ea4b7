"""Settings of learning; the defaults are those of the sources."""

from __future__ import annotations

from dataclasses import dataclass

from memoria._support.settings_check import SettingsCheck
from memoria.formulas import plasticity


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnConfig:
    """How use changes edges (sources: 000, 003).

    Attributes
    ----------
    increment
        Added to the weight of an edge by each use, and the weight of an edge that learning makes;
        above 0, up to 1.
    eta
        Learning rate of Oja's rule; above 0, up to 1.
    co_activations
        How many co-activations of a pair create an edge; 1 to 100.
    window_days
        Days within which these co-activations must happen; 0.001 to 3,650.
    max_active
        How many memories of a recall, the strongest, count as active together; 2 to 200.
    decay_per_hour
        Rate at which a learned weight fades while the edge is not used; 0 to 10.
    promote_uses
        After so many uses since its last promotion, an edge keeps its learned weight for good; 1 to
        1,000,000.
    min_weight
        `consolidate` deletes edges that learning made once their weight is lower; 0 to 1.
    log_days
        Days for which `consolidate` leaves events in the log. While an event is in the log, it can
        be undone, and is not applied a second time; 1 to 36,500.
    """

    increment: float = plasticity.INCREMENT
    eta: float = plasticity.ETA
    co_activations: int = plasticity.CO_ACTIVATIONS
    window_days: float = plasticity.WINDOW_DAYS
    max_active: int = 8
    decay_per_hour: float = plasticity.DECAY_PER_HOUR
    promote_uses: int = 5
    min_weight: float = plasticity.MIN_WEIGHT
    log_days: float = 90.0

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        for name in ("increment", "eta"):
            check.within(name, 0.0, 1.0, above_low=True)
        check.whole("co_activations", 1, 100)
        check.within("window_days", 0.001, 3_650)
        check.whole("max_active", 2, 200)
        check.within("decay_per_hour", 0.0, 10.0)
        check.whole("promote_uses", 1, 1_000_000)
        check.within("min_weight", 0.0, 1.0)
        check.within("log_days", 1, 36_500)
