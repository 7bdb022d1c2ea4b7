"""Read mailboxes in the format mbox.

In: a file, or a folder of some. Out: a conversation for each thread. Reads the file twice: the
heads of all mails tell which belong together.
"""

from __future__ import annotations

import email
import email.policy
import mailbox
import os
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message as Mail
from email.utils import parseaddr, parsedate_to_datetime
from itertools import islice
from os import PathLike
from pathlib import Path

from memoria._support.foreign_files import is_own
from memoria.errors import InvalidInputError
from memoria.importers.chats.html_text import text_of_html
from memoria.importers.chats.parsing import Aside, OnInvalid, OnLeftOut, digest, messages_of, whole
from memoria.types import Conversation, Message

SOURCE = "mail"
SUFFIXES = (".mbox", ".mbx")
#: How much of a mail is read: its head; its text, which comes before the attachments; and of each
#: field of its head. Python takes hours for a field of megabytes.
_HEAD_BYTES, _MAIL_BYTES, _FIELD_CHARS = 100_000, 8_000_000, 20_000
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
            with closing(mailbox.mbox(self._path, create=False)) as box:
                for keys in list(self._threads(box).values()):
                    if (found := self._conversation(box, keys)) is not None:
                        yield found
        except OSError as exc:
            raise InvalidInputError(f"{self._path}: can't be read: {exc.strerror or exc}") from exc

    def _threads(self, box: mailbox.mbox) -> dict[str, list[tuple[datetime, int]]]:
        """Return the times and keys of the mails of each thread."""
        found: dict[str, tuple[datetime, int]] = {}
        for key in box.iterkeys():
            with self._aside.at(self._place(key)):
                mail, _ = _mail(box, key, _HEAD_BYTES)
                if not _labels(mail).isdisjoint(("Spam", "Trash")):
                    self._aside.left_out("spam or trash")
                    continue
                name = _name(mail, key)
                for other in _before(mail):
                    self._join(name, other)
                found[f"{name}-{key}"] = (_time(mail) or _NEVER, int(key))
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
        self, box: mailbox.mbox, mails: list[tuple[datetime, int]]
    ) -> Conversation | None:
        messages: list[Message] = []
        root = title = ""
        for _, key in sorted(mails):
            with self._aside.at(self._place(key)):
                mail, is_whole = _mail(box, key, _MAIL_BYTES)
                if not is_whole:
                    self._aside.left_out("end of a mail with very many lines or parts")
                name = _name(mail, key)
                root = root or self._first(name)
                subject = _header(mail, "Subject")
                title = title or _REPLY.sub("", subject)
                messages += self._message(mail, name, subject)
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

    def _place(self, key: object) -> str:
        return f"{self._path}: mail {int(str(key)) + 1}"


class _ShortFields(email.policy.Compat32):
    """Reads the beginning of each field of a head."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_FIELD_CHARS]


def _mail(box: mailbox.mbox, key: int | str, size: int) -> tuple[Mail, bool]:
    """Parse the beginning of a mail; also tell whether none of its lines or parts is left out."""
    try:
        with box.get_file(str(key) if isinstance(key, str) else key) as file:  # type: ignore[arg-type]
            raw = file.read(size)
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
        text = data.decode(part.get_content_charset("utf-8"), "replace")
    except (LookupError, ValueError):
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\0", "")
