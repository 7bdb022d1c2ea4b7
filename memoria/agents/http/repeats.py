"""Requests that are sent again with the same idempotency key: done once, answered alike.

In: keys of clients, and what to do. Out: answers. Touches nothing; a restart forgets all keys.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from memoria.types import Message

#: Answers that are kept, of all clients together.
MOST = 2_000


class Repeats:
    """The answers to the last requests with a key; those that failed may be sent again."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._at_work: dict[Hashable, bytes] = {}
        self._done: OrderedDict[Hashable, tuple[bytes, bytes]] = OrderedDict()  # request, answer

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
        done = self._done.get(key)
        first = self._at_work.get(key, request) if done is None else done[0]
        if first != request:
            raise HTTPException(422, "this Idempotency-Key belongs to another request")
        if done is not None:
            return done[1], True
        if key in self._at_work:
            raise HTTPException(409, "the first request with this key is still at work")
        self._at_work[key] = request
        try:
            answer = await do()
        finally:
            del self._at_work[key]
        self._done[key] = (request, answer)
        if len(self._done) > self._most:
            self._done.popitem(last=False)
        return answer, False


def with_ids(messages: Sequence[Message], key: str, request: bytes) -> list[Message]:
    """Give each message without an id one that depends on the key and on the request.

    A request that is sent again after an error, or to a server that was restarted, then has the
    ids of the messages that may be stored already, and they are stored once. Another request that
    has the same key by mistake has other ids.
    """
    asked = hashlib.sha256(key.encode() + b" " + request).hexdigest()[:32]
    return [
        each if each.id is not None else replace(each, id=f"{asked}-{number}")
        for number, each in enumerate(messages, start=1)
    ]
