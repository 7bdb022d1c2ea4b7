"""Read the export of a Slack workspace, or of an organization.

In: the zip or the folder it was unpacked to. Out: a conversation for each month of a channel,
private channel or direct message. Reads files.

A month, because a channel of years would not fit into memory, and because exports of two ranges of
time agree on the months between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from os import PathLike
from typing import Any

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import Export, open_export
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    as_list,
    as_map,
    items_of,
    map_in,
    messages_of,
    string_in,
    whole,
)
from memoria.importers.chats.slack_text import readable, text_of_attachments, text_of_blocks
from memoria.types import Conversation, Message

USER_FILES = ("users.json", "org_users.json")
CHANNEL_FILES = ("channels.json", "groups.json", "dms.json", "mpims.json")
FILES = rf"({'|'.join(map(re.escape, (*USER_FILES, *CHANNEL_FILES)))})"
_DAY = re.compile(r"([^/]+)/(\d{4}-\d{2})-\d{2}\.json")
#: What people say; all other subtypes are notices, such as that somebody joined.
SPOKEN = frozenset({None, "thread_broadcast", "me_message", "file_share", "file_comment"})
EDITED, DELETED, GONE = "message_changed", "message_deleted", "tombstone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Who and what is in an export.

    Attributes
    ----------
    users
        Names of people by their ids.
    bots
        Ids of users that are programs.
    channels
        Id and title of a conversation by the name of its folder.
    keep_bots
        Whether what programs say is read.
    deleted
        Ids of deleted messages, of the channel that is read.
    edited
        The last form of each edited message of this channel, by its id.
    """

    users: Mapping[str, str]
    bots: frozenset[str]
    channels: Mapping[str, tuple[str, str]]
    channel_names: Mapping[str, str]
    keep_bots: bool = False
    deleted: frozenset[str] = frozenset()
    edited: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_slack(
    path: str | PathLike[str],
    *,
    bots: bool = False,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read the export of a Slack workspace, one month of a channel after the other.

    A message of a thread answers the message that began it; any other message answers the message
    before it that is in no thread. An answer to a message of an earlier month follows the message
    before it. Names replace ids, and plain text replaces marks. Text that stands in
    blocks only is read, and so are the titles of files; of an edited message the last text counts.

    Parameters
    ----------
    path
        The zip, or the folder it was unpacked to.
    bots
        Also read what programs say, with the texts of their attachments, such as alerts.
    on_invalid
        Called with the error about each message that is wrong, which is then passed over; None
        raises the first.
    on_left_out
        Called with the reason for each message or part of one that is left out: ``notice``
        (somebody joined, a topic was set), ``bot``, ``deleted``, ``empty``, ``file`` (one that
        nobody gave a title) or ``preview`` of a page.

    Raises
    ------
    InvalidInputError
        The export can't be read, or a part of it is wrong and ``on_invalid`` is None; the message
        names file, message and field.
    """
    aside = Aside(on_invalid, on_left_out)
    with open_export(path) as export:
        root = _root(export)
        known = replace(_directory(export, root, aside), keep_bots=bots)
        channels: dict[str, dict[str, list[str]]] = {}  # by folder and month
        for name in export.names:  # sorted, so the days of a month are in order
            match = _DAY.fullmatch(name.removeprefix(root)) if name.startswith(root) else None
            if match:
                channels.setdefault(match[1], {}).setdefault(match[2], []).append(name)
        for folder, months in channels.items():
            # A channel that is not listed goes by the name of its folder.
            id_, title = known.channels.get(folder, (folder, folder))
            deleted, edited = _changes(export, chain(*months.values()))
            known = replace(known, deleted=deleted, edited=edited)
            applied: set[str] = set()  # edits of messages that were there
            for month, files in months.items():
                found = None
                with aside.at(f"{export.place(root + folder)}"):
                    found = Conversation(
                        id=f"{id_}/{month}", messages=(), title=title, source="slack"
                    )
                messages = found and list(_threaded(export, files, known, applied, aside))
                if found and messages:
                    yield replace(found, messages=messages)


def _changes(
    export: Export, files: Iterable[str]
) -> tuple[frozenset[str], Mapping[str, Mapping[str, Any]]]:
    """Return which messages of a channel were deleted, and the edited ones, on whatever day."""
    deleted, edited = set[str](), dict[str, Mapping[str, Any]]()
    for name in files:
        for _, item in items_of(export, name, "message"):
            subtype = item.get("subtype") if isinstance(item, dict) else None
            if subtype == DELETED:
                deleted.add(str(item.get("deleted_ts")))
            elif subtype == EDITED and isinstance(message := item.get("message"), dict):
                id_ = str(message.get("ts"))
                if message.get("subtype") == GONE:
                    deleted.add(id_)
                else:
                    edited[id_] = message
    return frozenset(deleted), edited


def _threaded(
    export: Export, files: list[str], known: Directory, applied: set[str], aside: Aside
) -> Iterator[Message]:
    """Yield the messages of a channel; each says what it answers, unless it is the one before."""
    threads: dict[str, str] = {}  # the thread -> its first message that is kept
    before = before_outside = None
    for name in files:
        for message, thread in _messages(export, name, known, applied, aside):
            outside = thread is None or thread == message.id
            answers = before_outside if outside else threads.get(str(thread))
            if thread is not None:
                threads.setdefault(thread, str(message.id))
            yield message if answers == before else replace(message, reply_to=answers)
            before = message.id
            before_outside = before if outside else before_outside


def _messages(
    export: Export, name: str, known: Directory, applied: set[str], aside: Aside
) -> Iterator[tuple[Message, str | None]]:
    """Yield the messages of a day, each with the id of the thread that it is in.

    An edited message is yielded where it was said, with its last text. Where only the edit is
    there, it is yielded with the edit.
    """
    found: dict[str, tuple[list[Message], str | None]] = {}
    for place, item in items_of(export, name, "message"):
        with aside.at(place):
            fields = as_map(item, "a message")
            subtype = string_in(fields, "subtype")
            if subtype == DELETED:
                aside.left_out("deleted")
                continue
            if subtype == EDITED:
                fields = map_in(fields, "message")
            id_ = string_in(fields, "ts") or ""
            if id_ in known.deleted or (subtype == EDITED and id_ in applied):
                if fields.get("subtype") == GONE:
                    aside.left_out("deleted")
                continue
            if id_ in known.edited:
                applied.add(id_)
                fields = {**_lasting(fields), **known.edited[id_]}
                fields.setdefault("edited", {"ts": id_})
            made = _message(fields, known, aside)
            thread = string_in(fields, "thread_ts")
            if made:
                found[str(made[0].id)] = made, thread
    for messages, thread in found.values():
        yield from ((message, thread) for message in messages)


def _lasting(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that an edit of a message does not change, and need not repeat."""
    kept = ("user", "thread_ts", "user_profile", "username", "bot_id", "bot_profile")
    return {name: fields[name] for name in kept if name in fields}


def _message(fields: Mapping[str, Any], known: Directory, aside: Aside) -> list[Message]:
    user = string_in(fields, "user")
    subtype = string_in(fields, "subtype")
    is_bot = subtype == "bot_message" or user in known.bots or bool(fields.get("bot_id"))
    is_bot = is_bot and (user is None or user in known.bots or subtype == "bot_message")
    text = _text(fields, known, is_bot=is_bot)
    reason = None
    if is_bot and not known.keep_bots:
        reason = "bot"
    elif subtype not in SPOKEN and not is_bot:
        reason = "notice"
    elif not text.strip():
        reason = "empty"
    if reason is not None:
        aside.left_out(reason)
        return []
    _count_parts(fields, aside, is_bot=is_bot)
    ts = string_in(fields, "ts")
    if ts is None:
        raise InvalidInputError("ts is missing: a message of Slack has its time there", field="ts")
    # A guest is somebody from another workspace.
    guest, bot = map_in(fields, "user_profile"), map_in(fields, "bot_profile")
    name = known.users.get(user or "") or _name(guest) or string_in(fields, "username")
    return messages_of(
        text,
        id_=ts,
        role="tool" if is_bot else "other",  # people who talk to each other ask no assistant
        speaker=name or _name(bot) or user or string_in(fields, "bot_id") or "unknown",
        created_at=_time(ts),
        metadata={"edited": True} if fields.get("edited") else {},
    )


def _text(fields: Mapping[str, Any], known: Directory, *, is_bot: bool) -> str:
    """Return the text of a message: its own, or else that of its blocks, and titles of files."""
    text = string_in(fields, "text") or text_of_blocks(fields.get("blocks"))
    parts = [text]
    if is_bot or not text.strip():  # else they are previews of pages
        parts.append(text_of_attachments(fields.get("attachments")))
    files = (each for each in as_list(fields.get("files"), "files") if each is not None)
    titles = (_title_of(as_map(file, "files")) for file in files)
    parts += [f"file: {title}" for title in titles if title]
    return readable(whole("\n".join(filter(None, parts))), known.users, known.channel_names)


def _title_of(file: Mapping[str, Any]) -> str | None:
    """Return the title of a file if somebody wrote it."""
    title = string_in(file, "title")
    return title if title != string_in(file, "name") else None


def _count_parts(fields: Mapping[str, Any], aside: Aside, *, is_bot: bool) -> None:
    """Count the parts of a message that `_text` does not read."""
    for item in as_list(fields.get("files"), "files"):
        if item is not None and not _title_of(as_map(item, "files")):
            aside.left_out("file")
    if not is_bot and (string_in(fields, "text") or text_of_blocks(fields.get("blocks"))).strip():
        for _ in as_list(fields.get("attachments"), "attachments"):
            aside.left_out("preview")


def _time(ts: str) -> datetime:
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError) as exc:
        raise InvalidInputError(
            f"ts must be seconds since 1970, got {ts!r:.80}", field="ts"
        ) from exc


