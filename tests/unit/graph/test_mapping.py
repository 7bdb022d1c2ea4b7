"""Mappings without a database: their refusals, and the queries made from them."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memoria.cli.common import advice
from memoria.connection import connect
from memoria.embed import CallableEmbedder
from memoria.errors import ConfigError, DimensionError, MappingError, ScopeError
from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping, Translation, WeightOf
from memoria.graph.mapping.embedding import with_vectors
from memoria.graph.mapping.model import (
    load_mapping,
    named_mapping,
    names_of_mappings,
    parse_mapping,
    text_of_named,
    toml_of,
)
from memoria.graph.mapping.reading import check_mapped_embedder, scope_of
from memoria.graph.mapping.rendering import EDGE_VARIABLES, NODE_VARIABLES
from memoria.store.queries import fragment, load, names, text_of
from tests.for_each import for_each
from tests.server_facts import server_facts

GOOD = """\
name = "films"

[[nodes]]
label = "Film"
key = "title"
text = ["title", "plot"]
fulltext_index = "films"

[[nodes]]
label = ["Actor", "Director"]
key = "name"
text = "name"

[[edges]]
type = "ACTED_IN"
weight = { property = "stars", high = 5 }

[[edges]]
type = "KNOWS"
direction = "out"
"""
ODD = "it's `a` \\ $p {x}\n// \" name"


WRONG: Any = (3,)


def node(**given: Any) -> NodeMapping:
    return NodeMapping(**({"label": "Film", "key": "title", "text": ("plot",)} | given))


def edge(**given: Any) -> EdgeMapping:
    return EdgeMapping(**({"type": "KNOWS"} | given))


def mapping(*nodes: NodeMapping, edges: tuple[EdgeMapping, ...] | None = None) -> GraphMapping:
    return GraphMapping(nodes=nodes or (node(),), edges=(edge(),) if edges is None else edges)


#: Every name is odd, and nodes and edges differ in all that may differ.
RICH = GraphMapping(
    nodes=(
        node(label=f"A{ODD}", key=f"k{ODD}", text=(f"t{ODD}", "b"), scope="s", kind="kind",
             created_at="made", valid_until="ends", tags="about", embedding="vector",
             vector_index=f"v{ODD}", fulltext_index=f"f{ODD}"),
        node(label=("B", "C"), key="elementId", text=("t",), scope="g", embedding="e",
             vector_index="v2", fulltext_index="f2"),
        node(label="Topic", key="k", scope="s", text=(), connector=True),
    ),
    edges=(
        edge(type=f"T{ODD}", weight=WeightOf(property=f"w{ODD}", half=2), relation="r", fact="f",
             tags="t", created_at="c", valid_from="from", valid_until=("a", "b"),
             sources=f"s{ODD}", embedding=f"e{ODD}", vector_index=f"n{ODD}"),
        edge(type="OUT", direction="out", embedding="e", vector_index="v3", fulltext_index="f3"),
        edge(type="IN", direction="in", weight=WeightOf(property="w", low=-1.0, high=1.0)),
    ),
    properties=("status", ODD),
)  # fmt: skip


@for_each(
    "make, message",
    [
        (lambda: node(label=""), "label must be a name of 1 to 250 characters"),
        (lambda: node(label=()), "label must name at least one"),
        (lambda: node(label=7), "label must be a list of names"),
        (lambda: node(label="a\0b"), "label must be a name"),
        (lambda: node(label="x" * 251), "label must be a name"),
        (lambda: node(label=("A", "A")), "label names the same twice"),
        (lambda: node(key=""), "key must be a name"),
        (lambda: node(key=None), "key must be a name"),
        (lambda: node(text=()), "text is missing.*or set connector"),
        (lambda: node(text=("plot", "plot")), "text names the same twice"),
        (lambda: node(text=(1,)), "text must be a name"),
        (lambda: node(scope=3), "scope must be a name"),
        (lambda: node(embedding="e"), "embedding and vector_index go together"),
        (lambda: node(vector_index="v"), "embedding and vector_index go together"),
        (lambda: node(connector="yes"), "connector must be true or false"),
        (lambda: node(label="Topic"), "set connector to true, or kind to a property"),
        (lambda: edge(embedding="e"), "embedding and vector_index go together"),
        (lambda: edge(vector_index="v"), "embedding and vector_index go together"),
        (lambda: edge(sources=3), "sources must be a name"),
        (lambda: edge(type=" "), "type must be a name"),
        (lambda: edge(direction="up"), "direction must be both, out or in"),
        (lambda: edge(weight=0), "weight must be above 0 and at most 1"),
        (lambda: edge(weight=1.5), "weight must be above 0 and at most 1"),
        (lambda: edge(weight=True), "weight must be a number"),
        (lambda: edge(weight=float("nan")), "weight must be a number"),
        (lambda: edge(weight="0.5"), "weight must be a number"),
        (lambda: edge(valid_until=(7,)), "valid_until must be a name"),
        (lambda: WeightOf(property=""), "weight.property must be a name"),
        (lambda: WeightOf(property="w", low=1.0), "weight.high must be above weight.low"),
        (lambda: WeightOf(property="w", high=float("inf")), "weight.high must be a number"),
        (lambda: WeightOf(property="w", half=0), "weight.half must be above 0"),
        (lambda: WeightOf(property="w", half=2, high=5.0), "leave weight.low and weight.high out"),
        (lambda: mapping(edges=()), "edges must not be empty"),
        (lambda: GraphMapping(nodes=(), edges=(edge(),)), "nodes must not be empty"),
        (lambda: GraphMapping(nodes=WRONG, edges=(edge(),)), "nodes must be a list of Node"),
        (lambda: mapping(node(), node()), "Film is mapped twice"),
        (lambda: mapping(edges=(edge(), edge())), "KNOWS is mapped twice"),
        (lambda: mapping(node(connector=True)), "every node is a connector"),
        (lambda: mapping(node(scope="s"), node(label="B")), "B has no scope, but other nodes"),
        (lambda: GraphMapping(nodes=(node(),), edges=(edge(),), properties=WRONG), "properties"),
        (lambda: GraphMapping(nodes=(node(),), edges=(edge(),), name=""), "name must be a text"),
    ],
)
def test_a_mapping_that_can_not_be_right_is_refused(make: Any, message: str) -> None:
    with pytest.raises(MappingError, match=message):
        make()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('label = "Film"', 'label = ""', "line 4: label must be a name"),
        ('key = "title"\n', "", "line 3: key is missing"),
        ('key = "title"', "key = 5", "line 5: key must be a name"),
        ("[[nodes]]", "[nodes]", "not TOML"),
        ("fulltext_index", "full_text", "line 7: full_text is not a field.*mean fulltext_index"),
        ("fulltext_index", "zzz", "line 7: zzz is not a field of a mapping here: it may be label"),
        ('name = "films"', 'nam = "films"', "line 1: nam is not a field.*did you mean name"),
        ('name = "films"', "name = 3", "line 1: name must be a text"),
        ('text = "name"', "text = [3]", "line 12: text must be a name"),
        ('type = "KNOWS"\n', "", "line 18: type is missing"),
        ('direction = "out"', 'direction = "left"', "line 20: direction must be both"),
        ("high = 5", "high = -5", "line 16: weight.high must be above"),
        ("high = 5", "top = 5", "line 16: top is not a field"),
        ('property = "stars", ', "", "line 16: weight needs a property"),
        ('{ property = "stars", high = 5 }', "2", "line 16: weight must be above 0"),
        ('"KNOWS"', '"ACTED_IN"', "line 19: ACTED_IN is mapped twice"),
        ('"Actor", "Director"', '"Actor", "Film"', "line 10: Film is mapped twice"),
        ("films", "\ud800", "UTF-8"),
    ],
)
def test_a_file_that_says_no_mapping_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    file = tmp_path / "graph.toml"
    file.write_bytes(GOOD.replace(old, new, 1).encode("utf-8", "surrogatepass"))
    with pytest.raises(MappingError, match=message) as caught:
        load_mapping(file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="can't be read: No such file"):
        load_mapping(tmp_path / "none.toml")
    with pytest.raises(MappingError, match="needs at least one"):
        parse_mapping("name = 'x'", "x.toml")
    with pytest.raises(MappingError, match="there is no mapping named 'neo': there are cognee"):
        GraphMapping.named("neo")


def test_a_mapping_is_read_as_it_is_written(tmp_path: Path) -> None:
    read = parse_mapping(GOOD, "films.toml")
    assert read.nodes[1].labels == ("Actor", "Director")
    assert read.edges[0].weight == WeightOf(property="stars", high=5)
    for each in (read, RICH, *map(named_mapping, names_of_mappings())):
        assert parse_mapping(toml_of(each), "x.toml") == each
    file = tmp_path / "graph.toml"
    file.write_text(GOOD)
    assert GraphMapping.load(file) == read


@for_each("name", names_of_mappings())
def test_every_known_graph_says_which_version_it_was_read_from(name: str) -> None:
    assert GraphMapping.named(name).name == name
    assert text_of_named(name).startswith("# ")


def test_the_known_graphs_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs/your-graph.md").read_text(encoding="utf-8")
    assert [name for name in names_of_mappings() if f"`{name}`" not in page] == []


def test_without_a_mapping_each_query_is_the_text_of_its_file() -> None:
    assert [name for name in names() if text_of(name, fragment) != load(name).text] == []


@pytest.mark.parametrize("mapped", [RICH, mapping()], ids=["rich", "plain"])
def test_nothing_of_memorias_own_graph_is_left_in_a_mapped_query(mapped: GraphMapping) -> None:
    translation = Translation(mapped)
    for name in names():
        query = load(name)
        rooms = ("strategies", "seeds", "ranking", "recall", "context", "graph", "evaluation")
        if name.partition(".")[0] not in rooms or query.mode != "read":
            continue
        text = translation.query(query).text
        own = re.sub(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'", "", text)  # quoted names and texts
        assert not re.search(r":(Memory|RELATES|Session|Topic)\b", own), name
        variables = "|".join(map(re.escape, (*NODE_VARIABLES, *EDGE_VARIABLES)))
        assert not re.search(rf"(?<![\w.$])({variables})\.\w", own), name


def test_variables_of_the_query_files_are_known_to_the_translation() -> None:
    """Else a property of a node would stay memoria's own in a mapped query."""
    maps = {"f", "row", "state", "each", "found", "roles", "s", "chosen", "db", "note", "vector"}
    rooms = ("strategies", "seeds", "ranking", "recall", "context", "graph", "evaluation")
    wrong: list[tuple[str, str]] = []
    for name in (name for name in names() if name.partition(".")[0] in rooms):
        query = load(name)
        if query.mode != "read" or name == "graph.meta":
            continue
        text = re.sub(r"'(?:[^'\\]|\\.)*'", "", query.text)
        known = {*maps, *NODE_VARIABLES, *EDGE_VARIABLES}
        used = re.findall(r"(?<![\w.$])((?:row\.)?\w+)\.[a-z_`]+\b(?!\()", text)
        wrong += [(name, each) for each in used if each not in known and each[0].isalpha()]
    assert wrong == []


