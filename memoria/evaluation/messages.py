"""Read a dataset: original chats, or a prepared graph.

In: a folder and the name of a split. Out: a `Dataset`, checked. Reads files. Of a question, only
its chat and its time affect which data is written and which may be found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memoria.errors import InvalidInputError
from memoria.evaluation.dataset import Chat, Dataset, Question, folded, scope_of, scopes_prefix
from memoria.evaluation.files import Entry, find_file, read_entries
from memoria.evaluation.prepared import read_prepared
from memoria.remember.config import KINDS
from memoria.remember.ids import message_id
from memoria.types import Conversation, Message


def read_dataset(folder: Path, *, split: str = "dev", raw: bool = False) -> Dataset:
    """Read a folder: its messages if it has a messages file, else its graph.

    Parameters
    ----------
    folder
        A folder with ``messages`` and ``questions``, or ``nodes``, ``edges`` and ``questions``, as
        JSON Lines; see ``docs/evaluation.md``.
    raw
        Whether to read only the utterances of a graph, as messages. A graph without utterances is
        read as it is.

    Raises
    ------
    InvalidInputError
        A file is missing or wrong; the message names file, line and field.
    """
    if folder.is_dir() and (messages := find_file(folder, "messages", split)) is not None:
        return _read_chats(messages, split)
    dataset = read_prepared(folder, split=split)
    return _as_messages(dataset, folder, split) if raw else dataset


def _read_chats(path: Path, split: str) -> Dataset:
    folder = path.parent.resolve()
    asked = find_file(path.parent, "questions", split)
    if asked is None:
        raise InvalidInputError(f"{folder}: questions.jsonl.gz was not found")
    chats = _chats(path)
    prefix = scopes_prefix(folder, [path])
    scopes = {chat: scope_of(prefix, chat) for chat in chats}
    left_out: Counter[str] = Counter()
    questions, unanswerable = _questions(asked, chats, scopes, left_out)
    return Dataset(
        name=folder.name or str(folder),
        split=split,
        memories=dict.fromkeys(scopes.values(), ()),
        relations=dict.fromkeys(scopes.values(), ()),
        questions=questions,
        item_kinds=_kinds(chats.values()),
        vectors={},
        question_vectors={},
        left_out=dict(left_out),
        chats={scopes[chat]: found for chat, found in chats.items()},
        unanswerable=unanswerable,
    )


def _chats(path: Path) -> dict[str, Chat]:
    """Read the chats; the messages of each session become a conversation.

    Without sessions, a whole chat is one conversation.
    """
    said: dict[str, dict[str, list[Message]]] = {}
    seen: set[tuple[str, str | None]] = set()
    for entry in read_entries(path):
        chat = entry.name("chat")
        message = _message(entry, entry.string("text"), entry.string("role"), time="created_at")
        if (chat, message.id) in seen:
            raise entry.fault(f"id {message.id!r} is also that of an earlier message", "id")
        seen.add((chat, message.id))
        conversations = said.setdefault(chat, {})
        conversations.setdefault(entry.optional_name("session") or chat, []).append(message)
    if not said:
        raise InvalidInputError(f"{path}: holds no message")
    return {chat: _chat(conversations) for chat, conversations in said.items()}


def _message(entry: Entry, text: str, role: str, *, time: str) -> Message:
    with entry.placing():
        return Message(
            id=entry.name("id"),
            text=text,
            role=role,  # type: ignore[arg-type]  # checked at birth
            speaker=entry.optional_string("speaker"),
            created_at=entry.time(time),
        )


def _chat(said: Mapping[str, Sequence[Message]]) -> Chat:
    """Build a chat from the messages of each conversation."""
    conversations = tuple(Conversation(id=id_, messages=said[id_]) for id_ in said)
    return Chat(
        conversations=conversations,
        ids={
            message_id(one.source, one.id, message.id): message.id
            for one in conversations
            for message in one.messages
            if message.id is not None  # always true here
        },
    )


def _kinds(chats: Iterable[Chat]) -> tuple[str, ...]:
    said = (message for chat in chats for one in chat.conversations for message in one.messages)
    roles = {message.role for message in said}
    return tuple(sorted(KINDS[role] for role in roles if role in KINDS))


def _questions(
    path: Path, chats: Mapping[str, Chat], scopes: Mapping[str, str], left_out: Counter[str]
) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """Read the questions: those with evidence, and the unanswerable ones."""
    found: dict[str, Question] = {}
    for entry in read_entries(path):
        question, chat = _question(entry, scopes), entry.name("chat")
        if question.id in found:
            raise entry.fault(f"id {question.id!r} is also the id of an earlier question", "id")
        known = set(chats[chat].ids.values())
        for id_ in question.gold:
            if id_ not in known:
                raise entry.fault(f"evidence: chat {chat!r} has no message {id_!r}", "evidence")
        if not question.gold and entry.fields.get("answerable"):
            left_out["answerable question without evidence"] += 1
            continue
        found[question.id] = question
    answerable = tuple(one for one in found.values() if one.gold)
    if not answerable:
        raise InvalidInputError(f"{path}: no question with evidence was found to ask")
    unanswerable = tuple(one for one in found.values() if not one.gold)
    if unanswerable:
        left_out["question without an answer, for the calibration only"] = len(unanswerable)
    return answerable, unanswerable


def _question(entry: Entry, scopes: Mapping[str, str]) -> Question:
    chat = entry.name("chat")
    if chat not in scopes:
        raise entry.fault(f"chat must be one that messages have, got {chat!r}", "chat")
    answerable = entry.fields.get("answerable")
    if not isinstance(answerable, bool | None):
        raise entry.fault("answerable must be true or false", "answerable")
    return Question(
        id=entry.name("id"),
        text=entry.string("question"),
        gold=() if answerable is False else folded(entry.strings("evidence")),
        category=entry.optional_string("category"),
        scope=scopes[chat],
        asked_at=entry.time("asked_at"),
    )


def _as_messages(dataset: Dataset, folder: Path, split: str) -> Dataset:
    """Replace a graph by its utterances as messages, if all its texts are utterances.

    A conversation is not split into sessions, because a host would not know them either.
    """
    path = find_file(folder, "nodes", split)
    texts = [entry for entry in read_entries(path) if entry.optional_string("text")] if path else []
    if not all(one.conversation and one.optional_string("speaker") for one in texts):
        return dataset
    scopes = {m.id: _raw(scope) for scope, found in dataset.memories.items() for m in found}
    said: dict[str, dict[str, list[Message]]] = {_raw(scope): {} for scope in dataset.memories}
    for entry in texts:
        text = entry.string("text").removeprefix(f"{entry.string('speaker')}: ")
        message = _message(entry, text, "other", time="time")
        conversations = said[scopes[entry.string("id")]]
        conversations.setdefault(entry.conversation or "", []).append(message)
    chats = {scope: _chat(conversations) for scope, conversations in said.items()}
    return replace(
        dataset,
        memories=dict.fromkeys(chats, ()),
        relations=dict.fromkeys(chats, ()),
        questions=tuple(replace(one, scope=_raw(one.scope)) for one in dataset.questions),
        item_kinds=_kinds(chats.values()),
        vectors={},
        question_vectors={},
        chats=chats,
    )


def _raw(scope: str) -> str:
    return f"{scope}/raw"
