"""Give a function the parameters of another one, which type checkers and `inspect` then show.

In: a function that hands its arguments on. Out: the same function. Touches nothing else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def same_parameters(model: Callable[P, object]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Return a decorator for functions that take what ``model`` takes, and return their own.

    >>> @same_parameters(int.from_bytes)
    ... def shown(*args, **options) -> str:
    ...     return hex(int.from_bytes(*args, **options))
    >>> inspect.signature(shown)
    <Signature (bytes, byteorder='big', *, signed=False) -> 'str'>
    """

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        returned = inspect.signature(function).return_annotation
        shown: Any = function
        shown.__signature__ = inspect.signature(model).replace(return_annotation=returned)
        return function

    return decorate
