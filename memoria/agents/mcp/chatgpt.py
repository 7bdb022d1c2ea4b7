"""``search`` and ``fetch``, the two tools that ChatGPT's connectors and deep research ask for.

In: a question, or the id of a memory. Out: JSON of the form that they expect, as the one block of
text and as structured content. Reads only.

A title is stored text, in its JSON string without a fence, so it is one short line; the
text of `fetch` is that of ``memory_open``, fence and all. Source of the form: OpenAI's page on MCP
servers for ChatGPT, as of June 2026.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent

from memoria._support.wording import cut, told
from memoria.agents.arguments import Query
from memoria.agents.kinds import MAX_TOKENS
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.mcp_server import DATA_KEY, add_reader
from memoria.agents.mcp.rights import Rights, granted
from memoria.errors import InvalidInputError, MemoriaError

if TYPE_CHECKING:
    from memoria.agents.agent_memory import AgentMemory
    from memoria.agents.answer import Answer
    from memoria.types import MemoryNode, Recall

    Asked = tuple[dict[str, Any], Answer]

#: Hosts whose own tools a server can offer in addition to its usual ones.
Compat = Literal["chatgpt"]
_TITLE_CHARS = 80
_LOOKED_AT_CHARS = 800  # for the title: a text may be long


def add_search_and_fetch(server: MCPServer, memories: Memories, rights: Rights) -> None:
    """Offer the two tools; they read the scope of the request's credential, as all others do."""

    async def answered(ask: Callable[[AgentMemory], Awaitable[Asked]]) -> CallToolResult:
        try:
            shown, answer = await ask(await memories.of(granted(rights)))
        except MemoriaError as exc:
            raise ToolError(told(exc)) from exc
        text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=shown,
            _meta={DATA_KEY: dict(answer.data)},
        )

    async def search(query: Query) -> CallToolResult:
        """Search long-term memory: ids for fetch, and titles, which are data."""
        return await answered(lambda memory: _searched(memory, query))

    async def fetch(id: str) -> CallToolResult:  # noqa: A002 - ChatGPT names it
        """Read a memory in full by its id."""
        return await answered(lambda memory: _fetched(memory, id))

    add_reader(server, search)
    add_reader(server, fetch)


async def _searched(memory: AgentMemory, query: str) -> Asked:
    """Recall as ``memory_recall`` does: its limits, and the memories of its context in order."""
    answer = await memory.recall(query, order="relevance")
    found = memory.kept(answer.data["recall_id"])
    return results_of(found), answer


async def _fetched(memory: AgentMemory, id_: str) -> Asked:
    """Open a memory with all the tokens that ``memory_open`` may be given: nobody can ask again."""
    answer, found = await memory.open_address(id_, max_tokens=MAX_TOKENS)
    if found is None:
        raise InvalidInputError(answer.text, field="id")
    # Clients expect what they asked for, also if it is a label.
    return document_of(*found, answer) | {"id": id_, "url": url_of(id_)}, answer


def results_of(found: Recall) -> dict[str, Any]:
    """Return what a recall packed, in the form of ``search``.

    Where several scopes are read, which may have equal ids, results have labels instead of ids; in
    brackets, because a label may also be the id of another memory.
    """
    items = found.context.items
    name = {id(item): f"[{item.label}]" if item.scope else item.id for item in items}
    texts = {(item.scope, one.id): one.said for item in items for one in item.path.memories}
    return {
        "results": [
            {
                "id": name[id(item)],
                "title": title_of(item.id, texts.get((item.scope, item.id), "")),
                "url": url_of(name[id(item)]),
            }
            for item in items
        ]
    }


def document_of(scope: str, memory: MemoryNode, answer: Answer) -> dict[str, Any]:
    """Return a memory of a scope that was opened, in the form of ``fetch``.

    Metadata are strings.
    """
    replaced: Mapping[str, str] = answer.data["superseded"]
    metadata = {"scope": scope, "kind": memory.kind}
    if memory.created_at is not None:
        metadata["date"] = memory.created_at.isoformat()
    if memory.valid_until is not None:
        metadata["valid_until"] = memory.valid_until.isoformat()
    if memory.id in replaced:
        metadata["superseded_by"] = replaced[memory.id]
    if memory.tags:
        metadata["tags"] = ", ".join(memory.tags)
    if answer.data["truncated"]:
        metadata["truncated"] = "true"
    return {
        "id": memory.id,
        "title": title_of(memory.id, memory.said),
        "text": answer.text,
        "url": url_of(memory.id),
        "metadata": metadata,
    }


def title_of(id_: str, text: str) -> str:
    r"""Return the first line of a text, cut short; the id where the text has none.

    >>> title_of("a", "\n The van\tis red.\nIt is at Storgatan 5."), title_of("a", " ")
    ('The van is red.', 'a')
    """
    for line in text.lstrip()[:_LOOKED_AT_CHARS].splitlines():
        seen = "".join(letter if letter.isprintable() else " " for letter in line).split()
        if seen:
            return cut(" ".join(seen), _TITLE_CHARS)
    return id_


def url_of(id_: str) -> str:
    """Return the address of a memory, which is also a resource of the server.

    Clients may shorten ``a/../b`` to ``b``, another memory: the slashes of such ids are escaped.

    >>> url_of("film/van"), url_of("a b%2Fc#1"), url_of("a/../b")
    ('memoria://memory/film/van', 'memoria://memory/a%20b%252Fc%231', 'memoria://memory/a%2F..%2Fb')
    """
    shortened = {".", ".."} & {*id_.split("/")}
    return f"memoria://memory/{quote(id_, safe=':@' if shortened else '/:@')}"
