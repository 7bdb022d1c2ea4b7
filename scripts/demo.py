"""Load the sample memory into the local Neo4j, and ask it three questions; then talk to it."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.text import Text

import memoria
from memoria._support.progress import progress_bars
from memoria.evaluation.sample import QUESTIONS, SampleQuestion, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j

SCOPE = "sample"
PATHS_SHOWN = 8
BUDGET_TOKENS = 1_000

CHAT = "sample-chat"
CHAT_BEGAN = datetime(2026, 5, 21, 9, 0, tzinfo=UTC)
CHAT_BUDGET_TOKENS = 120
TURNS = (
    (
        "Ebba Lund starts at the counter of Old Mill on Monday. Put her on the rota, please.",
        "Ebba Lund is on the rota: Monday to Thursday, seven to three, with Petter.",
    ),
    (
        "She told me that sesame closes her throat. She carries a pen for it.",
        "Noted. Petter knows now where she keeps the pen.",
    ),
    (
        "We need something new for the midsummer window. Wiktoria offers a tahini knot.",
        "The tahini knot could go on sale on 15 June, with a trial bake the week before.",
    ),
    (
        "Fine. Who can do the trial bake?",
        "Jonas has room on 9 June, after the croissants for the hotel.",
    ),
    (
        "And remind me that the coffee machine at Station is descaled on Friday.",
        "I will, on Thursday evening.",
    ),
)
CHAT_QUESTION = "Is there anything about Ebba Lund that I should keep in mind?"
# A server that has just started plans its first writes slowly, slower still on a busy machine.
PATIENT = memoria.StoreConfig(query_timeout_s=60.0)
# Its first recalls are slow, too, and a demo should show everything that they find.
UNHURRIED = memoria.RetrieverConfig(deadline_s=60.0)

console = Console(highlight=False, soft_wrap=True)


async def main() -> None:
    """Do all of it; the second run finds most of it done."""
    embedder = memoria.OnnxEmbedder()
    with progress_bars() as progress:
        server = await LocalNeo4j().start(progress=progress)
        await embedder.load(progress)
    console.print(f"Neo4j {server.version} runs at {server.uri}")

    auth = LocalNeo4j().auth
    async with memoria.connect(
        server.uri, auth, scope=SCOPE, embedder=embedder, store=PATIENT, config=UNHURRIED
    ) as retriever:
        await memoria.apply_schema(retriever.store, embedder=embedder)
        writer = retriever.writer()
        with progress_bars() as progress:
            report = await ingest_files(writer, [sample_path()], progress=progress)
        console.print(f"{report.written.memories} memories, {report.written.relations} edges")
        for question in QUESTIONS:
            await ask(retriever, question)
        await talk(retriever.for_scope(CHAT))
    console.print("\nThe local Neo4j keeps running. Stop it with: .venv/bin/memoria down")


async def ask(retriever: memoria.GraphRetriever, question: SampleQuestion) -> None:
    """Print the context of one question, then the first paths that lead to it."""
    console.rule()
    console.print(Text(question.text, style="bold"), Text(f"  tags: {', '.join(question.tags)}"))
    recall = await retriever.recall(
        question.text, query_tags=question.tags, budget_tokens=BUDGET_TOKENS
    )
    show_context(recall)
    found = recall.leading
    console.print(f"\n{found}; the first of them:")
    for path in [path for path in found.paths if path.hops][:PATHS_SHOWN]:
        show_path(path)


async def talk(retriever: memoria.GraphRetriever) -> None:
    """Remember a conversation line by line, and recall what was said some lines before."""
    console.rule()
    console.print("A conversation, remembered as it is typed:\n", style="bold")
    await forget(retriever)  # what an interrupted demo left
    chat = retriever.conversations()
    said_at = CHAT_BEGAN
    for asked, answered in TURNS:
        said_at += timedelta(minutes=2)
        messages = [
            memoria.Message(text=asked, created_at=said_at),
            memoria.Message(role="assistant", text=answered, created_at=said_at),
        ]
        started = time.perf_counter()
        done = (await chat.append("today", messages)).written
        took_ms = 1_000 * (time.perf_counter() - started)
        console.print(Text(f"  Marta: {asked}\n  Ada:   {answered}"))
        console.print(
            f"         + {done.memories_created} nodes, {done.relations_created} edges, "
            f"{took_ms:.0f} ms",
            style="dim",
        )
    console.print(Text(f"\n{CHAT_QUESTION}", style="bold"))
    recall = await retriever.recall(CHAT_QUESTION, budget_tokens=CHAT_BUDGET_TOKENS)
    show_context(recall)
    await forget(retriever)


async def forget(retriever: memoria.GraphRetriever) -> None:
    """Forget the conversation, so that the next demo begins anew."""
    await retriever.writer().forget_scope(confirm=CHAT)


def show_context(recall: memoria.Recall) -> None:
    """Print the context of a recall, and how long each stage took."""
    took = ", ".join(f"{stage} {s * 1000:.0f} ms" for stage, s in recall.trace.timings_s.items())
    console.print(Text(f"\nContext ({recall.context.tokens} tokens; {took}):", style="bold"))
    console.print(recall.context.text, markup=False)
    for note in recall.trace.degraded:
        console.print(Text(f"  {note}", style="yellow"))


def show_path(path: memoria.Path) -> None:
    """Print a path with the energy that reached each memory."""
    line = Text(f"  [{path.seed_id}]")
    for hop in path.hops:
        arrow = f" -{hop.relation}-> " if hop.direction == "out" else f" <-{hop.relation}- "
        line.append(arrow, style="dim").append(f"[{hop.target}]")
        line.append(f" {hop.energy_out:.4f}", style="cyan")
    console.print(line)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except memoria.MemoriaError as exc:
        sys.exit(f"memoria: {exc}")
