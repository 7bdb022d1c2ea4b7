"""Turn counted faults into findings: name, severity and remedy of each fault.

In: rows of fault, count and examples. Out: one `Finding` per fault, even if it was not found.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoria.doctor.report import Finding, Severity
from memoria.doctor.subject import Subject

#: A fault that a query found: its name, its count, and the first few examples.
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One kind of fault.

    Attributes
    ----------
    check
        Name of the check: the theme, then the name that the query gives the fault.
    severity
        How bad the fault is.
    what
        The memories or edges with the fault, in the plural.
    well
        Message if nothing has the fault.
    effect
        Effect of the fault on these memories or edges.
    remedy
        What to do about the fault, in words.
    fix
        Name of the query that applies the remedy; "" if only a person can apply it.
    done
        What that query did to each memory or edge.
    command
        Makes the command for a fault without such a query, from the subject and the examples
        that the query returned.
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
    """Return a finding for each fault; ``show`` returns the text of one example."""
    by_name = {row["fault"]: row for row in rows}
    examined = by_name.get("examined", {"count": 0})["count"]
    return [
        _finding(subject, fault, by_name.get(fault.check.partition(".")[2]), examined, show)
        for fault in faults
    ]


def counted(subject: Subject, count: int, examined: int) -> str:
    """Return a count in words: "at least" if the check did not examine everything."""
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
