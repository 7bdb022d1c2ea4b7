"""Turn HTML into a text for people.

In: HTML. Out: its text, with a line for each block. Pure.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    {"address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer", "form"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre"}
    | {"section", "table", "tr", "ul"}
)
_HIDDEN = frozenset({"head", "script", "style", "template", "title"})
#: A parser takes too long for damaged HTML that is longer.
_MAX_CHARS = 2_000_000
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES = re.compile(r"\s*\n\s*\n\s*")


class _Text(HTMLParser):
    """Collects the text, and puts line breaks where a browser would."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._hidden = 0 if tag == "body" else self._hidden + (tag in _HIDDEN)
        if tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        if tag in _BLOCKS and tag != "br":
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(_BLANKS.sub(" ", data.replace("\n", " ")))


def text_of_html(html: str) -> str:
    r"""Return the text of a piece of HTML.

    >>> text_of_html("<p>Sow <b>beans</b>,<br>then:</p><ul><li>peas</li></ul><style>p{}</style>")
    'Sow beans,\nthen:\n\n- peas'
    """
    parser = _Text()
    parser.feed(html[:_MAX_CHARS])
    parser.close()
    lines = "\n".join(line.strip() for line in "".join(parser.parts).split("\n"))
    return _LINES.sub("\n\n", lines).strip()
