"""Split a text into words, normalise their spelling, and reduce them to stems.

In: a text; or a word in lower case, and a language. Out: words, stems. Touches nothing.

Accents do not matter. `C++`, `C#` and `C` are three words. A name such as `get_user_by_id` or
`getUserById` is one word with the pieces `get`, `user`, `by` and `id`.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

#: A letter of a script without spaces between words: Thai, Lao, Myanmar, Khmer, Japanese, Chinese.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"\w+")
# C++, C# and the same with other letters, and the word that replaces the sign.
_SIGN = re.compile(r"\+\+(?<=\b[A-Za-z]\+\+)|#(?<=\b[A-Za-z]#)")
_SIGNS = {"++": "plusplus ", "#": "sharp "}
# Where a name is split, apart from underscores: before a capital that begins a word, and after the
# v of a version.
_CUT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\b[vV])(?=[0-9])")
# Blocks with accented Latin and Greek letters, ligatures, and full-width letters.
_BLOCKS = (
    range(0xAA, 0x250),
    range(0x370, 0x400),
    range(0x1E00, 0x2000),
    range(0x2C60, 0x2C80),
    range(0xA720, 0xA800),
    range(0xFB00, 0xFB07),
    range(0xFF21, 0xFF5B),
)
_ACCENTS = "\u0300-\u036f"
_ACCENT = re.compile(f"[{_ACCENTS}]")
_BASE = re.compile(r"[A-Za-z]+|[\u0370-\u03ff]")
# Letters that Unicode does not decompose, and their usual replacements.
_LIKE = dict(
    zip(
        "ÆæŒœÐðĐđĦħıŁłŊŋØøẞßŦŧÞþ\u0401\u0451",
        "AE ae OE oe D d D d H h i L l N n O o SS ss T t TH th \u0415 \u0435".split(),  # noqa: SIM905
        strict=True,
    )
)
# A longer name is data, such as Base64, and nobody searches for its pieces.
_MAX_NAME_CHARS = 80
# Names joined by a dot or a colon, which the full-text index treats as one word.
# Matched only at the start of a word, without backtracking, so a long word is read once.
_JOINED = re.compile(r"(?<!\w)\w++(?:(?<=[^\W\d_])[.:](?=[^\W\d_])\w++)+")
_VERSION = re.compile(r"(?<!\w)[vV]([0-9]+(?:\.[0-9]+)+)")
# A single letter; not the end of "it's".
_LETTER = re.compile(r"(?<![\w.:'\u2019])[A-Za-z](?![\w'\u2019]|[.:]\w)")
#: Words that say nothing by themselves.
STOP_WORDS = frozenset(
    """
    a also am an and any are as at be been being but by can could did do does for from had has
    have he her hers him his how i if in into is it its may me might mine must my no nor not of
    on or our ours s shall she should so t than that the their theirs them then there these they
    this those to us was we were what when where which who whom whose why will with would you
    your yours
    """.split()  # noqa: SIM905  # words, not a table
)
# Words that an apostrophe joins, which the full-text index treats as one: l'avion, Ida's.
_ELIDED = re.compile(r"(?<!\w)\w++(?:['\u2019]\w++)+")
_APOSTROPHE = re.compile("['\u2019]")
# English endings are not words; nor is the rest of don't.
_ENDING = re.compile(
    r"(?<=\w)['\u2019](?:d|ll|m|re|s|ve)(?!\w)|(?<!\w)\w++(?<=n)['\u2019]t(?!\w)", re.IGNORECASE
)
_CYRILLIC = re.compile(r"[\u0400-\u04ff]+")
# The vowel that Russian nouns lose when they have an ending: stanok, stanki.
_FLEETING = re.compile("(?<=\\w[бвгджзклмнпрстфхцчшщ])[ое](?=[кц]$)")
_local = threading.local()


@lru_cache(maxsize=100_000)
def stem(word: str, language: str = "english") -> str:
    """Return the stem of a word in lower case.

    Parameters
    ----------
    language
        Name of one of Snowball's languages. For English, the stem of a word in Cyrillic letters is
        made by Russian rules.

    Examples
    --------
    >>> stem("paintings"), stem("häusern", "german")
    ('paint', 'haus')
    >>> stem("станок") == stem("станки")
    True
    """
    if language == "english" and _CYRILLIC.match(word):
        language = "russian"
    # A stemmer keeps the current word as state, and recalls rank in several threads: each thread
    # needs its own.
    stemmers = _local.__dict__
    if language not in stemmers:
        import snowballstemmer  # not above: it brings the stemmers of all languages

        stemmers[language] = snowballstemmer.stemmer(language)
    found = str(stemmers[language].stemWord(word))
    return _FLEETING.sub("", found) if language == "russian" else found


def spelled(text: str) -> str:
    """Return a text in the spelling used for comparison: no accents, and signs as words.

    Letters keep their case. Lower-casing the result does not change any letter's number of bytes.

    >>> spelled("Café Łódź: C++, C#")
    'Cafe Lodz: Cplusplus , Csharp '
    """
    if not text.isascii():
        letters, plain = _accented()
        text = letters.sub(lambda found: plain[found[0]], unicodedata.normalize("NFC", text))
    if "++" in text or "#" in text:
        text = _SIGN.sub(lambda found: _SIGNS[found[0]], text)
    return text


@cache
def _accented() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return a pattern for accented letters, and a map from each to its plain form."""
    plain = dict.fromkeys(map(chr, range(0x300, 0x370)), "")
    for letter in filter(str.isalpha, map(chr, chain(*_BLOCKS))):
        base = _ACCENT.sub("", unicodedata.normalize("NFKD", letter))
        if base != letter and _BASE.fullmatch(base):
            plain[letter] = base
        elif len(letter.lower().encode()) != len(letter.encode()):
            plain[letter] = letter.lower()
    plain.update(_LIKE)
    return re.compile(f"[{''.join(plain)}]"), plain


