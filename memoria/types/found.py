"""Results of the reading calls: memories as they are stored, pages of them, and their neighbours.

Frozen data; touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoria.types.activation import Direction
from memoria.types.memory import MemoryNode


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemories:
    """The memories with given ids.

    Attributes
    ----------
    memories
        The memories that exist, in the order in which their ids were given.
    missing
        The ids that no memory of the scope has, in the same order.
    """

    memories: tuple[MemoryNode, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathProperties:
    """The stored properties of the memories and edges of one path.

    Attributes
    ----------
    nodes
        Properties of each memory of the path, seed first; empty for a memory that is gone.
    edges
        Properties of the edge of each hop; empty for an edge that is gone.
    """

    nodes: tuple[Mapping[str, Any], ...]
    edges: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """One page of a list of memories.

    Attributes
    ----------
    memories
        The memories of the page, in the order of their ids.
    next
        What to give as ``after`` for the next page; None on the last page.
    """

    memories: tuple[MemoryNode, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An edge of a memory, and the memory at its other end.

    Attributes
    ----------
    memory
        The memory at the other end.
    relation
        Relation of the edge; "" if it has none.
    direction
        ``out`` if the edge leads to the other memory, ``in`` if it comes from there.
    weight
        The weight as it counts: 0 to 1; a missing weight counts as 0.01.
    tags
        Tags of the edge.
    uses
        How often learning has counted a use of the edge.
    """

    memory: MemoryNode
    relation: str
    direction: Direction
    weight: float
    tags: Sequence[str] = ()
    uses: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """A memory and its strongest edges.

    Attributes
    ----------
    memory
        The memory; None if the scope has no memory with the id.
    neighbours
        Its edges, the strongest first; ties by id, relation and direction. Parallel edges are
        listed one by one.
    degree
        Number of all its edges, in both directions.
    """

    memory: MemoryNode | None
    neighbours: tuple[Neighbour, ...] = ()
    degree: int = 0
