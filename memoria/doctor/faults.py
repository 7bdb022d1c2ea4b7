"""From counted faults to findings: what each fault is called, how bad it is, what helps.

In: rows of fault, count and examples. Out: one `Finding` per fault, also for those not found.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoria.doctor.report import Finding, Severity
from memoria.doctor.subject import Subject

#: One thing that a query found wrong: its name, how often, and the first few places.
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of fault.

    Attributes
    ----------
    check
        Name of its finding: the theme, then the name that the query gives the fault.
    severity
        How bad it is where it is found.
    what
        The things that have it, in the plural.
    well
        What is said where nothing has it.
    effect
        What it does to them.
    remedy
        What to do, in words.
    fix
        The doctor's query that does it; "" where only a person can.
    done
        What that query did to each thing.
    command
        Makes the command of a fault without such a query, from the subject and the examples as
        the query returned them.
    """

    check: str
    severity: Severity
    what: str
    well: str
    effect: str
    remedy: str
    fix: str = ""
    done: str = ""
    command: Callable[[Subject, Sequence[Any]], str] | None = None


def findings(
    subject: Subject,
    rows: Iterable[Row],
    faults: Iterable[Fault],
    show: Callable[[Subject, Any], str],
) -> list[Finding]:
    """Say of each fault how often it was found; ``show`` prints one example."""
    by_name = {row["fault"]: row for row in rows}
    examined = by_name.get("examined", {"count": 0})["count"]
    return [
        _finding(subject, fault, by_name.get(fault.check.partition(".")[2]), examined, show)
        for fault in faults
    ]


def counted(subject: Subject, count: int, examined: int) -> str:
    """Say how many; only at least so many where not all were looked at."""
    if examined >= subject.limit:
        return f"at least {count:,}, in the first {examined:,}"
    return f"{count:,} of {examined:,}"


def _finding(
    subject: Subject,
    fault: Fault,
    row: Row | None,
    examined: int,
    show: Callable[[Subject, Any], str],
) -> Finding:
    if row is None or not row["count"]:
        partly = f" in the first {examined:,}" if examined >= subject.limit else ""
        return Finding(check=fault.check, severity="ok", message=f"{fault.well}{partly}")
    command = fault.command(subject, row["examples"]) if fault.command else ""
    return Finding(
        check=fault.check,
        severity=fault.severity,
        message=f"{fault.what}: {counted(subject, row['count'], examined)}; {fault.effect}",
        remedy=fault.remedy,
        command=command or subject.fix(fault.check),
        count=row["count"],
        examples=tuple(show(subject, example) for example in row["examples"]),
    )
