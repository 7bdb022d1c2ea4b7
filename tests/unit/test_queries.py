"""Query files: each loads, says what it is, and stands nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoria.errors import ConfigError, InvalidInputError
from memoria.graph.vocabulary import CONNECTOR_KINDS, DEFAULT_KINDS, RESERVED_LABELS
from memoria.ingest.checks import check_kinds
from memoria.store import queries
from memoria.store.columns import Column
from memoria.store.queries import load, parse

PACKAGE = Path(queries.__file__).parent
FILES = sorted(queries.root().rglob("*.cypher"))
NAMES = [".".join(file.relative_to(queries.root()).with_suffix("").parts) for file in FILES]
CYPHER = re.compile(
    r"\b(MATCH|MERGE|CREATE|UNWIND|DELETE|REMOVE|RETURN|CALL|YIELD|WITH|SET|DROP|SHOW|LOAD CSV)\b"
)
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


def test_every_label_that_a_query_names_is_a_kind_or_reserved() -> None:
    """A memory of a kind that memoria uses itself would be taken for one of its notes."""
    texts = [file.read_text(encoding="utf-8") for file in FILES]
    labels = {label for text in texts for label in re.findall(r"\(\w*:(\w+)\b(?!\|)", text)}
    assert labels == {*RESERVED_LABELS, *DEFAULT_KINDS}
    unions = {each for text in texts for each in re.findall(r"\w+(?:\|\w+)+", text)}
    assert {each for each in unions if "Topic" in each} == {"|".join(CONNECTOR_KINDS)}
    with pytest.raises(InvalidInputError, match="LearningChange: memoria itself uses that label"):
        check_kinds(["Event", "LearningChange"])


def test_there_are_query_files() -> None:
    assert {"strategies.level", "graph.hydrate", "seeds.text", "schema"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_query_file_loads(name: str) -> None:
    query = load(name)
    assert query.name == name
    assert query.text
    assert "//" not in re.sub(r"'[^']*'", "", query.text), "comments take a line of their own"


@pytest.mark.parametrize("name", NAMES)
def test_query_file_says_what_it_does(name: str) -> None:
    text = queries.root().joinpath(*name.split(".")).with_suffix(".cypher").read_text("utf-8")
    head = text.splitlines()[:4]
    assert [line.split(":")[0] for line in head] == [
        "// name",
        "// mode",
        "// params",
        "// returns",
    ]
    assert text.splitlines()[4].startswith("// ")
    assert list(load(name).params) == sorted(load(name).params) or len(load(name).params) != 1


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("schema-")])
def test_declared_columns_are_those_that_are_returned(name: str) -> None:
    query = load(name)
    if query.mode == "schema":
        assert query.returns == ()
        return
    last = query.text.rpartition("RETURN ")[2]
    assert all(re.search(rf"\b{re.escape(column.name)}\b", last) for column in query.returns)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_without_a_type_holds_a_property_that_others_may_have_written(name: str) -> None:
    query = load(name)
    last = query.text.rpartition("RETURN ")[2]
    for column in query.returns:
        of_a_property = rf"\b[a-z]\.\w+ AS {column.name}\b|coalesce\([^()]*\) AS {column.name}\b"
        assert column.types or re.search(of_a_property, last), column.name


@pytest.mark.parametrize("name", [name for name in NAMES if load(name).mode == "read"])
def test_query_of_mode_read_holds_no_clause_that_writes(name: str) -> None:
    assert not re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|FOREACH)\b", load(name).text)


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


@pytest.mark.parametrize(
    ("old", "new", "message"),
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


@pytest.mark.parametrize("name", NAMES)
def test_no_query_asks_for_a_list_of_several_types(name: str) -> None:
    # On Neo4j 5.26 no list is one of ``LIST<INTEGER | FLOAT>``: a union stands outside.
    assert not re.search(r"LIST<[^>]*\|", load(name).text)
