"""Documents: what they become in the graph, whatever their order, and what becomes of edits."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import neo4j
import pytest

from memoria.errors import InvalidInputError, UnavailableError
from memoria.remember import DocumentConfig, DocumentWriter
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Document, Memory, Section
from memoria.writer import GraphWriter
from tests.integration.doctor.test_doctor import run_statement

PAN = Document(id="pan", title="Peter Pan (play)", text="A play by J. M. Barrie, of London.")
BARRIE = Document(id="barrie", title="J. M. Barrie", text="He wrote Peter Pan in London.")
TEA = Document(
    id="tea", title="Green tea", text="We drank Green tea while reading Peter Pan's tale."
)


async def edges(store: Store, scope: str, *relations: str) -> set[tuple[str, str, str, float]]:
    """Source, relation, target and weight of the edges of a scope, of these relations or of all."""
    rows = await run_statement(
        store,
        "MATCH (a:Memory {scope: $scope})-[r:RELATES]->(b) "
        "WHERE size($relations) = 0 OR r.relation IN $relations "
        "RETURN a.id AS a, r.relation AS relation, b.id AS b, r.weight AS weight",
        scope=scope,
        relations=list(relations),
    )
    return {(row["a"], row["relation"], row["b"], row["weight"]) for row in rows}


async def memories(store: Store, scope: str) -> dict[str, str]:
    """Id -> text of the documents' memories of a scope."""
    rows = await run_statement(
        store, "MATCH (m:DataSource {scope: $scope}) RETURN m.id AS id, m.text AS text", scope=scope
    )
    return {row["id"]: row["text"] for row in rows}


async def test_a_document_is_a_memory_with_its_topics_and_its_title(
    store: Store, scope: str
) -> None:
    report = await GraphWriter(store, scope=scope).document(PAN)
    assert (report.documents, report.parts, report.names) == (1, 1, 0)
    assert await memories(store, scope) == {
        "pan": "Peter Pan (play)\nA play by J. M. Barrie, of London."
    }
    found = await edges(store, scope)
    assert ("@topic:peter pan", "titled", "pan", 0.95) in found
    assert ("pan", "mentions", "@topic:london", 1.0) in found
    assert ("pan", "mentions", "@topic:peter pan", 1.0) not in found  # it is its title


async def test_texts_are_joined_to_documents_that_they_name_in_any_order(
    store: Store, scope: str
) -> None:
    names = {
        ("barrie", "names", "pan", 0.95),
        ("tea", "names", "pan", 0.95),
        ("pan", "names", "barrie", 0.95),
    }
    graphs = []
    for number, order in enumerate(([PAN, BARRIE, TEA], [TEA, BARRIE, PAN], [BARRIE, PAN, TEA])):
        writer = DocumentWriter(store, scope=f"{scope}/{number}")
        for document in order:
            await writer.write([document])
        graphs.append(await edges(store, f"{scope}/{number}"))
        assert await edges(store, f"{scope}/{number}", "names") == names
    together = DocumentWriter(store, scope=f"{scope}/together")
    await together.write([BARRIE, TEA, PAN])
    assert [await edges(store, f"{scope}/together")] * 3 == graphs


async def test_names_in_code_are_none_whether_their_document_comes_first_or_later(
    store: Store, scope: str
) -> None:
    code = Document(id="code", text="So it is printed:\n```\nSee Peter Pan\n```")
    for number, order in enumerate(([PAN, code], [code, PAN])):
        writer = DocumentWriter(store, scope=f"{scope}/{number}")
        for document in order:
            await writer.write([document])
        assert await edges(store, f"{scope}/{number}", "names") == set()


async def test_a_memory_of_another_kind_that_names_a_title_is_joined_to_it(
    store: Store, scope: str
) -> None:
    writer = GraphWriter(store, scope=scope)
    await writer.write([Memory(id="said", kind="Event", text="I saw Peter Pan, the play.")])
    await writer.document(PAN)
    assert ("said", "names", "pan", 0.95) in await edges(store, scope)


async def test_writing_documents_again_changes_nothing(store: Store, scope: str) -> None:
    writer = DocumentWriter(store, scope=scope)
    await writer.write([PAN, BARRIE, TEA])
    before = await edges(store, scope), await memories(store, scope)
    again = await writer.write([PAN, BARRIE, TEA])
    assert (again.written.memories_created, again.written.relations_created) == (0, 0)
    assert (await edges(store, scope), await memories(store, scope)) == before


