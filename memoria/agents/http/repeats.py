"""Requests that are sent again with the same idempotency key: done once, answered alike.

In: keys of clients, and what to do. Out: answers. Touches nothing; a restart forgets all keys.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass

from starlette.exceptions import HTTPException

#: Answers that are kept, of all clients together.
MOST = 2_000


@dataclass(slots=True)
class _Asked:
    request: bytes
    answer: bytes | None = None


class Repeats:
    """The answers to the last requests with a key; those that failed may be sent again."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._asked: OrderedDict[Hashable, _Asked] = OrderedDict()

    async def once(
        self, key: Hashable, request: bytes, do: Callable[[], Awaitable[bytes]]
    ) -> tuple[bytes, bool]:
        """Return the answer to a request, and whether it was given before.

        Parameters
        ----------
        key
            Whose request it is, and the key of the client.
        request
            What tells the request from another one with the same key.
        do
            Does what is asked.

        Raises
        ------
        HTTPException
            The key belongs to another request, or the first request is still at work.
        """
        before = self._asked.get(key)
        if before is not None:
            if before.request != request:
                raise HTTPException(422, "this Idempotency-Key belongs to another request")
            if before.answer is None:
                raise HTTPException(409, "the first request with this key is still at work")
            return before.answer, True
        asked = self._asked[key] = _Asked(request)
        try:
            asked.answer = await do()
        except BaseException:
            self._asked.pop(key, None)
            raise
        while len(self._asked) > self._most:
            self._asked.popitem(last=False)
        return asked.answer, False