def test_a_mapping_refuses_what_writes_and_what_reads_memorias_own_graph() -> None:
    translation = Translation(mapping())
    for name in names():
        query = load(name)
        if query.mode != "read":
            with pytest.raises(MappingError, match="a mapping writes nothing"):
                translation.query(query)
    with pytest.raises(MappingError, match="reads memoria's own graph only"):
        translation.query(load("doctor.memories"))
    assert translation.query(load("graph.components")) is load("graph.components")


def test_words_are_searched_as_far_as_the_indexes_go() -> None:
    found = Translation(mapping(node(fulltext_index="f")), text_properties=4)
    assert found.lucene(['"a"', '"b"'], has_vector=True) == '"a" "b"'
    asked = ['"Who"', '"directed"', '"the"', '"Matrix"']
    assert found.lucene(asked, has_vector=True) == '"Who" "directed" "the" "Matrix"'
    assert found.lucene(asked, has_vector=False) == '+("directed" "Matrix") "Who" "the"'
    film = ['"Who"', '"directed"', '"It?"', '"It"']
    assert found.lucene(film, has_vector=False) == '+("directed" "It?" "It") "Who"'
    assert found.lucene(['"Who"', '"is"'], has_vector=False) == '"Who" "is"'
    many = found.lucene(['"a"'] * 300, has_vector=True)
    assert many is not None
    assert len(many.split()) == 256  # Lucene takes 1,024 clauses, one for each property
    vectors = Translation(mapping(node(embedding="e", vector_index="v")))
    assert vectors.lucene(['"a"'], has_vector=True) is None
    with pytest.raises(MappingError, match=r"neither a full-text nor a vector index.*CREATE x"):
        Translation(mapping(), missing=["CREATE x"]).lucene(['"a"'], has_vector=True)


