"""The GraphRAG of neo4j-graphrag, answering from memories that energy reached in the graph."""

from typing import Any

from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterfaceV2, LLMResponse

import memoria
import memoria.sync
from memoria.integrations.neo4j_graphrag import MemoriaRetriever


class Stub(LLMInterfaceV2):
    """Put your model here. This one answers with the context that it was given."""

    def invoke(self, input: Any, **_: Any) -> LLMResponse:  # noqa: A002
        prompt = input[-1]["content"]
        return LLMResponse(content=prompt.split("Context:")[1].split("Examples:")[0].strip())

    async def ainvoke(self, input: Any, **_: Any) -> LLMResponse:  # noqa: A002
        return self.invoke(input)


def main(memory: memoria.sync.GraphRetriever) -> None:
    """Ask for the buns: energy finds the dairy, which shares no word with the question."""
    memory.writer().write(
        [
            memoria.Memory(id="e1", kind="Event", text="The last bun was sold at 10:40."),
            memoria.Memory(id="e2", kind="Event", text="There was butter for 310 buns only."),
            memoria.Memory(id="e3", kind="Event", text="The dairy did not come on Friday."),
        ],
        [
            memoria.Relation(source="e1", target="e2", relation="caused_by", weight=0.9),
            memoria.Relation(source="e2", target="e3", relation="caused_by", weight=0.8),
        ],
    )
    rag = GraphRAG(retriever=MemoriaRetriever(memory), llm=Stub(model_name="stub"))
    found = rag.search(
        "When was the last bun sold?", retriever_config={"top_k": 3}, return_context=True
    )
    print(found.answer)
    for item in found.retriever_result.items if found.retriever_result else ():
        print(item.metadata and item.metadata["memoria_path"])


if __name__ == "__main__":
    with memoria.sync.connect(scope="neo4j-graphrag-example") as opened:
        main(opened)
