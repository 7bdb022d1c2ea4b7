"""Put a prefix before the ids of one scope's memories, where memories of several scopes meet.

In: paths, memories. Out: the same under other ids. Touches nothing.

Two scopes may have equal ids. So where memories of several scopes are ranked, packed or drawn
together, each id has a prefix that tells its scope.
"""

from __future__ import annotations

from dataclasses import replace

from memoria._support.checks import is_id
from memoria.types.memory import MemoryNode
from memoria.types.paths import Hop, Path, Seed

# No id that people or programs choose begins with this character.
_MARK = "\x1f"


def key_prefix(number: int) -> str:
    """Return the prefix for the ids of a scope of a recall, by the scope's number."""
    return f"{_MARK}{number}{_MARK}"


def prefix_of(key: str) -> str:
    r"""Return the prefix that tells the scope; "" for an id without one.

    >>> prefix_of(key_prefix(1) + "evt-1") == key_prefix(1), prefix_of("evt-1")
    (True, '')
    """
    return key[: key.index(_MARK, 1) + 1] if key.startswith(_MARK) and _MARK in key[1:] else ""


def bare_id(key: str) -> str:
    """Return the id as the scope has it.

    >>> bare_id(key_prefix(1) + "evt-1"), bare_id("evt-1")
    ('evt-1', 'evt-1')
    """
    return key.removeprefix(prefix_of(key))


class Renamer:
    """Puts one prefix before ids; each memory and each hop is made only once."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._memories: dict[int, tuple[MemoryNode, MemoryNode]] = {}  # with the old one, so that
        self._hops: dict[int, tuple[Hop, Hop]] = {}  # its number is not given to another object

    def id(self, id_: str) -> str:
        """Return an id with the prefix."""
        return f"{self._prefix}{id_}"

    def memory(self, memory: MemoryNode) -> MemoryNode:
        """Return a memory under its new id."""
        known = self._memories.get(id(memory))
        if known is None:
            known = self._memories[id(memory)] = memory, replace(memory, id=self.id(memory.id))
        return known[1]

    def seed(self, seed: Seed) -> Seed:
        """Return a seed under its new id, unless that is too long for one."""
        name = self.id(seed.id)
        return replace(seed, id=name) if is_id(name) else seed

    def path(self, path: Path) -> Path:
        """Return a path under new ids."""
        return Path(
            seed_id=self.id(path.seed_id),
            hops=tuple(map(self._hop, path.hops)),
            memories=tuple(map(self.memory, path.memories)),
            end_reason=path.end_reason,
            energy=path.energy,
            scope=path.scope,
        )

    def _hop(self, hop: Hop) -> Hop:
        known = self._hops.get(id(hop))
        if known is None:
            new = replace(hop, source=self.id(hop.source), target=self.id(hop.target))
            known = self._hops[id(hop)] = hop, new
        return known[1]
