"""A Pydantic-AI agent with memoria's plain functions as its tools."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoria

ASKED = ("memory_recall", {"query": "Which bread does Ann like?"})
SAID = ("memory_remember", {"text": "Ann likes rye bread.", "kind": "UserPreference"})


def stub(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Put the name of your model in its place. This one calls a tool, and repeats what it gave."""
    part = messages[-1].parts[-1]
    if isinstance(part, ToolReturnPart):
        return ModelResponse(parts=[TextPart(str(part.content))])
    asked = isinstance(part, UserPromptPart) and "Which" in str(part.content)
    return ModelResponse(parts=[ToolCallPart(*(ASKED if asked else SAID))])


async def main(memory: memoria.GraphRetriever) -> None:
    """Say something in one run, and ask for it in another one."""
    agent = Agent(FunctionModel(stub), tools=memoria.tools(memory, write=True))
    for text in ("Ann likes rye bread.", "Which bread does Ann like?"):
        print((await agent.run(text)).output)


async def run() -> None:
    """Open the memory."""
    async with memoria.connect(scope="pydantic-ai-example") as opened:
        await main(opened)


if __name__ == "__main__":
    asyncio.run(run())
