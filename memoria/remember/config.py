"""Settings of what conversations become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memoria._support.checks import check_kind
from memoria._support.settings_check import SettingsCheck
from memoria._support.wording import kind_of
from memoria.errors import ConfigError, InvalidInputError
from memoria.types.conversation import ROLES, Role

#: Kind of the memories of each role; messages of the system are instructions and left out.
KINDS: Mapping[Role, str] = {
    "user": "UserRequest",
    "assistant": "AgentAnswer",
    "tool": "AgentAction",
    "other": "Event",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationConfig:
    """Settings of a `ConversationWriter`.

    The weights of edges to topics come from the extractor.

    Attributes
    ----------
    kinds
        Role -> kind of its memories; the messages of a role that is missing are left out.
    session_gap_s
        A silence longer than this begins a session; seconds, > 0. None: a conversation is one
        session.
    max_chars
        Length of the longest memory; 100 to 100,000 characters. Longer messages become parts. A
        character of a script without spaces, such as Japanese, counts three.
    next_weight
        Weight of the edge from a message to the next one, or from a message to its answer, and from
        a part to the next part; 0 to 1.
    session_weight, next_session_weight
        Weights of the edges from a message to its session, and from a session to the next; 0 to 1.
    speaker_weight
        Weight of the edge from a message to its speaker; 0 to 1.

    Raises
    ------
    ConfigError
        A setting is out of its range. An edge of weight 0 is not written.
    """

    kinds: Mapping[Role, str] = field(default_factory=lambda: dict(KINDS))
    session_gap_s: float | None = 10_800.0
    max_chars: int = 1_500
    next_weight: float = 1.0
    session_weight: float = 0.5
    next_session_weight: float = 0.5
    speaker_weight: float = 0.2

    def __post_init__(self) -> None:
        if not isinstance(self.kinds, Mapping):
            raise ConfigError(
                f"kinds must be a map of role to kind, got {kind_of(self.kinds)}", field="kinds"
            )
        if unknown := set(self.kinds).difference(ROLES):
            raise ConfigError(
                f"kinds must name {', '.join(ROLES)}; got {sorted(map(str, unknown))!r}",
                field="kinds",
            )
        try:
            for kind in self.kinds.values():
                check_kind(kind, "kinds")
        except InvalidInputError as exc:
            raise ConfigError(str(exc), field=exc.field) from exc
        check = SettingsCheck(self)
        if self.session_gap_s is not None:
            check.positive("session_gap_s")
        check.whole("max_chars", 100, 100_000)
        for name in ("next_weight", "session_weight", "next_session_weight", "speaker_weight"):
            check.within(name, 0.0, 1.0)
