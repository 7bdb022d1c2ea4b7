"""Settings of the linkers; the defaults are those of the sources."""

from __future__ import annotations

from dataclasses import dataclass

from memoria._support.settings_check import SettingsCheck
from memoria.formulas.edge_score import MIN_COSINE
from memoria.formulas.recency import SIGMA_HOURS

MAX_CANDIDATES = 1_000

#: Cosine of two unrelated texts, by the name of the embedder: the median of pairs drawn at random
#: from passages on any subject (MuSiQue, HotpotQA, StrategyQA).
UNRELATED_COSINES = {"bge-small-en-v1.5-q": 0.43, "all-minilm-l6-v2-q": 0.01}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeLinkConfig:
    """Link by cosine, tags, category and time together (source: 002).

    Attributes
    ----------
    min_cosine
        Below this cosine there is no edge, whatever the other signals say; 0 to 1.
    min_score
        Lowest composite score that gives an edge; above 0, up to 1.
    max_links
        How many edges a memory gets at most when it is linked, the best ones; 1 to 100.
    sigma_hours
        Difference in time at which the temporal proximity is 0.61; hours of the scope's clock,
        0.001 to 1,000,000.
    candidates
        How many of the nearest memories are scored; ``max_links`` to 1,000.
    unrelated_cosine
        Cosine that two unrelated texts have on average; 0 up to, but not including, 1. All other
        cosines of these settings count from there: see `above_unrelated`. None: as measured for
        the embedder that the database records, if `UNRELATED_COSINES` has it, else 0.
    """

    min_cosine: float = MIN_COSINE
    min_score: float = 0.40
    max_links: int = 5
    sigma_hours: float = SIGMA_HOURS
    candidates: int = 50
    unrelated_cosine: float | None = None

    def __post_init__(self) -> None:
        """Check every range."""
        check = SettingsCheck(self)
        check.within("min_cosine", 0.0, 1.0)
        check.within("min_score", 0.0, 1.0, above_low=True)
        check.whole("max_links", 1, 100)
        check.whole("candidates", 1, MAX_CANDIDATES)
        check.not_below("candidates", "max_links")
        check.within("sigma_hours", 0.001, 1_000_000)
        _check_unrelated(check, self.unrelated_cosine)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityLinkConfig:
    """Link to the nearest memories, and to near ones with a common topic or entity (source: 004).

    Attributes
    ----------
    min_cosine
        Lowest cosine at which one of the nearest memories is linked; 0 to 1.
    max_links
        How many of the nearest memories are considered; 1 to 100.
    increment
        Added to the weight of an edge that is found again, up to a weight of 1; 0 to 1.
    max_shared_links
        How many more edges a memory gets at most to memories with common topics or entities, the
        best ones; 0 to 100.
    candidates
        How many of the nearest memories are searched for common topics or entities; ``max_links``
        to 1,000.
    unrelated_cosine
        Cosine that two unrelated texts have on average; 0 up to, but not including, 1. All other
        cosines of these settings count from there: see `above_unrelated`. None: as measured for
        the embedder that the database records, if `UNRELATED_COSINES` has it, else 0.
    """

    min_cosine: float = 0.6
    max_links: int = 3
    increment: float = 0.1
    max_shared_links: int = 3
    candidates: int = 50
    unrelated_cosine: float | None = None

    def __post_init__(self) -> None:
        """Check every range."""
        check = SettingsCheck(self)
        check.within("min_cosine", 0.0, 1.0)
        check.within("increment", 0.0, 1.0)
        check.whole("max_links", 1, 100)
        check.whole("max_shared_links", 0, 100)
        check.whole("candidates", 1, MAX_CANDIDATES)
        check.not_below("candidates", "max_links")
        _check_unrelated(check, self.unrelated_cosine)


LinkConfig = CompositeLinkConfig | SimilarityLinkConfig


def _check_unrelated(check: SettingsCheck, value: float | None) -> None:
    if value is not None:
        check.within("unrelated_cosine", 0.0, 0.99)
