"""Find what a text mentions by rules: names, quotes, identifiers, links, words.

In: a text. Out: its `Mention`s, each name once, at most a given number. Touches nothing.

The rules are those of English. Another language is recognised by its function words; of a text in
which most words have capitals, or none, capitals say nothing. So a text to which the rules do not
fit yields fewer mentions, and not wrong ones. The time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from memoria._support.checks import check_number, check_whole
from memoria._support.function_words import FUNCTION_WORDS
from memoria._support.stems import UNSPACED, stem
from memoria._support.wording import value_of
from memoria.errors import ConfigError
from memoria.remember.identifiers import identifier_in
from memoria.remember.mentions import Mention, MentionKind, best_form

MAX_NAME_CHARS = 200
_MAX_WORD_CHARS = 40
_MAX_PHRASE_PIECES = 6
#: A text with so many mentions is joined to others well enough without its words.
_ENOUGH = 3
#: Capitals count as names unless more than this share of the longer words has one.
_MAX_CAPITALS = 0.9
_FEW_WORDS = 6
#: Words within a name: Lord of the Rings. Two at most between two parts of the name.
_INSIDE = frozenset("of the de la le du des del di da von van der den".split())  # noqa: SIM905
#: Words that often begin a name, and otherwise say little: New York, First Avenue.
_BEGINNINGS = frozenset("best big first good great last little long new old second third".split())  # noqa: SIM905
_ARTICLES = frozenset("a an the".split())  # noqa: SIM905
#: What follows the apostrophe in I'm, he's, we'll; O'Hara is a name.
_ENDINGS = frozenset("d ll m re s t ve".split())  # noqa: SIM905
#: Languages in which every noun has a capital.
_NOUNS_HAVE_CAPITALS = frozenset({"german"})

_LINK = re.compile(r"https?://[^\s<>\"'`()\[\]{}|\\^]++", re.IGNORECASE)
_QUOTE = re.compile(
    r"\"([^\"\n]{2,80})\"|“([^“”\n]{2,80})”|„([^„“”\n]{2,80})[“”]|«([^«»\n]{2,80})»"
    r"|「([^「」\n]{2,80})」|『([^『』\n]{2,80})』|`([^`\n]{2,80})`"
)
_PIECE = re.compile(r"[^\s\"“”„«»「」『』`()\[\]{}<>,;!?…|=、。！？，：；（）]++")
_WORD = re.compile(r"[^\W\d_]+")
_JAPANESE = re.compile(r"[\u30a1-\u30faー]{3,20}|[\u4e00-\u9fff々]{2,6}")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_EDGES = ".:'’‘*~&%$^-–—+/\\@"
_APOSTROPHE = re.compile("['’]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

WEIGHTS: Mapping[MentionKind, float] = {
    "phrase": 1.0,
    "word": 0.5,
    "quote": 1.0,
    "identifier": 1.0,
    "link": 1.0,
}
_ORDER: Sequence[MentionKind] = ("identifier", "link", "quote", "phrase", "word")


@dataclass(slots=True)
class _Piece:
    """A run of characters without blanks, without the punctuation around it."""

    text: str
    words: list[str]  # in lower case
    first: bool  # of its sentence
    joined: bool  # to the piece before, by a single blank


class RuleExtractor:
    """Finds what a text mentions without any model.

    Phrases are capitalised words in a row; a single one at the beginning of a sentence counts as a
    word. Identifiers are names from programs: paths, error codes, numbers of tickets. Words are
    compared by their stem, and shown in a form that they have; function words do not count. A
    mention's name is in lower case.

    Parameters
    ----------
    language
        Language of a text that does not show another one by its function words: english, german,
        french, spanish, italian, portuguese, dutch or russian.
    min_chars
        Length of the shortest word that counts; 2 to 40.
    max_mentions
        Largest number of mentions of a text; 1 to 256. Identifiers, links, quotes and phrases come
        first. Of words only the longest count, which are the rarest, and only until a text has
        three mentions.
    weights
        Kind of a mention -> weight of its edges, 0 to 1; kinds that are missing keep theirs, and
        mentions of weight 0 are left out.
    """

    def __init__(
        self,
        *,
        language: str = "english",
        min_chars: int = 4,
        max_mentions: int = 8,
        weights: Mapping[MentionKind, float] = WEIGHTS,
    ) -> None:
        if language not in tuple(FUNCTION_WORDS):  # a list has no hash
            known = ", ".join(FUNCTION_WORDS)
            raise ConfigError(
                f"language must be one of {known}; got {value_of(language)}", field="language"
            )
        self._language = language
        self._min_chars = check_whole(
            min_chars, "min_chars", low=2, high=_MAX_WORD_CHARS, error=ConfigError
        )
        self._max = check_whole(max_mentions, "max_mentions", low=1, high=256, error=ConfigError)
        if unknown := set(weights).difference(WEIGHTS):
            raise ConfigError(
                f"weights must be of {', '.join(WEIGHTS)}; got {sorted(unknown)!r}", field="weights"
            )
        self._weights = {
            kind: check_number(weight, f"weights[{kind}]", low=0, high=1, error=ConfigError)
            for kind, weight in {**WEIGHTS, **weights}.items()
        }

    def extract(self, text: str) -> list[Mention]:
        """Return the mentions of a text, the surest kinds first, each name once.

        Examples
        --------
        >>> found = RuleExtractor().extract("Did Sarah Miller see E0308 in src/app.py?")
        >>> [mention.name for mention in found]
        ['e0308', 'src/app.py', 'sarah miller']
        """
        reading = _Reading(text, self._language, self._min_chars)
        found: dict[str, MentionKind] = {}
        shown: dict[str, str] = {}
        for kind in _ORDER:
            most = min(self._max, _ENOUGH) if kind == "word" else self._max
            for name, form in reading.names(kind) if self._weights[kind] > 0 else ():
                if len(found) >= most:
                    break
                if 2 <= len(name) <= MAX_NAME_CHARS:
                    found.setdefault(name, kind)
                    shown[name] = best_form(form, shown.get(name, form))
        return [
            Mention(name=name, kind=kind, weight=self._weights[kind], shown=shown[name])
            for name, kind in found.items()
        ]


class _Reading:
    """What one text holds, by kind."""

    def __init__(self, text: str, language: str, min_chars: int) -> None:
        self._min_chars = min_chars
        self._links = [_link_name(match[0]) for match in _LINK.finditer(text)]
        plain = _LINK.sub(" ", text)
        quoted = [next(filter(None, match.groups())) for match in _QUOTE.finditer(plain)]
        pieces = list(_pieces(plain))
        self._language = _language_of([w for piece in pieces for w in piece.words], language)
        self._function_words = FUNCTION_WORDS[language] | FUNCTION_WORDS[self._language]
        self._japanese = _KANA.search(text) is not None
        self._unspaced = UNSPACED.search(text) is not None
        self._identifiers: list[str] = []
        self._prose: list[_Piece] = []
        for piece in pieces:
            name = identifier_in(piece.text, self._function_words)
            if name is None:
                self._prose.append(piece)
            else:
                self._identifiers.append(name.lower())
        self._quotes = [name for quote in quoted if (name := self._quote_name(quote))]

    def names(self, kind: MentionKind) -> Iterator[tuple[str, str]]:
        """Yield the names of a kind, and the forms that stand in the text, the first ones first.

        A name may come more than once.
        """
        if kind == "phrase":
            yield from self._phrases()
        elif kind == "word":
            words = dict.fromkeys(w for piece in self._prose for w in self._content(piece.words))
            stems = ((self._stem(word), word) for word in sorted(words, key=len, reverse=True))
            yield from (each for each in stems if each[0] not in self._function_words)
        else:
            of_kind = {
                "identifier": self._identifiers,
                "link": self._links,
                "quote": self._quotes,
            }
            yield from ((name, name) for name in of_kind[kind])

    def _content(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the words that say something; of Japanese, the words in a run of characters."""
        for word in words:
            if self._unspaced and UNSPACED.search(word):
                if self._japanese:
                    yield from _JAPANESE.findall(word)
            elif (
                self._min_chars <= len(word) <= _MAX_WORD_CHARS and word not in self._function_words
            ):
                yield word

    def _phrases(self) -> Iterator[tuple[str, str]]:
        """Yield capitalised words in a row; single ones only where a capital tells a name."""
        if not self._capitals_tell():
            return
        inside = _INSIDE if self._language not in _NOUNS_HAVE_CAPITALS else ()
        run: list[str] = []
        begins = False  # whether the run begins a sentence
        for piece in self._prose:
            text = piece.text
            if run and (piece.first or not piece.joined):
                yield from self._phrase(run, begins)
                run = []
            if self._is_capital(piece) or (run and len(text) == 1 and text.isupper()):
                begins = piece.first if not run else begins
                run.append(text)
            elif run and text in inside:
                run.append(text)
            elif run:
                yield from self._phrase(run, begins)
                run = []
        yield from self._phrase(run, begins)

    def _is_capital(self, piece: _Piece) -> bool:
        """Tell whether a piece may be part of a name: New is in New York, not at a beginning."""
        text = piece.text
        if not text[0].isupper() or len(text) < 2:
            return False
        word, *rest = _APOSTROPHE.split(text.lower())
        if word in self._function_words and not set(rest) - _ENDINGS:
            return not rest and (not piece.first or word in _BEGINNINGS)
        return True

    def _phrase(self, run: list[str], begins: bool) -> Iterator[tuple[str, str]]:
        """Yield the name of a run of capitalised words, without what does not belong to it."""
        while run and run[-1].lower() in self._function_words:
            run.pop()
        if run and run[0].lower() in _ARTICLES:
            run = run[1:]
        if not run or len(run) > _MAX_PHRASE_PIECES:
            return
        name = " ".join(run).lower().replace("’", "'").removesuffix("'s")
        if len(run) > 1:
            yield name, name
        elif not begins and self._language not in _NOUNS_HAVE_CAPITALS:
            yield self._stem(name) if name.isalpha() else name, name

    def _capitals_tell(self) -> bool:
        """Tell whether a capital makes a name: not in a heading, nor where all words have one."""
        long = [p.text for p in self._prose if len(p.text) >= 4 and not p.first]
        capitals = sum(text[0].isupper() for text in long)
        return len(long) < _FEW_WORDS or capitals <= _MAX_CAPITALS * len(long)

    def _quote_name(self, quote: str) -> str | None:
        """Return the name of a quote that says something, and is not a sentence."""
        name = " ".join(quote.split()).strip(_EDGES + ",;!? ").lower().replace("’", "'")
        return name if any(self._content(_WORD.findall(name))) else None

    def _stem(self, word: str) -> str:
        return stem(word, self._language)


