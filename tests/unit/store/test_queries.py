"""Query files: each loads, says what it is, and stands nowhere else."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoria.errors import ConfigError, InvalidInputError
from memoria.graph.vocabulary import CONNECTOR_KINDS, DEFAULT_KINDS, RESERVED_LABELS
from memoria.ingest.checks import check_kinds
from memoria.store import queries
from memoria.store.fragments import Fragment, Library, expand
from memoria.store.queries import Column, Query, fragment, load, parse
from tests.for_each import for_each

PACKAGE = Path(queries.__file__).parent
FRAGMENTS = sorted((queries.root() / "_shared").glob("*.cypher"))
FILES = sorted({*queries.root().rglob("*.cypher")} - {*FRAGMENTS})
NAMES = [".".join(file.relative_to(queries.root()).with_suffix("").parts) for file in FILES]
CYPHER = re.compile(
    r"\b(MATCH|MERGE|CREATE|UNWIND|DELETE|REMOVE|RETURN|CALL|YIELD|WITH|SET|DROP|SHOW|LOAD CSV)\b"
)
# Used once; a mapping puts another text in its place.
EXCHANGED_ALONE = {
    *("text_hits", "vector_hits", "vector_hits_of_scope", "any_memory", "compared_memories"),
    "compared_vector",
}
GOOD = """\
// name: test.one
// mode: read
// params: a, b
// returns: x, y LIST<STRING> | NULL
// What it does; a comment may hold $a, and a blank line too.

RETURN $p.a AS x, $p.b AS y
"""


def texts_in_python() -> Iterator[tuple[str, str]]:
    """(place, text) of every string of the package that is no docstring, f-strings in one piece."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in node.values
        }
        docs = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            where = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.JoinedStr):
                parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
                yield where, " ".join(map(str, parts))
            elif isinstance(node, ast.Constant) and id(node) not in docs | inside:
                yield where, str(node.value)


def returned(query: Query) -> str:
    """The text after the last RETURN of a query."""
    return query.text.rpartition("RETURN ")[2]


def test_every_label_that_a_query_names_is_a_kind_or_reserved() -> None:
    """A memory of a kind that memoria uses itself would be taken for one of its notes."""
    texts = [file.read_text(encoding="utf-8") for file in [*FILES, *FRAGMENTS]]
    labels = {label for text in texts for label in re.findall(r"\(\w*:(\w+)\b(?!\|)", text)}
    assert labels == {*RESERVED_LABELS, *DEFAULT_KINDS}
    unions = {each for text in texts for each in re.findall(r"\w+(?:\|\w+)+", text)}
    assert {each for each in unions if "Topic" in each} == {"|".join(CONNECTOR_KINDS)}
    with pytest.raises(InvalidInputError, match="LearningChange: memoria itself uses that label"):
        check_kinds(["Event", "LearningChange"])


def test_there_are_query_files() -> None:
    assert {"strategies.level", "graph.hydrate", "seeds.text", "schema"} <= set(NAMES)


def test_query_files_load() -> None:
    """A comment takes a line of its own: after an instruction, it would stay in the text."""
    found = {name: load(name) for name in NAMES}
    assert [name for name, query in found.items() if query.name != name or not query.text] == []
    assert [name for name in NAMES if "//" in re.sub(r"'[^']*'", "", found[name].text)] == []


def test_query_files_say_what_they_do() -> None:
    head = ["// name", "// mode", "// params", "// returns"]
    texts = {
        name: file.read_text("utf-8").splitlines() for name, file in zip(NAMES, FILES, strict=True)
    }
    assert [n for n, lines in texts.items() if [a.split(":")[0] for a in lines[:4]] != head] == []
    assert [name for name, lines in texts.items() if not lines[4].startswith("// ")] == []


def test_declared_columns_are_those_that_are_returned() -> None:
    found = [load(name) for name in NAMES if not name.startswith("schema-")]
    assert [query.name for query in found if query.mode == "schema" and query.returns] == []
    missing = [
        (query.name, column.name)
        for query in found
        if query.mode != "schema"
        for column in query.returns
        if not re.search(rf"\b{re.escape(column.name)}\b", returned(query))
    ]
    assert missing == []


def test_a_column_without_a_type_holds_a_property_that_others_may_have_written() -> None:
    wrong = []
    for query in map(load, NAMES):
        for name in (column.name for column in query.returns if not column.types):
            of_a_property = rf"\b[a-z]\.\w+ AS {name}\b|coalesce\([^()]*\) AS {name}\b"
            if not re.search(of_a_property, returned(query)):
                wrong.append((query.name, name))
    assert wrong == []


def test_queries_of_mode_read_hold_no_clause_that_writes() -> None:
    writes = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|FOREACH)\b")
    reading = [query for query in map(load, NAMES) if query.mode == "read"]
    assert len(reading) > 50
    assert [query.name for query in reading if writes.search(query.text)] == []


def test_every_fragment_states_its_name_and_is_used_twice() -> None:
    """A rule that one query alone needs stands in that query."""
    texts = [file.read_text(encoding="utf-8") for file in [*FILES, *FRAGMENTS]]
    uses = Counter(use for text in texts for use in re.findall(r"// use: (\w+)\(", text))
    names = {file.stem for file in FRAGMENTS}
    assert set(uses) == names
    assert all(fragment(name).name == name for name in names)
    assert {name for name in names if uses[name] < 2} <= EXCHANGED_ALONE


