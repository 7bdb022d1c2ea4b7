"""Cut a long text into parts.

In: a text. Out: parts of at most so many characters, which together are the text but for blanks at
the cuts. Touches nothing.
"""

from __future__ import annotations

import re

# The ends at which a text is cut, the best first; each within the second half of a part.
_ENDS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"[.!?…。！？]['\")\]”’»]*\s|[。！？]|\n"),
    re.compile(r"\s"),
)


def parts_of(text: str, max_chars: int) -> list[str]:
    """Return the parts of a text, cut at the end of a paragraph, of a sentence, or of a word.

    >>> parts_of("One sentence. Another one. A third.", 30)
    ['One sentence. Another one.', 'A third.']
    """
    parts: list[str] = []
    begin = 0
    while len(text) - begin > max_chars:
        end = _end(text, begin, begin + max_chars)
        parts.append(text[begin:end].strip())
        begin = end
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


def _end(text: str, begin: int, limit: int) -> int:
    """Return the last good end of a part that begins and ends here at most."""
    half = begin + (limit - begin) // 2
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, half, limit)]
        if ends:
            return ends[-1]
    return limit
