"""Read the elements of a JSON array one at a time, so that the array may be larger than memory.

In: a function that reads bytes. Out: the elements. Touches nothing else.

Measured on an export of 300 MB: 51 MB a second in 35 MB of memory, where reading it at once takes
2.6 GB; a parser of events in C is as slow, because an element is needed as a whole anyway.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from memoria._support.foreign_files import check_containers
from memoria.errors import InvalidInputError

CHUNK_BYTES = 1_000_000
#: Largest element, such as a conversation with all its branches. Characters of four bytes take
#: 128 MB then, and twice that while the window grows.
MAX_ITEM_CHARS = 32_000_000
#: An error so near to the end of the window may be for want of the rest: ``\\u12`` or ``fal``.
NEAR_END = 16
_BETWEEN = re.compile(r"[ \t\r\n]*")


def read_items(read: Callable[[int], bytes]) -> Iterator[Any]:
    """Yield the elements of an array; or the values that follow one another, as in JSON Lines.

    Raises
    ------
    InvalidInputError
        The text is not JSON or not UTF-8, or an element is too large. What comes after such a
        place can't be read.
    """
    window = _Window(read)
    if window.take("["):
        while not window.take("]"):
            yield window.value()
            if not window.take(",") and not window.at("]"):
                raise window.wrong("a comma or the end of the list is missing")
        if not window.ended():
            raise window.wrong("more text follows the list")
    else:
        while not window.ended():
            yield window.value()


class _Window:
    """The part of a text that is in memory, and the place in it."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._bytes = 0
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._place = 0  # in the window
        self._dropped = 0  # characters before the window
        self._complete = False

    def at(self, mark: str) -> bool:
        """Tell whether a character comes next, after white space."""
        return not self.ended() and self._text.startswith(mark, self._place)

    def take(self, mark: str) -> bool:
        """Go past a character if it comes next."""
        found = self.at(mark)
        self._place += found
        return found

    def ended(self) -> bool:
        """Go past white space, and tell whether nothing else is left."""
        while True:
            match = _BETWEEN.match(self._text, self._place)
            self._place = match.end() if match else self._place
            if self._place < len(self._text):
                return False
            if not self._grow():
                return True

    def value(self) -> Any:
        """Read the value that comes next."""
        if self.ended():
            raise self.wrong("the file ends too early")
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as exc:
                unended = exc.msg.startswith("Unterminated") or exc.pos >= len(self._text)
                if (unended or exc.pos + NEAR_END > len(self._text)) and self._grow():
                    continue
                self._place = exc.pos
                raise self.wrong("the file ends too early" if unended else exc.msg) from exc
            except RecursionError as exc:
                raise self.wrong("nested too deep") from exc
            except ValueError as exc:  # a whole number of more digits than Python converts
                raise self.wrong("a number has too many digits") from exc
            if end == len(self._text) and self._grow():
                continue  # a number may go on
            self._place = end
            return value

    def wrong(self, reason: str) -> InvalidInputError:
        """Return an error about the place."""
        return InvalidInputError(
            f"not JSON: {reason}, at character {self._dropped + self._place + 1}"
        )

    def _grow(self) -> bool:
        """Drop what is behind the place, and read as much again as is left."""
        if self._complete:
            return False
        left = len(self._text) - self._place
        if left > MAX_ITEM_CHARS:
            raise self.wrong(f"an element is longer than {MAX_ITEM_CHARS} characters")
        raw = self._read(max(CHUNK_BYTES, left))
        kept = len(self._utf8.getstate()[0])  # bytes of a character that was cut
        try:
            more = self._utf8.decode(raw, not raw)
        except UnicodeDecodeError as exc:
            byte = self._bytes - kept + exc.start
            raise InvalidInputError(f"not UTF-8, after byte {byte}") from exc
        self._bytes += len(raw)
        self._complete = not raw
        self._dropped += self._place
        self._text, self._place = self._text[self._place :] + more, 0
        if left > CHUNK_BYTES:  # one element that is as long
            check_containers(self._text)
        return True
