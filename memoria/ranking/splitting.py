"""Split many texts into words at once, without a string for each word.

In: texts. Out: `SplitTexts`. Touches nothing.

A pool holds tens of thousands of words, and few of them look like a word of the query. Only these
few become strings; of every word an array holds the first letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from memoria._support.stems import STOP_WORDS

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

_WORD = re.compile(r"\w")
_FOREIGN = re.compile(r"[^\w\x00-\x7f]")  # neither ASCII nor in a word
_SPACE = b" "
# ASCII in lower case, with a space for each character that is not part of a word. All other bytes
# are parts of letters.
_ASCII = bytes(ord(c.lower() if _WORD.match(c) else _SPACE) for c in map(chr, range(128)))
_SPELLED = _ASCII + bytes(range(128, 256))
# A head is the beginning of a word in UTF-8, read as a number whose lowest byte comes first.
_HEAD = np.dtype("<u8")
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_HEAD.itemsize + 1)], _HEAD)
_STOP_HEADS = np.sort(np.array([int.from_bytes(w.encode(), "little") for w in STOP_WORDS], _HEAD))


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTexts:
    """W words in lower case of N texts, in order.

    Attributes
    ----------
    rows
        Number of the text that holds each word; (W,).
    is_stop
        Whether each word is a stop word; (W,).
    """

    rows: Places
    is_stop: Flags
    _letters: bytes
    _starts: Places
    _ends: Places
    _heads: NDArray[np.uint64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        r"""Split texts where ``re.findall(r"\w+", text.lower())`` does."""
        lines = [_spelled(text) for text in texts]
        letters = _SPACE.join([b"", *lines, _SPACE * _HEAD.itemsize])
        in_word = np.frombuffer(letters, np.uint8) != ord(_SPACE)
        starts, ends = (np.flatnonzero(in_word[1:] != in_word[:-1]) + 1).reshape(-1, 2).T
        beginnings = np.cumsum([1, *(len(line) + 1 for line in lines)])
        sizes = np.diff(np.searchsorted(starts, beginnings))
        windows = np.ndarray(len(letters) - _HEAD.itemsize + 1, _HEAD, letters, strides=(1,))
        heads = windows[starts] & _MASKS[np.minimum(ends - starts, _HEAD.itemsize)]
        # No stop word fills a head (a test), so no longer word is taken for one.
        nearest = np.searchsorted(_STOP_HEADS, heads).clip(max=len(_STOP_HEADS) - 1)
        return cls(
            rows=np.repeat(np.arange(len(texts)), sizes),
            is_stop=_STOP_HEADS[nearest] == heads,
            _letters=letters,
            _starts=starts,
            _ends=ends,
            _heads=heads,
        )

    def places_beginning_like(self, beginnings: Iterable[str]) -> Places:
        """Return the places of the words whose first two bytes are those of a beginning.

        Stop words are left out. No beginning may be empty.
        """
        first = np.zeros(1 << 16, np.bool_)
        for pair in {beginning.encode()[:2] for beginning in beginnings}:
            if len(pair) > 1:
                first[int.from_bytes(pair, "little")] = True
            else:
                first[pair[0] :: 1 << 8] = True  # with any second byte
        return np.flatnonzero(first[self._heads.astype(np.uint16)] & ~self.is_stop)

    def words(self, places: Places) -> list[str]:
        """Return words by their places."""
        ends = zip(self._starts[places].tolist(), self._ends[places].tolist(), strict=True)
        return [self._letters[start:end].decode() for start, end in ends]


def _spelled(text: str) -> bytes:
    """Return a text in lower case and UTF-8, with a space for each character that is in no word."""
    if not text.isascii():
        text = _FOREIGN.sub(" ", text.lower())
    return text.encode().translate(_SPELLED)
