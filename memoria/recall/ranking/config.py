"""Weights of the ranking: one for each feature of a memory, and those of the calibration.

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

from memoria._support.reading import parse_json, read_whole
from memoria._support.settings import SettingsCheck
from memoria._support.wording import value_of
from memoria.errors import ConfigError, InvalidInputError
from memoria.recall.ranking.calibration import Calibration

#: With larger weights the scores would overflow.
MAX_WEIGHT = 1_000_000
# Features of earlier rankings: a file that names one of them has weights that mean something else
# now.
_OF_EARLIER = {
    "answer_rise",
    "chain",
    "cosine_gap",
    "energy_bm25",
    "hybrid",
    "joint_coverage",
    "mention",
    "question",
    "residual_coverage",
    "support",
    "support_beyond",
    "support_cosine",
}
_PROFILES = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceConfig:
    """Weights of the linear model that ranks what a recall found.

    A memory's sum is that of its features, each times its weight; higher sums stand first.
    Most features are in 0 to 1; a cosine may be below 0, and features of links may be above 1. A
    feature that is not named has the weight 0. A recall uses the weights of `default`, unless its
    settings say otherwise. ``docs/quality.md`` says how they were fitted and how much each feature
    contributes.

    A *match* is how well a candidate fits the query by itself: the third power of ``cosine`` plus
    the square of ``bm25``. *Candidates* are the hits of the search, what energy reached and what
    the seeds need. The features from ``carried`` to ``walk_beyond`` come from links. They are
    multiplied by the substance of the text (0 for courtesies such as "Noted.", 1 from three other
    words on), and by the fourth root of the ratio of the candidates' degrees (geometric mean) to
    the memory's degree, so a hub gets less. The features from ``user`` on are 0 if roles, speakers,
    sessions and order are unknown.

    Attributes
    ----------
    cosine
        Weight of the cosine of memory and query, over the best among the candidates. Where none
        of them has a vector, 0.8 plus 0.2 times ``bm25``.
    cosine_rise
        Weight of how much of the way from the cosine of the 21st candidate to 1 the cosine covers.
        Unlike the others, it is low for all candidates where none is near the query.
    cosine_place
        Weight of the place by cosine: 1 for the first, 0 for the hundredth and beyond, by its
        logarithm.
    cosine_first
        Weight of standing first by cosine: 5 over 5 plus the number of candidates before it.
    bm25
        Weight of BM25 of the query's words in the text, over the best; the candidates are the
        corpus.
    bm25_first
        Weight of standing first by BM25, as by cosine; 0 without a word of the query.
    cosine_bm25
        Weight of ``cosine`` times ``bm25``.
    coverage
        Weight of the share of the query's words, by their rarity, that the text holds.
    beyond_best
        Weight of the share of the query's words that the text holds and the three best matches
        lack.
    heading
        Weight of being named: the query holds all words of the text's heading, which is the first
        of several lines.
    recency
        Weight of being new: 1 for the newest candidate, half of it for each month of age; 0 without
        a time.
    energy
        Weight of the root of the highest energy that reached the memory over hops, over the best.
    carried
        Weight of the root of the energy from a seed, times how well the seed holds the query's
        words that the memory lacks; the best of the seeds.
    chain_beyond
        Weight of the strongest chain of up to four edges that leads from a match to the memory in
        the stored direction: the match divided by the best match, times the weights of the edges,
        times 0.8 per edge, times 1 minus ``cosine``.
    walk_beyond
        Weight of the root of the mass that random walks over the edges bring to the memory, over
        the best, times 1 less ``bm25``; the walks start anew half of the time, at candidates by the
        square of their match.
    user
        Weight of a message by the user, if the candidates include the assistant's messages, too,
        and the query does not ask what the assistant said.
    assistant
        Weight of a message by the assistant, if the query asks for it ("What did you recommend?")
        and the candidates include the user's messages, too.
    speaker
        Weight of a message by a speaker whom the query names.
    echo
        Weight of repetition: the share of the query's words, by their rarity, that are both in the
        message and in the one right before it.
    session
        Weight of the best match of another message of the same session, divided by the root of the
        session's size.
    calibration
        Weights of the map from the sums to probabilities, `RankedMemory.relevance`; it does not
        change the order. None: no probabilities. It belongs to the weights with which it was
        fitted.
    """

    cosine: float = 0.0
    cosine_rise: float = 0.0
    cosine_place: float = 0.0
    cosine_first: float = 0.0
    bm25: float = 0.0
    bm25_first: float = 0.0
    cosine_bm25: float = 0.0
    coverage: float = 0.0
    beyond_best: float = 0.0
    heading: float = 0.0
    recency: float = 0.0
    energy: float = 0.0
    carried: float = 0.0
    chain_beyond: float = 0.0
    walk_beyond: float = 0.0
    user: float = 0.0
    assistant: float = 0.0
    speaker: float = 0.0
    echo: float = 0.0
    session: float = 0.0
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        """Check every weight."""
        check = SettingsCheck(self)
        for name in self.weights:
            check.within(name, -MAX_WEIGHT, MAX_WEIGHT)
        if not isinstance(self.calibration, Calibration | None):
            raise ConfigError(
                f"calibration must be a Calibration, got {value_of(self.calibration)}"
            )
        if not any(self.weights.values()):
            raise ConfigError(
                "every weight is 0, which ranks nothing: give one to a feature, take a profile "
                f"({', '.join(self.profiles())}), or rank by energy with relevance=None"
            )

    @property
    def weights(self) -> dict[str, float]:
        """Feature -> weight, for every feature."""
        return {name: getattr(self, name) for name in FEATURES}

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
            A profile of this name does not exist; the message lists the profiles.
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

        ``calibration``, if it is there, is an object of the fields of `Calibration`.

        Raises
        ------
        ConfigError
            The file holds something else, or names an unknown feature.
        OSError
            The file can't be read.
        """
        try:
            weights = parse_json(read_whole(path))
        except InvalidInputError as exc:
            raise ConfigError(f"{path}: {exc}") from exc
        if earlier := sorted(_OF_EARLIER & _names(weights)):
            raise ConfigError(
                f"{path}: holds weights of an earlier version of the ranking, which had "
                f"{', '.join(earlier)}: fit them again with memoria tune"
            )
        _check_names(path, weights, cls)
        calibration = weights.pop("calibration", None)
        if calibration is not None:
            _check_names(f"{path}: calibration", calibration, Calibration)
            calibration = Calibration(**calibration)
        return cls(**weights, calibration=calibration)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the weights to a file that `load` reads."""
        Path(path).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


#: The features, in the order of `RelevanceConfig`.
FEATURES = tuple(each.name for each in fields(RelevanceConfig) if each.name != "calibration")


def _names(weights: object) -> set[str]:
    """Return the names of weights, and of those of their calibration."""
    if not isinstance(weights, dict):
        return set()
    calibration = weights.get("calibration")
    return {*weights, *(calibration if isinstance(calibration, dict) else ())}


def _check_names(place: object, given: object, of: type) -> None:
    """Raise unless ``given`` is an object whose fields are fields of a class."""
    names = [each.name for each in fields(of)]
    if not isinstance(given, dict) or not given.keys() <= set(names):
        raise ConfigError(f"{place}: must be one object; its fields may be {', '.join(names)}")
