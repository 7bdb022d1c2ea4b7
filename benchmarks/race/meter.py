"""What one run cost: time, processor time of both sides, messages, memory.

In: process ids. Out: numbers. Reads ``/proc``; listens to the driver's own protocol log.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

# What ``clock_getcpuclockid`` makes of a process id on Linux.
_SCHEDULER_CLOCK = 2

_SENT = re.compile(r"C: (RUN|BEGIN|COMMIT|RESET|ROUTE)\b")
_NAME = re.compile(r"'query': '([a-z_.]+)'")
_RECORDS = re.compile(r"S: RECORD \* (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds: by the clock, and of processor time on either side."""

    wall_s: float
    client_cpu_s: float
    server_cpu_s: float


class Meter:
    """Measures one run after the other against one server."""

    def __init__(self, server_pid: int) -> None:
        self._server = server_pid

    @contextmanager
    def measure(self) -> Iterator[list[Cost]]:
        """Measure what happens inside; the cost is in the list afterwards."""
        costs: list[Cost] = []
        server = server_cpu_s(self._server)
        client, wall = time.process_time(), time.perf_counter()
        yield costs
        wall_s = time.perf_counter() - wall
        client_s = time.process_time() - client
        server_s = server_cpu_s(self._server) - server
        costs.append(Cost(wall_s=wall_s, client_cpu_s=client_s, server_cpu_s=server_s))


def server_cpu_s(pid: int) -> float:
    """Processor time of a process so far, threads that have ended included; seconds.

    To the nanosecond where the kernel has a clock for each process, else to 10 ms.
    """
    try:
        return time.clock_gettime(~pid << 3 | _SCHEDULER_CLOCK)
    except (AttributeError, OSError):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)


def forget_peak() -> bool:
    """Set the peak of this process's memory back to what it uses now; False where it can't be."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_mb(pid: int | None = None) -> float | None:
    """Peak of a process's memory (this one's by default) since it started or `forget_peak`; MB."""
    return _status_mb(pid, "VmHWM")


def memory_mb(pid: int | None = None) -> float | None:
    """Memory that a process uses now; MB."""
    return _status_mb(pid, "VmRSS")


def _status_mb(pid: int | None, name: str) -> float | None:
    try:
        text = Path(f"/proc/{pid or 'self'}/status").read_text()
    except OSError:
        return None
    match = re.search(rf"{name}:\s+(\d+) kB", text)
    return None if match is None else int(match[1]) / 1024


@dataclass(slots=True)
class Wire:
    """What went over the connections.

    Attributes
    ----------
    sent
        Messages to the server that make it work, in order; ``RUN name`` where the query has one.
    records
        Records received.
    """

    sent: list[str] = field(default_factory=list)
    records: int = 0

    @property
    def queries(self) -> int:
        """Queries among the messages."""
        return sum(message.startswith("RUN") for message in self.sent)


class _Listener(logging.Handler):
    def __init__(self, wire: Wire) -> None:
        super().__init__(logging.DEBUG)
        self._wire = wire

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if match := _SENT.search(text):
            name = _NAME.search(text)
            self._wire.sent.append(f"{match[1]} {name[1]}" if name else match[1])
        elif match := _RECORDS.search(text):
            self._wire.records += int(match[1])


@contextmanager
def wiretap() -> Iterator[Wire]:
    """Count messages and records of every driver in this process; slow: never while timing."""
    wire, log = Wire(), logging.getLogger("neo4j.io")
    listener, level, passing = _Listener(wire), log.level, log.propagate
    log.addHandler(listener)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield wire
    finally:
        log.removeHandler(listener)
        log.setLevel(level)
        log.propagate = passing
