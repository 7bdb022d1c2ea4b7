"""A chat that remembers: it recalls before each answer, and remembers each turn after it.

    memoria up
    python examples/chat.py my-chat

Type a line, and read the answer; Ctrl-D ends. The next chat of the same name knows what was said.
If your model sees the last turns anyway, leave their messages out of the recall with
``where=MemoryFilter(exclude_ids=...)``: see "Leave out messages that the model already sees" in
docs/recipes.md.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

import memoria


def model(said: str, context: str) -> str:
    """Stands for your language model."""
    if not said.endswith("?"):
        return "Noted."
    lines = [line for line in context.splitlines() if line.startswith("[")]
    remembered = [line for line in lines if not line.endswith("?")]  # else earlier questions
    return f"I remember: {remembered[0]}" if remembered else "I don't know that yet."


async def chat(scope: str) -> None:
    """Answer each line of standard input."""
    conversation = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    embedder = memoria.OnnxEmbedder()
    async with memoria.connect(scope=scope, embedder=embedder) as memory:
        await memoria.apply_schema(memory.store, embedder=embedder)  # once for a database
        writer = memory.conversations()
        hint = f"Tell it something, or ask; Ctrl-D ends. It remembers in scope {scope!r}."
        print(hint, file=sys.stderr)
        while line := await asyncio.to_thread(sys.stdin.readline):
            if not (said := line.strip()):
                continue
            found = await memory.recall(said, budget_tokens=300)
            answer = model(said, found.context.text)
            print(answer, flush=True)
            turn = [memoria.Message(text=said), memoria.Message(text=answer, role="assistant")]
            await writer.append(conversation, turn)


if __name__ == "__main__":
    asyncio.run(chat(sys.argv[1] if len(sys.argv) > 1 else "chat"))
