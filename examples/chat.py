"""A chat that remembers: it recalls before each answer, and remembers each turn after it.

    memoria up
    python examples/chat.py my-chat

Type a line, and read the answer; Ctrl-D ends. The next chat of the same name knows what was said.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

import memoria

MODEL_SEES_TURNS = 3


def model(said: str, context: str) -> str:
    """Stands for your language model, which would also get the last turns."""
    if not said.endswith("?"):
        return "Noted."
    remembered = [line for line in context.splitlines() if line.startswith("[")]
    return f"I remember: {remembered[0]}" if remembered else "I don't know that yet."


async def chat(scope: str) -> None:
    """Answer each line of standard input."""
    conversation = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    embedder = memoria.OnnxEmbedder()
    turns: list[list[memoria.Message]] = []
    async with memoria.connect(scope=scope, embedder=embedder) as memory:
        await memoria.apply_schema(memory.store, embedder=embedder)  # once for a database
        writer = memory.conversations()
        hint = f"Tell it something, or ask; Ctrl-D ends. It remembers in scope {scope!r}."
        print(hint, file=sys.stderr)
        while line := await asyncio.to_thread(sys.stdin.readline):
            if not (said := line.strip()):
                continue
            seen = [f"{conversation}:{m.id}" for turn in turns[-MODEL_SEES_TURNS:] for m in turn]
            unseen = memoria.MemoryFilter(exclude_ids=seen)
            found = await memory.recall(said, where=unseen, budget_tokens=300)
            answer = model(said, found.context.text)
            print(answer, flush=True)
            number = len(turns)
            turns.append(
                [
                    memoria.Message(id=f"{number}-user", text=said),
                    memoria.Message(id=f"{number}-agent", text=answer, role="assistant"),
                ]
            )
            await writer.append(conversation, turns[-1])


if __name__ == "__main__":
    asyncio.run(chat(sys.argv[1] if len(sys.argv) > 1 else "chat"))
