"""Where a managed server keeps its files, and the content of its ``neo4j.conf``.

In: a folder, sizes, a port. Out: paths and texts. Reads ``neo4j.conf``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoria._support.settings_check import SettingsCheck
from memoria.errors import ConfigError

NEO4J_VERSION = "2026.08.1"
LTS_VERSION = "5.26.30"

#: The servers whose jars the lock has: the one that memoria starts, and the one of long support,
#: which a throw-away server can have, for tests and comparisons.
NEO4J_VERSIONS = (NEO4J_VERSION, LTS_VERSION)
#: Programs that start a server: since Neo4j 2025, and before.
MAIN_CLASSES = ("org.neo4j.server.Neo4jCommunity", "org.neo4j.server.CommunityEntryPoint")
USER = "neo4j"
HOST = "127.0.0.1"
ARTIFACT = "org.neo4j:neo4j"
COORDINATE = f"{ARTIFACT}:{NEO4J_VERSION}"

#: Settings that are the same on every machine, and in ``docker-compose.yml``.
SERVER_SETTINGS: Mapping[str, str] = {
    "server.http.enabled": "false",
    "dbms.usage_report.enabled": "false",
    "server.fleet_discovery.enabled": "false",
    "dbms.fleet_manager.enabled": "false",
    "server.logs.debug.enabled": "false",
    "db.tx_log.preallocate": "false",
    "db.tx_log.rotation.size": "16m",
    "db.transaction.monitor.check.interval": "100ms",
    # Plans of memoria's queries are the same at any size; by default the server makes them again
    # whenever a count has quadrupled.
    "dbms.cypher.min_replan_interval": "1h",
    "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
}

# Settings that came after Neo4j 5, which ends at once where its configuration has an unknown one.
_NEWER_THAN_5 = frozenset({"server.fleet_discovery.enabled", "dbms.fleet_manager.enabled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Memory of a server.

    Attributes
    ----------
    heap_mb
        Upper limit of the Java heap; MB, >= 256.
    page_cache_mb
        Memory for pages of the database; MB, >= 8.
    """

    heap_mb: int
    page_cache_mb: int

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.whole("heap_mb", 256, sys.maxsize)
        check.whole("page_cache_mb", 8, sys.maxsize)


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths below one server's folder."""

    root: Path

    @classmethod
    def of(cls, home: Path) -> Layout:
        """Return the layout of the local server in memoria's folder."""
        return cls(home / "server")

    @property
    def conf(self) -> Path:
        """Folder of ``neo4j.conf``."""
        return self.root / "conf"

    @property
    def data(self) -> Path:
        """Folder of the databases."""
        return self.root / "data"

    @property
    def log(self) -> Path:
        """The server's own log since its last start."""
        return self.root / "logs" / "neo4j.log"

    @property
    def console(self) -> Path:
        """Output of the Java process, which is short unless Java fails."""
        return self.root / "logs" / "console.log"

    @property
    def password(self) -> Path:
        """File with the password, readable by its owner only."""
        return self.root / "password"

    @property
    def state(self) -> Path:
        """Description of the running server."""
        return self.root / "state.json"

    @property
    def lock(self) -> Path:
        """Lock that is held while a server is started or stopped."""
        return self.root / "start.lock"

    @property
    def arguments(self) -> Path:
        """File with the arguments of the Java process."""
        return self.root / "conf" / "java.args"

    def startup_caches(self) -> list[Path]:
        """Return the files of ``memoria.local.startup_cache``, including unfinished ones."""
        return [*self.root.glob("startup-*")]

    @property
    def imported(self) -> Path:
        """File that is there once an import is complete, until the old database is deleted."""
        return self.root / "imported"

    @property
    def initialised(self) -> Path:
        """File that is there once the server has accepted its password."""
        return self.root / "initialised"


def whole_version(version: str) -> str:
    """Return the full number of a version, or of the beginning of one, such as ``5.26``."""
    for known in NEO4J_VERSIONS if version else ():
        if f"{known}.".startswith(f"{version}."):
            return known
    raise ConfigError(
        f"no local server of version {version!r}: there are {', '.join(NEO4J_VERSIONS)}",
        field="version",
    )


def server_settings(version: str = NEO4J_VERSION) -> Mapping[str, str]:
    """Return those of `SERVER_SETTINGS` that a server of this version knows."""
    old = is_neo4j_5(version)
    return {k: v for k, v in SERVER_SETTINGS.items() if not (old and k in _NEWER_THAN_5)}


def main_class(version: str = NEO4J_VERSION) -> str:
    """Return the program that starts a server of this version."""
    return MAIN_CLASSES[is_neo4j_5(version)]


def is_neo4j_5(version: str) -> bool:
    """Tell whether a version is of the line before the years: 5.26, not 2026.08.1."""
    return version.startswith("5.")


def neo4j_conf(
    port: int, sizes: Sizes, extra: Mapping[str, str], version: str = NEO4J_VERSION
) -> str:
    """Return the text of ``neo4j.conf``; ``extra`` overrides memoria's settings."""
    settings = {
        "dbms.security.auth_enabled": "true",
        "server.default_listen_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.memory.pagecache.size": f"{sizes.page_cache_mb}m",
        **server_settings(version),
        **extra,
    }
    for key, value in settings.items():
        if "\n" in key + value or "=" in key:
            raise ConfigError(f"not a server setting: {key!r}")
    return "".join(f"{key}={value}\n" for key, value in settings.items())


def configured_port(layout: Layout) -> int | None:
    """Return the port of the last start, from ``neo4j.conf``."""
    try:
        for line in (layout.conf / "neo4j.conf").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key == "server.bolt.listen_address":
                return int(value.rpartition(":")[2])
    except (OSError, ValueError):
        pass
    return None


def argument_file(jars: list[Path], sizes: Sizes, more: Sequence[str] = ()) -> str:
    """Return the text of a server's argument file; two of the flags only silence warnings."""
    return "".join(
        f"{line}\n"
        for line in (
            *(quoted(option) for option in more),
            f"-Xmx{sizes.heap_mb}m",
            "-XX:+ExitOnOutOfMemoryError",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dfile.encoding=UTF-8",
            "-cp",
            quoted(os.pathsep.join(str(jar) for jar in jars)),
        )
    )


def quoted(value: str) -> str:
    """Return an argument in the syntax of Java's argument files."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
