"""Weigh the words of a query in a pool of texts, by BM25 with the pool as its own corpus.

In: a query, texts. Out: an array of weights. Touches nothing.

The full-text index would not do: it measures how rare a word is over the whole database, other
scopes included, and its many short texts make long texts look weak. The pool holds only the texts
found for this query in this scope. Words are compared by their English stem; stop words do not
count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoria._support.stems import content_words, stem

# Where BM25 saturates, and how much a text's length counts: the usual values, Lucene's too.
_K1 = 1.2
_B = 0.75


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
        Weight of each term by how rare it is in the pool; T, > 0.

    Notes
    -----
    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
    2009, with the inverse document frequency of Lucene, which is never negative.
    """

    def __init__(self, terms: Sequence[str], texts: Sequence[str]) -> None:
        starts = {term[0] for term in terms}  # a stem begins with the first letter of its word
        place = {term: number for number, term in enumerate(terms)}
        columns: dict[str, int] = {}  # word -> place of its stem among the terms, or -1
        counts = np.zeros((len(texts), len(terms)))
        lengths = np.zeros(len(texts))
        for row, text in enumerate(texts):
            words = content_words(text)
            lengths[row] = len(words)
            for word in words:
                column = columns.get(word)
                if column is None:
                    column = place.get(stem(word), -1) if word[0] in starts else -1
                    columns[word] = column
                if column >= 0:
                    counts[row, column] += 1
        found = (counts > 0).sum(axis=0)
        self.idf: NDArray[np.float64] = np.log1p((len(texts) - found + 0.5) / (found + 0.5))
        relative = lengths / max(lengths.mean(), 1.0) if len(texts) else lengths
        damping = _K1 * (1 - _B + _B * relative)[:, None]
        self.masses: NDArray[np.float64] = self.idf * counts * (_K1 + 1) / (counts + damping)