async def test_an_edited_document_loses_the_edges_and_parts_that_it_no_longer_has(
    store: Store, scope: str
) -> None:
    writer = DocumentWriter(store, scope=scope, config=DocumentConfig(max_chars=100))
    long = "Bread needs time. " * 4
    sections = [Section(text=long + "Paris.", headings=[name]) for name in ("Flour", "Oven")]
    first = await writer.write([Document(id="bread", title="Bread", sections=sections)])
    assert (first.parts, first.forgotten) == (2, 0)
    assert set(await memories(store, scope)) == {"bread", "bread#Oven"}
    assert ("bread", "next", "bread#Oven", 1.0) in await edges(store, scope)
    second = await writer.write([Document(id="bread", title="Bread", text="Of London.")])
    assert second.forgotten == 1
    assert await memories(store, scope) == {"bread": "Bread\nOf London."}
    assert await edges(store, scope) == {
        ("@topic:bread", "titled", "bread", 0.95),
        ("bread", "mentions", "@topic:london", 1.0),
    }


async def test_topics_that_a_rewritten_document_leaves_alone_are_deleted(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    writer = DocumentWriter(store, scope=scope)
    await writer.write(
        [
            Document(id="oven", title="Oven", text="From Paris to London, by Greta Hansen."),
            Document(id="tea", title="Tea", text="Drunk in London, as in Oslo."),
        ]
    )
    report = await writer.write([Document(id="oven", title="Stove", text="Moved to Oslo.")])
    assert report.connectors == 3  # Paris, Greta Hansen, the old title
    rows, _, _ = await driver.execute_query(
        "MATCH (t:Topic {scope: $scope}) RETURN t.id AS id ORDER BY id", scope=scope
    )
    left = {row["id"] for row in rows}
    assert {"@topic:london", "@topic:oslo", "@topic:stove", "@topic:tea"} <= left
    assert not left & {"@topic:paris", "@topic:greta hansen", "@topic:oven"}


async def test_a_document_with_another_title_is_no_longer_named_by_the_old_one(
    store: Store, scope: str
) -> None:
    writer = DocumentWriter(store, scope=scope)
    await writer.write([PAN, BARRIE, Document(id="hook", title="Hook", text="Like Captain Hook.")])
    await writer.write([Document(id="pan", title="Captain Hook", text="A play.")])
    assert await edges(store, scope, "names") == {
        ("hook", "names", "pan", 0.95),
        ("pan", "names", "hook", 0.95),
    }


async def test_a_part_written_again_keeps_what_was_learned_of_its_edges(
    store: Store, scope: str
) -> None:
    writer = DocumentWriter(store, scope=scope)
    await writer.write([PAN, BARRIE])
    await run_statement(
        store,
        "MATCH (:Memory {scope: $scope, id: 'barrie'})-[r:RELATES {relation: 'names'}]->() "
        "SET r.given_weight = r.weight, r.weight = 1.0, r.uses = 7",
        scope=scope,
    )
    await writer.write([BARRIE])
    assert ("barrie", "names", "pan", 1.0) in await edges(store, scope)


async def test_links_to_documents_that_come_later_or_not_at_all(store: Store, scope: str) -> None:
    writer = DocumentWriter(store, scope=scope)
    one = Document(id="one", source="notes", text="first", links=["two", "three"])
    two = Document(id="two", source="notes", text="second", links=["one", "two"])
    report = await writer.write([one, two])
    assert (report.links, report.missing_links) == (2, 1)
    assert await edges(store, scope) == {
        ("notes/one", "links_to", "notes/two", 1.0),
        ("notes/two", "links_to", "notes/one", 1.0),
    }


async def test_at_most_five_documents_of_one_title_are_named(store: Store, scope: str) -> None:
    writer = DocumentWriter(store, scope=scope)
    same = [Document(id=f"m{n}", title="Mercury", text=f"Number {n}.") for n in range(8)]
    await writer.write(same)
    await writer.write([Document(id="x", text="It is about Mercury.")])
    found = await edges(store, scope, "names")
    assert found == {("x", "names", f"m{n}", 0.95) for n in range(5)}


async def test_two_writers_at_a_time_make_the_graph_of_one(store: Store, scope: str) -> None:
    documents = [
        Document(id=f"d{n}", title=f"Title number{n}", text=f"See Title number{(n + 7) % 20}.")
        for n in range(20)
    ]
    await DocumentWriter(store, scope=f"{scope}/one").write(documents)

    async def write(part: list[Document]) -> None:
        for document in part:
            await DocumentWriter(store, scope=f"{scope}/two").write([document])

    random.Random(3).shuffle(documents)
    await asyncio.gather(write(documents[::2]), write(documents[1::2]))
    one, two = await edges(store, f"{scope}/one"), await edges(store, f"{scope}/two")
    assert len([edge for edge in one if edge[1] == "names"]) == 20
    assert one == two


async def test_a_failure_in_a_batch_writes_nothing_of_it(store: Store, scope: str) -> None:
    writer = DocumentWriter(store, scope=scope)
    bad: Any = "a text that is no document"
    with pytest.raises(InvalidInputError, match="must contain Document"):
        await writer.write([PAN, bad])
    assert await memories(store, scope) == {}


async def test_prune_forgets_the_documents_of_a_source_that_are_gone(
    store: Store, scope: str
) -> None:
    writer = DocumentWriter(store, scope=scope, config=DocumentConfig(max_chars=100))
    long = "A sentence about nothing. " * 8
    await writer.write(
        [Document(id=id_, source="notes", text=long) for id_ in ("a", "b")]
        + [Document(id="c", source="other", text="stays")]
    )
    gone = await writer.prune("notes", ["b"])
    left = await memories(store, scope)
    assert gone == 3
    assert {id_.partition("#")[0] for id_ in left} == {"notes/b", "other/c"}
    with pytest.raises(InvalidInputError, match="source must not be empty"):
        await writer.prune("", [])


RUN_TOGETHER = [
    Document(id="c", source="a/b", text="of a/b"),
    Document(id="b/c", source="a", text="of a"),
    Document(id="a/b/c", text="of nobody"),
]


async def test_documents_of_sources_whose_names_run_together_stay_apart(
    store: Store, scope: str
) -> None:
    writer = DocumentWriter(store, scope=scope)
    await writer.write(RUN_TOGETHER)
    assert await memories(store, scope) == {
        "a%2Fb/c": "of a/b",
        "a/b/c": "of a",
        "a%2Fb%2Fc": "of nobody",
    }
    assert await writer.prune("a", []) == 1
    assert set(await memories(store, scope)) == {"a%2Fb/c", "a%2Fb%2Fc"}
    assert await writer.prune("a/b", ["c"]) == 0


async def test_a_document_that_says_nothing_is_left_out(store: Store, scope: str) -> None:
    report = await DocumentWriter(store, scope=scope).write([Document(id="empty", text="  ")])
    assert (report.documents, report.skipped, report.parts) == (1, 1, 0)


async def test_the_vectors_of_documents_are_made_once(store: Store, scope: str) -> None:
    asked: list[str] = []

    class Counting:
        name, dimensions = "test", 384

        async def embed_documents(self, texts: Any) -> list[list[float]]:
            asked.extend(texts)
            return [[1.0] * 384 for _ in texts]

        async def embed_query(self, text: str) -> list[float]:
            return [float(len(text))] * 384

    writer = DocumentWriter(store, scope=scope, embedder=Counting())
    first = await writer.write([PAN, BARRIE])
    again = await writer.write([PAN, BARRIE])
    assert (first.written.embedded, again.written.embedded) == (2, 0)
    assert len(asked) == 2


async def test_what_was_interrupted_is_completed_by_writing_again(
    store: Store, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [
        Document(id=f"d{n}", title=f"Title number{n}", text=f"See Title number{(n + 150) % 300}.")
        for n in range(300)
    ]
    whole = DocumentWriter(store, scope=f"{scope}/whole")
    await whole.write(documents)
    write, calls = Store.write, 0

    async def failing(self: Store, *given: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise UnavailableError("the server is gone")
        return await write(self, *given, **options)

    cut = DocumentWriter(store, scope=f"{scope}/cut")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", failing)
        with pytest.raises(UnavailableError):
            await cut.write(documents)
    assert len(await memories(store, f"{scope}/cut")) == 128
    await cut.write(documents)
    assert await edges(store, f"{scope}/cut") == await edges(store, f"{scope}/whole")


async def test_the_handle_writes_documents_that_a_recall_finds(retriever: GraphRetriever) -> None:
    report = await retriever.documents().write([PAN, BARRIE])
    assert report.names == 2
    found = await retriever.recall("Who wrote a play?")
    assert {entry.memory.id for entry in found.ranked} >= {"pan", "barrie"}
    assert (await retriever.writer().document(TEA)).names == 1