def _root(export: Export) -> str:
    """Return the folder in which the lists of users and channels stand, with a slash, or ""."""
    names = [] if export.single else export.find(FILES)
    if not names:
        raise InvalidInputError(
            f"{export.path}: no export of Slack (channels.json, users.json) in it: "
            "give the zip, or the folder it was unpacked to"
        )
    return names[0].rpartition("/")[0] + "/" * ("/" in names[0])


def _directory(export: Export, root: str, aside: Aside) -> Directory:
    users: dict[str, str] = {"USLACKBOT": "Slackbot"}
    bots = {"USLACKBOT"}
    for place, item in _listed(export, root, USER_FILES):
        with aside.at(place):
            fields = as_map(item, "a user")
            id_ = string_in(fields, "id") or ""
            profile = map_in(fields, "profile")
            users[id_] = _name(profile) or _name(fields) or id_
            if fields.get("is_bot") is True:
                bots.add(id_)
    channels: dict[str, tuple[str, str]] = {}
    names: dict[str, str] = {}
    for place, item in _listed(export, root, CHANNEL_FILES):
        with aside.at(place):
            fields = as_map(item, "a channel")
            id_ = string_in(fields, "id") or ""
            name = string_in(fields, "name")
            members = as_list(fields.get("members"), "members")
            direct = name is None or name.startswith("mpdm-")
            people = ", ".join(users.get(str(member), str(member)) for member in members)
            channels[name or id_] = id_, whole(people if direct and people else name or id_)
            names[id_] = name or id_
    return Directory(users=users, bots=frozenset(bots), channels=channels, channel_names=names)


def _listed(export: Export, root: str, files: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the entries of lists of users or channels, with their places."""
    for name in files:
        if root + name in export.names:
            yield from items_of(export, root + name, "entry")


def _name(profile: Mapping[str, Any]) -> str | None:
    """Return the name by which people know somebody."""
    names = (string_in(profile, key) for key in ("display_name", "real_name", "name"))
    return next(filter(None, names), None)
