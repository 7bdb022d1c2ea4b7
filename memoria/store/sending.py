"""Tell whether the driver can send a value.

In: parameters of a query. Out: whether they can be packed. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

# Deeper values overflow the stack of the server, or that of the driver.
MAX_DEPTH = 64
_INT_BITS = 64


def can_be_sent(value: object, depth: int = 0) -> bool:
    r"""Tell whether the driver can pack a value; what it may pack in other ways counts as such.

    >>> can_be_sent({"p": [1, "a", None]}), can_be_sent({"p": 2**63}), can_be_sent("\ud800")
    (True, False, False)
    """
    match value:
        case None | bool() | float() | bytes() | bytearray():
            return True
        case int():
            return (value if value >= 0 else ~value).bit_length() < _INT_BITS
        case str():
            return _is_unicode(value)
        case list() | tuple():
            return depth < MAX_DEPTH and all(can_be_sent(each, depth + 1) for each in value)
        case Mapping():
            return depth < MAX_DEPTH and all(
                isinstance(key, str) and _is_unicode(key) and can_be_sent(each, depth + 1)
                for key, each in value.items()
            )
        case _:
            return type(value).__module__.partition(".")[0] in ("datetime", "neo4j")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
