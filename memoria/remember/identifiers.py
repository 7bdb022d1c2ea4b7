"""Tell whether a piece of text is an identifier: a name that programs, not people, gave.

In: a piece of text without blanks. Out: its name, or None. Touches nothing. Patterns are only tried
on pieces of a bounded length, so the time stays linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Container

MAX_CHARS = 120

_ALWAYS = re.compile(
    r"""
      [A-Z][A-Z0-9]{1,9}-\d{1,7}                                  # ticket: ABC-123
    | [A-Z]{1,6}\d{2,6}                                           # error code: E0308
    | \#\d{1,7}                                                   # issue: #42
    | __\w{1,60}__                                                # special name of Python
    | 0x[0-9a-fA-F]{4,16}                                         # address or code
    | [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}                 # UUID
    | (?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}             # hash of a commit
    | \d{1,3}(?:\.\d{1,3}){3}                                     # address of a machine
    | [\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}             # address of a mailbox
    """,
    re.VERBOSE | re.ASCII,
)
_SNAKE = re.compile(r"_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*")
_CAMEL = re.compile(r"[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*")
_DOTTED = re.compile(r"[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+", re.ASCII)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]?[\w.@+-]+(?:[/\\][\w.@+-]+)*[/\\]?")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,4}$")
_LETTERS = re.compile(r"[A-Za-z]{2}")


def identifier_in(piece: str, function_words: Container[str]) -> str | None:
    """Return the name of an identifier, or None if the piece is something else.

    Parameters
    ----------
    function_words
        Words that show that a full stop ends a sentence: ``end.The`` is not an identifier.

    Examples
    --------
    >>> [identifier_in(p, {"and"}) for p in ("src/app.py", "and/or", "max_chars", "ABC-12", "4.5")]
    ['src/app.py', None, 'max_chars', 'ABC-12', None]
    """
    if not 2 <= len(piece) <= MAX_CHARS or (piece.isalpha() and piece[1:].islower()):
        return None
    if _ALWAYS.fullmatch(piece) or _is_path(piece):
        return piece
    if not _LETTERS.search(piece):
        return None
    if _SNAKE.fullmatch(piece) or _CAMEL.fullmatch(piece):
        return piece
    if _DOTTED.fullmatch(piece):
        parts = piece.lower().split(".")
        return None if any(part in function_words for part in parts) else piece
    return None


def _is_path(piece: str) -> bool:
    """Tell whether a piece is the path of a file or a folder; ``he/she`` and dates are not."""
    separators = piece.count("/") + piece.count("\\")
    if not separators or not _LETTERS.search(piece) or not _PATH.fullmatch(piece):
        return False
    rooted = piece[0] in "/\\~." or piece[1:2] == ":"
    return rooted or separators > 1 or bool(_SUFFIX.search(piece))
