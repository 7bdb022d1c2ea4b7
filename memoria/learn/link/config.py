"""Settings of the linkers; the defaults are those of the sources."""

from __future__ import annotations

from dataclasses import dataclass

from memoria._support.settings_check import SettingsCheck
from memoria.formulas.edge_score import MIN_COSINE
from memoria.formulas.recency import SIGMA_HOURS

MAX_CANDIDATES = 1_000
MAX_UNRELATED = 0.99
#: Least cosine of the similarity linker, as the source prints it (004).
SIMILAR_COSINE = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeLinkConfig:
    """Link by cosine, tags, category and time together (source: 002).

    Attributes
    ----------
    min_cosine
        Below this cosine no edge is made, whatever the other signals say; 0 to 1. None: 0.30, as
        the source says, or as of `SimilarityLinkConfig` if that is more.
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
        Cosine that two unrelated texts have on average; 0 to 0.99. All other
        cosines of these settings count from there: see `above_unrelated`. None: as measured for
        the embedder that the database records, else 0.
    """

    min_cosine: float | None = None
    min_score: float = 0.40
    max_links: int = 5
    sigma_hours: float = SIGMA_HOURS
    candidates: int = 50
    unrelated_cosine: float | None = None

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        _check_cosines(self, check)
        check.within("min_score", 0.0, 1.0, above_low=True)
        check.whole("max_links", 1, 100)
        check.whole("candidates", 1, MAX_CANDIDATES)
        check.not_below("candidates", "max_links")
        check.within("sigma_hours", 0.001, 1_000_000)

    @property
    def least_cosine(self) -> float:
        """``min_cosine``; if it is None, what the source prints (002)."""
        return MIN_COSINE if self.min_cosine is None else self.min_cosine


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityLinkConfig:
    """Link to the nearest memories, and to near ones with a common topic or entity (source: 004).

    Attributes
    ----------
    min_cosine
        Lowest cosine at which one of the nearest memories is linked; 0 to 1. None: nearer than 99
        of 100 pairs of unrelated texts are to the embedder that the database records, as
        measured; 0.6, as the source prints, if nothing is known of it.
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
        Cosine that two unrelated texts have on average; 0 to 0.99. All other
        cosines of these settings count from there: see `above_unrelated`. None: as measured for
        the embedder that the database records, else 0.
    """

    min_cosine: float | None = None
    max_links: int = 3
    increment: float = 0.1
    max_shared_links: int = 3
    candidates: int = 50
    unrelated_cosine: float | None = None

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        _check_cosines(self, check)
        check.within("increment", 0.0, 1.0)
        check.whole("max_links", 1, 100)
        check.whole("max_shared_links", 0, 100)
        check.whole("candidates", 1, MAX_CANDIDATES)
        check.not_below("candidates", "max_links")

    @property
    def least_cosine(self) -> float:
        """``min_cosine``; if it is None, what the source prints (004)."""
        return SIMILAR_COSINE if self.min_cosine is None else self.min_cosine


LinkConfig = CompositeLinkConfig | SimilarityLinkConfig


def _check_cosines(config: LinkConfig, check: SettingsCheck) -> None:
    if config.min_cosine is not None:
        check.within("min_cosine", 0.0, 1.0)
    if config.unrelated_cosine is not None:
        check.within("unrelated_cosine", 0.0, MAX_UNRELATED)
