"""Read mailboxes in the format mbox.

In: a file, or a folder of some. Out: a conversation for each thread. Reads the file twice: the
heads of all mails tell which belong together.
"""

from __future__ import annotations

import email
import email.policy
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.utils import parseaddr, parsedate_to_datetime
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from memoria._support.foreign_files import is_own
from memoria.errors import InvalidInputError
from memoria.importers.chats.html_text import text_of_html
from memoria.importers.chats.parsing import (
    MAX_CONVERSATION_BYTES,
    Aside,
    OnInvalid,
    OnLeftOut,
    digest,
    messages_of,
    size_of,
    whole,
)
from memoria.types import Conversation, Message

SOURCE = "mail"
SUFFIXES = (".mbox", ".mbx")
#: How much of a mail is read: its head; its text, which comes before the attachments; and of each
#: field of its head. Python takes hours for a field of megabytes.
_HEAD_BYTES, _MAIL_BYTES, _FIELD_CHARS = 100_000, 8_000_000, 20_000
#: Most mails of a mailbox, each of which takes memory until all are read.
_MAX_MAILS = 1_000_000
#: Limits of one mail: lines, parts, and parts that contain others. Each part takes memory, and each
#: line is compared with the ends of all parts around it. No mail that somebody wrote has so many.
_MOST = (
    (re.compile(rb"\n"), 500_000),
    (re.compile(rb"^--", re.MULTILINE), 20_000),
    (re.compile(rb"^content-type:\s*(?:multipart|message)/", re.IGNORECASE | re.MULTILINE), 100),
)
_ID = re.compile(r"<([^<>\s]{1,500})>")
_REPLY = re.compile(r"^(?:\s*(?:re|aw|wg|fwd?|antw|sv|tr|rif)(?:\[\d+\])?:)+\s*", re.IGNORECASE)
_QUOTED = re.compile(r"(?:^[^\n>]{0,300}:[ \t]*\n\s*)?(?:^>[^\n]*(?:\n|\Z))+", re.MULTILINE)
#: A line between two mails, and the head that follows; other lines begin with From, too.
_BETWEEN = re.compile(rb"From (?:\S+\s*\Z|.*\d\d?:\d\d)", re.DOTALL)
_FIELD = re.compile(rb">?From |[!-9;-~]{1,100}:")
#: Programs that write mailboxes put a mark before such a line of a text.
_ESCAPED = re.compile(r"^>(>*From )", re.MULTILINE)
_LINE_BYTES = 10_000
#: Encodings that contain more than their names say, as programs write them.
_WIDER = {
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis"), "cp932"),
    **dict.fromkeys(("ks_c_5601-1987", "euc-kr"), "cp949"),
}
_Span = tuple[int, int]
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def read_mbox(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read the mails of mailboxes, one thread after the other.

    Parameters
    ----------
    path
        A mailbox (mbox), such as the one of Google Takeout; or a folder with some that end in
        ``.mbox``, or are named ``mbox``.
    on_invalid
        Called with the error about each mail that can't be read, which is then passed over; None
        raises the first.
    on_left_out
        Called with the reason for each mail or part of one that is left out: ``empty``,
        ``spam or trash`` (as Gmail labels it), ``attachment``, ``quoted text`` or
        ``end of a mail with very many lines or parts``.

    Raises
    ------
    InvalidInputError
        The path is not a mailbox, or a mail can't be read and ``on_invalid`` is None; the message
        names file and mail.
    """
    where = Path(path)
    files = [where]
    if where.is_dir():
        files = [
            Path(at, name)
            for at, _, names in sorted(os.walk(where))
            for name in sorted(names)
            if (name == "mbox" or name.lower().endswith(SUFFIXES)) and is_own(Path(at, name))
        ]
    if not files or not all(file.is_file() for file in files):
        raise InvalidInputError(f"{where}: no mailbox (*.mbox) there")
    aside = Aside(on_invalid, on_left_out)
    for file in files:
        yield from _Mailbox(file, aside).conversations()


class _Mailbox:
    """A mailbox, and the threads in it."""

    def __init__(self, path: Path, aside: Aside) -> None:
        self._path = path
        self._aside = aside
        self._root: dict[str, str] = {}  # digest of an id -> that of a mail before it

    def conversations(self) -> Iterator[Conversation]:
        """Yield a conversation for each thread."""
        try:
            with self._path.open("rb") as file:
                if not file.read(5) == b"From ":
                    raise InvalidInputError(f"{self._path}: not a mailbox: it must begin with From")
                spans = list(islice(_spans(file), _MAX_MAILS + 1))
                if len(spans) > _MAX_MAILS:
                    raise InvalidInputError(f"{self._path}: more than {_MAX_MAILS} mails: split it")
                for keys in list(self._threads(file, spans).values()):
                    if (found := self._conversation(file, spans, keys)) is not None:
                        yield found
        except OSError as exc:
            raise InvalidInputError(f"{self._path}: can't be read: {exc.strerror or exc}") from exc

    def _threads(
        self, file: BinaryIO, spans: Sequence[_Span]
    ) -> dict[str, list[tuple[datetime, int]]]:
        """Return the times and keys of the mails of each thread."""
        found: dict[str, tuple[datetime, int]] = {}
        for key, span in enumerate(spans):
            with self._aside.at(self._place(key)):
                mail, _ = _mail(file, span, _HEAD_BYTES)
                if not _labels(mail).isdisjoint(("Spam", "Trash")):
                    self._aside.left_out("spam or trash")
                    continue
                name = _name(mail, key)
                for other in _before(mail):
                    self._join(name, other)
                found[f"{name}-{key}"] = (_time(mail) or _NEVER, key)
        threads: dict[str, list[tuple[datetime, int]]] = {}
        for name, mail_of in found.items():
            threads.setdefault(self._first(name.partition("-")[0]), []).append(mail_of)
        return threads

    def _join(self, one: str, other: str) -> None:
        first, second = self._first(one), self._first(other)
        if first != second:
            self._root[first] = second

    def _first(self, name: str) -> str:
        while (before := self._root.get(name, name)) != name:
            above = self._root.get(before, before)
            self._root[name] = above  # halve the way for those who come next
            name = before
        return name

    def _conversation(
        self, file: BinaryIO, spans: Sequence[_Span], mails: list[tuple[datetime, int]]
    ) -> Conversation | None:
        messages: list[Message] = []
        root, title, size = "", "", 0
        for _, key in sorted(mails):
            with self._aside.at(self._place(key)):
                mail, is_whole = _mail(file, spans[key], _MAIL_BYTES)
                if not is_whole:
                    self._aside.left_out("end of a mail with very many lines or parts")
                name = _name(mail, key)
                root = root or self._first(name)
                subject = _header(mail, "Subject")
                title = title or _REPLY.sub("", subject)
                made = self._message(mail, name, subject)
                size += size_of(made)
                if size > MAX_CONVERSATION_BYTES:
                    raise InvalidInputError("its thread is too long")
                messages += made
        if not messages:
            return None
        return Conversation(id=root, messages=messages, title=title[:500] or None, source=SOURCE)

    def _message(self, mail: Mail, name: str, subject: str) -> list[Message]:
        text, attached = _text(mail)
        for _ in range(attached):
            self._aside.left_out("attachment")
        kept, quoted = _QUOTED.subn("", f"{text}\n")
        if quoted and kept.strip():
            self._aside.left_out("quoted text")
            text = kept
        if not text.strip():
            self._aside.left_out("empty")
            return []
        sender, address = parseaddr(_header(mail, "From"))
        said = {"subject": subject, "from": address}
        return messages_of(
            text,
            id_=name,
            role="other",  # people who write to each other ask no assistant
            speaker=(sender or address or "unknown")[:200],
            created_at=_time(mail),
            metadata={key: value for key, value in said.items() if value},
        )

    def _place(self, key: int) -> str:
        return f"{self._path}: mail {key + 1}"


def _spans(file: BinaryIO) -> Iterator[_Span]:
    """Yield where each mail of a mailbox begins and ends, without the line before it."""
    file.seek(0)
    begin: int | None = None
    candidate: _Span | None = None  # a line that separates mails if a head follows
    place, starts_line = 0, True
    while piece := file.readline(_LINE_BYTES):
        end = place + len(piece)
        if candidate is not None and (begin is None or _FIELD.match(piece)):
            if begin is not None:
                yield begin, candidate[0]
            begin = candidate[1]
        candidate = (place, end) if starts_line and _BETWEEN.match(piece) else None
        if begin is None and candidate is None:  # the first line, whatever it says
            candidate = place, end
        place, starts_line = end, piece.endswith(b"\n")
    if candidate is not None and begin is None:
        begin = candidate[1]
    if begin is not None:
        yield begin, place


class _ShortFields(email.policy.Compat32):
    """Reads the beginning of each field of a head, and bytes that nobody has encoded."""

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002
        try:
            value.encode()
        except UnicodeEncodeError:
            raw = value.encode("utf-8", "surrogateescape")
            return _text_in(raw, None)
        return value

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_FIELD_CHARS]


def _mail(file: BinaryIO, span: _Span, size: int) -> tuple[Mail, bool]:
    """Parse the beginning of a mail; also tell whether none of its lines or parts is left out."""
    try:
        begin, end = span
        file.seek(begin)
        raw = file.read(min(size, end - begin))
        cut = _cut(raw)
        return email.message_from_bytes(cut, policy=_ShortFields()), cut is raw
    except (MessageError, RecursionError, ValueError, LookupError) as exc:
        raise InvalidInputError(f"can't be read: {type(exc).__name__}") from exc


def _cut(raw: bytes) -> bytes:
    """Leave out the end of a mail that has more lines or parts than any real one.

    The same object is returned where nothing is left out.
    """
    for pattern, most in _MOST:
        beyond = next(islice(pattern.finditer(raw), most, None), None)
        raw = raw if beyond is None else raw[: beyond.start()]
    return raw


def _header(mail: Mail, name: str) -> str:
    """Return a field of the head as text, in one line."""
    value = mail.get(name)
    if value is None:
        return ""
    try:
        text = str(make_header(decode_header(value)))
    except (MessageError, LookupError, ValueError):
        text = str(value)
    return " ".join(whole(text).split())


def _name(mail: Mail, key: object) -> str:
    """Return the id of a mail; one that has none is known by what its head says."""
    found = _ID.search(str(mail.get("Message-ID") or ""))
    if found:
        return digest(found[1])
    head = [_header(mail, name) for name in ("From", "Date", "Subject")]
    return digest(*head, None if any(head) else str(key))


def _before(mail: Mail) -> list[str]:
    """Return the ids of the mails that a mail follows, or of its thread in Gmail."""
    thread = mail.get("X-GM-THRID")
    if thread:
        return [digest("gmail", str(thread).strip())]
    fields = f"{mail.get('References') or ''} {mail.get('In-Reply-To') or ''}"
    return [digest(each) for each in _ID.findall(fields)[-100:]]


def _labels(mail: Mail) -> set[str]:
    return {label.strip() for label in _header(mail, "X-Gmail-Labels").split(",")}


def _time(mail: Mail) -> datetime | None:
    try:
        found = parsedate_to_datetime(str(mail.get("Date") or ""))
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None


def _text(mail: Mail) -> tuple[str, int]:
    """Return what a mail says, and how many files are attached."""
    plain, html = list[str](), list[str]()
    attached = 0
    for part in mail.walk():
        kind = part.get_content_type()
        if part.is_multipart():
            continue
        if part.get_filename() or kind not in ("text/plain", "text/html"):
            attached += 1
        else:
            (plain if kind == "text/plain" else html).append(_decoded(part))
    text = "\n\n".join(filter(None, (each.strip() for each in plain)))
    return text or text_of_html("\n".join(html)), attached


def _decoded(part: Mail) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    try:
        charset = part.get_content_charset()
    except (LookupError, ValueError):
        charset = None
    text = _text_in(data, charset).replace("\r\n", "\n").replace("\0", "")
    return _ESCAPED.sub(r"\1", text)


def _text_in(data: bytes, charset: str | None) -> str:
    """Decode bytes as they say, else as most programs do.

    >>> _text_in("für 5 €".encode("cp1252"), "us-ascii"), _text_in("für".encode(), "us-ascii")
    ('für 5 €', 'für')
    """
    said = _WIDER.get(charset or "", charset or "utf-8")
    for name in (said, "utf-8"):
        try:
            return data.decode(name)
        except (LookupError, ValueError):
            continue
    known = said if charset not in (None, "us-ascii", "utf-8") else "cp1252"
    try:
        return data.decode(known, "replace")
    except (LookupError, ValueError):
        return data.decode("cp1252", "replace")
