"""Weights of the ranking: one for each feature of a memory, and those of the calibration.

In: numbers, or a file of them. Out: `RelevanceConfig`. Reads the named file, or a profile of
``profiles/``, which comes with the package and was written by `memoria tune`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, Self

from memoria._support.checks import check_number
from memoria._support.foreign_files import parse_json, read_whole
from memoria._support.wording import kind_of, value_of
from memoria.errors import ConfigError, InvalidInputError
from memoria.recall.ranking.calibration import Calibration

#: With larger weights the scores would overflow.
MAX_WEIGHT = 1_000_000
_PROFILES = Path(__file__).parent / "profiles"


#: Feature -> what it says about a memory. Most are in 0 to 1; a cosine may be below 0, and the
#: features of links may be above 1. A *match* is how well a candidate fits the query by itself: the
#: third power of ``cosine`` plus the square of ``bm25``. *Candidates* are the hits of the search,
#: what energy reached and what the seeds need. The features from ``carried`` to ``walk_beyond``
#: come from links: they are multiplied by the substance of the text (0 for courtesies such as
#: "Noted.", 1 from three other words on), and by the fourth root of the ratio of the candidates'
#: degrees (geometric mean) to the memory's degree, so a hub gets less. The features from ``user``
#: on are 0 if roles, speakers, sessions and order are unknown.
MEANINGS: Mapping[str, str] = {
    "cosine": "The cosine of memory and query, over the best among the candidates. Where none of "
    "them has a vector, 0.8 plus 0.2 times `bm25`.",
    "cosine_rise": "How much of the way from the cosine of the 21st candidate to 1 the cosine "
    "covers. Unlike the others, it is low for all candidates if none is near the query.",
    "cosine_place": "The place by cosine: 1 for the first, 0 for the hundredth and beyond, by its "
    "logarithm.",
    "cosine_first": "Standing first by cosine: 5 over 5 plus the number of candidates before it.",
    "bm25": "BM25 of the query's words in the text, over the best; the candidates are the corpus.",
    "bm25_first": "Standing first by BM25, as by cosine; 0 without a word of the query.",
    "cosine_bm25": "`cosine` times `bm25`.",
    "coverage": "The share of the query's words, by their rarity, that the text contains.",
    "beyond_best": "The share of the query's words that the text contains and the three best "
    "matches lack.",
    "heading": "1 if the query contains all words of the text's heading, which is the first of "
    "several lines.",
    "carried": "The root of the energy from a seed, times how well the seed contains the query's "
    "words that the memory lacks; the best of the seeds.",
    "chain_beyond": "The strongest chain of up to four edges that leads from a match to the memory "
    "in the stored direction: the match divided by the best match, times the weights of the edges, "
    "times 0.8 per edge, times 1 minus `cosine`.",
    "walk_beyond": "The root of the mass that random walks over the edges bring to the memory, "
    "over the best, times 1 less `bm25`; the walks restart half of the time, at candidates by "
    "the square of their match.",
    "user": "1 for a message by the user, if the candidates include the assistant's messages, too, "
    "and the query does not ask what the assistant said.",
    "assistant": '1 for a message by the assistant, if the query asks for it ("What did you '
    "recommend?\") and the candidates include the user's messages, too.",
    "speaker": "1 for a message by a speaker whom the query names.",
    "echo": "Repetition: the share of the query's words, by their rarity, that are both in the "
    "message and in the one right before it.",
    "session": "The best match of another message of the same session, divided by the root of the "
    "session's size.",
    "opening": "`user` for a message that opens its session, unless it only asks or is a courtesy; "
    "multiplied by 3 over the root of the session's number of edges if there are more than nine. A "
    "remembered text has the highest value of the messages, all else outside of sessions their "
    "mean.",
}
#: The features, in the order of `MEANINGS`.
FEATURES = tuple(MEANINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceConfig:
    """Weights of the linear model that ranks what a recall found.

    A memory's sum is that of its features, each times its weight; memories with higher sums come
    first. A recall uses the weights of `default`, unless its settings say otherwise.
    ``docs/quality.md`` says how they were fitted, ``docs/project/ranking.md`` what each feature
    contributes.

    Attributes
    ----------
    weights
        Feature -> weight, -1,000,000 to 1,000,000; a feature that is not named has the weight 0.
        `MEANINGS` says what each feature is. After its creation, the object has a weight for each.
    calibration
        Weights of the map from the sums to probabilities, `RankedMemory.relevance`; it does not
        change the order. None: no probabilities. It belongs to the weights with which it was
        fitted.
    """

    weights: Mapping[str, float] = field(hash=False)
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise ConfigError(
                f"weights must be a map of feature -> weight, got {kind_of(self.weights)}",
                field="weights",
            )
        if unknown := [name for name in self.weights if name not in FEATURES]:
            raise ConfigError(
                f"no feature {value_of(unknown[0])}; there are: {', '.join(FEATURES)}",
                field="weights",
            )
        for name, weight in self.weights.items():
            check_number(weight, name, low=-MAX_WEIGHT, high=MAX_WEIGHT, error=ConfigError)
        weights = {name: self.weights.get(name, 0.0) for name in FEATURES}
        object.__setattr__(self, "weights", weights)
        if not isinstance(self.calibration, Calibration | None):
            raise ConfigError(
                f"calibration must be a Calibration, got {value_of(self.calibration)}",
                field="calibration",
            )
        if not any(weights.values()):
            raise ConfigError(
                "every weight is 0, which ranks nothing: give one to a feature, take a profile "
                f"({', '.join(self.profiles())}), or rank by energy with relevance=None",
                field="weights",
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
            A profile of this name does not exist; the message lists the profiles.
        """
        if name not in cls.profiles():
            raise ConfigError(
                f"no profile {name!r}; there are: {', '.join(cls.profiles())}", field="name"
            )
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
            The file contains something else, or names an unknown feature.
        OSError
            The file can't be read.
        """
        try:
            weights = parse_json(read_whole(path))
        except InvalidInputError as exc:
            raise ConfigError(f"{path}: {exc}") from exc
        _check_names(path, weights, [*FEATURES, "calibration"])
        calibration = weights.pop("calibration", None)
        if calibration is not None:
            names = [each.name for each in fields(Calibration)]
            _check_names(f"{path}: calibration", calibration, names)
            calibration = Calibration(**calibration)
        return cls(weights=weights, calibration=calibration)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the weights to a file that `load` reads."""
        Path(path).write_text(json.dumps(self.plain(), indent=2) + "\n", encoding="utf-8")

    def plain(self) -> dict[str, Any]:
        """Return the weights as plain data, as a file has them."""
        calibration = None if self.calibration is None else asdict(self.calibration)
        return {**self.weights, "calibration": calibration}


def _check_names(place: object, given: object, names: Sequence[str]) -> None:
    """Raise unless ``given`` is an object with no other keys than ``names``."""
    if not isinstance(given, dict) or not given.keys() <= set(names):
        raise ConfigError(f"{place}: must be one object; its fields may be {', '.join(names)}")
