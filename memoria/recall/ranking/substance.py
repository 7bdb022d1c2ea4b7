"""Tell how much a text says itself, so that links lift nothing that says nothing.

In: a text. Out: a share, or a verdict. Touches nothing.

In a chat, "Noted." follows the answer: an edge leads from the answer to it, and as it has no word
of the question either, it looks like a memory that only the graph could find. But a link can only
bring forward what a memory says.
"""

from __future__ import annotations

import re

from memoria._support.keeping import kept
from memoria._support.sentences import asks, sentences
from memoria._support.stems import each_content_word

# A text with so many words that are no courtesies says something, whatever else it holds.
_ENOUGH = 3
# Who said it, as conversations put it before the text.
_SPEAKER = re.compile(r"[^\n:]{1,40}: (?=\S)")
# Words of thanks, consent and greeting, what is left of "I'll" and the like, and what stands with
# these words: alone they answer nothing.
_COURTESIES = frozenset(
    """
    absolutely again agreed ah aha all alright amazing anything appreciate appreciated awesome
    brilliant bye cheers clear congratulations cool correct course d deal definitely done else
    exactly excellent fantastic fine glad good goodbye got gotcha grateful great haha happy hear
    heard hello help helped helpful helping helps hey hi hm hmm indeed just know later let like ll
    lot lovely m made make makes mean mhm mm much nice no nope note noted oh ok okay perfect please
    point quite re really remember remembered right say see sense sorry sounds super sure tell
    telling thank thanks think too true try understand understood ve very welcome well wonderful
    wow yeah yep yes yup
    """.split()  # noqa: SIM905  # words, not a table
)


@kept(4_096, max_chars=1_000)
def substance(text: str) -> float:
    """Return how much a text says: 0 for courtesies alone, 1 where three words are none.

    Of fewer words, the share counts that are no courtesies, so a short answer says all of it.
    Neither stop words count, nor a speaker's name before the text. The lists are English; of texts
    in other languages nearly every word counts.

    >>> substance("Ann: Thanks, that helps!")
    0.0
    >>> substance("Great plan!"), substance("On Tuesday.")
    (0.5, 1.0)
    """
    speaker = _SPEAKER.match(text)
    telling: set[str] = set()
    courtesies: set[str] = set()
    for word in each_content_word(text[speaker.end() :] if speaker else text):
        (courtesies if word in _COURTESIES else telling).add(word)
        if len(telling) == _ENOUGH:
            return 1.0
    return len(telling) / max(len(telling) + len(courtesies), 1)


def only_asks(text: str) -> bool:
    """Tell whether a text has nothing but questions, apart from courtesies.

    >>> only_asks("Hello! Where do I live?"), only_asks("I moved to Bergen. What now?")
    (True, False)
    """
    return all(asks(one) for one in sentences(text) if substance(one) > 0)
