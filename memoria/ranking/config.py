"""Weights of the ranking: one for each feature of a memory.

In: numbers, or a file of them. Out: `RelevanceConfig`. Reads the named file, or a profile of
``profiles/``, which comes with the package and was written by `memoria tune`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Self

from memoria._support.settings import SettingsCheck
from memoria.errors import ConfigError

#: With larger weights the scores would overflow.
MAX_WEIGHT = 1_000_000
_PROFILES = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceConfig:
    """Weights of the linear model that ranks what a recall found.

    A memory's relevance is the sum of its features, each times its weight. Features are in 0 to 1;
    only ``joint_coverage`` goes up to 2, and a cosine may be below 0. A feature that is not named
    has the weight 0. A recall uses the weights of `default`, unless its settings say otherwise.
    ``docs/quality.md`` says how they were fitted and how much each feature contributes.

    Attributes
    ----------
    cosine
        Weight of the cosine of memory and query, over the best among the candidates.
    bm25
        Weight of BM25 of the query's words in the text, over the best; the candidates are the
        corpus.
    coverage
        Weight of the share of the query's words, by their rarity, that the text holds.
    heading
        Weight of being named: the query holds all words of the text's heading, which is the first
        of several lines.
    mention
        Weight of being mentioned: if the text of another candidate holds this one's heading, the
        root of how well that candidate matches the query, over the best; the best of several.
    question
        Weight of being a question: the text ends with a question mark.
    recency
        Weight of being new: 1 for the newest candidate, half of it for each month of age; 0 without
        a time.
    energy
        Weight of the root of the highest energy that reached the memory over hops, over the best.
    energy_bm25
        Weight of ``energy`` times ``bm25``.
    joint_coverage
        Weight of the root of the energy from a seed, times how well seed and memory together
        hold the query's words; the best of the seeds.
    residual_coverage
        Weight of the root of the energy from a seed, times how well the memory holds the query's
        words that the seed lacks; the best of the seeds.
    support
        Weight of the root of the strongest support by a neighbour among the candidates: how well
        the neighbour matches the query, times the edge's weight, over the root of its degree.
    support_cosine
        Weight of the root of the support of all such neighbours together, times ``cosine``.
    hybrid
        Weight of the score as a hit of the hybrid search; a memory that is not a hit has 0.
    """

    cosine: float = 0.0
    bm25: float = 0.0
    coverage: float = 0.0
    heading: float = 0.0
    mention: float = 0.0
    question: float = 0.0
    recency: float = 0.0
    energy: float = 0.0
    energy_bm25: float = 0.0
    joint_coverage: float = 0.0
    residual_coverage: float = 0.0
    support: float = 0.0
    support_cosine: float = 0.0
    hybrid: float = 0.0

    def __post_init__(self) -> None:
        """Check every weight."""
        check = SettingsCheck(self)
        for name in asdict(self):
            check.within(name, -MAX_WEIGHT, MAX_WEIGHT)
        if not any(asdict(self).values()):
            raise ConfigError(
                "every weight is 0, which ranks nothing: give one to a feature, take a profile "
                f"({', '.join(self.profiles())}), or rank by energy with relevance=None"
            )

    @classmethod
    def default(cls) -> Self:
        """Return the profile that a recall has by default."""
        return cls.profile("default")

    @classmethod
    @cache
    def profile(cls, name: str) -> Self:
        """Return weights that come with the package; read once.

        Raises
        ------
        ConfigError
            There is no profile of this name; the message lists the profiles.
        """
        if name not in cls.profiles():
            raise ConfigError(f"no profile {name!r}; there are: {', '.join(cls.profiles())}")
        return cls.load(_PROFILES / f"{name}.json")

    @classmethod
    def profiles(cls) -> tuple[str, ...]:
        """Return the names of the profiles that come with the package; sorted."""
        return tuple(sorted(path.stem for path in _PROFILES.glob("*.json")))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read weights from a JSON object of feature -> weight; a missing feature has the weight 0.

        Raises
        ------
        ConfigError
            The file holds something else, or names an unknown feature.
        OSError
            The file can't be read.
        """
        try:
            weights = json.loads(Path(path).read_bytes())
        except ValueError as exc:
            raise ConfigError(f"{path}: is not JSON: {exc}") from exc
        names = [field.name for field in fields(cls)]
        if not isinstance(weights, dict) or not weights.keys() <= set(names):
            raise ConfigError(f"{path}: must be one object; its fields may be {', '.join(names)}")
        return cls(**weights)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the weights to a file that `load` reads."""
        Path(path).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
