"""Settings of what documents become."""

from __future__ import annotations

from dataclasses import dataclass

from memoria._support.checks import check_kind
from memoria._support.settings_check import SettingsCheck
from memoria.errors import ConfigError, InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentConfig:
    """Settings of a `DocumentWriter`.

    The weights of edges to topics come from the extractor.

    Attributes
    ----------
    kind
        Kind of the memories.
    max_chars
        Length of the longest memory, without title and headings; 100 to 100,000 characters. A
        longer document becomes parts, in which a character of a script without spaces, such as
        Japanese, counts three.
    next_weight
        Weight of the edge from a part to the next one; 0 to 1.
    name_weight
        Weight of the edge from a text to a document whose title it names, and from the title to the
        document; 0 to 1. A little less than the weight of a phrase: of edges with one weight, those
        with the first ids would be followed.
    link_weight
        Weight of the edge from a part to a document that it links to; 0 to 1.

    Raises
    ------
    ConfigError
        A setting is out of its range. An edge of weight 0 is not written.
    """

    kind: str = "DataSource"
    max_chars: int = 2_000
    next_weight: float = 1.0
    name_weight: float = 0.95
    link_weight: float = 1.0

    def __post_init__(self) -> None:
        try:
            check_kind(self.kind)
        except InvalidInputError as exc:
            raise ConfigError(str(exc), field=exc.field) from exc
        check = SettingsCheck(self)
        check.whole("max_chars", 100, 100_000)
        for name in ("next_weight", "name_weight", "link_weight"):
            check.within(name, 0.0, 1.0)
