"""A LangChain agent that remembers from one conversation to the next."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

import memoria.sync
from memoria.integrations.langchain import MemoriaMiddleware, MemoriaRetriever


class Stub(BaseChatModel):
    """Put your model here. This one shows what it was given."""

    @property
    def _llm_type(self) -> str:
        return "stub"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        for message in messages:
            print(f"  {message.type}: {message.text}")
        return ChatResult(generations=[ChatGeneration(message=AIMessage("I see."))])


def main(memory: memoria.sync.GraphRetriever) -> None:
    """Say something in one conversation, and ask for it in another one."""
    agent: Any = create_agent(
        Stub(), middleware=[MemoriaMiddleware(memory)], checkpointer=InMemorySaver()
    )
    said = {"monday": "My favourite bread is rye.", "tuesday": "Which bread is my favourite?"}
    for thread, text in said.items():
        print(thread)
        agent.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})

    # The same memory as a retriever, for chains and tools of your own.
    [document] = MemoriaRetriever(retriever=memory, k=1).invoke("rye bread")
    print(document.page_content, document.metadata["memoria_path"][-1:])


if __name__ == "__main__":
    with memoria.sync.connect(scope="langchain-example") as opened:
        main(opened)