def each_word(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each word of a text in lower case, with its pieces if it is a name.

    >>> list(each_word("Does getUserById call v2?"))
    [('does', []), ('getuserbyid', ['get', 'user', 'by', 'id']), ('call', []), ('v2', ['v', '2'])]
    """
    plain = spelled(text)
    for found in _WORD.finditer(plain.lower()):
        if word := found[0].replace("_", ""):
            yield word, _pieces(plain[found.start() : found.end()])


def _pieces(name: str) -> list[str]:
    """Return the pieces of a name in lower case; an empty list for a plain word."""
    pieces = [piece.lower() for part in name.split("_") for piece in _CUT.split(part) if piece]
    return pieces if len(pieces) > 1 else []


def name_stems(name: str) -> list[str]:
    """Return the stems of a name's words, without stop words; of a name such as actedIn, too.

    >>> name_stems("ACTED_IN"), name_stems("actedIn"), name_stems("is a")
    (['act'], ['act'], [])
    """
    return [stem(word) for word in plain_words(name)]


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case, the pieces of names instead of them, no stop words.

    >>> plain_words("Who ACTED_IN it?")
    ['acted']
    """
    words = (piece for word, pieces in each_word(text) for piece in pieces or [word])
    return [word for word in words if word not in STOP_WORDS]


def content_words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order, without stop words and pieces.

    >>> content_words("Where did the ferry stop?")
    ['ferry', 'stop']
    """
    return list(each_content_word(text))


def each_content_word(text: str) -> Iterator[str]:
    """Yield the words of `content_words` one by one."""
    for found in _WORD.finditer(spelled(text).lower()):
        if (word := found[0].replace("_", "")) and word not in STOP_WORDS:
            yield word


class Terms(list[str]):
    """Stems of a query's words and of the pieces of its names, each once, in order.

    Attributes
    ----------
    pieces
        Stem of a name -> the stems of its pieces.
    weights
        Stem -> its weight, in (0, 1]. A name weighs as much as one word: half for the name itself,
        half for all its pieces together.
    """

    def __init__(self, query: str) -> None:
        self.pieces: dict[str, tuple[str, ...]] = {}
        self.weights: dict[str, float] = {}
        for word, pieces in each_word(query):
            stems = dict.fromkeys(stem(piece) for piece in pieces if piece not in STOP_WORDS)
            if stems:
                self.pieces[stem(word)] = tuple(stems)
                self._count(stem(word), 0.5)
            elif word not in STOP_WORDS:
                self._count(stem(word), 1.0)
            for piece in stems:
                self._count(piece, 0.5 / len(stems))
        super().__init__(self.weights)

    def _count(self, term: str, weight: float) -> None:
        self.weights[term] = max(weight, self.weights.get(term, 0.0))


def query_terms(query: str) -> Terms:
    """Return the stems of a query's content words, each once, in order.

    >>> query_terms("the callers of getUser")
    ['caller', 'getus', 'get', 'user']
    """
    return Terms(query)


def without_endings(text: str) -> str:
    """Return a text without the English endings that follow an apostrophe.

    >>> without_endings("Ida's cat and O\u2019Brien\u2019s dog don't mind l'avion")
    "Ida cat and O\u2019Brien dog  mind l'avion"
    """
    return _ENDING.sub("", text)


def search_words(text: str) -> list[str]:
    """Return additional search words for a text, which a full-text index would not find in it.

    These are the pieces of names, the parts of names joined by dots, version numbers, words with
    signs such as `C++`, and single letters, so that `C` is not `C++`; words that an apostrophe
    joins (`l'avion`), without English endings (`Ida's`), and the stems of words in Cyrillic
    letters, by Russian rules. Greek and Cyrillic letters lose their accents here. The index removes
    accents from Latin letters itself, but only if letter and accent are one character.

    >>> search_words("HttpRequest of get_user in C++, café, v2.13.0")
    ['cplusplus', 'http', 'request', 'getuser', 'get', 'user', 'v', '2', '2.13.0']
    """
    plain = spelled(text)
    found = [text[sign.start() - 1] + _SIGNS[sign[0]].strip() for sign in _SIGN.finditer(text)]
    names = [name for name in _WORD.findall(plain) if len(name) <= _MAX_NAME_CHARS]
    for name in names:
        found += [name.replace("_", "")] if "_" in name else []
        found += _pieces(name)
    for joined in _JOINED.findall(plain):
        found += [name.replace("_", "") for name in _WORD.findall(joined) if len(name) > 1]
    for elided in _ELIDED.findall(plain):
        parts = _APOSTROPHE.split(without_endings(elided))
        found += [part for part in parts if len(part) > 1]
    cyrillic = _CYRILLIC.findall(plain.lower())
    found += [root for word in cyrillic if (root := stem(word)) != word]
    found += _VERSION.findall(plain)
    found += _LETTER.findall(plain)
    if not unicodedata.is_normalized("NFC", text):
        found += names
    elif not plain.isascii():
        known = set(_WORD.findall(text.lower()))
        found += [name for name in names if not name.isascii() and name.lower() not in known]
    words = dict.fromkeys(word.lower() for word in found)
    return [word for word in words if word and word not in STOP_WORDS]
