"""Which titles a text names.

In: a title, or a text. Out: names, in the form in which a title and a text that names it meet.
Touches nothing.

A title is at most eight words, compared without case, punctuation and possessive endings. A title
of one word is only named where the word has a capital: `Bread` is, bread is not.
"""

from __future__ import annotations

import re

from memoria._support.function_words import FUNCTION_WORDS

MAX_TITLE_WORDS = 8
_MAX_WORD_CHARS = 60
#: Characters between two words of a title, at most: a comma, a blank, a line break.
_MAX_GAP = 3
_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]")
_WORD = re.compile(r"\w+(?:[.'’&-]\w+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_FUNCTION_WORDS = frozenset().union(*FUNCTION_WORDS.values())


def bare_title(title: str) -> str:
    """Return a title without what is in parentheses.

    >>> bare_title("Mercury (planet)")
    'Mercury'
    """
    return _PARENTHESIS.sub("", title).strip()


def title_name(title: str) -> str | None:
    """Return the name by which texts name a title, or None if they can't.

    >>> title_name("Mercury (planet)"), title_name("St. Louis, Missouri"), title_name("2013")
    ('mercury', 'st louis missouri', None)
    """
    words = [_plain(match[0]) for match in _WORD.finditer(bare_title(title))]
    if not words or len(words) > MAX_TITLE_WORDS:
        return None
    if len(words) == 1 and (words[0].isdigit() or words[0] in _FUNCTION_WORDS):
        return None
    return " ".join(words)


def names_in(text: str) -> set[str]:
    """Return every name that may be a title: each run of up to eight words of a text.

    Runs that begin or end with a function word without a capital are left out, as titles don't.

    >>> sorted(names_in("the Bank of London"))
    ['bank', 'bank of london', 'london']
    """
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    plain = [_plain(word) for word, _, _ in words]
    edges = [
        found[0][0].isupper() or name not in _FUNCTION_WORDS
        for found, name in zip(words, plain, strict=True)
    ]
    names: set[str] = set()
    for place, (word, _, end) in enumerate(words):
        if not edges[place]:
            continue
        if _is_named_alone(word, plain[place]):
            names.add(plain[place])
        name = plain[place]
        for other in range(place + 1, min(place + MAX_TITLE_WORDS, len(words))):
            if words[other][1] - end > _MAX_GAP:
                break
            end = words[other][2]
            name = f"{name} {plain[other]}"
            if edges[other]:
                names.add(name)
    return names


def _is_named_alone(word: str, name: str) -> bool:
    """Tell whether a single word may be a title: it has a capital, and says something."""
    return (
        not word[0].islower()
        and not name.isdigit()
        and len(word) <= _MAX_WORD_CHARS
        and name not in _FUNCTION_WORDS
    )


def _plain(word: str) -> str:
    return _POSSESSIVE.sub("", word).replace("’", "'").casefold()
