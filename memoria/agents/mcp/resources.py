"""What a user may attach to a conversation: the state of the scope, a memory, a recall.

In: addresses that begin with ``memoria://``. Out: texts and data. Reads only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.server.mcpserver.resources import ResourceSecurity

from memoria._support.wording import told
from memoria.errors import MemoriaError

if TYPE_CHECKING:
    from memoria.agents.answer import Answer
    from memoria.agents.memory import AgentMemory

    OfMemory = Callable[[], Awaitable[AgentMemory]]

_JSON = "application/json"
#: An id is not a path of a file, though the MCP library would take "../a" or "C:a" for one.
_ANY_ID = ResourceSecurity(exempt_params={"id"})


def add_resources(server: MCPServer, of: OfMemory) -> None:
    """Let clients read what `AgentMemory` answers, by address."""

    async def answered(ask: Callable[[AgentMemory], Awaitable[Answer]]) -> Answer:
        try:
            return await ask(await of())
        except MemoriaError as exc:
            raise ResourceError(told(exc)) from exc

    @server.resource("memoria://status", mime_type=_JSON, description="What the scope holds.")
    async def status() -> Mapping[str, Any]:
        return (await answered(lambda memory: memory.status())).data

    @server.resource(
        "memoria://memory/{+id}",
        description="A memory in full, with its edges.",
        security=_ANY_ID,
    )
    async def memory(id: str) -> str:  # noqa: A002 - as in the address
        return (await answered(lambda reader: reader.open([id]))).text

    @server.resource(
        "memoria://recall/{recall_id}",
        mime_type=_JSON,
        description="What one of the last recalls found, and what it left out.",
    )
    async def recall(recall_id: str) -> Mapping[str, Any]:
        return (await answered(lambda reader: reader.recalled(recall_id))).data
