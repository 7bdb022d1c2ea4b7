"""The chat of the examples remembers, from one run to the next."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from memoria.local import LocalNeo4j

ROOT = Path(__file__).parents[2]
TOLD = (
    "Greta Hansen keeps the key of the lighthouse.",
    "",
    "The ferry leaves at nine.",
    "We need paint for the boat house.",
    "Tom brings the ladder.",
    "What does Greta Hansen keep?",
)


def chat(home: Path, *lines: str, scope: str = "harbour") -> tuple[list[str], str]:
    """Type lines into the chat; return its answers, and what it says besides."""
    done = subprocess.run(
        [sys.executable, "examples/chat.py", scope],
        cwd=ROOT,
        env={**os.environ, "MEMORIA_HOME": str(home), "NO_COLOR": "1"},
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return done.stdout.splitlines(), done.stderr


def test_the_chat_knows_what_was_said_just_now_and_in_the_chat_before(
    home: Path,
) -> None:
    asyncio.run(LocalNeo4j(home).start())
    answers, besides = chat(home, *TOLD)
    assert answers[:4] == ["Noted."] * 4
    assert answers[4].endswith("Greta Hansen keeps the key of the lighthouse.")
    said = "Tell it something, or ask; Ctrl-D ends. It remembers in scope 'harbour'.\n"
    assert said in besides, "apart from the answers, so that a program can read them"
    first, _ = chat(home, "I keep goats.", "What do I keep?", "What do I keep?", scope="goats")
    assert first[0] == "Noted."
    assert all(answer.endswith("I keep goats.") for answer in first[1:])
    [answer], _ = chat(home, "Who brings a ladder?")
    assert answer.endswith("Tom brings the ladder.")