def test_a_scope_that_separates_nothing_is_refused() -> None:
    assert scope_of(None, "alice") == "alice"
    assert scope_of(mapping(), None) == "default"
    assert scope_of(mapping(node(scope="tenant")), "alice") == "alice"
    with pytest.raises(ScopeError, match="would separate nothing"):
        scope_of(mapping(), "alice")


def test_vectors_are_not_made_in_a_mapped_graph() -> None:
    embedder = CallableEmbedder(lambda texts: [[1.0] for _ in texts], dimensions=1, name="one")
    with pytest.raises(ConfigError, match="a mapping writes nothing: leave it out"):
        connect(mapping=mapping(), embedder=embedder, embed_pending=True)


def test_a_mapped_graph_with_other_vectors_is_not_to_be_embedded_again() -> None:
    embedder = CallableEmbedder(lambda texts: [[1.0] for _ in texts], dimensions=1, name="one")
    graph = mapping(node(embedding="vector", vector_index="vectors"))
    facts = server_facts(vector_dialect="procedure", dimensions=2, indexes={"vectors": "ONLINE"})
    with pytest.raises(DimensionError, match="or none, to search by words") as refused:
        check_mapped_embedder(graph, facts, embedder)
    assert advice(refused.value) == ""  # memoria reembed writes memoria's own vectors


