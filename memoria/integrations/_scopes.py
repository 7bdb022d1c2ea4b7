"""One name made of several, such that no others give the same: scopes, and ids of items.

In: names. Out: a name. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable


def joined(names: Iterable[str]) -> str:
    """Join names with ``/``, which stands as ``%2F`` within a name.

    >>> joined(["shop", "ann"]), joined(["a/b", "c"]), joined(["a", "b/c"]), joined(["50%"])
    ('shop/ann', 'a%2Fb/c', 'a/b%2Fc', '50%25')
    """
    return "/".join(name.replace("%", "%25").replace("/", "%2F") for name in names)


def parted(name: str) -> tuple[str, ...]:
    """Return the names of which `joined` made one.

    >>> parted("a%2Fb/c"), parted("50%25")
    (('a/b', 'c'), ('50%',))
    """
    return tuple(part.replace("%2F", "/").replace("%25", "%") for part in name.split("/"))
