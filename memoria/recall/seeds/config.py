"""Settings of the search for seeds: one frozen object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memoria._support.settings_check import SettingsCheck

#: Highest value of `SeedConfig.max_seeds`.
MAX_SEEDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedConfig:
    """Settings of the hybrid search.

    Attributes
    ----------
    max_seeds
        Largest number of seeds, and so of explorations; 1 to 100.
    candidates
        Hits taken from each of the two lists before the lists are fused; ``max_seeds`` to 1,000.
    fusion
        ``rrf`` (reciprocal ranks), ``linear`` (a weighted sum of scaled scores), or ``cosine``
        (vectors alone: a seed's score is its cosine, which must be above 0; without a vector the
        search is by words).
    rrf_k
        Constant of ``rrf``; > 0. The larger it is, the less the first ranks stand out.
    alpha
        Share of the cosine in ``linear``, 0 to 1; the rest is BM25.
    max_facts
        Only with ``cosine``: the largest number of seeds of ``fact_kinds``, in addition to
        ``max_seeds`` of other kinds; 0 to 100. With 0 all kinds share ``max_seeds``.
    fact_kinds
        The kinds for which ``max_facts`` reserves seeds.
    unembedded
        Largest number of memories without an embedding that become seeds in addition to the
        others, the newest first; 0 to 1,000. To find such memories the scope is read once.
    question_kinds
        The kinds of what users asked. Earlier questions take no seed from the memories that could
        answer this one; see `Seeds`. Empty: they count as all others.
    """

    max_seeds: int = 5
    candidates: int = 50
    fusion: Literal["rrf", "linear", "cosine"] = "rrf"
    rrf_k: float = 60.0
    alpha: float = 0.5
    max_facts: int = 0
    fact_kinds: tuple[str, ...] = ("UserPreference", "DataSource")
    unembedded: int = 0
    question_kinds: tuple[str, ...] = ("UserRequest",)

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.whole("max_seeds", 1, MAX_SEEDS)
        check.whole("candidates", 1, 1_000)
        check.not_below("candidates", "max_seeds")
        check.one_of("fusion", ("rrf", "linear", "cosine"))
        check.positive("rrf_k")
        check.within("alpha", 0.0, 1.0)
        check.whole("max_facts", 0, 100)
        check.names("fact_kinds")
        check.whole("unembedded", 0, 1_000)
        check.names("question_kinds")
