"""Where servers of this user listen: a small file for each, so that hooks find them.

In: the place of a server. Out: places. Writes and removes files in memoria's folder.

The file of a server that was killed stays, and any user of the machine may then take its port. So
each file holds a secret that only the user can read, and a server shows that it knows the secret
before a hook sends it anything.
"""

from __future__ import annotations

import hmac
import json
import secrets
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memoria._support.home import default_home
from memoria._support.process_files import while_running

#: Where a server takes the calls of hooks.
HOOK_PATH = "/hook"
#: Where a server proves that its file is its own.
PROOF_PATH = f"{HOOK_PATH}/proof"
#: Bytes of what must not be guessed: the secret of a server.
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens.

    Attributes
    ----------
    host, port
        IP address of this machine, and port.
    secret
        What the server alone knows, and who can read the files of this user.
    """

    host: str
    port: int
    secret: str = field(repr=False)


def new_secret() -> str:
    """Make the secret of a server."""
    return secrets.token_hex(_SECRET_BYTES)


def proof_of(secret: str, nonce: str) -> str:
    """Return what only a server that knows the secret can answer to a text never sent before."""
    return hmac.new(secret.encode(), nonce.encode(), "sha256").hexdigest()


def _folder() -> Path:
    return default_home() / "serving"


def announced(place: Place) -> AbstractContextManager[None]:
    """Say while the block runs that a server listens at a port of this machine.

    A folder that can't be written costs the hooks a second, no more.
    """
    return while_running(_folder() / f"{place.port}.json", asdict(place))


def places() -> list[Place]:
    """Return the places that servers have announced; some may have been killed since."""
    found = []
    for file in sorted(_folder().glob("*.json")):
        try:
            value = json.loads(file.read_text(encoding="utf-8"))
            found.append(Place(str(value["host"]), int(value["port"]), str(value["secret"])))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue
    return found
