"""Import what people have said elsewhere: ``import-chats``."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Annotated

import typer

from memoria._support.nearest import did_you_mean
from memoria._support.progress import progress_bars
from memoria.cli.common import Json, Scope, print_doubt, print_facts
from memoria.cli.connection import Connection
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.tally import DryRun, Tally
from memoria.importers import FORMATS, READERS, detect_format
from memoria.remember import ImportWriter
from memoria.store import Store
from memoria.types import ImportReport

BRANCHED = ("chatgpt", "claude")
AUTO = "auto"


def import_chats(
    format: Annotated[  # noqa: A002  # the name in the help
        str, typer.Argument(help="Program that the export is from; auto detects it.")
    ],
    path: Annotated[Path, typer.Argument(help="The export: a zip, a folder or a file.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    embedder: EmbedderName = None,
    all_branches: Annotated[
        bool,
        typer.Option(
            "--all-branches", help="Also import branches left behind when a question was edited."
        ),
    ] = False,
    bots: Annotated[
        bool, typer.Option("--bots", help="Also import messages of Slack apps, such as alerts.")
    ] = False,
    skip_invalid: Annotated[
        bool,
        typer.Option(
            "--skip-invalid", help="Leave out wrong messages and conversations, and count them."
        ),
    ] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import the contents of an export. Safe to run again; only what is new is added.

    Formats: chatgpt, claude, gemini, slack, whatsapp (exports of these programs); mbox (mailboxes);
    claude-code, codex (their sessions); openai, langchain (lists of messages); messages (JSON
    Lines); memory-server, mem0, letta, langgraph (exports of other memory systems).

    Examples
    --------
    memoria import-chats chatgpt export.zip --scope ada --dry-run
    memoria import-chats claude data.zip --scope ada
    memoria import-chats slack acme-export/ --scope acme --skip-invalid
    memoria import-chats claude-code ~/.claude/projects --scope ada
    """
    name = _format_of(format, path)
    if all_branches and name not in BRANCHED:
        raise typer.BadParameter(f"{name} has no branches", param_hint="--all-branches")
    if bots and name != "slack":
        raise typer.BadParameter(f"{name} has no bots", param_hint="--bots")
    tally = Tally(skip_invalid=skip_invalid, rehearsed=dry_run)
    options = {
        key: True for key, given in (("all_branches", all_branches), ("bots", bots)) if given
    }
    items = READERS[name](
        path, on_invalid=tally.on_invalid, on_left_out=tally.on_left_out, **options
    )
    done = ImportReport()
    with progress_bars() as progress:
        found = tally.counted(items, progress)
        if dry_run:
            deque(found, maxlen=0)
        else:
            choose = embedder_choice(embedder)

            async def write(store: Store) -> ImportReport:
                model = await choose(store)
                writer = ImportWriter(store, scope=scope, embedder=model)
                await writer.ready()  # fail before a model is downloaded
                await load_model(model)
                return await writer.write(found, progress=progress)

            done = connection.run(write)
    tally.show_problems()
    print_doubt(done.certain)
    facts = {"format": name, "dry_run": dry_run, **tally.facts(done)}
    print_facts(facts, as_json, tally.in_words(done, None if dry_run else scope))


def _format_of(name: str, path: Path) -> str:
    """Return the format of an export: the one that is named, or the one that is found."""
    if name not in (AUTO, *FORMATS):
        near = did_you_mean(name, FORMATS) or ";"
        formats = ", ".join((AUTO, *FORMATS))
        raise typer.BadParameter(
            f"{name!r} is not a format{near} the formats are {formats}", param_hint="format"
        )
    return detect_format(path) if name == AUTO else name
