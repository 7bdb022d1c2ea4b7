"""What the readers of all formats share: fields of foreign objects, messages, places of errors.

In: values of an export. Out: checked values and messages. Touches nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple, NoReturn, TypeAlias

from memoria._support.foreign_files import MAX_LINE_BYTES, check_containers
from memoria._support.session_lines import BLOCKS
from memoria._support.wording import kind_of
from memoria._support.wording import whole as whole  # for the importers
from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import Export
from memoria.importers.chats.items import read_items
from memoria.ingest.jsonl import at_place, parse_object
from memoria.types import Item, Message

#: A text of so many characters is at most 1 MB, which is what a message may hold.
MAX_TEXT_CHARS = 250_000

#: About how much memory the messages of one conversation may take, and one without its text; bytes.
MAX_CONVERSATION_BYTES = 400_000_000
_MESSAGE_BYTES = 500

#: Answers of tools that say nothing.
_DONE = re.compile(
    r"\W*(?:(?:it |that )?(?:is |was )?(?:done|ok|okay|success|successful|succeeded|true|null|none|"
    r"completed?|finished|saved|updated|created|processing image)|successfully \w.{0,150}|"
    r"(?:[\w.'-]+ ){1,6}(?:has |have |was |were )?(?:been )?(?:successfully )?"
    r"(?:created|updated|saved|completed|deleted)(?: successfully)?)\W*",
    re.IGNORECASE,
)

_CHUNK_BYTES = 1_000_000
#: The end of the year 5000: larger numbers are milliseconds.
_MAX_SECONDS = 95_617_584_000
_BLANKS = re.compile(r"\s*")

OnInvalid = Callable[[InvalidInputError], None]
OnLeftOut = Callable[[str], None]


class Aside:
    """What becomes of that which a reader does not hand on.

    Parameters
    ----------
    on_invalid
        Called with the error about each part that is wrong, which is then passed over; None raises
        the first.
    on_left_out
        Called with the reason for each message that is right, but not worth to be remembered.
    """

    def __init__(self, on_invalid: OnInvalid | None, on_left_out: OnLeftOut | None) -> None:
        self._on_invalid = on_invalid
        self.left_out: OnLeftOut = on_left_out or (lambda _: None)

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Give errors their place, and pass over what is wrong if that is wanted."""
        try:
            yield
        except (InvalidInputError, RecursionError) as exc:
            if not isinstance(exc, InvalidInputError):
                exc = InvalidInputError("nested too deep")
            located = at_place(exc, place)
            if self._on_invalid is None:
                raise located from exc
            self._on_invalid(located)

    def within(self, place: str) -> Aside:
        """Return the same for a part: it puts this place before the places of its errors."""
        outer = self._on_invalid
        if outer is None:  # whoever catches the error puts the place before it
            return self
        return Aside(lambda error: outer(at_place(error, place)), self.left_out)


#: Makes the conversations, documents or memories of one element of an export.
Parser: TypeAlias = Callable[[Mapping[str, Any], Aside], Iterable[Item]]


def read_elements(
    export: Export, names: Iterable[str], what: str, parse: Parser, aside: Aside
) -> Iterator[Item]:
    """Read the elements of some files of an export.

    Parameters
    ----------
    what
        Name of an element in errors.
    """
    for name in names:
        yield from parsed(items_of(export, name, what), f"a {what}", parse, aside)


def parsed(
    items: Iterable[tuple[str, Any]], what: str, parse: Parser, aside: Aside
) -> Iterator[Item]:
    """Yield the contents of elements, each of which comes with its place.

    Parameters
    ----------
    what
        Name of an element in errors, with its article.
    """
    for place, item in items:
        found: Iterable[Item] = ()
        with aside.at(place):
            found = list(parse(as_map(item, what), aside.within(place)))
        yield from found


