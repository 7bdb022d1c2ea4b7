"""A local Neo4j that memoria downloads and runs by itself: without Docker or root, loopback only.

In: memoria's folder. Out: a server with an address and a password.
Touches: the internet once, files in memoria's folder, processes. Needs the extra ``local``.
"""

from __future__ import annotations

from memoria._support.extras import install_command
from memoria.errors import LocalServerError

try:
    from memoria.local.bulk import ImportFiles
    from memoria.local.ephemeral import EphemeralNeo4j
    from memoria.local.left_behind import LeftBehind, left_behind
    from memoria.local.server import LocalNeo4j
    from memoria.local.settings import NEO4J_VERSION
    from memoria.local.state import ServerInfo
except ImportError as exc:
    raise LocalServerError(
        f"the local server needs more packages ({exc.name} is missing): {install_command('local')}"
    ) from exc

__all__ = [
    "NEO4J_VERSION",
    "EphemeralNeo4j",
    "ImportFiles",
    "LeftBehind",
    "LocalNeo4j",
    "ServerInfo",
    "left_behind",
]
