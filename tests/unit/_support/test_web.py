"""Bodies that are too large, for an application that says of errors what Starlette says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from memoria._support.web import MOST_BODY, bounded

PART = 2**16


async def _size(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{len(await request.body())}")


async def test_a_body_without_a_length_is_counted_and_refused_as_a_problem() -> None:
    app = Starlette(routes=[Route("/", _size, methods=["POST"])])
    bounded(app)

    async def parts(more: bytes) -> AsyncIterator[bytes]:
        for _ in range(MOST_BODY // PART):
            yield bytes(PART)
        yield more

    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://a") as client:
        whole = await client.post("/", content=parts(b""))
        assert (whole.status_code, whole.text) == (200, f"{MOST_BODY}")
        for large in (parts(b"0"), bytes(MOST_BODY + 1)):
            refused = await client.post("/", content=large)
            assert refused.status_code == 413
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.json()["detail"] == "the body has more than 4 MiB"
