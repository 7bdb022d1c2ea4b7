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

from memoria._support.stems import STOP_WORDS, spelled

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
# Kinds of ASCII characters that decide where names are split; all others have kind 0.
_SMALL, _DIGIT, _CAPITAL = 1, 2, 3
_KINDS = np.zeros(256, np.uint8)
_KINDS[ord("a") : ord("z") + 1] = _SMALL
_KINDS[ord("0") : ord("9") + 1] = _DIGIT
_KINDS[ord("A") : ord("Z") + 1] = _CAPITAL
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_HEAD.itemsize + 1)], _HEAD)
_STOP_HEADS = np.sort(np.array([int.from_bytes(w.encode(), "little") for w in STOP_WORDS], _HEAD))


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTexts:
    """The W words of N texts in lower case, in order, followed by the P pieces of their names.

    Attributes
    ----------
    rows
        Index of the text of each word and piece; (W + P,).
    is_stop
        Whether each word or piece is a stop word; (W + P,).
    words_end
        W, the index of the first piece.
    """

    rows: Places
    is_stop: Flags
    words_end: int
    _letters: bytes
    _starts: Places
    _ends: Places
    _heads: NDArray[np.uint64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """Split texts as `memoria._support.stems.each_word` does."""
        lines = [_lines(text) for text in texts]
        end = _SPACE * _HEAD.itemsize
        letters = _SPACE.join([b"", *(small for _, small in lines), end])
        cased = np.frombuffer(_SPACE.join([b"", *(line for line, _ in lines), end]), np.uint8)
        in_word = np.frombuffer(letters, np.uint8) != ord(_SPACE)
        starts, ends = (np.flatnonzero(in_word[1:] != in_word[:-1]) + 1).reshape(-1, 2).T
        beginnings = np.cumsum([1, *(len(small) + 1 for _, small in lines)])
        sizes = np.diff(np.searchsorted(starts, beginnings))
        rows = np.repeat(np.arange(len(texts)), sizes)
        gaps = np.flatnonzero(cased == ord("_"))
        names, pieces = _pieces(cased, starts, ends, gaps)
        # Names are compared without underscores, so remove them from the letters.
        letters = letters.replace(b"_", b"")
        words, pieces = (
            places - np.searchsorted(gaps, places) if len(gaps) else places
            for places in (np.stack([starts, ends]), pieces)
        )
        real = words[0] < words[1]  # more than underscores
        starts, ends = np.concatenate([words[:, real], pieces], axis=1)
        windows = np.ndarray(len(letters) - _HEAD.itemsize + 1, _HEAD, letters, strides=(1,))
        heads = windows[starts] & _MASKS[np.minimum(ends - starts, _HEAD.itemsize)]
        # No stop word fills a head (a test), so no longer word is taken for one.
        nearest = np.searchsorted(_STOP_HEADS, heads).clip(max=len(_STOP_HEADS) - 1)
        return cls(
            rows=np.concatenate([rows[real], rows[names]]),
            is_stop=_STOP_HEADS[nearest] == heads,
            words_end=int(np.count_nonzero(real)),
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


def _lines(text: str) -> tuple[bytes, bytes]:
    """Return a text in UTF-8, and its lower case with spaces for everything outside words.

    Both have the same letters at the same positions.
    """
    text = spelled(text)
    if text.isascii():
        line = small = text.encode()
    else:
        text = _FOREIGN.sub(" ", text)
        line, small = text.encode(), text.lower().encode()
    return line, small.translate(_SPELLED)


def _pieces(
    cased: NDArray[np.uint8], starts: Places, ends: Places, gaps: Places
) -> tuple[Places, Places]:
    """Return the index of each piece's word, and the positions where the pieces start and end.

    Parameters
    ----------
    cased
        The letters in their original case, which shows where to split names.
    starts, ends
        Positions of the words.
    gaps
        Positions of underscores.

    Returns
    -------
    tuple
        Arrays of (P,) and (2, P).
    """
    capitals = np.flatnonzero(cased - np.uint8(ord("A")) < 26)
    before, after = _KINDS[cased[capitals - 1]], _KINDS[cased[capitals + 1]]
    follows = (before == _SMALL) | (before == _DIGIT)
    humps = capitals[follows | ((before == _CAPITAL) & (after == _SMALL))]
    firsts = np.concatenate([starts, gaps + 1])
    versions = (cased[firsts] | 0x20 == ord("v")) & (_KINDS[cased[firsts + 1]] == _DIGIT)
    cuts = np.concatenate([humps, firsts[versions] + 1])
    inside = np.searchsorted(starts, np.concatenate([cuts, gaps]), side="right") - 1
    names = np.flatnonzero(np.bincount(inside, minlength=len(starts)))
    places = np.stack(
        [
            np.sort(np.concatenate([starts[names], cuts, gaps + 1])),
            np.sort(np.concatenate([ends[names], cuts, gaps])),
        ]
    )
    places = places[:, places[0] < places[1]]
    names = np.searchsorted(starts, places[0], side="right") - 1
    several = np.bincount(names, minlength=len(starts))[names] > 1
    return names[several], places[:, several]
