"""A LlamaIndex agent whose old messages move into memoria, and come back when they matter."""

import asyncio
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory

import memoria
from memoria.integrations.llama_index import MemoriaMemoryBlock, MemoriaRetriever


def stub(messages: list[ChatMessage], **_: Any) -> ChatMessage:
    """Answer in place of a model, and show what it was given."""
    for message in messages:
        print(f"  {message.role.value}: {str(message.content).strip()}")
    return ChatMessage("I see.", role="assistant")


async def main(memory: memoria.GraphRetriever) -> None:
    """Say more than the short-term memory holds, and ask for the first thing that was said."""
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=stub))  # put yours here
    history = Memory.from_defaults(
        session_id="monday",
        token_limit=40,  # small, so that messages leave it soon
        token_flush_size=10,
        memory_blocks=[MemoriaMemoryBlock(retriever=memory, budget_tokens=500)],
    )
    for text in ("My favourite bread is rye.", "I like tea as well.", "The shop closes at six."):
        await history.aput_messages([ChatMessage(text), ChatMessage("I see.", role="assistant")])
    await agent.run("Which bread is my favourite?", memory=history)

    # The same memory as a retriever, for query engines of your own.
    for found in await MemoriaRetriever(memory, k=2).aretrieve("rye bread"):
        print(found.node.get_content(), found.metadata["_depth"])


async def run() -> None:
    """Open the memory. With ``memoria.sync.connect`` calls without ``await`` work, too."""
    async with memoria.connect(scope="llama-index-example") as opened:
        await main(opened)


if __name__ == "__main__":
    asyncio.run(run())
