"""An agent of Google ADK that remembers a user's sessions."""

import asyncio
from collections.abc import AsyncGenerator

from google.adk.agents import Agent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai import types

import memoria
from memoria.integrations.google_adk import MemoriaMemoryService


class Stub(BaseLlm):
    """Put the name of your model in its place. This one shows what it was given."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        for content in llm_request.contents:
            print(f"  {content.role}: {content.parts and content.parts[0].text}")
        yield LlmResponse(content=types.ModelContent("I see."))


async def keep(callback_context: CallbackContext) -> None:
    """Remember what was said, after each turn."""
    await callback_context.add_session_to_memory()


async def main(memory: memoria.GraphRetriever) -> None:
    """Say something in one session, and ask for it in another one."""
    model = Stub(model="stub")
    runner = Runner(
        app_name="bakery",
        agent=Agent(
            name="baker", model=model, tools=[preload_memory_tool], after_agent_callback=keep
        ),
        session_service=InMemorySessionService(),
        memory_service=MemoriaMemoryService(memory),  # each user has a scope: "bakery/ann"
        auto_create_session=True,
    )
    said = {"monday": "My favourite bread is rye.", "tuesday": "Which bread is my favourite?"}
    for session, text in said.items():
        print(session)
        message = types.UserContent(text)
        async for _ in runner.run_async(user_id="ann", session_id=session, new_message=message):
            pass


async def run() -> None:
    """Open the memory."""
    async with memoria.connect(scope="google-adk-example") as opened:
        await main(opened)


if __name__ == "__main__":
    asyncio.run(run())
