"""Weigh the words of a query in a pool of texts, by BM25 with the pool as its own corpus.

In: a query, texts. Out: an array of weights. Touches nothing.

The full-text index would not do: it measures how rare a word is over the whole database, other
scopes included, and its many short texts make long texts look weak. The pool holds only the texts
found for this query in this scope. Words are compared by their English stem; stop words do not
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memoria._support.stems import STOP_WORDS, Terms, stem
from memoria.recall.ranking.splitting import SplitTexts

# Where BM25 saturates, and how much a text's length counts: the usual values, Lucene's too.
_K1 = 1.2
_B = 0.75
_OTHER = -1  # instead of a column


class _Columns(dict[str, int]):
    """Word -> column of its stem among the terms; each word is looked at once.

    Attributes
    ----------
    of_stem
        Term -> its column.
    beginnings
        A word that begins with none of these is not a form of any term.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__(dict.fromkeys(STOP_WORDS, _OTHER))
        self.of_stem = {term: number for number, term in enumerate(terms)}
        # Making a stem takes long, and few words begin as one of the terms does. But for its last
        # letter a stem is the beginning of its word, and that of "dying" is "die".
        self._by_letter: dict[str, tuple[str, ...]] = {}  # as a query may be long
        for term in terms:
            known = self._by_letter.get(term[0], ())
            self._by_letter[term[0]] = (*known, term[:-1] or term, term[0] + term[1:-2] + "y")
        self.beginnings = [*chain.from_iterable(self._by_letter.values())]

    def __missing__(self, word: str) -> int:
        like_a_term = word.startswith(self._by_letter.get(word[0], ()))
        column = self[word] = self.of_stem.get(stem(word), _OTHER) if like_a_term else _OTHER
        return column


class Pool:
    """A set of texts in which the terms of one query are counted.

    Parameters
    ----------
    terms
        Stems, T of them; see `memoria._support.stems.query_terms`.
    texts
        N texts.

    Attributes
    ----------
    masses
        BM25 weight of each term in each text; N x T, >= 0. The sum over the terms is BM25.
    idf
        Weight of each term by its rarity in the pool; T, > 0. A name and its pieces share the
        weight of one word.

    Notes
    -----
    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
    2009, with the inverse document frequency of Lucene, which is never negative.
    """

    def __init__(self, terms: Terms, texts: Sequence[str]) -> None:
        split = SplitTexts.of(texts)
        self._columns = _Columns(terms)
        places = split.places_beginning_like(self._columns.beginnings)
        columns = np.array([self._columns[word] for word in split.words(places)], np.int64)
        counted = slice(split.words_end)  # pieces don't count for the length
        counted_rows = split.rows[counted][~split.is_stop[counted]]
        lengths = np.bincount(counted_rows, minlength=len(texts)).astype(np.float64)
        cells = split.rows[places] * len(terms) + columns
        counts = np.bincount(cells[columns >= 0], minlength=len(texts) * len(terms))
        counts = counts.reshape(len(texts), len(terms))
        for name, pieces in terms.pieces.items():
            # A text with "github" also matches the pieces of the term "GitHub".
            its = [self._columns.of_stem[piece] for piece in pieces]
            whole = counts[:, [self._columns.of_stem[name]]]
            counts[:, its] = np.maximum(counts[:, its], whole)
        found = (counts > 0).sum(axis=0)
        rarity = np.log1p((len(texts) - found + 0.5) / (found + 0.5))
        self.idf: NDArray[np.float64] = rarity * [terms.weights[term] for term in terms]
        relative = lengths / max(lengths.mean(), 1.0) if len(texts) else lengths
        damping = _K1 * (1 - _B + _B * relative)[:, None]
        self.masses: NDArray[np.float64] = self.idf * counts * (_K1 + 1) / (counts + damping)

    def has_term(self, word: str) -> bool:
        """Tell whether a word in lower case is a form of one of the terms."""
        return self._columns[word] >= 0
