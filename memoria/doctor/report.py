"""The findings of an examination, as frozen data.

In: the facts that the checks gathered. Out: data that a caller can show or store.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memoria.store.facts import ServerFacts

Severity = Literal["ok", "note", "warning", "error"]
#: From harmless to worst.
SEVERITIES: tuple[Severity, ...] = ("ok", "note", "warning", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The finding of one check.

    Attributes
    ----------
    check
        Theme and name, such as ``edges.bad_weight``.
    severity
        ``ok``; ``note``: worth knowing; ``warning``: results are worse than they could be;
        ``error``: a part of memoria fails, or memories can't be found.
    message
        What the check found.
    remedy
        What to do about the finding, in words; "" if there is nothing to do.
    command
        The command that applies the remedy, or "".
    count
        Number of cases, at least; 0 if there is nothing to count.
    examples
        The first few cases.
    cause
        Name of the check whose finding explains this finding, or "". When that finding is mended,
        this finding disappears.
    """

    check: str
    severity: Severity
    message: str
    remedy: str = ""
    command: str = ""
    count: int = 0
    examples: tuple[str, ...] = ()
    cause: str = ""

    @property
    def theme(self) -> str:
        """The part of the check's name before the first dot."""
        return self.check.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What the remedy of one check changed.

    Attributes
    ----------
    check
        Name of the check.
    changed
        Number of memories, edges or indexes that the remedy changed.
    done
        What the remedy did to each of them; if nothing is counted, what it did.
    """

    check: str
    changed: int = 0
    done: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """One bar of the degree histogram: ``count`` memories of ``low`` to ``high`` edges."""

    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A memory that receives more energy than it can ever pass on.

    Attributes
    ----------
    id, scope
        Id and scope of the memory.
    degree
        Number of its RELATES edges, in both directions.
    lost
        Energy lost at this memory in all sampled explorations; no unit.
    share
        Share of all energy lost in these explorations; 0 to 1.
    explorations
        Number of explorations in which the memory lost energy.
    """

    id: str
    scope: str
    degree: int
    lost: float
    share: float
    explorations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """All findings of one examination.

    Attributes
    ----------
    scope
        The examined scope; None for all scopes.
    server
        Facts about the server.
    settings
        Name -> value of the server's memory limits, as far as the server tells them.
    findings
        At least one finding for each check, in a fixed order, even if all is well.
    histogram
        Memories by degree, in powers of two: 0, 1, 2 to 3, 4 to 7, and so on.
    hubs
        The hubs that lost most energy in the sampled explorations, largest loss first.
    explored
        Number of sampled explorations.
    """

    scope: str | None
    server: ServerFacts
    settings: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    histogram: tuple[Bucket, ...] = ()
    hubs: tuple[Hub, ...] = ()
    explored: int = 0

    @property
    def severity(self) -> Severity:
        """The worst severity of all findings."""
        return max((found.severity for found in self.findings), key=SEVERITIES.index, default="ok")
