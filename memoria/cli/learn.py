"""Learning from use: the commands below ``learn``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from memoria._support.wording import number_of
from memoria.cli.common import Json, Scope, one_line, print_facts
from memoria.cli.connection import Connection
from memoria.cli.pack import read_document
from memoria.learn import LearnConfig, Learner
from memoria.learn.learner import MAX_EVENTS
from memoria.serialize import trace_from
from memoria.store import Store
from memoria.types import ConsolidateReport, LearnReport, LoggedEvent, SuppressionKind, Trace

SHOWN_CHANGES = 20

TraceFile = Annotated[
    str, typer.Argument(help="Output of recall --json --full; - is stdin.", metavar="TRACE")
]
OfScope = Annotated[
    str | None, typer.Option("--scope", help="Which scope to learn in, if the recall read several.")
]
EventId = Annotated[
    str | None, typer.Option("--event", help="Id of the event; the same id again changes nothing.")
]


def reinforce(
    trace: TraceFile,
    used: Annotated[list[str], typer.Option(help="Memory that was used; may be repeated.")],
    event: EventId = None,
    scope: OfScope = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Say which memories of a recall were used: the edges that led to them gain weight.

    The scope of the recall is used. Repeating the command changes nothing.

    Examples
    --------
    memoria recall "Why is the oven cold?" --json --full > trace.json
    memoria learn reinforce trace.json --used evt-062 --used ans-004
    """

    def work(learner: Learner, found: Trace) -> Awaitable[LearnReport]:
        return learner.reinforce(found, used, event_id=event)

    _on_trace(trace, work, connection, scope, as_json)


