"""Who is let in to the page of `memoria view`, and who no longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from memoria.view.guard import ENTER, TOKEN_HEADER, Guard, Ticket

TOKEN = "the printed one"
HOST = "127.0.0.1:8000"


def client_of(ticket: Ticket | None) -> httpx2.AsyncClient:
    guard = Guard(PlainTextResponse("let in"), token=TOKEN, ticket=ticket, hosts=[HOST])
    transport = httpx2.ASGITransport(app=guard)
    return httpx2.AsyncClient(transport=transport, base_url=f"http://{HOST}")


@pytest.fixture
def ticket() -> Ticket:
    return Ticket()


@pytest.fixture
async def client(ticket: Ticket) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(ticket) as made:
        yield made


async def enter(client: httpx2.AsyncClient, text: str) -> tuple[int, str]:
    """The status, and the token or why there is none."""
    answer = await client.post(ENTER, headers={TOKEN_HEADER: text})
    found = answer.json()
    return answer.status_code, found["token"] if answer.is_success else found["error"]["message"]


async def about(client: httpx2.AsyncClient) -> httpx2.Response:
    return await client.get("/api/about", headers={TOKEN_HEADER: TOKEN})


async def test_a_ticket_is_exchanged_for_the_token(
    client: httpx2.AsyncClient, ticket: Ticket
) -> None:
    assert await enter(client, ticket.text) == (200, TOKEN)
    assert (await about(client)).text == "let in"


async def test_a_ticket_that_comes_again_locks_out_whoever_sent_it_first(
    client: httpx2.AsyncClient, ticket: Ticket
) -> None:
    await enter(client, ticket.text)
    mend = (
        "perhaps by another user of this machine: end memoria view, and start it with --no-browser"
    )
    for _ in range(2):
        assert await enter(client, ticket.text) == (403, f"this address was used before, {mend}")
        refused = await about(client)
        assert refused.status_code == 403
        assert refused.json()["error"]["message"] == f"this page was opened again, {mend}"


async def test_a_wrong_ticket_locks_nobody_out(client: httpx2.AsyncClient, ticket: Ticket) -> None:
    wrong = (403, "the ticket is of another run of memoria view")
    assert await enter(client, Ticket().text) == wrong
    assert await enter(client, ticket.text) == (200, TOKEN)
    assert await enter(client, Ticket().text) == wrong
    assert (await about(client)).text == "let in"


async def test_a_ticket_expires_after_a_minute() -> None:
    began = time.monotonic()
    assert began + 60 <= Ticket().until_s <= time.monotonic() + 60
    late = Ticket(until_s=began)
    async with client_of(late) as client:
        for _ in range(2):
            assert await enter(client, late.text) == (
                403,
                "the ticket has expired: open the address that memoria view printed",
            )
        assert (await about(client)).text == "let in"


async def test_a_used_ticket_locks_out_also_after_it_has_expired() -> None:
    brief = Ticket(until_s=time.monotonic() + 3)  # a busy machine enters in time, too
    async with client_of(brief) as client:
        assert await enter(client, brief.text) == (200, TOKEN)
        await asyncio.sleep(brief.until_s - time.monotonic() + 0.01)
        await enter(client, brief.text)
        assert (await about(client)).status_code == 403


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
async def test_a_ticket_is_exchanged_by_a_post_only(
    client: httpx2.AsyncClient, ticket: Ticket, method: str
) -> None:
    for _ in range(2):
        answer = await client.request(method, ENTER, headers={TOKEN_HEADER: ticket.text})
        assert answer.status_code == 403
    assert await enter(client, ticket.text) == (200, TOKEN)


async def test_without_a_ticket_nothing_is_said_of_one() -> None:
    async with client_of(None) as client:
        wrong = await enter(client, Ticket().text)
        assert wrong == (403, "the token is of another run of memoria view")
        assert (await about(client)).text == "let in"