def _pieces(text: str) -> Iterator[_Piece]:
    """Cut a text at blanks and punctuation."""
    end, ended = 0, True
    for match in _PIECE.finditer(text):
        between = text[end : match.start()] if match.start() - end < 3 else "\n"
        raw = match[0]
        kept = raw.rstrip(_EDGES).lstrip("'’‘*&%$^-–—+@:")
        ended = ended or bool(between.strip(" (,"))
        if kept.isalnum() or _LETTER_OR_DIGIT.search(kept):
            words = _WORD.findall(kept.lower())
            yield _Piece(text=kept, words=words, first=ended, joined=between == " ")
            ended = raw[-1] in ".:" and len(kept) > 2
        end = match.end()


def _language_of(words: Sequence[str], language: str) -> str:
    """Return the language whose function words are the most; the given one unless others win."""
    counts = Counter(chain.from_iterable(map(_languages_with, words)))
    best = max(counts, key=lambda name: (counts[name], name == language), default=language)
    return best if counts[best] > max(counts[language], 1) else language


@lru_cache(maxsize=100_000)
def _languages_with(word: str) -> tuple[str, ...]:
    return tuple(name for name, words in FUNCTION_WORDS.items() if word in words)


def _link_name(link: str) -> str:
    """Return host and path of a link.

    >>> _link_name("https://www.Example.org/Docs/?page=2#top")
    'example.org/docs'
    """
    rest = link.split("://", 1)[1].split("?", 1)[0].split("#", 1)[0]
    name = rest.lower().removeprefix("www.").rstrip("/.,:;!?'*")
    return name[:MAX_NAME_CHARS]
