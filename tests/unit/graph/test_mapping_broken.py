"""Broken mappings and databases: each is refused, or noted, by a sentence that says what to do.

No server: a database is the inventory and the samples that the queries of the room would return.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from memoria.errors import IndexNotReadyError, MappingError
from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping, WeightOf
from memoria.graph.mapping.checking import (
    Problem,
    edge_fault_problems,
    fault_problems,
    problems_of,
    raise_first,
)
from memoria.graph.mapping.database import Index, Inventory
from memoria.graph.mapping.model import parse_mapping
from memoria.graph.mapping.sampled import edge_sample_problems, sample_problems
from tests.for_each import for_each

HEAD = '[[nodes]]\nlabel = "Film"\nkey = "title"\ntext = "plot"\n'
TAIL = '[[edges]]\ntype = "LIKE"\n'
ODD = "a `b` 'c' \\ {d}"
# TOML of a value that is not a name -> what the refusal says.
NOT_A_NAME = {
    "5": "must be a (name|list of names), got an int",
    "true": "must be a (name|list of names), got",
    '""': "must be a name of 1 to 250 characters",
    '"  "': "must be a name of 1 to 250 characters",
    '"a\\u0000b"': "must be a name of 1 to 250 characters",
    f'"{"x" * 251}"': "must be a name of 1 to 250 characters",
    "{ a = 1 }": "must be a (name|list of names), got",
}
NODE_FIELDS = ("key", "scope", "kind", "created_at", "valid_until", "tags", "fulltext_index")
EDGE_FIELDS = (
    *("type", "relation", "fact", "sources", "embedding", "vector_index", "tags", "valid_from"),
    "fulltext_index",
)
NOT_A_WEIGHT = {
    "0": "above 0 and at most 1, got 0",
    "-0.5": "above 0 and at most 1",
    "1.01": "above 0 and at most 1",
    "inf": "weight must be a number",
    "nan": "weight must be a number",
    '"much"': "weight must be a number",
    "[0.5]": "weight must be a number",
    "{}": "weight needs a property to be made of, or a number",
    "{ property = 5 }": "weight.property must be a name",
    '{ property = "w", low = 2 }': "weight.high must be above weight.low",
    '{ property = "w", half = -1 }': "weight.half must be above 0",
    '{ property = "w", half = 1, low = 0.5 }': "leave weight.low and weight.high out",
    '{ property = "w", lo = 0 }': "did you mean low",
}
BAD_FILES = {
    "": r"needs at least one \[\[nodes\]\]",
    "nodes": "is not TOML",
    "[[nodes]]": "label is missing",
    HEAD: r"needs at least one \[\[edges\]\]",
    TAIL: r"needs at least one \[\[nodes\]\]",
    "nodes = 5\n" + TAIL: r"needs at least one \[\[nodes\]\]",
    "nodes = [5]\n" + TAIL: r"needs at least one \[\[nodes\]\]",
    HEAD + HEAD + TAIL: "Film is mapped twice: leave one out",
    HEAD + TAIL + TAIL: "LIKE is mapped twice: leave one out",
    HEAD + 'key = "x"\n' + TAIL: "is not TOML",
    HEAD + "connector = true\n" + TAIL: "set connector to false for nodes with a text",
    HEAD + 'scope = "s"\n' + HEAD.replace("Film", "Book") + TAIL: "Give it one, or leave these",
    "properties = 5\n" + HEAD + TAIL: "line 1: properties must be a list of names",
    'properties = ["a", "a"]\n' + HEAD + TAIL: "line 1: properties names the same twice",
    "properties = [1]\n" + HEAD + TAIL: "line 1: properties must be a name",
    'nodez = "x"\n' + HEAD + TAIL: "line 1: nodez is not a field.*did you mean nodes",
    HEAD + TAIL + "[x]\n": "x is not a field of a mapping here",
    HEAD.replace('"plot"', "[]") + TAIL: "line 4: text is missing: name the properties",
    HEAD.replace('"Film"', "[]") + TAIL: "line 2: label must name at least one label",
    HEAD.replace('"Film"', '["A", 1]') + TAIL: "line 2: label must be a name",
    HEAD.replace("Film", "Speaker") + TAIL: "line 2: memoria takes nodes of the kind Speaker",
    HEAD + 'embedding = "e"\n' + TAIL: "line 5: embedding and vector_index go together",
    HEAD + TAIL + 'embedding = "e"\n': "line 7: embedding and vector_index go together",
    HEAD + TAIL + 'vector_index = "v"\n': "line 7: embedding and vector_index go together",
    HEAD + TAIL + 'direction = "both ways"\n': "line 7: direction must be both, out or in",
    HEAD + TAIL + "valid_until = [1]\n": "line 7: valid_until must be a name",
    HEAD + TAIL + 'valid_until = ["a", "a"]\n': "line 7: valid_until names the same twice",
    "[" * 3_000: "is (not TOML|nested too deep)",
}


def files() -> Iterator[tuple[str, str]]:
    """A mapping as text, and what is said about it."""
    for value, said in NOT_A_NAME.items():
        for name in NODE_FIELDS:
            line = HEAD.count("\n") + 1
            text = f"{HEAD}{name} = {value}\n{TAIL}"
            if name == "key":
                text, line = HEAD.replace('key = "title"', f"key = {value}") + TAIL, 3
            yield text, f"x.toml, line {line}: {name} {said}"
        for name in EDGE_FIELDS:
            text, line = f"{HEAD}{TAIL}{name} = {value}\n", 7
            if name == "type":
                text, line = HEAD + TAIL.replace('"LIKE"', value), 6
            yield text, f"x.toml, line {line}: {name} {said}"
    for value, said in NOT_A_WEIGHT.items():
        yield f"{HEAD}{TAIL}weight = {value}\n", f"x.toml, line 7: .*{said}"
    yield from BAD_FILES.items()


FILES = list(files())


@for_each("text, said", FILES)
def test_a_broken_file_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(MappingError, match=said) as caught:
        parse_mapping(text, "x.toml")
    assert str(caught.value).startswith("x.toml")
    assert str(caught.value).count("x.toml") == 1


def mapping(weight: float | WeightOf = 0.5, label: Any = "Film", **given: Any) -> GraphMapping:
    node = NodeMapping(**({"label": label, "key": "title", "text": ("plot",)} | given))
    return GraphMapping(nodes=(node,), edges=(EdgeMapping(type="LIKE", weight=weight),))


def index(name: str = "keys", **given: Any) -> Index:
    plain = {
        "name": name, "state": "ONLINE", "type": "RANGE", "entity": "NODE", "labels": ("Film",),
        "properties": ("title",), "dimensions": None, "similarity": None,
    }  # fmt: skip
    return Index(**(plain | given))


def words(**given: Any) -> Index:
    plain: dict[str, Any] = {"name": "w", "type": "FULLTEXT", "properties": ("plot",)}
    return index(**(plain | given))


def vectors(**given: Any) -> Index:
    plain: dict[str, Any] = {"name": "v", "type": "VECTOR", "properties": ("e",), "dimensions": 2}
    return index(**(plain | {"similarity": "cosine"} | given))


def database(*indexes: Index, keys: bool = True, **given: Any) -> Inventory:
    there = {"labels": {"Film": 5}, "types": {"LIKE": 4}} | given
    return Inventory(**there, indexes=((index(), *indexes) if keys else indexes))


BY_WORDS = mapping(fulltext_index="w")
BY_VECTORS = mapping(embedding="e", vector_index="v")
ODD_LABEL = mapping(label=ODD, key=ODD)
DATABASES: list[tuple[GraphMapping, Inventory, str]] = [
    (mapping(), database(keys=False), r"no index finds `Film` by 'title'.*CREATE INDEX"),
    (mapping(), database(index(state="POPULATING"), keys=False), "being populated: wait"),
    (mapping(), database(index(state="FAILED"), keys=False), "is FAILED: drop it"),
    (mapping(), database(index(type="TEXT"), keys=False), "CREATE INDEX"),
    (mapping(), database(index(type="POINT"), keys=False), "CREATE INDEX"),
    (mapping(), database(index(properties=("title", "year")), keys=False), "CREATE INDEX"),
    (mapping(), database(index(properties=("name",)), keys=False), "CREATE INDEX"),
    (mapping(), database(index(labels=("Book",)), keys=False), "CREATE INDEX"),
    (mapping(), database(index(entity="RELATIONSHIP"), keys=False), "CREATE INDEX"),
    (mapping(), database(labels={}), "no label at all.*memoria adopt --detect"),
    (mapping(), database(labels={"film": 5}), "did you mean 'film'"),
    (mapping(), database(labels={"Films": 5}), "did you mean 'Films'"),
    (mapping(), database(labels={"FILM ": 5}), "did you mean 'FILM '"),
    (mapping(), database(labels={"Zebra": 5}), "1 label: 'Zebra'.*memoria adopt --detect"),
    (mapping(), database(labels={"Film": 0, "Zebra": 1}), "no node has the label 'Film'"),
    (mapping(), database(labels={f"L{n}": 1 for n in range(50_000)}), "and 49994 more"),
    (
        mapping(),
        database(labels={f"Film{n}": 1 for n in range(50_000)}),
        r"'Film\d+'\? memoria adopt",
    ),
    (mapping(), database(types={}), "only what the search finds.*no type at all"),
    (mapping(), database(types={"LIKES": 1}), "no relationship has the type.*mean 'LIKES'"),
    (mapping(), database(types={"like": 1}), "did you mean 'like'"),
    (mapping(), database(types={f"T{n}": 1 for n in range(50_000)}), "and 49994 more"),
    (ODD_LABEL, database(labels={ODD: 1}, keys=False), r"FOR \(n:`a ``b`` 'c' \\u005C \{d\}`\) ON"),
    (ODD_LABEL, database(labels={"a b": 1}), "no node has the label"),
    (mapping(label=("Film", "Book")), database(labels={"Film": 1, "Book": 2}), "finds `Book`"),
    (mapping(label=("Film", "Boook")), database(labels={"Film": 1, "Book": 2}), "mean 'Book'"),
    (mapping(key="id"), database(), "no index finds `Film` by 'id'"),
    (mapping(key="Title"), database(), "no index finds `Film` by 'Title'"),
    (BY_WORDS, database(), "words are not searched. Create it.*CREATE FULLTEXT INDEX `w`"),
    (BY_WORDS, database(words(name="w2")), "set fulltext_index to 'w2'"),
    (BY_WORDS, database(words(type="RANGE")), "is a RANGE index on nodes, not a FULLTEXT"),
    (BY_WORDS, database(words(type="VECTOR")), "is a VECTOR index on nodes, not a FULLTEXT"),
    (BY_WORDS, database(words(entity="RELATIONSHIP")), "on relationships, not a FULLTEXT"),
    (BY_WORDS, database(words(labels=("Book",))), "covers Book, not Film: name another"),
    (BY_WORDS, database(words(properties=("title",))), "is on title, not on plot: name"),
    (BY_WORDS, database(words(state="POPULATING")), "being populated: wait"),
    (BY_WORDS, database(words(state="FAILED")), "is FAILED: drop it"),
    (BY_VECTORS, database(), "leave embedding and vector_index out, to search by words"),
    (BY_VECTORS, database(vectors(name="v2")), "set vector_index to 'v2'"),
    (BY_VECTORS, database(vectors(type="FULLTEXT")), "is a FULLTEXT index on nodes, not a V"),
    (BY_VECTORS, database(vectors(entity="RELATIONSHIP")), "on relationships, not a VECTOR"),
    (BY_VECTORS, database(vectors(labels=("Book",))), "covers Book, not Film"),
    (BY_VECTORS, database(vectors(properties=("f",))), "is on f, not on e"),
    (BY_VECTORS, database(vectors(similarity="euclidean")), "or create an index on cosine"),
    (BY_VECTORS, database(vectors(state="POPULATING")), "being populated: wait"),
    (BY_VECTORS, database(vectors(state="FAILED")), "is FAILED: drop it"),
]
FACTS = [
    (None, "name the property with their text as fact, or leave fulltext_index out"),
    (words(type="RANGE", labels=("LIKE",)), "not a FULLTEXT index on relationships 'LIKE'"),
    (words(labels=("LIKE",)), "not a FULLTEXT index on relationships 'LIKE'"),
    (words(entity="RELATIONSHIP", labels=("HATE",)), "name another one, or leave"),
    (words(entity="RELATIONSHIP", labels=("LIKE",), state="FAILED"), "is FAILED: drop it"),
]
for found, said in FACTS:
    own = mapping()
    own = replace(own, edges=(EdgeMapping(type="LIKE", fulltext_index="w"),))
    DATABASES.append((own, database(*([found] if found else [])), said))
likes = EdgeMapping(type="LIKE", fact="why", fulltext_index="w")
hates = EdgeMapping(type="HATE", relation="how", fulltext_index="w")
BY_WORDS_OF_FACTS = replace(mapping(), edges=(likes, hates))
DATABASES += [
    (
        BY_WORDS_OF_FACTS,
        database(),
        r"Create it.* FOR \(\)-\[n:`LIKE`\|`HATE`\]-\(\) ON EACH \[n.`why`, n.`how`\]",
    ),
    (
        BY_WORDS_OF_FACTS,
        database(words(name="w2", entity="RELATIONSHIP", labels=("LIKE",), properties=("why",))),
        "set fulltext_index to 'w2'",
    ),
]

ON_FACTS: dict[str, Any] = {"entity": "RELATIONSHIP", "labels": ("LIKE",)}
FACT_VECTORS = [
    (None, r"CREATE VECTOR INDEX `v` IF NOT EXISTS FOR \(\)-\[n:`LIKE`\]-\(\) ON \(n.`e`\)"),
    (None, "facts are not searched by their vectors. Create it, or leave embedding and vector_in"),
    (vectors(name="v2", **ON_FACTS), "set vector_index to 'v2'"),
    (vectors(**ON_FACTS | {"type": "FULLTEXT"}), "not a VECTOR index on relationships 'LIKE'"),
    (vectors(), "not a VECTOR index on relationships 'LIKE'"),
    (vectors(**ON_FACTS | {"labels": ("HATE",)}), "name another one, or leave vector_index out"),
    (vectors(**ON_FACTS | {"properties": ("f",)}), "is on f, not on e: name another index, or th"),
    (vectors(**ON_FACTS | {"similarity": "euclidean"}), "or create an index on cosine"),
    (vectors(**ON_FACTS | {"state": "POPULATING"}), "being populated: wait"),
    (vectors(**ON_FACTS | {"state": "FAILED"}), "is FAILED: drop it"),
]
BY_FACTS = replace(mapping(), edges=(EdgeMapping(type="LIKE", embedding="e", vector_index="v"),))
for found, said in FACT_VECTORS:
    DATABASES.append((BY_FACTS, database(*([found] if found else []), sizes={"LIKE": 2}), said))
DATABASES += [
    (BY_FACTS, database(), "no relationship 'LIKE' that was looked at has a vector under 'e': le"),
    (
        replace(BY_FACTS, nodes=mapping(embedding="n", vector_index="w").nodes),
        database(vectors(**ON_FACTS), vectors(name="w", properties=("n",), dimensions=3)),
        r"have vectors of several sizes \(v 2, w 3\)",
    ),
]


@for_each("given, there, said", DATABASES)
def test_a_database_that_does_not_fit_is_answered_by_a_sentence(
    given: GraphMapping, there: Inventory, said: str
) -> None:
    started = time.perf_counter()
    problems = problems_of(given, there)
    assert time.perf_counter() - started < 20  # also with 50,000 labels
    texts = [f"{p.text} {p.statement or ''}" for p in problems]
    assert any(re.search(said, text) for text in texts), texts
    assert all(len(text) < 1_000 for text in texts)
    if any(problem.stops for problem in problems):
        with pytest.raises((MappingError, IndexNotReadyError)):
            raise_first(problems)


def test_a_label_in_other_capitals_is_refused_and_one_that_is_not_there_yet_is_not() -> None:
    two = (*mapping().nodes, *mapping(label="Director").nodes)
    given = replace(mapping(), nodes=two)
    [problem] = problems_of(given, database(labels={"Film": 5, "director": 2}))
    assert (problem.stops, "did you mean 'director'?" in problem.text) == (True, True)
    [problem] = problems_of(given, database(labels={"Film": 5, "director": 0}))
    assert not problem.stops


def rows(*kinds: str, name: str = "title") -> list[list[Any]]:
    return [
        ["id", ["Film"], [[name, kind, "x"], ["plot", "STRING NOT NULL", "y"]]] for kind in kinds
    ]


@for_each(
    "sampled, said",
    [
        (rows("INTEGER NOT NULL"), "the key 'title' must be a text, but is INTEGER: use another"),
        (rows("FLOAT NOT NULL"), "must be a text, but is FLOAT"),
        (rows("BOOLEAN NOT NULL"), "must be a text, but is BOOLEAN"),
        (rows("LIST<STRING NOT NULL> NOT NULL"), "must be a text, but is LIST<STRING NOT NULL>"),
        (rows("ZONED DATETIME NOT NULL"), "must be a text, but is ZONED DATETIME"),
        (rows("POINT NOT NULL"), "must be a text, but is POINT"),
        (rows("INTEGER NOT NULL", "FLOAT NOT NULL"), "but is FLOAT or INTEGER"),
        (rows("STRING NOT NULL", name="titel"), "has the property 'title': did you mean 'titel'"),
        (rows("STRING NOT NULL", name="zzz"), "has the property 'title': there are 'zzz', 'plot'"),
        (rows("STRING NOT NULL", "LIST<STRING NOT NULL> NOT NULL"), ""),  # sometimes a list: read
        ([], ""),
    ],
)
def test_nodes_that_can_not_be_read_are_answered_by_a_sentence(
    sampled: list[list[Any]], said: str
) -> None:
    problems = list(sample_problems(mapping(), 0, "Film", sampled))
    assert [bool(re.search(said, problem.text)) for problem in problems] == [True] * bool(said)


TYPED = GraphMapping(
    nodes=(
        NodeMapping(
            label="Film", key="title", text=("plot",), kind="x", created_at="x", valid_until="x",
            tags="x",
        ),
    ),
    edges=(
        EdgeMapping(
            type="LIKE", relation="x", fact="x", tags="x", created_at="x", valid_from="x",
            valid_until=("y", "x"),
        ),
    ),
)  # fmt: skip
NEVER_A_TIME = ("INTEGER", "FLOAT", "BOOLEAN", "DATE", "POINT", "LIST<STRING NOT NULL>")
NEVER_A_TEXT = ("LIST<STRING NOT NULL>", "POINT", "ZONED DATETIME")
NEVER_TAGS = ("STRING", "INTEGER", "LIST<INTEGER NOT NULL>", "LIST<NOTHING>")
#: Field -> types that are not read, and what is said of them.
WRONG_TYPES = {
    "created_at": ((*NEVER_A_TIME, "STRING"), "not a time, so it is ignored"),
    "valid_from": (NEVER_A_TIME, "not a time, so nothing is left out by it: store datetimes"),
    "valid_until": (NEVER_A_TIME, "not a time, so it never ends anything: store datetimes"),
    "tags": (NEVER_TAGS, "not a list of texts, so there are no tags"),
    "kind": ((*NEVER_A_TEXT, "INTEGER"), "not a text, so the label is the kind: name another"),
    "relation": (NEVER_A_TEXT, "not a text, so the type is the relation: name another"),
    "fact": (NEVER_A_TEXT, "not a text, so no fact is shown: name another"),
}


@for_each(
    "part, field, kind, said",
    [
        (part, field, kind, said)
        for part in ("nodes", "edges")
        for field, (kinds, said) in WRONG_TYPES.items()
        if hasattr(getattr(TYPED, part)[0], field)
        for kind in kinds
    ],
)
def test_a_property_of_a_type_that_is_not_read_is_answered_by_a_sentence(
    part: str, field: str, kind: str, said: str
) -> None:
    """Of other fields that name the property, other sentences may be true as well."""
    texts = [["title", "STRING NOT NULL", "t"], ["plot", "STRING NOT NULL", "p"]]
    properties = [*texts, ["x", f"{kind} NOT NULL", None]]
    found = (
        sample_problems(TYPED, 0, "Film", [["id", ["Film"], properties]])
        if part == "nodes"
        else edge_sample_problems(TYPED, 0, [[["Film"], ["Film"], properties]])
    )
    name = "`Film`" if part == "nodes" else "`LIKE`"
    whole = f"{part}[0].{field}: {name}: {field} 'x' is {kind}, {said}"
    problems = list(found)
    assert [problem.text.startswith(whole) for problem in problems].count(True) == 1
    assert not any(problem.stops for problem in problems)


NO_FAULTS = {
    "examined": 9,
    "no_key": 0,
    "no_scope": 0,
    "no_text": 0,
    "duplicates": 0,
    "example": "",
}
NO_EDGE_FAULTS = {"examined": 9, "dangling": 0, "no_weight": 0, "bad_weight": 0}


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({"no_key": 2}, "2 of 9 nodes have no text under 'title', and are not read"),
        ({"no_text": 1}, "1 of 9 nodes have no text; energy flows through them"),
        ({"no_scope": 3}, "3 of 9 nodes have no text under"),
        ({"duplicates": 4, "example": ODD}, "use a unique property, or key = 'elementId'"),
        ({"dangling": 5}, "5 of 9 relationships lead to a node that is not mapped"),
        ({"no_weight": 6}, "6 of 9 relationships have no 'w', and count with the weight 0.01"),
        ({"bad_weight": 7}, "7 of 9 relationships have a 'w' that is not a number"),
    ],
)
def test_faults_of_a_graph_are_counted_in_a_sentence(faults: dict[str, Any], said: str) -> None:
    given = mapping(weight=WeightOf(property="w"))
    problems: list[Problem] = [
        *fault_problems(given, 0, "Film", NO_FAULTS | faults),
        *edge_fault_problems(given, 0, NO_EDGE_FAULTS | faults),
    ]
    assert [bool(re.search(re.escape(said), problem.text)) for problem in problems] == [True]