def test_no_rule_of_a_fragment_is_copied() -> None:
    """Lines of a fragment that stand in a query file as well are a copy of its rule."""
    copied: list[tuple[str, str]] = []
    for file in FRAGMENTS:
        lines = fragment(file.stem).lines
        if len(lines) < 3:
            continue  # a pattern, which is a name for a mapping to exchange, and no rule
        rule = " ".join(" ".join(lines).split())
        copied += [
            (file.stem, other.stem)
            for other in FILES
            if rule in " ".join(other.read_text(encoding="utf-8").split())
        ]
    assert copied == []


def library(**texts: str) -> Library:
    return lambda name: Fragment.parse(texts[name], name)


def test_a_use_is_replaced_by_the_lines_of_its_fragment_indented_alike() -> None:
    given = library(
        holds="// fragment: holds(m)\n// Said once.\nm.a = 1\nAND m.m = $p.m\n",
        both="// fragment: both(m, n)\n// use: holds(m)\nAND // use: holds(n) OK\n",
    )
    assert expand("WHERE // use: holds(one)\nRETURN 1", given) == (
        "WHERE one.a = 1\nAND one.m = $p.m\nRETURN 1"
    )
    assert expand("  [// use: both(f[0], g(a, b))] AS x", given).splitlines() == [
        "  [f[0].a = 1",
        "  AND f[0].m = $p.m",
        "  AND g(a, b).a = 1",
        "  AND g(a, b).m = $p.m OK] AS x",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("// use: one(a, b)", "takes 1 arguments, not 2"),
        ("// use: one()", "takes 1 arguments, not 0"),
        ("// use: one(a", "has no end"),
        ("// use: loop(a)", "uses itself"),
        ("// use: headless(a)", "first line must be"),
    ],
)
def test_a_use_that_cannot_be_expanded_is_a_config_error(text: str, message: str) -> None:
    given = library(
        one="// fragment: one(m)\nm\n",
        loop="// fragment: loop(m)\n// use: loop(m)\n",
        headless="m\n",
    )
    with pytest.raises(ConfigError, match=message):
        expand(text, given)


def test_a_fragment_that_is_not_there_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="not installed completely"):
        parse(GOOD.replace("RETURN", "// use: nothing()\nRETURN"), "test.one")


def test_query_is_read_once() -> None:
    assert load("strategies.level") is load("strategies.level")


def test_header_and_text_are_told_apart() -> None:
    query = parse(GOOD, "test.one")
    assert query.mode == "read"
    assert query.params == {"a", "b"}
    assert query.returns == (Column("x"), Column.parse("y LIST<STRING> | NULL"))
    assert query.text == "RETURN $p.a AS x, $p.b AS y"


def test_query_may_take_and_return_nothing() -> None:
    query = parse("// name: a.b\n// mode: write\n// params:\n// returns:\nFINISH", "a.b")
    assert (query.params, query.returns) == (frozenset(), ())


@for_each(
    "old, new, message",
    [
        ("// params: a, b", "// params: a", "declares"),
        ("// params: a, b", "// params: a, b, c", "declares"),
        ("$p.b", "$b", "declares"),
        ("$p.b", "$p.b + $c", "a key of \\$p"),
        ("$p.b", "$p", "declares"),
        ("$p.b", "$p['b']", "declares"),
        ("name: test.one", "name: test.two", "its own name"),
        ("// name: test.one\n", "", "its own name"),
        ("// mode: read\n", "", "mode"),
        ("// params: a, b\n", "", "params"),
        ("// returns: x, y LIST<STRING> | NULL\n", "", "returns"),
        ("LIST<STRING>", "LIST<TEXT>", "unknown type TEXT"),
        ("LIST<STRING>", "SET", "unknown type SET"),
        ("LIST<STRING>", "STRING<LIST>", "can't read the column"),
        ("LIST<STRING>", "LIST<>", "can't read the column"),
        ("LIST<STRING>", "LIST<LIST<STRING>>", "can't read the column"),
        ("y LIST", "y list", "can't read the column"),
        ("// mode: read", "// mode: admin", "unknown mode"),
        ("// mode: read", "// mode: READ", "unknown mode"),
        ("// mode: read", "//mode: read", "mode"),
    ],
)
def test_header_that_disagrees_with_its_text_is_refused(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError, match=f"^test.one: .*{message}"):
        parse(GOOD.replace(old, new), "test.one")


@pytest.mark.parametrize(
    "name", ["explore.nothing", "nothing", "", "explore", "strategies.level.x"]
)
def test_query_that_is_not_there_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError, match="not installed completely"):
        load(name)


def test_python_holds_no_query_text() -> None:
    found = [
        f"{where} {text.strip()[:60]!r}"
        for where, text in texts_in_python()
        if re.search(r"\b(MATCH|MERGE|CREATE) *\(|\bUNWIND\b|\bDETACH\b", text)
        or len(set(CYPHER.findall(text))) >= 2
    ]
    assert not found


def test_python_puts_no_query_text_together() -> None:
    """Only `memoria.graph.schema` changes the text of a query, by a fixed replacement."""
    changing = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"\.text\s*(\+|%|\.format)|f\"[^\"]*\{[^}]*\.text\b", path.read_text("utf-8"))
    }
    assert not changing


def test_no_query_asks_for_a_list_of_several_types() -> None:
    # On Neo4j 5.26 no list is one of ``LIST<INTEGER | FLOAT>``: a union stands outside.
    assert [name for name in NAMES if re.search(r"LIST<[^>]*\|", load(name).text)] == []
