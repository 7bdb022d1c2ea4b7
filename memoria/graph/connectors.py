"""Tell connectors from memories: they join memories, and are neither found, ranked nor packed.

In: memories, paths. Out: which of them are connectors. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoria.graph.vocabulary import CONNECTOR_KINDS
from memoria.types import MemoryNode, Path


def is_connector(memory: MemoryNode) -> bool:
    """Tell whether a node joins memories, and is none itself.

    >>> is_connector(MemoryNode(id="t-1", kind="Topic", text="Lisbon"))
    True
    """
    return memory.kind in CONNECTOR_KINDS


def connectors_on(paths: Iterable[Path]) -> set[str]:
    """Return the ids of the connectors on these paths, as far as the paths have their texts."""
    return {memory.id for path in paths for memory in path.memories if is_connector(memory)}