def feedback(
    trace: TraceFile,
    confirmed: Annotated[
        list[str] | None, typer.Option(help="Memory that proved right; may be repeated.")
    ] = None,
    overridden: Annotated[
        list[str] | None, typer.Option(help="Memory that was contradicted; may be repeated.")
    ] = None,
    event: EventId = None,
    scope: OfScope = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Say which memories of a recall proved right, and which were contradicted.

    Examples
    --------
    memoria learn feedback trace.json --confirmed evt-062 --overridden ans-004
    """

    def work(learner: Learner, found: Trace) -> Awaitable[LearnReport]:
        return learner.feedback(
            found, confirmed=confirmed or (), overridden=overridden or (), event_id=event
        )

    _on_trace(trace, work, connection, scope, as_json)


def co_activate(
    trace: TraceFile,
    event: EventId = None,
    scope: OfScope = None,
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Note which memories were active together: three times in seven days make an edge.

    Examples
    --------
    memoria learn co-activate trace.json
    """

    def work(learner: Learner, found: Trace) -> Awaitable[LearnReport]:
        return learner.co_activate(found, event_id=event)

    _on_trace(trace, work, connection, scope, as_json)


def suppress(
    source: Annotated[str, typer.Argument(help="Memory that suppresses.")],
    target_: Annotated[str, typer.Argument(help="Memory that is suppressed.", metavar="TARGET")],
    kind: Annotated[
        SuppressionKind,
        typer.Option(
            help="conflicts: both stay, and recalls put the newer one first and show the conflict. "
            "The others: SOURCE supersedes TARGET, which recalls leave out."
        ),
    ],
    event: EventId = None,
    scope: Scope = "default",
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Say that a memory suppresses another.

    Examples
    --------
    memoria learn suppress new-plan old-plan --kind deprecated-to --scope alice
    """

    def work(store: Store) -> Awaitable[LearnReport]:
        return Learner(store, scope=scope).suppress(source, target_, kind=kind, event_id=event)

    _say(connection.run(work), scope, as_json)


def override(
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="New memories. Default: all of the scope.", metavar="ID"),
    ] = None,
    event: EventId = None,
    scope: Scope = "default",
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Let memories override memories whose conditions (`when`) are less specific.

    Examples
    --------
    memoria learn override --scope alice
    """

    def work(store: Store) -> Awaitable[LearnReport]:
        return Learner(store, scope=scope).override(ids or None, event_id=event)

    _say(connection.run(work), scope, as_json)


def consolidate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    log_days: Annotated[
        float, typer.Option(help="Days for which events stay in the log, for an undo.")
    ] = LearnConfig().log_days,
    scope: Scope = "default",
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Let learned weights fade; make often used edges permanent, and delete weak edges.

    Run it every night. Weights that a writer gave never fade. Events older than --log-days are
    dropped from the log, and can't be undone any more.

    Examples
    --------
    memoria learn consolidate --scope alice --dry-run
    memoria learn consolidate --scope alice --json
    """
    config = LearnConfig(log_days=log_days)
    report = connection.run(
        lambda store: Learner(store, scope=scope, config=config).consolidate(dry_run=dry_run)
    )
    print_facts(asdict(report), as_json, _consolidated(report, scope))


def log(
    limit: Annotated[
        int, typer.Option(min=1, max=MAX_EVENTS, help="Largest number of events to show.")
    ] = 20,
    scope: Scope = "default",
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Show the latest learning events, the newest first.

    Examples
    --------
    memoria learn log --scope alice
    """
    found = connection.run(lambda store: Learner(store, scope=scope).log(limit=limit))
    facts = {"scope": scope, "events": [_event_as_json(event) for event in found]}
    lines = [line for event in found for line in _event_in_words(event)]
    print_facts(facts, as_json, "\n".join(lines) or f"nothing in the log of {one_line(scope)}")


def undo(
    since: Annotated[str, typer.Option(help="Time, such as 2026-05-02T18:00; UTC without a zone.")],
    scope: Scope = "default",
    *,
    connection: Connection,
    as_json: Json = False,
) -> None:
    """Undo what was learned since a time: weights get their earlier values.

    Values that another program wrote since then stay.

    Examples
    --------
    memoria learn undo --since 2026-05-02T18:00 --scope alice
    """
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as exc:
        raise typer.BadParameter(
            "give a time such as 2026-05-02T18:00", param_hint="--since"
        ) from exc
    report = connection.run(lambda store: Learner(store, scope=scope).undo(moment))
    facts = {**asdict(report), "since": report.since.astimezone(UTC).isoformat()}
    gone = ""
    if report.log_since is not None:
        start = facts["log_since"] = report.log_since.astimezone(UTC).isoformat()
        gone = f"; the log begins at {start}" * (report.since < report.log_since)
    changes = number_of(report.kept, "change")
    kept = f"; {changes} kept, written since" * bool(report.kept)
    line = (
        f"{number_of(report.events, 'event')} undone: "
        f"{number_of(report.restored, 'change')} taken back{kept}{gone}; "
        f"scope {one_line(scope)}"
    )
    print_facts(facts, as_json, line)


def _on_trace(
    name: str,
    work: Callable[[Learner, Trace], Awaitable[LearnReport]],
    connection: Connection,
    scope: str | None,
    as_json: bool,
) -> None:
    """Read a trace, learn from it in its scope, and print the changes."""
    trace = read_document(name, trace_from)
    if scope is None:
        scope = trace.scope
    report = connection.run(lambda store: work(Learner(store, scope=scope), trace))
    _say(report, scope, as_json)


def _say(report: LearnReport, scope: str, as_json: bool) -> None:
    """Print the changes of an event."""
    parts = [
        number_of(number, one, many)
        for number, one, many in (
            (report.memories, "memory counted", "memories counted"),
            (report.edges, "edge strengthened", "edges strengthened"),
            (report.edges_created, "edge made", "edges made"),
            (report.pairs, "pair noted", "pairs noted"),
            (report.suppressions, "suppression made", "suppressions made"),
        )
        if number
    ]
    done = ", ".join(parts) or "nothing to change"
    before = "" if report.applied else " (nothing changed now: this event was applied before)"
    print_facts(asdict(report), as_json, f"{done}{before}; scope {one_line(scope)}")


def _event_as_json(event: LoggedEvent) -> dict[str, Any]:
    undone_at = event.undone_at
    return {
        **asdict(event),
        "at": event.at.isoformat(),
        "undone_at": None if undone_at is None else undone_at.isoformat(),
    }


def _event_in_words(event: LoggedEvent) -> Iterator[str]:
    """Yield a line for an event, and one for each of its first changes."""
    undone = "" if event.undone_at is None else f", undone {event.undone_at:%Y-%m-%d %H:%M}"
    changes = number_of(event.total, "change")
    yield f"{event.at:%Y-%m-%d %H:%M}  {event.kind}: {changes}{undone}"
    for change in event.changes[:SHOWN_CHANGES]:
        if change.target is None:
            yield f"  {one_line(change.source)}  counted"
            continue
        relation = change.relation or "co-activated"
        ends = f"{one_line(change.source)} -{one_line(relation)}-> {one_line(change.target)}"
        if change.before is not None:
            before, after = _apart(change.before, change.after)
            yield f"  {ends}  {before} -> {after}"
        elif change.after is not None:
            yield f"  {ends}  created, {change.after:.4f}"
        else:
            yield f"  {ends}  noted"
    if (more := event.total - SHOWN_CHANGES) > 0:
        yield f"  and {more} more"


def _consolidated(report: ConsolidateReport, scope: str) -> str:
    """Return a consolidation in words: the counts, then the edges that change most."""
    would = "would be " if report.dry_run else ""
    old = number_of(report.events_trimmed, "old event")
    trimmed = f"{old} {would}dropped from the log; " if report.events_trimmed else ""
    lines = [
        f"of {number_of(report.edges, 'learned edge')} {report.decayed} "
        f"{would}weaker, {report.promoted} {would}permanent, {report.pruned} {would}pruned; "
        f"{number_of(report.pairs_forgotten, 'pair')} {would}forgotten; "
        f"{trimmed}scope {one_line(scope)}"
    ]
    most = sorted(
        report.changes, key=lambda one: (-(one.before - (one.after or 0.0)), one.source, one.target)
    )
    for change in most[:SHOWN_CHANGES]:
        before, after = _apart(change.before, change.after)
        kept = " (permanent)" if change.promoted else ""
        ends = f"{one_line(change.source)} -{one_line(change.relation)}-> {one_line(change.target)}"
        lines.append(f"  {ends}  {before} -> {after}{kept}")
    if (more := len(report.changes) - SHOWN_CHANGES) > 0:
        lines.append(f"  and {more} more; --json lists all")
    return "\n".join(lines)


def _apart(before: float, after: float | None) -> tuple[str, str]:
    """Return two weights as text, with enough digits to tell them apart, and at least four.

    >>> _apart(0.9, 0.89999), _apart(0.9, None)
    (('0.90000', '0.89999'), ('0.9000', 'pruned'))
    """
    if after is None:
        return f"{before:.4f}", "pruned"
    for digits in range(4, 17):
        texts = f"{before:.{digits}f}", f"{after:.{digits}f}"
        if texts[0] != texts[1]:
            return texts
    return f"{before:.4f}", f"{after:.4f}"
