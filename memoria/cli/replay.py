"""Run the exploration of a recall again: ``replay``."""

from __future__ import annotations

from memoria._support.wording import number_of
from memoria.cli.common import Json, Settings, one_line, pairs_of, print_facts
from memoria.cli.learn import TraceFile
from memoria.cli.mapping import MappedConnection
from memoria.cli.pack import read_document
from memoria.cli.render import path_line
from memoria.recall.replay import Replay, plain_replay
from memoria.recall.replay import replay as run_again
from memoria.serialize import trace_from


def replay(
    trace: TraceFile,
    changes: Settings = None,
    *,
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Repeat the exploration of a recall, and show how the paths differ.

    With the same settings and graph, no path differs. Each path that differs is one line: - was
    found then, + is found now, ~ was found both times, but with other values. --json prints one
    document: identical, changes, explorations, memories.

    Examples
    --------
    memoria recall "Why is the oven cold?" --json --full > trace.json
    memoria replay trace.json
    memoria replay trace.json --set strategy=lif --set strategy.max_hops=2
    """
    found = read_document(trace, trace_from)
    wanted = pairs_of(changes, "--set")
    again = connection.run(lambda store: run_again(store, found, wanted))
    print_facts(plain_replay(again), as_json, _text(again))


def _text(again: Replay) -> str:
    """Return the differences, one line for each path."""
    paths = sum(len(found.paths) for found in again.explorations)
    if again.identical:
        return f"identical: {number_of(paths, 'path')}"
    lines = [f"{number_of(len(again.changes), 'path differs', 'paths differ')}; now {paths}"]
    for change in again.changes:
        if change.after is None and change.before is not None:
            lines.append(f"- {path_line(change.before).plain}")
        elif change.after is not None and change.before is None:
            lines.append(f"+ {path_line(change.after).plain}")
        elif change.after is not None and change.before is not None:
            then = f"{change.before.energy:.4f}, {one_line(change.before.end_reason)}"
            lines.append(f"~ {path_line(change.after).plain}; then {then}")
    return "\n".join(lines)
