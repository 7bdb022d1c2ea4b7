"""Files made to use up memory or time, and a child process that reads them.

In: a folder. Out: hostile files in it. The child gets pairs of a reader and a path. It reads each
file in a process with limits, and prints a line for each.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from memoria.errors import InvalidInputError, MemoriaError
from memoria.ingest.vault import ABOUT, ABOUT_TEXT, LINKS

#: Limits of a reader: memory in addition to the program itself, and processor time in seconds.
MEMORY_BYTES, PROCESSOR_S = 1_000_000_000, 60
#: Time after which a reader that waits, such as for a pipe, is killed; seconds.
WALL_S = 400
#: First word of the line for a file that the reader handled within its limits.
HELD = "held"
#: Text of a file outside the folder, which must never be read.
OUTSIDE = "the words of a file outside the folder"
_DEEP, _WIDE, _MAIL_LINES = 1_000_000, 31_000_000, 1_500_000
_BOMB_PIECE, _BOMB_PIECES = 10_000_000, 400


def _read_all(read: Callable[..., Iterable[Any]], path: str) -> None:
    """Read everything, skip invalid items, and fail if the text from outside is found."""

    def refused(error: InvalidInputError) -> None:
        assert str(error)

    for each in read(path, on_invalid=refused):
        if any(OUTSIDE in repr(part) for part in getattr(each, "messages", (each,))):
            raise AssertionError("a file outside the folder was read")


def _notes(path: str) -> None:
    from memoria.importers import read_notes

    _read_all(read_notes, path)


def _chats(name: str, path: str) -> None:
    from memoria import importers

    _read_all(getattr(importers, f"read_{name}"), path)


def _detect(path: str) -> None:
    from memoria.importers import detect_format

    detect_format(path)


def _lines(path: str) -> None:
    from memoria.ingest.jsonl import read_lines

    _read_all(lambda name, on_invalid: read_lines([name], on_invalid=on_invalid), path)


def _entries(path: str) -> None:
    from memoria.evaluation.files import read_entries

    for _ in read_entries(Path(path)):
        pass


def _vectors(path: str) -> None:
    from memoria.evaluation.files import read_vectors

    read_vectors(Path(path), count=3, what="memories")


def _weights(path: str) -> None:
    from memoria.recall.ranking.config import RelevanceConfig

    RelevanceConfig.load(path)


def _mapping(path: str) -> None:
    from memoria.graph.mapping.model import load_mapping

    load_mapping(path)


def _document(path: str) -> None:
    from memoria.cli.pack import read_document

    read_document(path, lambda _: None)


_STORES = ("gemini", "mem0", "letta", "langgraph")
_SESSIONS = ("claude_code", "codex")
_CHAT_READERS = (
    *("chatgpt", "claude", "slack", "openai", "langchain", "messages", "memory_server"),
    *(*_STORES, *_SESSIONS, "whatsapp", "mbox"),
)
#: Readers of untrusted files; each imports its own modules, so that a child starts fast.
READERS: Mapping[str, Callable[[str], None]] = {
    "notes": _notes,
    **{name: partial(_chats, name) for name in _CHAT_READERS},
    "detect": _detect,
    "lines": _lines,
    "entries": _entries,
    "vectors": _vectors,
    "weights": _weights,
    "document": _document,
    "mapping": _mapping,
}


@dataclass(frozen=True, slots=True)
class Hostile:
    """A hostile file, or a folder of files.

    Attributes
    ----------
    name
        Its fault, in words.
    readers
        Names of the readers that read it.
    make
        Writes it into an empty folder and returns the path to read.
    """

    name: str
    readers: tuple[str, ...]
    make: Callable[[Path], Path]


def _file(name: str, content: Callable[[], bytes], folder: Path) -> Path:
    path = folder / name
    path.write_bytes(content())
    return path


def _note(content: Callable[[], str], folder: Path) -> Path:
    (folder / "note.md").write_text(content(), "utf-8")
    return folder


def _aliases() -> str:
    """Ten levels of nine aliases: 3,500 million values in 400 bytes."""
    names = "abcdefghij"
    levels = [f"{names[0]}: &{names[0]} [x,x,x,x,x,x,x,x,x]"]
    for above, name in pairwise(names):
        levels.append(f"{name}: &{name} [{','.join([f'*{above}'] * 9)}]")
    return "---\n" + "\n".join(levels) + "\n---\nText.\n"


def _gzip_bomb(piece: bytes) -> bytes:
    """Return four gigabytes, compressed to as many megabytes."""
    return gzip.compress(piece * (_BOMB_PIECE // len(piece))) * _BOMB_PIECES


def _many(line: bytes) -> bytes:
    """Return two million lines, compressed; ``%d`` is their number."""
    return gzip.compress(b"".join(line % number for number in range(2_000_000)), 1)


def _zip(members: int, size: int) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            archive.writestr(f"conversations-{number:03}.json", b" " * size)
    return raw.getvalue()


def _pipe_inside(name: str, folder: Path) -> Path:
    os.mkfifo(folder / name)
    return folder


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def _sparse(folder: Path) -> Path:
    path = folder / "a.json"
    with path.open("wb") as file:
        file.truncate(4_000_000_000)
    return path


def _device(folder: Path) -> Path:
    (folder / "zero").symlink_to("/dev/zero")
    return folder / "zero"


def _exported(name: str, content: Callable[[], bytes], folder: Path) -> Path:
    """Write an export in Markdown with one hostile file; where little is said, 4 GB of zeros."""
    (folder / ABOUT).write_bytes(ABOUT_TEXT + LINKS)
    path = folder / "memories" / name if name != ABOUT else folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content())
    if path.stat().st_size <= len(ABOUT_TEXT):
        os.truncate(path, 4_000_000_000)
    return folder


def _note_of(id_: bytes) -> bytes:
    return b"---\nid: " + id_ + b"\n---\nText." + LINKS


def _link_out(name: str, folder: Path) -> Path:
    outside, inside = folder / "outside", folder / "inside"
    outside.mkdir()
    inside.mkdir()
    said = [{"role": "user", "content": OUTSIDE}] if name.endswith(".json") else OUTSIDE
    (outside / name).write_text(said if isinstance(said, str) else json.dumps(said), "utf-8")
    (inside / name).symlink_to(outside / name)
    (inside / "folder").symlink_to(outside)
    return inside


def _citations() -> bytes:
    """Return a message with citation marks that begin but never end."""
    message = {
        "id": "m",
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["\u30101\u2020" * 300_000]},
    }
    node = {"id": "m", "parent": None, "message": message}
    return json.dumps([{"id": "c", "mapping": {"m": node}, "current_node": "m"}]).encode()


def _mails(head: bytes, body: bytes = b"Text.") -> bytes:
    """Return a mailbox of two mails, of which the first has this head and body."""
    begin = b"From a Thu Jan  1 00:00:00 2026\n"
    return begin + head + b"\n\n" + body + b"\n\n" + begin + b"From: Ida\n\nText.\n"


def _parts_within(depth: int) -> bytes:
    kinds = (
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (at, at) for at in range(depth)
    )
    return b"".join(kinds) + b"\n" * _MAIL_LINES


def _database(statement: str, folder: Path) -> Path:
    path = folder / "history.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(statement)
        database.commit()
    return path


_ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n{limit})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_LONG = "printf('%.*c', 900000000, 'x')"
_HISTORY = (
    "SELECT {id} memory_id, {text} new_memory, 'ADD' event, 0 created_at, 0 updated_at, "
    "0 is_deleted"
)


def _long_line(name: str, head: bytes, folder: Path) -> Path:
    path = _file(name, lambda: head, folder)
    os.truncate(path, 4_000_000_000)
    return path


def _repository(levels: int, commits: int, folder: Path) -> Path:
    """Make a repository whose tree lists ``10 ** levels`` files, added in each of the commits."""

    def git(*arguments: str, given: str = "") -> str:
        command = ("git", "-C", str(folder), *arguments)
        done = subprocess.run(  # noqa: S603  # no shell, and fixed arguments
            command, input=given, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q")
    kind, made = "100644 blob", git("hash-object", "-w", "--stdin")
    for _ in range(levels):
        lines = (f"{kind} {made}\t{number}{'x' * 150}\n" for number in range(10))
        made = git("mktree", given="".join(lines))
        kind = "040000 tree"
    trees = (made, git("mktree"))
    named, last = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n", ""
    for number in range(2 * commits - 1):
        parent = f"parent {last}\n" if last else ""
        commit = f"tree {trees[number % 2]}\n{parent}{named}"
        last = git("hash-object", "-w", "-t", "commit", "--stdin", given=commit)
    git("update-ref", "HEAD", last)
    (folder / "note.md").write_text("Text.", "utf-8")
    return folder


def _array(header: bytes) -> bytes:
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + b"\0" * 64


def _wide_array(folder: Path) -> Path:
    path = _file("a.npy", lambda: _array(_WIDE_ARRAY), folder)
    os.truncate(path, 700_000_000)
    return path


_CHATS = ("chatgpt", "claude", "openai", "langchain", "detect", *_STORES)
_LINES = ("lines", "messages", "memory_server", "entries", *_SESSIONS, "whatsapp")
_DOCUMENTS = ("weights", "document")
_WIDE_ARRAY = b"{'descr': '<f2', 'fortran_order': False, 'shape': (3, 100000000), }"
_HUGE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000, 4096), }"

FILES: tuple[Hostile, ...] = (
    Hostile("YAML: aliases of aliases", ("notes",), partial(_note, _aliases)),
    Hostile(
        "an array that claims 3 petabytes",
        ("vectors",),
        partial(_file, "a.npy", lambda: _array(_HUGE)),
    ),
    Hostile("a pipe in a folder of notes", ("notes",), partial(_pipe_inside, "a.md")),
    Hostile("a pipe in a folder of chats", _CHATS, partial(_pipe_inside, "conversations.json")),
    Hostile(
        "gzip: 4 GB of one line",
        (*_LINES, *_CHATS),
        partial(_file, "a.gz", lambda: _gzip_bomb(b"x")),
    ),
    Hostile("marks that never end", ("chatgpt",), partial(_file, "a.json", _citations)),
    Hostile(
        "JSON: nested a million deep",
        (*_LINES, *_CHATS, *_DOCUMENTS),
        partial(_file, "a.json", lambda: b"[" * _DEEP),
    ),
    Hostile(
        "JSON: a number of a million digits",
        (*_LINES, *_CHATS, *_DOCUMENTS),
        partial(_file, "a.json", lambda: b'{"a": ' + b"7" * _DEEP + b"}"),
    ),
    Hostile(
        "JSON: ten million lists in a line",
        (*_LINES, *_CHATS, *_DOCUMENTS),
        partial(_file, "a.json", lambda: b'{"a": [' + b"[]," * (_WIDE // 3) + b"[]]}"),
    ),
    Hostile("a document of 4 GB", _DOCUMENTS, _sparse),
    Hostile(
        "a zip of one file of 200 MB",
        _CHATS,
        partial(_file, "a.zip", partial(_zip, 1, 200_000_000)),
    ),
    Hostile(
        "a zip of files of which none is large",
        _CHATS,
        partial(_file, "a.zip", partial(_zip, 5, 40_000_000)),
    ),
    Hostile(
        "a pipe as the export", (*_CHAT_READERS[:5], *_CHAT_READERS[7:], "detect", "mapping"), _pipe
    ),
    Hostile("a device that never ends", (*_DOCUMENTS, "vectors", "mapping"), _device),
    *(
        Hostile(f"an export in Markdown: {fault}", ("lines",), partial(_exported, name, content))
        for fault, name, content in (
            ("a note of 4 GB", "a.md", bytes),
            ("its first note is 4 GB", ABOUT, lambda: ABOUT_TEXT),
            ("lists in a note", "a.md", lambda: _note_of(b"[" + b"[]," * (_WIDE // 8) + b"[]]")),
            ("depth in a note", "a.md", lambda: _note_of(b"[" * _DEEP)),
            ("digits in a note", "a.md", lambda: _note_of(b"7" * _DEEP)),
            ("fields in a note", "a.md", lambda: _note_of(b"1" + b"\na:1" * (_WIDE // 9))),
            ("links of a note", "a.md", lambda: LINKS + b"- [[a]] %%{}%%\n" * (_WIDE // 99)),
        )
    ),
    *(
        Hostile(f"TOML: {fault}", ("mapping",), partial(_file, "a.toml", partial(bytes, content)))
        for fault, content in {
            "nested thousands deep": b"a = " + b"[" * 9_000,
            "names of thousands of parts": (b"a" + b".a" * 4_900 + b".b = 1\n") * 20,
            "a number of thousands of digits": b"a = " + b"7" * 9_000,
            "thousands of tables": b"[[nodes]]\n" * 19_000,
        }.items()
    ),
    Hostile("TOML: 4 GB", ("mapping",), _sparse),
    Hostile(
        "a mail: a line of 4 GB",
        ("mbox",),
        partial(_long_line, "a.mbox", b"From a\nFrom: Ida\n\nText"),
    ),
    Hostile(
        "gzip: two million messages of one conversation",
        ("messages",),
        partial(_file, "a.gz", lambda: _many(b'{"conversation": "a", "text": "%d"}\n')),
    ),
    Hostile(
        "gzip: two million messages of one month",
        ("whatsapp",),
        partial(_file, "a.gz", lambda: _many(b"[01/01/26, 10:00:00] A: %d\n")),
    ),
    Hostile(
        "gzip: two million messages of one session",
        ("claude_code",),
        partial(
            _file,
            "a.jsonl.gz",
            lambda: _many(b'{"type": "user", "message": {"role": "user", "content": "%d"}}\n'),
        ),
    ),
    *(
        Hostile(f"a mail: {fault}", ("mbox",), partial(_file, "a.mbox", content))
        for fault, content in {
            "a subject of megabytes": lambda: _mails(b"Subject: " + b"=?utf-8?q?a?= " * 560_000),
            "a type of megabytes": lambda: _mails(b"Content-Type: text/plain" + b";a" * 3_900_000),
            "a sender in many parentheses": lambda: _mails(b"From: " + b"(" * 5_000),
            "parts within parts": lambda: _mails(_parts_within(400)),
            "a million parts": lambda: _mails(
                b"Content-Type: multipart/mixed; boundary=b", b"--b\n\nx\n" * 1_000_000
            ),
            "three million of them": lambda: b"From \n" * 3_000_000,
            "tags without an end": lambda: _mails(b"Content-Type: text/html", b"<a " * 600_000),
        }.items()
    ),
    *(
        Hostile(f"SQLite: {fault}", ("mem0",), partial(_database, statement))
        for fault, statement in {
            "a view without an end": f"CREATE VIEW history AS {_ENDLESS.format(limit='')} "
            f"{_HISTORY.format(id='x', text='x')} FROM n",
            "a view of 900 MB": "CREATE VIEW history AS " + _HISTORY.format(id="'a'", text=_LONG),
            # The column gets long after the insert, which would compute it.
            "a column that is computed": "CREATE TABLE history(memory_id, new_memory GENERATED "  # noqa: S608
            "ALWAYS AS (0), event, created_at, updated_at, is_deleted); "
            "INSERT INTO history(memory_id) VALUES ('a'); PRAGMA writable_schema = ON; "
            f"UPDATE sqlite_schema SET sql = replace(sql, '(0)', {_quoted(f'({_LONG})')})",
            "two million texts of one memory": "CREATE TABLE history AS "
            + _ENDLESS.format(limit=" WHERE x < 2000000")
            + _HISTORY.format(id="'a'", text="'text ' || x")
            + " FROM n",
        }.items()
    ),
    Hostile("notes that are links", ("notes",), partial(_link_out, "a.md")),
    Hostile("chats that are links", ("openai", "detect"), partial(_link_out, "a.json")),
    Hostile(
        "YAML: nested ten thousand deep",
        ("notes",),
        partial(_note, lambda: "---\n" + "- " * 10_000 + "\n---\n"),
    ),
    Hostile(
        "YAML: a number of thousands of digits",
        ("notes",),
        partial(_note, lambda: "---\ntitle: 0x" + "f" * 20_000 + "\n---\n"),
    ),
    *(
        Hostile(f"Markdown: {shape!r} again and again", ("notes",), partial(_note, text))
        for shape, text in {
            shape: partial(str.__mul__, shape, 50_000 // len(shape))
            for shape in ("[", "![](", "[a][", "*a_ ", "> ", "- ", "[[", "![[a", "`", "a\n")
        }.items()
    ),
    *(
        Hostile(f"an array with the header {header[:20]!r}", ("vectors",), make)
        for header, make in {
            header: partial(_file, "a.npy", partial(_array, header))
            for header in (b"(" * 5_000, b"-" * 5_000 + b"1", b"\xff" * 90, _HUGE[:40], b"{}")
        }.items()
    ),
    Hostile("an array with rows of 200 MB", ("vectors",), _wide_array),
    Hostile("git: ten thousand million files", ("notes",), partial(_repository, 10, 1)),
    Hostile("git: a hundred thousand files, twenty times", ("notes",), partial(_repository, 5, 20)),
    Hostile("a zip as an array", ("vectors",), partial(_file, "a.npy", partial(_zip, 1, 1))),
)


def cases() -> list[tuple[Hostile, str]]:
    """Return every hostile file with each of its readers; all files once before any twice."""
    most = max(len(each.readers) for each in FILES)
    return [
        (each, each.readers[turn])
        for turn in range(most)
        for each in FILES
        if turn < len(each.readers)
    ]


def command(reads: Iterable[tuple[str, Path]]) -> list[str]:
    """Return the command of the child that reads these files."""
    pairs = (word for reader, path in reads for word in (reader, str(path)))
    return [sys.executable, "-m", "benchmarks.faults.hostile_files", *pairs]


def _bound() -> None:
    """Limit the memory and time of this process from now on."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    signal.alarm(WALL_S)


def _read(reader: str, path: str) -> None:
    """Read a file within the limits; raise unless it was read, or refused with a typed error."""
    _bound()
    try:
        READERS[reader](path)
        started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        assert started < MEMORY_BYTES, "a program that the reader started takes too much memory"
    except MemoriaError as exc:
        print(f"{HELD}, refused: {exc}"[:200], flush=True)
    else:
        print(f"{HELD}, read", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Read each file in a process of its own; most readers are in one package, imported here."""
    import memoria.importers  # noqa: F401

    for reader, path in zip(arguments[::2], arguments[1::2], strict=True):
        if (child := os.fork()) == 0:
            _read(reader, path)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            print(f"{reader}, {path}: ended with {status}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
