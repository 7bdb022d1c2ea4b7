"""LlamaIndex: a retriever in a query engine, and a block in the memory of an agent."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import StaticPool

import memoria
import memoria.sync
from memoria.errors import ClosedError, InvalidInputError
from memoria.integrations._fence import fenced, shortened
from memoria.integrations.llama_index import MemoriaMemoryBlock, MemoriaRetriever
from memoria.recall.context import estimate_tokens
from tests.adapters.conftest import QUESTION, has_vector, no_threads

Both = memoria.sync.GraphRetriever


@pytest.mark.parametrize("k", [1, 3])
def test_k_is_exactly_that_many_nodes(both: Both, k: int) -> None:
    assert len(MemoriaRetriever(both, k=k).retrieve(QUESTION)) == k


@pytest.mark.parametrize("k", [0, 1_001])
def test_k_out_of_range_is_refused(both: Both, k: int) -> None:
    with pytest.raises(InvalidInputError):
        MemoriaRetriever(both, k=k)


def test_a_query_engine_reads_texts_but_neither_scores_nor_vectors(both: Both) -> None:
    engine = RetrieverQueryEngine.from_args(MemoriaRetriever(both, k=5), llm=MockLLM())
    answer = engine.query(QUESTION)
    assert "The probe of the cold room was broken." in str(answer)  # the stub repeats its prompt
    assert "memoria_path" not in str(answer)
    assert "source: diary" in str(answer)  # metadata of the memory's own
    for found in answer.source_nodes:
        metadata = found.node.metadata
        assert metadata["memoria_path"][-1] == metadata["memoria_id"] == found.node.node_id
        assert metadata["_score"] == found.score
        assert not has_vector(json.loads(json.dumps(metadata)))
        assert found.node.embedding is None
        assert "_depth" not in found.node.get_content(MetadataMode.EMBED)


async def test_awaiting_uses_no_thread(awaited: memoria.GraphRetriever, both: Both) -> None:
    for retriever in (awaited, both):
        asked = MemoriaRetriever(retriever, k=2)
        block = MemoriaMemoryBlock(retriever=retriever.for_scope(f"block-{uuid4().hex}"))
        with no_threads():
            assert len(await asked.aretrieve(QUESTION)) == 2
            await block.aput([ChatMessage("Rye is my bread.")], session_id="s1")
            text = await block.aget([ChatMessage("What is my bread?")])
        assert "Rye is my bread." in text


async def test_a_sync_call_of_an_async_retriever_says_what_to_open(
    awaited: memoria.GraphRetriever,
) -> None:
    with pytest.raises(ClosedError, match=r"memoria\.sync\.connect"):
        MemoriaRetriever(awaited).retrieve(QUESTION)


# The framework's own.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
async def test_an_agent_recalls_what_has_left_its_short_term_memory(both: Both) -> None:
    scope = both.for_scope(f"agent-{uuid4().hex}")
    shown: list[list[ChatMessage]] = []

    def answer(messages: list[ChatMessage], **_: Any) -> ChatMessage:
        shown.append(list(messages))
        return ChatMessage("Very well. " * 20, role="assistant")

    # In memory, and closed by this test.
    engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    # Three turns of some 60 tokens each; the history may have 0.7 * 200 of them.
    memory = Memory.from_defaults(
        session_id="monday",
        async_engine=engine,
        token_limit=200,
        token_flush_size=50,
        memory_blocks=[MemoriaMemoryBlock(retriever=scope, budget_tokens=300)],
    )
    llm = MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)
    agent = FunctionAgent(llm=llm)
    for text in ("My favourite bread is rye.", "The weather is fine.", "It may rain.", "Will it?"):
        await agent.run(text, memory=memory)
    await agent.run("Which bread is my favourite?", memory=memory)
    await engine.dispose()
    said = [str(each.content) for each in shown[-1] if each.role == "user"]
    assert "My favourite bread is rye." not in said
    assert said[-1] == "Which bread is my favourite?"
    context = str(shown[-1][0].content)
    assert shown[-1][0].role == "system"
    assert "\n<memories " in context
    assert "My favourite bread is rye." in context
    stored = scope.list().memories
    assert {each.metadata["conversation"] for each in stored} == {"monday"}
    assert ("UserRequest", "My favourite bread is rye.") in [(e.kind, e.text) for e in stored]


async def test_what_tools_and_the_system_say_is_not_remembered(both: Both) -> None:
    scope = both.for_scope(f"block-{uuid4().hex}")
    block = MemoriaMemoryBlock(retriever=scope)
    await block.aput(
        [
            ChatMessage("Obey.", role="system"),
            ChatMessage("Is there rye?", role="user"),
            ChatMessage("none left", role="tool"),
            ChatMessage("There is none.", role="assistant"),
        ]
    )
    assert {each.text for each in scope.list().memories} == {"Is there rye?", "There is none."}
    assert await block.aget([]) == ""
    assert await block.aget([ChatMessage("Hm.", role="assistant")]) == ""


async def test_a_block_is_shortened_by_whole_lines_within_its_fence(both: Both) -> None:
    text = fenced("one\n  two\nthree")
    shorter = shortened(text, 3, estimate_tokens)
    # No line more than needed: by the digits of the fence, the last line has two or three tokens.
    left = (text.replace("three\n", ""), text.replace("  two\nthree\n", ""))
    assert shorter == next(
        each for each in left if estimate_tokens(each) <= estimate_tokens(text) - 3
    )
    block = MemoriaMemoryBlock(retriever=both, priority=1)
    assert await block.atruncate(text, 3) == shorter
    assert await block.atruncate(text, 1_000) is None
