"""Print an examination: findings that are not ok, remedies, hubs, and a summary.

In: an `Examination`. Out: text on a console.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from memoria._support.wording import number_of
from memoria.cli.common import one_line
from memoria.cli.render import print_table
from memoria.doctor import SEVERITIES, Bucket, Examination, Finding, Hub, Severity

BAR_CHARS = 40
SHOWN_CHECKS = 3
SHOWN_EXAMPLES = 5
_MARKS: dict[Severity, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "note": ("•", "cyan"),
    "warning": ("!", "yellow"),
    "error": ("✗", "bold red"),
}


def show(found: Examination, console: Console, *, every: bool = False) -> None:
    """Print an examination: findings by theme, remedies, hubs, and a summary.

    Unless ``every`` is set, only findings that are not ok are shown, and one for each cause.
    """
    listed = [each for each in found.findings if every or _is_news(each)]
    for theme, findings in groupby(listed, lambda finding: finding.theme):
        _heading(console, theme)
        _print_rows(console, [_finding_row(each, console.is_terminal) for each in findings])
    remedies = _by_remedy(each for each in found.findings if _is_news(each))
    if remedies:
        _heading(console, "what to do")
        for group in remedies:
            _print_remedy(console, group)
    if every and found.histogram:
        _heading(console, "memories by number of edges")
        _print_rows(console, list(_bars(found.histogram)))
    if found.hubs:
        _heading(console, f"hubs that absorb most energy, in {found.explored} explorations")
        _print_rows(console, list(_hub_rows(found.hubs)))
    if listed:
        console.print()
    console.print(_sum(found, every=every))


def _is_news(finding: Finding) -> bool:
    """Tell whether a finding is not ok, and no other finding explains it."""
    return finding.severity != "ok" and not finding.cause


def _by_remedy(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group the findings that the same command mends."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.remedy:
            groups.setdefault(finding.command or finding.remedy, []).append(finding)
    return list(groups.values())


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _finding_row(finding: Finding, on_terminal: bool) -> tuple[Text, ...]:
    mark, style = _MARKS[finding.severity]
    name = finding.check.removeprefix(f"{finding.theme}.")
    dim = "dim" if finding.severity == "ok" else ""
    return (
        Text(mark if on_terminal else finding.severity, style=style),
        Text(name, style=dim),
        Text(one_line(finding.message), style=dim),
    )


def _print_rows(console: Console, rows: list[tuple[Text, ...]]) -> None:
    """Print rows without a frame; names are never cut, even on a narrow terminal."""
    columns = [Column(overflow="fold") for _ in rows[0]]
    look = Table.grid(*columns, padding=(0, 2, 0, 0))
    print_table(console, look, rows, indent=2)


def _print_remedy(console: Console, group: Sequence[Finding]) -> None:
    """Print the remedy of findings; the command has its own line, so that it can be copied."""
    first = max(group, key=lambda finding: SEVERITIES.index(finding.severity))
    names = ", ".join(finding.check for finding in group[:SHOWN_CHECKS])
    if (more := len(group) - SHOWN_CHECKS) > 0:
        names += f" and {more} more"
    style = _MARKS[first.severity][1]
    lines = [Text.assemble("  ", (names, style), f": {one_line(first.remedy)}")]
    examples = list(dict.fromkeys(name for finding in group for name in finding.examples))
    if examples:
        shown = examples[:SHOWN_EXAMPLES]
        more_there = sum(finding.count for finding in group) > len(shown)
        dots = ", ..." if more_there else ""
        lines.append(Text(f"    such as {one_line(', '.join(shown))}{dots}", "dim"))
    if first.command:
        lines.append(Text(f"    {one_line(first.command)}"))
    for line in lines:
        console.print(line, soft_wrap=True)


def _bars(histogram: Iterable[Bucket]) -> Iterable[tuple[Text, ...]]:
    buckets = list(histogram)
    most = max(bucket.count for bucket in buckets)
    width = len(f"{most:,}")
    for bucket in buckets:
        name = str(bucket.low) if bucket.low == bucket.high else f"{bucket.low} to {bucket.high}"
        # Even a single memory gets a visible bar.
        size = -(-bucket.count * BAR_CHARS // most)
        yield Text(name), Text(f"{bucket.count:>{width},}"), Text("█" * size, style="cyan")


def _hub_rows(hubs: Iterable[Hub]) -> Iterable[tuple[Text, ...]]:
    yield tuple(Text(name, style="dim") for name in ("share", "edges", "lost", "memory", "scope"))
    for hub in hubs:
        yield (
            Text(f"{hub.share:.1%}"),
            Text(f"{hub.degree:,}"),
            Text(f"{hub.lost:.3f}"),
            Text(one_line(hub.id)),
            Text(one_line(hub.scope)),
        )


def _sum(found: Examination, *, every: bool) -> Text:
    """Return the number of findings of each severity, worst first, and of those not shown."""
    counts = Counter(each.severity for each in found.findings if every or not each.cause)
    parts = [
        f"{counts[name]} {name}{'s' if counts[name] > 1 and name != 'ok' else ''}"
        for name in reversed(SEVERITIES)
        if counts[name]
    ]
    text = ", ".join(parts)
    if not every:
        if caused := sum(bool(each.cause) for each in found.findings):
            text += f", {number_of(caused, 'other')} of the same cause"
        text += "; --all shows them all"
    return Text(text, style=_MARKS[found.severity][1])
