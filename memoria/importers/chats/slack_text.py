"""Turn a text with Slack's marks into a text for people.

In: a text, and the names of users and channels. Out: a text. Pure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

_MARK = re.compile(r"<([^<>]*)>")


def readable(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Put names in place of ids, and labels in place of marks.

    Parameters
    ----------
    users, channels
        Names by ids; a name in the mark itself stands in for one that is missing.

    >>> readable("<@U1> &amp; <!here>: <https://a.example|the page>", {"U1": "Mo"}, {})
    '@Mo & @here: the page (https://a.example)'
    """

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        sign, name = target[:1], target[1:]
        if sign == "@":
            return f"@{users.get(name) or label or name}"
        if sign == "#":
            return f"#{label or channels.get(name) or name}"
        if sign == "!":
            return label or f"@{name.partition('^')[0]}"
        address = target.removeprefix("mailto:")
        return address if label in ("", address, target) else f"{label} ({address})"

    return html.unescape(_MARK.sub(shown, text))