def items_of(export: Export, name: str, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a file, each with its place: the file, ``what``, a number from 1."""
    with export.opened(name) as read:
        items = read_items(read)
        for number in count(1):
            place = f"{export.place(name)}: {what} {number}"
            try:
                item = next(items)
            except StopIteration:
                return
            except InvalidInputError as exc:
                raise at_place(exc, place) from exc
            yield place, item


class PlacedLine(NamedTuple):
    """A line of a file: its place in messages, where it begins, its bytes, and whether it ends."""

    place: str
    offset: int
    raw: bytes
    ended: bool


def placed_lines(read: Callable[[int], bytes], place: str) -> Iterator[PlacedLine]:
    """Yield the lines of a file; of one longer than `MAX_LINE_BYTES`, one byte more than that."""
    number, offset, length, rest = 1, 0, 0, b""
    while chunk := read(_CHUNK_BYTES):
        *ended, last = chunk.split(b"\n")
        for line in ended:
            whole_line = _joined(rest, line).rstrip(b"\r")
            yield PlacedLine(f"{place}:{number}", offset, whole_line, True)
            number, offset, length, rest = number + 1, offset + length + len(line) + 1, 0, b""
        rest, length = _joined(rest, last), length + len(last)
    if rest:
        yield PlacedLine(f"{place}:{number}", offset, rest, False)


def _joined(begin: bytes, rest: bytes) -> bytes:
    return begin if len(begin) > MAX_LINE_BYTES else (begin + rest)[: MAX_LINE_BYTES + 1]


def as_map(value: object, field: str) -> Mapping[str, Any]:
    """Return a JSON object; raise for any other value."""
    if not isinstance(value, dict):
        raise InvalidInputError(f"{field} must be a JSON object, got {kind_of(value)}", field=field)
    return value


def as_list(value: object, field: str) -> list[Any]:
    """Return a JSON array; null counts as an empty one."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidInputError(f"{field} must be a list, got {kind_of(value)}", field=field)
    return value


def map_in(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object inside an object; empty if it is missing or null."""
    value = fields.get(name)
    return {} if value is None else as_map(value, name)


def string_in(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a string inside an object; None if it is missing, null or empty."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a string, got {kind_of(value)}", field=name)
    return whole(value) or None


def id_in(fields: Mapping[str, Any], name: str) -> str | None:
    """Return an id: a string, or a whole number; None if it is missing, null or empty."""
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return string_in(fields, name)


def time_in(fields: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time: ISO 8601, or seconds or milliseconds since 1970.

    None if it is missing, null, 0 or empty.
    """
    value = fields.get(name)
    if value is None or value in ("", 0):
        return None
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        if not isinstance(value, bool) and isinstance(value, int | float):
            seconds = value / 1_000 if abs(value) > _MAX_SECONDS else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as exc:
        raise InvalidInputError(
            f"{name} must be a time in ISO 8601 or seconds since 1970, got {value!r:.80}",
            field=name,
        ) from exc
    raise InvalidInputError(f"{name} must be a time, got {kind_of(value)}", field=name)


def texts_of(blocks: object, kinds: Collection[object] = ("text",)) -> str:
    r"""Return the text of a content: a string, or blocks, of which strings and some kinds count.

    >>> texts_of(["a", {"type": "text", "text": "b"}, {"type": "image"}])
    'a\n\nb'
    """
    if blocks is None or isinstance(blocks, str):
        return blocks or ""
    found = []
    for block in as_list(blocks, "content"):
        if isinstance(block, str):
            found.append(block)
        elif as_map(block, "content").get("type") in kinds:
            found.append(string_in(block, "text") or "")
    return "\n\n".join(filter(None, found))


def reasons_in(blocks: object, kind: str = "type") -> list[str]:
    """Return why blocks of a content that hold no text are left out.

    Parameters
    ----------
    kind
        Field of a block that names its kind.

    >>> reasons_in([{"type": "text", "text": "b"}, {"type": "image"}, "a"])
    ['picture']
    """
    if not isinstance(blocks, list):
        return []
    kinds = (str(each.get(kind)) for each in blocks if isinstance(each, dict))
    return [BLOCKS[each] for each in kinds if each in BLOCKS]


def only_says_done(text: str) -> bool:
    """Tell whether the answer of a tool says no more than that it worked.

    >>> only_says_done("Successfully created text document with textdoc_id: 'a1'")
    True
    >>> only_says_done("Model set context updated."), only_says_done("5 files were created by Ada")
    (True, False)
    """
    return len(text) < 200 and _DONE.fullmatch(text.strip()) is not None


def objects_in(raw: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a line: one, or several if a line break was lost.

    Raises
    ------
    InvalidInputError
        What is left is not an object; those before it were yielded.
    """
    try:
        yield parse_object(raw)
        return
    except InvalidInputError as exc:
        error = exc
    if len(raw) > MAX_LINE_BYTES:
        raise error
    check_containers(raw)
    text, place = raw.decode("utf-8", "replace").strip(), 0
    while place < len(text):
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            raise error from None
        if not isinstance(value, dict):
            raise error
        yield value
        place = end + len(_BLANKS.match(text, end)[0])  # type: ignore[index]  # it always matches


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def messages_of(text: str, *, id_: str, **fields: Any) -> list[Message]:
    """Return a message; several if the text is longer than a message may be; none without text.

    Parameters
    ----------
    fields
        The other fields of a `Message`. A part answers the part before.
    """
    text = whole(text).strip()
    starts = range(0, len(text), MAX_TEXT_CHARS)
    return [
        Message(
            text=text[start : start + MAX_TEXT_CHARS],
            id=id_ if number == 1 else _further_id(id_, number),
            **(fields if number == 1 else fields | {"reply_to": None}),
        )
        for number, start in enumerate(starts, 1)
    ]


def size_of(messages: Iterable[Message]) -> int:
    """Return about how much memory messages take, in bytes."""
    return sum(sys.getsizeof(message.text) + _MESSAGE_BYTES for message in messages)


def _further_id(id_: str, number: int) -> str:
    """Return the id of a further message of a text: a short one that no export gives to another.

    >>> _further_id("17", 2)
    '17/2~04fb747d3abb68c76697'
    """
    return f"{id_[:100]}/{number}~{digest(id_)}"


def digest(*parts: str | None) -> str:
    """Return an id that is made of content.

    >>> digest("a", "b") == digest("ab", "")
    False
    """
    text = "\x1f".join(f"{len(part)}:{part}" if part else "" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:20]