#: Names that look like a part of memoria's own queries.
PARTS = ("see m.text", "a:SUPPRESSES", "labels(m)", "r.weight", "the wanted m", "m", "// use: m(a)")


@cache
def texts(label: str = "PlainA", text: str = "plain_b", type_: str = "PLAIN_C") -> dict[str, str]:
    """All queries that can be asked of a mapped graph with these names."""
    made = GraphMapping(nodes=(node(label=label, text=(text,)),), edges=(edge(type=type_),))
    translation = Translation(made)
    found = {}
    for each in names():
        with suppress(MappingError):
            found[each] = translation.query(load(each)).text
    return found


@for_each("name", PARTS)
@for_each("place, plain", [("label", "PlainA"), ("text", "plain_b"), ("type_", "PLAIN_C")])
def test_a_name_stays_as_it_is_in_every_query(name: str, place: str, plain: str) -> None:
    expected = {key: text.replace(plain, name) for key, text in texts().items()}
    assert expected
    assert texts(**{place: name}) == expected


def test_each_label_has_an_index_of_vectors_of_its_own() -> None:
    labels = ("Person", "person", "Order-Item", "Order_Item", "L" * 70 + "a", "L" * 70 + "b")
    names_ = with_vectors(mapping(node(label=labels))).vector_indexes
    assert len({*names_}) == len(labels)
    assert all(re.fullmatch(r"memoria_\w+_embedding", name) for name in names_)
