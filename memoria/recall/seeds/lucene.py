"""Write the queries of full-text indexes.

In: the user's words. Out: a query in which nothing of them is read as syntax. Touches nothing.
"""

from __future__ import annotations

import re
import unicodedata

from memoria._support.stems import search_words, without_endings
from memoria.graph.vocabulary import scope_key

MAX_WORDS = 256
MAX_WORD_CHARS = 1_000
_WORD = re.compile(r"\w+")


def phrases_of(text: str) -> list[str]:
    r"""Make a quoted phrase of each word, once, regardless of case.

    Words joined by punctuation become one phrase together and one phrase each; so do the pieces of
    names (`search_words`), and a word without its English ending. There are at most 256 phrases of
    1,000 characters.

    >>> phrases_of('cat AND "dog"')
    ['"cat"', '"AND"', '"\\"dog\\""']
    >>> phrases_of("Tom's")
    ['"Tom\'s"', '"Tom"']
    """
    words: dict[str, str] = {}
    for word in unicodedata.normalize("NFC", text).split():
        bare = without_endings(word)
        parts = _WORD.findall(bare)
        for part in (word, *(parts if len(parts) > 1 or bare != word else ()), *search_words(word)):
            words.setdefault(part.casefold(), part[:MAX_WORD_CHARS])
    kept = list(words.values())[:MAX_WORDS]
    escaped = (word.replace("\\", "\\\\").replace('"', '\\"') for word in kept)
    return [f'"{word}"' for word in escaped]


def lucene_query(text: str, scope: str) -> str | None:
    r"""Write a query of `phrases_of` a text; None if the text is blank.

    The phrases match the text of a memory, or its search words, which writers store. The scope must
    match, but adds nothing to the score.

    >>> lucene_query("getUser", "s").partition(" ")[2]
    '+(text:("getUser" "get" "user") search_words:("getUser" "get" "user"))'
    """
    phrases = " ".join(phrases_of(text))
    if not phrases:
        return None
    found = " ".join(f"{field}:({phrases})" for field in ("text", "search_words"))
    return f"+scope_key:{scope_key(scope)}^0 +({found})"
