"""What an examination finds.

In: the facts that the checks gathered. Out: frozen data for a caller to show or to store.
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
    """What one check found.

    Attributes
    ----------
    check
        Theme and name, such as ``edges.bad_weight``.
    severity
        ``ok``; ``note``: worth knowing; ``warning``: results are worse than they could be;
        ``error``: a part of memoria fails, or memories can't be found.
    message
        What was found.
    remedy
        What to do about it, in words; "" for nothing.
    command
        The command for it, or "".
    count
        How many there are, at least; 0 where there is nothing to count.
    examples
        The first few of them.
    cause
        The check whose finding explains this one, which goes away with it; or "".
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
    """What the remedy of one check did.

    Attributes
    ----------
    check
        Name of the check.
    changed
        Memories, edges or indexes that it changed.
    done
        What it did to each of them, or what it did where nothing is counted.
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
    """A memory that takes in more energy than it can ever pass on.

    Attributes
    ----------
    id, scope
        Of the memory.
    degree
        Its RELATES edges, both directions.
    lost
        Energy lost at it in all sampled explorations; no unit.
    share
        Share of all the energy lost in them; 0 to 1.
    explorations
        In how many of them it lost energy.
    """

    id: str
    scope: str
    degree: int
    lost: float
    share: float
    explorations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Everything that one examination found.

    Attributes
    ----------
    scope
        The scope examined; None for all.
    server
        What the server is and has.
    settings
        Name -> value of the server's memory limits, as far as it tells them.
    findings
        One for each check at least, in a fixed order, also where all is well.
    histogram
        Memories by degree, in powers of two: 0, 1, 2 to 3, 4 to 7, and so on.
    hubs
        The hubs that absorbed most energy in the sampled explorations, most first.
    explored
        How many explorations were sampled.
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
