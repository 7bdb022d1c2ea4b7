"""Cut a long text into parts.

In: a text. Out: parts of at most so many characters, which together are the text but for blanks at
the cuts. Touches nothing.
"""

from __future__ import annotations

import re

from memoria._support.stems import UNSPACED

# Embedders need about three times as many tokens for a character of these scripts as for others.
_UNSPACED_COUNTS = 3
# The ends at which a text is cut, the best first; each within the second half of a part.
_ENDS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"[.!?…。！？]['\")\]”’»]*\s|[。！？]|\n"),
    re.compile(r"\s"),
)


def parts_of(text: str, max_chars: int) -> list[str]:
    """Return the parts of a text, cut at the end of a paragraph, of a sentence, or of a word.

    A character of a script without spaces, such as Japanese, counts three.

    >>> parts_of("One sentence. Another one. A third.", 30)
    ['One sentence. Another one.', 'A third.']
    """
    parts: list[str] = []
    begin = 0
    while (limit := _limit(text, begin, max_chars)) < len(text):
        end = _end(text, begin, limit)
        parts.append(text[begin:end].strip())
        begin = end
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


def _limit(text: str, begin: int, max_chars: int) -> int:
    """Return the end of the longest part that begins here."""
    longest = begin + max_chars
    for found in UNSPACED.finditer(text, begin, longest):
        if found.start() >= longest:
            break
        longest = max(longest - _UNSPACED_COUNTS + 1, found.start())
    return min(longest, len(text))


def _end(text: str, begin: int, limit: int) -> int:
    """Return the last good end of a part that begins and ends here at most."""
    half = begin + (limit - begin) // 2
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, half, limit)]
        if ends:
            return ends[-1]
    return limit
