"""What the two views of a page make of its Markdown: a code host, and the built site.

In: the text of a page. Out: its links, and the anchors that each view gives its headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)(?: \"[^\"]*\")?\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\b(?:href|src)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_ID = re.compile(r"<[^>]+ id=\"([^\"]+)\"")


def links_of(text: str) -> list[str]:
    """Every target of a link or a picture, those of other sites included.

    >>> links_of("[a](b.md#c), ![d](e.svg), `[f](g)`, [`h`](i)")
    ['b.md#c', 'e.svg', 'i']
    """
    prose = without_code(text)
    found = [first or second for first, second in _LINK.findall(prose)]
    return found + _ATTRIBUTE.findall(prose)


def code_host_anchors(text: str) -> set[str]:
    """Anchors as a code host makes them: each space becomes a hyphen, runs are kept.

    >>> sorted(code_host_anchors("# A `b --c`\\n## A\\n## A"))
    ['a', 'a-1', 'a-b---c']
    """
    return _numbered(
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _titles(text)
    ) | set(_ID.findall(text))


def site_anchors(text: str) -> set[str]:
    """Anchors as the site makes them: a run of spaces and hyphens becomes one hyphen.

    >>> sorted(site_anchors("# A `b --c`\\n## A\\n## A"))
    ['a', 'a-b-c', 'a_1']
    """
    return _numbered(
        (
            re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
            for title in _titles(text)
        ),
        "_",
    ) | set(_ID.findall(text))


def without_code(text: str) -> str:
    """The text without its fenced blocks and code spans; what a link shows may be code."""
    return _CODE.sub("", _FENCE.sub("", text))


def _titles(text: str) -> list[str]:
    """Headings without their markup."""
    found = _HEADING.findall(_FENCE.sub("", text))
    return [re.sub(r"[`*]|\]\([^)]*\)|\[", "", title) for title in found]


def _numbered(names: Iterable[str], separator: str = "-") -> set[str]:
    """The names; of equal ones, all but the first have a number."""
    seen: dict[str, int] = {}
    result = set()
    for name in names:
        number = seen.get(name, 0)
        seen[name] = number + 1
        result.add(f"{name}{separator}{number}" if number else name)
    return result
