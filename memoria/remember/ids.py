"""Ids of what a conversation becomes: made from names and places, so that the same gets the same.

In: names of sources, conversations, messages, speakers, topics. Out: ids of at most 512 bytes.
Touches nothing.

A message has the id ``source:conversation:message``, or ``conversation:message`` without a source.
Within a part, ``%``, ``:``, ``#`` and a first ``@`` are escaped, so that no two messages share an
id. The ids of connectors begin with ``@``, as no id of a message does.

A document has the id ``source/document``, without a colon, and each of its parts but the first has
``source/document#heading``. Within a source, and in the id of a document without a source, ``/`` is
escaped, so that no two documents share an id either.
"""

from __future__ import annotations

import hashlib
import re

_MAX_PART_BYTES = 150  # three parts, the words before them and a number are below 512 bytes
_MAX_DOCUMENT_BYTES = 200  # most paths are shorter; with a source and a heading below 512 bytes
_SPECIAL = re.compile(r"[%:#]|^@")
_SLASH = re.compile(r"[%:#/]|^@")  # where a slash ends the part
_NUMBERED = re.compile(r"~(?=[0-9]+\Z)")  # what the number of a section looks like


def conversation_prefix(source: str, conversation: str) -> str:
    """Return what the ids of a conversation's messages begin with; no colon follows in these ids.

    >>> conversation_prefix("slack", "general"), conversation_prefix("", "a:b")
    ('slack:general:', 'a%3Ab:')
    """
    return "".join(f"{_part(name)}:" for name in (source, conversation) if name)


def message_id(source: str, conversation: str, message: str) -> str:
    """Return the id of the memory of a message; of a long message, the id of its first part.

    >>> message_id("slack", "general", "17")
    'slack:general:17'
    """
    return conversation_prefix(source, conversation) + _part(message)


def named(given: str | None, *, place: int, taken: int) -> tuple[str, int]:
    """Return the name of a message within its conversation, and the largest number taken then.

    A message without an id is named by its place, or by the next number if one as large was given
    as an id before. So it never takes the name of a message before it.

    >>> named(None, place=3, taken=2), named("9", place=3, taken=2), named(None, place=4, taken=9)
    (('3', 3), ('9', 9), ('10', 10))
    """
    name = str(max(place, taken + 1)) if given is None else given
    return name, max(taken, number_in(name))


def number_in(name: str) -> int:
    """Return the number that a name is; 0 if it is something else.

    >>> number_in("17"), number_in("1714.5")
    (17, 0)
    """
    return int(name) if name.isascii() and name.isdigit() and len(name) < 16 else 0


def part_id(message: str, number: int) -> str:
    """Return the id of a part of a long message; the first part has number 1.

    >>> part_id("general:17", 1), part_id("general:17", 2)
    ('general:17', 'general:17#2')
    """
    return message if number == 1 else further_parts_prefix(message) + str(number)


def further_parts_prefix(message: str) -> str:
    """Return what the ids of all parts of a message but the first begin with."""
    return f"{message}#"


def document_prefix(source: str) -> str:
    """Return what the ids of the documents of a source begin with.

    >>> document_prefix("notes"), document_prefix("my/notes"), document_prefix("")
    ('notes/', 'my%2Fnotes/', '')
    """
    return f"{_part(source, special=_SLASH)}/" if source else ""


def document_id(source: str, document: str) -> str:
    """Return the id of the memory of a document; of a long one, the id of its first part.

    >>> document_id("notes", "bread/ovens.md"), document_id("", "bread/ovens.md")
    ('notes/bread/ovens.md', 'bread%2Fovens.md')
    """
    special = _SPECIAL if source else _SLASH
    return document_prefix(source) + _part(document, _MAX_DOCUMENT_BYTES, special=special)


def section_id(document: str, headings: str, number: int) -> str:
    """Return the id of a part of a long document.

    Parameters
    ----------
    document
        Id of the document's first part.
    headings
        The headings above the part; may be empty.
    number
        Which of the parts with these headings it is; the first one has number 1.

    Examples
    --------
    >>> section_id("ovens.md", "Gas", 1), section_id("ovens.md", "Gas", 2)
    ('ovens.md#Gas', 'ovens.md#Gas~2')
    >>> section_id("ovens.md", "Gas~2", 1)
    'ovens.md#Gas%7E2'
    """
    part = _part(headings)
    if not part.startswith("%~"):  # a hash, which no heading looks like
        part = _NUMBERED.sub("%7E", part)
    return f"{document}#{part}" + (f"~{number}" if number > 1 else "")


def session_id(source: str, conversation: str, number: int) -> str:
    """Return the id of a session of a conversation; the first one has number 1.

    >>> session_id("slack", "general", 2)
    '@session:slack:general:2'
    """
    return f"@session:{conversation_prefix(source, conversation)}{number}"


def speaker_id(name: str) -> str:
    """Return the id of a speaker; upper and lower case are the same.

    >>> speaker_id("Ann")
    '@speaker:ann'
    """
    return f"@speaker:{_part(name.casefold())}"


def topic_id(name: str) -> str:
    """Return the id of a topic; upper and lower case are the same.

    >>> topic_id("New York")
    '@topic:new york'
    """
    return f"@topic:{_part(name.casefold())}"


def _part(
    name: str, max_bytes: int = _MAX_PART_BYTES, *, special: re.Pattern[str] = _SPECIAL
) -> str:
    """Return a name as a part of an id; a hash takes the place of a long one."""
    part = special.sub(lambda match: f"%{ord(match[0]):02X}", name)
    if len(part.encode("utf-8")) <= max_bytes:
        return part
    return "%~" + hashlib.sha256(name.encode("utf-8")).hexdigest()[:40]
