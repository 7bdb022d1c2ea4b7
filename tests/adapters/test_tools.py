"""`memoria.tools` in the loops of four frameworks, each with a stub in place of the model.

``scripts/test-adapters`` installs the frameworks. Each stub calls ``memory_remember``, then
``memory_recall``, then answers with what came back.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

import memoria
from memoria.agents.tools import Tool

SAID = "The van is at Storgatan 5."
ASKED = "Where is the van?"
CALLS = [("memory_remember", {"text": SAID, "tags": ["van"]}), ("memory_recall", {"query": ASKED})]
NAMES = ["memory_recall", "memory_explain", "memory_open", "memory_remember", "memory_feedback"]


@pytest.fixture
def functions(retriever: memoria.GraphRetriever) -> list[Tool]:
    return memoria.tools(retriever, write=True)


def check_recalled(answer: str, scope: str) -> None:
    """The answer is that of a recall which found what had been remembered."""
    assert f'1 of 1 memory in scope "{scope}"' in answer
    assert SAID in answer


def check_schema(properties: dict[str, Any], required: list[str]) -> None:
    """A framework has read the parameters of ``memory_remember``."""
    assert set(properties) == {
        *("text", "kind", "tags", "because_of", "about"),
        *("supersedes", "from_recall", "created_at"),
    }
    assert required == ["text"]
    assert "self-contained" in properties["text"]["description"]
    assert "UserPreference" in json.dumps(properties["kind"])


async def test_pydantic_ai(functions: list[Tool], scope: str) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.models.test import TestModel

    def stub(messages: list[Any], info: AgentInfo) -> ModelResponse:
        assert [tool.name for tool in info.function_tools] == NAMES
        schema = info.function_tools[3].parameters_json_schema
        check_schema(schema["properties"], schema["required"])
        returned = [p for m in messages for p in m.parts if isinstance(p, ToolReturnPart)]
        if len(returned) < len(CALLS):
            return ModelResponse(parts=[ToolCallPart(*CALLS[len(returned)])])
        return ModelResponse(parts=[TextPart(str(returned[-1].content))])

    agent = pydantic_ai.Agent(FunctionModel(stub), tools=functions)
    check_recalled((await agent.run(ASKED)).output, scope)
    every = pydantic_ai.Agent(TestModel(), tools=functions)  # calls each with made up arguments
    assert set(json.loads((await every.run(ASKED)).output)) == set(NAMES)


async def test_openai_agents(functions: list[Tool], scope: str) -> None:
    agents = pytest.importorskip("agents")
    from agents.models.interface import Model
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    class Scripted(Model):
        async def get_response(self, *given: Any, **options: Any) -> Any:
            named = dict(zip(("system", "input", "settings", "tools"), given, strict=False))
            items, offered = (
                options.get("input", named.get("input")),
                options.get("tools", named.get("tools")),
            )
            assert [tool.name for tool in offered] == NAMES
            # In strict schemas, as of this SDK, every parameter is required.
            check_schema(offered[3].params_json_schema["properties"], ["text"])
            done = [
                item
                for item in (items if isinstance(items, list) else [])
                if item.get("type") == "function_call_output"
            ]
            if len(done) < len(CALLS):
                name, arguments = CALLS[len(done)]
                output: Any = ResponseFunctionToolCall(
                    type="function_call",
                    call_id=str(len(done)),
                    name=name,
                    arguments=json.dumps(arguments),
                )
            else:
                text = ResponseOutputText(
                    type="output_text", text=done[-1]["output"], annotations=[]
                )
                output = ResponseOutputMessage(
                    id="1", type="message", role="assistant", status="completed", content=[text]
                )
            return agents.ModelResponse(output=[output], usage=agents.Usage(), response_id=None)

        async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
            for output in (await self.get_response(*given, **named)).output:
                yield output

    agents.set_tracing_disabled(True)
    agent = agents.Agent(
        name="a", model=Scripted(), tools=[agents.function_tool(each) for each in functions]
    )
    done = await agents.Runner.run(agent, ASKED)
    check_recalled(done.final_output, scope)


async def test_langchain(functions: list[Tool], scope: str) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.tools import StructuredTool

    offered = {
        tool.name: tool
        for tool in (
            StructuredTool.from_function(coroutine=each, parse_docstring=True) for each in functions
        )
    }
    assert list(offered) == NAMES
    schema = offered["memory_remember"].tool_call_schema.model_json_schema()  # type: ignore[union-attr]
    check_schema(schema["properties"], schema["required"])
    calls = [
        AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": name}])
        for name, arguments in CALLS
    ]
    model = GenericFakeChatModel(messages=iter([*calls, AIMessage(content="done")]))
    messages: list[Any] = [HumanMessage(ASKED)]
    while (reply := await model.ainvoke(messages)).tool_calls:  # type: ignore[attr-defined]
        messages.append(reply)
        (call,) = reply.tool_calls  # type: ignore[attr-defined]
        messages.append(await offered[call["name"]].ainvoke(call))
    assert isinstance(messages[-1], ToolMessage)
    check_recalled(str(messages[-1].content), scope)


async def test_google_adk(functions: list[Tool], scope: str) -> None:
    pytest.importorskip("google.adk")
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmRequest, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    class Stub(BaseLlm):
        model: str = "stub"

        async def generate_content_async(
            self,
            llm_request: LlmRequest,
            stream: bool = False,  # noqa: ARG002
        ) -> AsyncIterator[LlmResponse]:
            assert list(llm_request.tools_dict) == NAMES
            parts = [part for each in llm_request.contents for part in each.parts or []]
            done = [p.function_response for p in parts if p.function_response is not None]
            if len(done) < len(CALLS):
                name, arguments = CALLS[len(done)]
                call = types.FunctionCall(name=name, args=arguments)
                part = types.Part(function_call=call)
            else:
                part = types.Part(text=str((done[-1].response or {})["result"]))
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    runner = InMemoryRunner(agent=LlmAgent(name="a", model=Stub(), tools=[*functions]))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    asked = types.Content(role="user", parts=[types.Part(text=ASKED)])
    texts = [
        part.text
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=asked)
        for part in (event.content.parts if event.content else None) or []
        if part.text
    ]
    check_recalled(texts[-1], scope)
    assert re.search(r"<memories \w{8}>", texts[-1])
