"""Helpers for messages: articles, plurals, and texts without hidden characters.

In: values and numbers. Out: text. Touches nothing.
"""

from __future__ import annotations

import json

#: Advice for a call that reached its deadline.
MORE_TIME = (
    "give more time (deadline_s in Python, deadline_ms by MCP and HTTP, --deadline on the command "
    "line), or ask for less"
)
MAX_CHARACTERS = 200
MAX_VALUE_CHARACTERS = 80
MAX_TOLD_CHARACTERS = 2_000
# Invisible characters that can rewrite a terminal, reverse the order of words, end a line in some
# programs, or hide words that only a model reads.
_HIDDEN = (
    *(*range(0x20), *range(0x7F, 0xA0)),  # control characters, which start escape sequences
    *(0xAD, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF),
    *(*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)),
)
_IN_TEXTS = (ord("\n"), ord("\t"))
_ESCAPED = {
    code: f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # as Python writes them
    for code in _HIDDEN
}
_ESCAPED_IN_JSON = {code: json.dumps(chr(code))[1:-1] for code in _HIDDEN if code > 0x1F}
_ESCAPED_IN_TEXTS = {code: shown for code, shown in _ESCAPED.items() if code not in _IN_TEXTS}
_BLANK = {code: " " for code in _HIDDEN if code not in _IN_TEXTS}
# These begin with a vowel that is read as a consonant.
_LIKE_YOU = ("uni", "use", "uu")


def number_of(number: int, one: str, many: str | None = None) -> str:
    """Name a number of things; without ``many`` an s makes the plural.

    >>> number_of(1, "memory", "memories"), number_of(0, "id")
    ('1 memory', '0 ids')
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def with_article(noun: str) -> str:
    """Put the indefinite article before a noun.

    >>> with_article("int"), with_article("list"), with_article("UUID")
    ('an int', 'a list', 'a UUID')
    """
    low = noun.lower()
    vowel = low[:1] in "aeiou" and not low.startswith(_LIKE_YOU)
    return f"{'an' if vowel else 'a'} {noun}"


def kind_of(value: object) -> str:
    """Name a value that a caller gave by its type, never by what it holds.

    >>> kind_of(5), kind_of(None)
    ('an int', 'nothing')
    """
    return "nothing" if value is None else with_article(type(value).__name__)


def value_of(value: object) -> str:
    """Name a wrong value: text, a number or a class as it is, anything else by its type.

    What others made may be nested so deep that Python can't print it.

    >>> value_of("fast"), value_of([["fast"]]), value_of(10**400)
    ("'fast'", 'a list', 'a larger number')
    """
    if isinstance(value, int) and abs(value) >= 10**15:  # Python can't print a huge one
        return "a larger number"
    if isinstance(value, str | int | float | type):
        return repr(value if not isinstance(value, str) else value[:MAX_VALUE_CHARACTERS])
    return kind_of(value)


def cut(words: str, characters: int) -> str:
    """Cut a text to so many characters, the last of them an ellipsis.

    >>> cut("cardamom", 8), cut("cardamom", 5)
    ('cardamom', 'card…')
    """
    return words if len(words) <= characters else f"{words[: characters - 1]}…"


def cut_inside(words: str, characters: int) -> str:
    """Cut a text inside, so that its end, which tells ids of one document apart, stays.

    >>> cut_inside("cardamom", 8), cut_inside("notes/bread/rye#3", 9)
    ('cardamom', 'no…/rye#3')
    """
    if len(words) <= characters:
        return words
    first = (characters - 1) // 3
    return f"{words[:first]}…{words[len(words) - (characters - 1 - first) :]}"


def shown(words: str) -> str:
    """Quote a text for a ``repr``, cut to a few words.

    >>> shown("Why?")
    "'Why?'"
    """
    return cut(repr(cut(words, 60)), 80)


def printable(text: str) -> str:
    r"""Return a text for a terminal: hidden characters are escaped, except tabs and line breaks.

    >>> print(printable("red: \x1b[31m"), one_line("two\nlines"))
    red: \x1b[31m two\x0alines
    """
    return text.translate(_ESCAPED_IN_TEXTS)


def one_line(text: str) -> str:
    """Return a text for one line of a terminal: all hidden characters are escaped."""
    return text.translate(_ESCAPED)


def printable_json(text: str) -> str:
    r"""Return the same JSON for a terminal: hidden characters in its texts are escaped.

    >>> print(printable_json('"red: \x9b31m"'))
    "red: \u009b31m"
    """
    return text.translate(_ESCAPED_IN_JSON)


def visible(text: str) -> str:
    r"""Return a text for a model: each hidden character becomes a space.

    >>> visible("Bread\x1b[31m\u202e.")
    'Bread [31m .'
    """
    return text.translate(_BLANK)


def whole(text: str) -> str:
    r"""Return a text without halves of characters, which remain where a text was cut.

    >>> whole("cut \ud83d"), whole("joined \ud83d\ude42")
    ('cut �', 'joined 🙂')
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def told(error: BaseException) -> str:
    """Return the text of an error for a model; it may quote the model's own input."""
    return cut(visible(str(error)), MAX_TOLD_CHARACTERS)


def in_short(error: BaseException) -> str:
    r"""Name an error of foreign code, with its text in one line of at most 200 characters.

    >>> in_short(RuntimeError("no\n  answer"))
    'RuntimeError: no answer'
    """
    text = one_line(" ".join(str(error).split()))
    if len(text) > MAX_CHARACTERS:
        text = f"{text[: MAX_CHARACTERS - 3]}..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
