"""A LangGraph graph with a store whose items are memories, one scope for each user."""

from dataclasses import dataclass
from typing import Any

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

import memoria.sync
from memoria.integrations.langgraph import MemoriaStore


@dataclass
class User:
    """Who talks to the graph; your program says it, never the model."""

    id: str


def stub(state: MessagesState, runtime: Runtime[User]) -> dict[str, Any]:
    """Search, answer and remember: put a call of your model here."""
    store, notes = runtime.store, ("users", runtime.context.id)
    assert store is not None
    text = state["messages"][-1].text
    found = store.search(notes, query=text, limit=3)
    store.put(notes, f"note-{len(text)}", {"text": text})
    return {"messages": [("ai", " / ".join(str(item.value["text"]) for item in found) or "-")]}


def main(memory: memoria.sync.GraphRetriever) -> None:
    """Let two users say something, and ask for it."""
    # The scope of a user is that of `memory`, and the first two parts of the namespace.
    store = MemoriaStore(memory, scope_parts=2, fields=["text"])
    graph = StateGraph(MessagesState, context_schema=User).add_node("answer", stub)
    compiled = graph.add_edge(START, "answer").compile(store=store)
    for user, text in [
        ("ann", "My favourite bread is rye."),
        ("bob", "Which bread is my favourite?"),
        ("ann", "Which bread is my favourite?"),
    ]:
        said: Any = {"messages": [("user", text)]}
        result = compiled.invoke(said, context=User(user))
        print(f"{user}: {result['messages'][-1].text}")
    print(store.list_namespaces(prefix=("users", "ann")))


if __name__ == "__main__":
    with memoria.sync.connect(scope="langgraph-example") as opened:
        main(opened)
