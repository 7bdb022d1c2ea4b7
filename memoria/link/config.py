"""Settings of the linkers; the defaults are those of the sources."""

from __future__ import annotations

from dataclasses import dataclass

from memoria._support.settings import SettingsCheck
from memoria.formulas.edge_score import MIN_COSINE
from memoria.formulas.recency import SIGMA_HOURS

MAX_CANDIDATES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeLinkConfig:
    """Link by cosine, tags, category and time together (source: 002).

    Attributes
    ----------
    min_cosine
        Cosine below which no other signal counts; 0 to 1.
    min_score
        Composite score from which there is an edge; above 0, up to 1.
    max_links
        Edges that linking one memory makes, at most, the best; 1 to 100.
    sigma_hours
        How far apart in time the proximity is 0.61; hours of the scope's clock, 0.001 to
        1,000,000.
    candidates
        Nearest memories that are scored for each; ``max_links`` to 1,000.
    """

    min_cosine: float = MIN_COSINE
    min_score: float = 0.40
    max_links: int = 5
    sigma_hours: float = SIGMA_HOURS
    candidates: int = 50

    def __post_init__(self) -> None:
        """Check every range."""
        check = SettingsCheck(self)
        check.within("min_cosine", 0.0, 1.0)
        check.within("min_score", 0.0, 1.0, above_low=True)
        check.whole("max_links", 1, 100)
        check.whole("candidates", self.max_links, MAX_CANDIDATES)
        check.within("sigma_hours", 0.001, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityLinkConfig:
    """Link to the nearest, and to those near that share a topic or an entity (source: 004).

    Attributes
    ----------
    min_cosine
        Cosine from which one of the nearest is linked; 0 to 1.
    max_links
        Nearest that are looked at; 1 to 100.
    increment
        What an edge that is found again gains, up to a weight of 1; 0 to 1.
    max_shared_links
        Further edges to memories with topics or entities in common, at most, the best; 0 to 100.
    candidates
        Nearest memories among which those are looked for; ``max_links`` to 1,000.
    """

    min_cosine: float = 0.6
    max_links: int = 3
    increment: float = 0.1
    max_shared_links: int = 3
    candidates: int = 50

    def __post_init__(self) -> None:
        """Check every range."""
        check = SettingsCheck(self)
        check.within("min_cosine", 0.0, 1.0)
        check.within("increment", 0.0, 1.0)
        check.whole("max_links", 1, 100)
        check.whole("max_shared_links", 0, 100)
        check.whole("candidates", self.max_links, MAX_CANDIDATES)


LinkConfig = CompositeLinkConfig | SimilarityLinkConfig
