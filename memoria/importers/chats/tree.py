"""Conversations that are trees, because a question was edited or an answer made again.

In: the parent of each message. Out: orders of messages. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memoria.types import Message

#: Id of each node -> id of its parent, in the order of their times. A parent may be unknown.
Parents = Mapping[str, str | None]


def line_to(parents: Parents, tip: str | None) -> list[str]:
    """Return the nodes from the root to ``tip``; to the last leaf if it is not a node.

    >>> line_to({"a": None, "b": "a", "c": "a"}, "b"), line_to({"a": None, "b": "a", "c": "a"}, "x")
    (['a', 'b'], ['a', 'c'])
    """
    if tip not in parents:
        inner = set(parents.values())
        tip = next((node for node in reversed(list(parents)) if node not in inner), None)
    found: dict[str, None] = {}
    while tip is not None and tip in parents and tip not in found:
        found[tip] = None
        tip = parents[tip]
    return list(reversed(found))


def all_lines(parents: Parents) -> list[str]:
    """Return all nodes that a root leads to, each branch as a whole, a parent before its children.

    >>> all_lines({"a": None, "b": "a", "c": "a", "d": "b"})
    ['a', 'b', 'd', 'c']
    """
    children: dict[str | None, list[str]] = {}
    for node, parent in parents.items():
        children.setdefault(parent if parent in parents else None, []).append(node)
    found = []
    waiting = children.get(None, [])[::-1]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += children.get(node, [])[::-1]
    return found


def in_order(
    order: Sequence[str], parents: Parents, made: Mapping[str, Sequence[Message]]
) -> list[Message]:
    """Return the messages of some nodes; each says what it answers, unless it is the one before.

    Parameters
    ----------
    made
        The messages of each node that has any; the first answers the nearest node above it that
        has messages, too.
    """
    found: list[Message] = []
    before = None
    for node in order:
        if node not in made:
            continue
        first, *others = made[node]
        above = _nearest(node, parents, made)
        if above is not None and above != before:
            first = replace(first, reply_to=made[above][0].id)
        found += [first, *others]
        before = node
    return found


def _nearest(node: str, parents: Parents, made: Mapping[str, Sequence[Message]]) -> str | None:
    """Return the nearest node above that has messages."""
    seen = {node}
    above = parents[node]
    while above is not None and above in parents and above not in seen:
        if above in made:
            return above
        seen.add(above)
        above = parents[above]
    return None
