"""Who may use a server: tokens, of which only hashes are kept, and what each of them grants.

In: a file of lines ``sha256 scope [ro] [+scope ...]``. Out: `Grant`s by hash.
Reads the file, and adds to it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memoria._support.checks import check_scope, check_scopes
from memoria.errors import ConfigError, InvalidInputError

_HASH = re.compile(r"[0-9a-f]{64}")
_READ_ONLY = "ro"
_ALSO = "+"
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a credential allows.

    Attributes
    ----------
    scope
        The only scope that it can write.
    also_read
        Further scopes that it can read.
    """

    scope: str
    read_only: bool = False
    also_read: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the scopes once."""
        check_scopes((check_scope(self.scope), *self.also_read), "also_read")


def hash_of(token: str) -> str:
    """Return the hash under which a token is kept. A token is random, so it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """Make a token that nobody can guess."""
    return f"memoria-{secrets.token_urlsafe(_TOKEN_BYTES)}"


def line_of(token: str, grant: Grant) -> str:
    """Return the line of a file of tokens; a scope with spaces stands in quotes.

    Raises
    ------
    InvalidInputError
        The scope has several lines, which would make the file unreadable.
    """
    for scope in (grant.scope, *grant.also_read):
        if scope.splitlines() != [scope]:
            raise InvalidInputError("the scope of a token must be one line", field="scope")
    words = [hash_of(token), grant.scope, *([_READ_ONLY] if grant.read_only else [])]
    return shlex.join([*words, *(f"{_ALSO}{scope}" for scope in grant.also_read)])


def add_line(file: Path, line: str) -> None:
    """Add a line to a file of tokens; create the file if needed, readable only by its owner."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "r+", encoding="utf-8") as opened:
            os.fchmod(descriptor, 0o600)  # keep others from reading scope names or adding lines
            before = opened.read()
            end = "" if not before or before.endswith("\n") else "\n"
            opened.write(f"{end}{line}\n")
    except OSError as exc:
        raise ConfigError(f"can't write the file of tokens {file}: {exc.strerror}") from exc
    except ValueError as exc:
        raise ConfigError(f"the file of tokens {file} is not UTF-8 text") from exc


def read_grants(file: Path) -> Mapping[str, Grant]:
    """Read a file of tokens: hash of a token -> what it grants. ``#`` begins a comment.

    Raises
    ------
    ConfigError
        The file can't be read, has no token, or a line is not ``sha256 scope [ro] [+scope ...]``.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as exc:
        raise ConfigError(f"can't read the file of tokens {file}: {exc.strerror}") from exc
    except ValueError as exc:
        raise ConfigError(f"the file of tokens {file} is not UTF-8 text") from exc
    grants: dict[str, Grant] = {}
    for number, line in enumerate(lines, start=1):
        try:
            words = shlex.split(line, comments=True)
            if words:
                grants |= dict([_grant(words)])
        except (ValueError, InvalidInputError) as exc:
            raise ConfigError(
                f"{file}, line {number}: must be sha256 scope [ro] [+scope ...]; "
                "`memoria mcp-token` makes it"
            ) from exc
    if not grants:
        raise ConfigError(f"the file of tokens {file} has no token: `memoria mcp-token` makes one")
    return grants


def _grant(words: list[str]) -> tuple[str, Grant]:
    hashed, scope, *rest = words
    read_only = rest[:1] == [_READ_ONLY]
    also = rest[1:] if read_only else rest
    if not _HASH.fullmatch(hashed) or not all(word.startswith(_ALSO) for word in also):
        raise ValueError
    also_read = tuple(word.removeprefix(_ALSO) for word in also)
    return hashed, Grant(scope=scope, read_only=read_only, also_read=also_read)
