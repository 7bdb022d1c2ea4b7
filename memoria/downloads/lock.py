"""The lock of memoria's jars: which files a server or a model needs, and their checksums.

In: ``jars.json`` next to this module, which ``scripts/lock_jars.py`` writes. Out: frozen objects.
Reads that file only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from memoria.errors import LocalServerError

LOCK_FILE = Path(__file__).with_name("jars.json")

# Every part of a path that is made of a coordinate: no separators, and no name such as "..".
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+-]*(\.[A-Za-z0-9_+-]+)*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedJar:
    """One jar.

    Attributes
    ----------
    coordinate
        ``group:artifact:version`` or ``group:artifact:version:classifier``.
    size
        Length of the file; bytes, > 0.
    sha256
        Checksum of the file; 64 hexadecimal digits.
    """

    coordinate: str
    size: int
    sha256: str

    def __post_init__(self) -> None:
        parts = self.coordinate.split(":")
        if len(parts) not in (3, 4) or not all(_PART.fullmatch(part) for part in parts):
            raise LocalServerError(f"{_DAMAGED}: {self.coordinate!r} is not a coordinate")
        if not isinstance(self.size, int) or self.size <= 0:
            raise LocalServerError(f"{_DAMAGED}: the size of {self.coordinate} is not a number")
        if not _SHA256.fullmatch(self.sha256):
            raise LocalServerError(f"{_DAMAGED}: {self.coordinate} has no checksum")

    @property
    def file_name(self) -> str:
        """Name of the file."""
        _, artifact, *rest = self.coordinate.split(":")
        return "-".join((artifact, *rest)) + ".jar"

    @property
    def path(self) -> PurePosixPath:
        """Place of the file below a Maven cache or repository."""
        group, artifact, version, *_ = self.coordinate.split(":")
        return PurePosixPath(*group.split("."), artifact, version, self.file_name)


_DAMAGED = "the list of jars in memoria's own folder is damaged; install memoria again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """All jars that memoria may use.

    Attributes
    ----------
    sets
        Coordinate of a server or a model -> its jars, its own first.
    """

    sets: Mapping[str, tuple[LockedJar, ...]]

    def jars_of(self, coordinate: str) -> tuple[LockedJar, ...]:
        """Return the jars of a server or a model."""
        if (found := self.sets.get(coordinate)) is not None:
            return found
        name = coordinate.rpartition(":")[0]
        parts = [other.rpartition(":") for other in self.sets]
        if versions := [version for known, _, version in parts if known == name]:
            raise LocalServerError(
                f"this memoria can't check the jars of {coordinate}; of {name} it knows the "
                f"versions {', '.join(sorted(versions))}"
            )
        raise LocalServerError(
            f"this memoria can't check the jars of {coordinate!r}; it knows those of "
            + ", ".join(sorted(self.sets))
        )


def parse_lock(text: str) -> Lock:
    """Read a lock.

    Raises
    ------
    LocalServerError
        The text is not a lock, or a coordinate, size or checksum in it can't be right.
    """
    try:
        content = json.loads(text)
        jars = {
            name: LockedJar(coordinate=name, size=entry["size"], sha256=entry["sha256"])
            for name, entry in content["jars"].items()
        }
        sets = {
            name: tuple(jars[member] for member in members)
            for name, members in content["sets"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise LocalServerError(f"{_DAMAGED} ({type(exc).__name__})") from exc
    return Lock(sets=sets)


@cache
def package_lock() -> Lock:
    """Return the lock of this installation."""
    try:
        text = LOCK_FILE.read_text(encoding="utf-8")
    except OSError as exc:
        raise LocalServerError(f"{_DAMAGED} ({exc})") from exc
    return parse_lock(text)
