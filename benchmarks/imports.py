"""Measure how much memory an import of a very large export takes.

    scripts/bench imports
    scripts/bench imports mbox notes --bytes 500000000

Writes an export of each format, of the given size, into a folder of its own, runs ``memoria
import-chats FORMAT PATH --dry-run`` (or ``import-notes``) in a process of its own, and deletes the
export. Prints Markdown: what was read, processor time, and the most memory that the process had.
Needs no server.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import IO, Any

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
MESSAGE_CHARS = 900
TALK_MESSAGES = 40
SESSION_BYTES = 8_000_000
NOTE_CHARS, PICTURE_BYTES = 1_000, 15_000
NOTES = "notes"
_WORDS = "pump well roof fence shed oven gate plot seed rain frost pear kiln Ida Tom".split()  # noqa: SIM905


def said(number: int) -> str:
    """Return a text; no two are alike."""
    rng = random.Random(number)  # noqa: S311  # the same texts each time
    words = rng.choices(_WORDS, k=MESSAGE_CHARS // 5)
    return f"Note {number}: {' '.join(words)}."


def at(number: int) -> datetime:
    """Return when a message is said: a hundred a day."""
    return NOON + timedelta(minutes=14 * number)


def role(number: int) -> str:
    """Return who says it."""
    return ("user", "assistant")[number % 2]


def chatgpt(folder: Path, size: int) -> Path:
    """Write one file, a list of conversations."""

    def talk(first: int) -> dict[str, Any]:
        nodes = {
            f"n{number}": {
                "parent": f"n{number - 1}" if number > first else None,
                "message": {
                    "author": {"role": role(number)},
                    "create_time": at(number).timestamp(),
                    "content": {"content_type": "text", "parts": [said(number)]},
                },
            }
            for number in range(first, first + TALK_MESSAGES)
        }
        return {"id": f"c{first}", "title": f"Talk {first}", "mapping": nodes}

    path = folder / "conversations.json"
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in count(step=TALK_MESSAGES):
            if file.tell() > size:
                break
            file.write("," * (number > 0) + json.dumps(talk(number)))
        file.write("]")
    return path


def claude_code(folder: Path, size: int) -> Path:
    """Write sessions of some megabytes, with results of tools."""

    def line(session: str, number: int) -> str:
        content: Any = said(number)
        if number % 4 == 2:
            content = [{"type": "tool_result", "content": said(number) * 8}]
        fields = {
            "type": role(number),
            "uuid": f"m{number}",
            "sessionId": session,
            "timestamp": at(number).isoformat(),
            "cwd": "/srv/shed",
            "message": {"role": role(number), "content": content},
        }
        return json.dumps(fields) + "\n"

    def write(file: IO[str], session: str, numbers: Iterator[int]) -> int:
        while file.tell() < SESSION_BYTES:
            file.write(line(session, next(numbers)))
        return file.tell()

    project = folder / "projects" / "-srv-shed"
    project.mkdir(parents=True)
    written, numbers = 0, count()
    for session in count():
        with (project / f"s{session}.jsonl").open("w", encoding="utf-8") as file:
            written += write(file, f"s{session}", numbers)
        if written > size:
            break
    return folder / "projects"


def mbox(folder: Path, size: int) -> Path:
    """Write one mailbox: threads of eight mails, every fourth with a picture."""
    path = folder / "all.mbox"
    picture = base64.encodebytes(random.Random(0).randbytes(PICTURE_BYTES)).decode()  # noqa: S311
    attached = (
        "--B\nContent-Type: image/png\nContent-Disposition: attachment; filename=o.png\n"
        f"Content-Transfer-Encoding: base64\n\n{picture}--B--\n"
    )
    with path.open("w", encoding="ascii") as file:
        for number in count():
            if file.tell() > size:
                break
            head = f"From a@x Mon Mar  2 09:00:00 2026\nMessage-ID: <{number}@x>\n"
            if number % 8:
                head += f"In-Reply-To: <{number - 1}@x>\n"
            who = number % 99
            head += f"From: P{who} <p{who}@x.example>\nSubject: Plot {number // 8}\n"
            head += f"Date: {at(number):%a, %d %b %Y %H:%M:%S +0000}\n"
            if number % 4:
                file.write(f"{head}\n{said(number)}\n\n")
            else:
                kind = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n"
                file.write(f"{head}{kind}\n--B\n\n{said(number)}\n{attached}\n")
    return path


def notes(folder: Path, size: int) -> Path:
    """Write a hundred notes a folder, each with tags, a link and a pasted picture."""
    picture = base64.b64encode(random.Random(0).randbytes(PICTURE_BYTES)).decode()  # noqa: S311
    written, top = 0, folder / NOTES
    for number in count():
        place = top / str(number // 100)
        place.mkdir(parents=True, exist_ok=True)
        text = (
            f"---\ntags: [plot]\n---\n# Note {number}\n\n{said(number)[:NOTE_CHARS]}\n\n"
            f"![](data:image/png;base64,{picture})\n\nNext: [[note-{number + 1}]]\n"
        )
        written += (place / f"note-{number}.md").write_text(text, encoding="utf-8")
        if written > size:
            return top
    raise AssertionError  # it counts on


FORMATS: dict[str, Callable[[Path, int], Path]] = {
    "chatgpt": chatgpt,
    "claude-code": claude_code,
    "mbox": mbox,
    NOTES: notes,
}


def rehearse(name: str, path: Path) -> tuple[dict[str, Any], float, int]:
    """Run a dry run; return its counts, its seconds of the processor, and its bytes of memory."""
    line = ["import-notes"] if name == NOTES else ["import-chats", name]
    command = [sys.executable, "-m", "memoria", *line, str(path), "--dry-run", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603
        out = process.stdout.read() if process.stdout else b""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{name}: the dry run ended with {process.returncode}")
    return json.loads(out), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main(arguments: Sequence[str]) -> None:
    """Measure some formats."""
    parser = argparse.ArgumentParser(prog="scripts/bench imports", description=__doc__)
    parser.add_argument("formats", nargs="*", choices=[*FORMATS, []], metavar="FORMAT")
    parser.add_argument("--bytes", type=int, default=2_000_000_000, help="size of an export")
    given = parser.parse_args(arguments)
    print("| format | GB | messages or notes | memories | processor s | memory MB |")
    print("|---|---|---|---|---|---|")
    for name in given.formats or FORMATS:
        with tempfile.TemporaryDirectory(prefix="memoria-imports-") as folder:
            path = FORMATS[name](Path(folder), given.bytes)
            counts, seconds, memory = rehearse(name, path)
            size = sum(each.stat().st_size for each in Path(folder).rglob("*") if each.is_file())
        read = counts["documents"] or counts.get("messages")
        print(
            f"| {name} | {size / 1e9:.2f} | {read:,} | {counts['parts']:,} "
            f"| {seconds:.0f} | {memory / 1e6:.0f} |",
            flush=True,
        )
