"""Turn memoria's reading queries into queries of a mapped graph.

In: a `GraphMapping`, a query. Out: the query for that graph; its columns stay the same.
Touches nothing.

The text of a query file stays. The mapping exchanges the fragments of ``cypher/_shared``
that name labels, relationships and indexes; and, in what comes of it, the properties of memories
and edges. These pieces can't be files, because names of labels and properties can't be parameters:
they come from the mapping alone, never from data, and each is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memoria._support.stems import content_words
from memoria.errors import MappingError
from memoria.graph.mapping.expressions import (
    choice,
    either,
    hits_of,
    is_reached,
    key_of,
    literal,
    property_of,
    quoted,
    relation_of,
    tags_of,
    text_of_node,
    weight_of,
    with_names,
    zoned,
)
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import ELEMENT_ID, WHOLE_GRAPH, EdgeMapping, NodeMapping
from memoria.graph.vocabulary import CONNECTOR_KINDS, MEMORY_LABEL
from memoria.store.fragments import QUOTED, Fragment
from memoria.store.queries import Query, fragment, load, text_of

# The variables under which the query files know memories and edges.
NODE_VARIABLES = (
    *("row.memory", "current", "neighbour", "memory", "source", "target", "other", "anchor"),
    *("connector", "session", "near", "m", "t"),
)
EDGE_VARIABLES = ("r",)
# Each finds quoted names and texts as well, so that nothing is found within them.
_NODE = re.compile(
    rf"{QUOTED}|(?<![\w.$])({'|'.join(map(re.escape, NODE_VARIABLES))})\.(\w+|`when`)"
)
_EDGE = re.compile(rf"{QUOTED}|(?<![\w.$])({'|'.join(EDGE_VARIABLES)})\.(\w+)")
_LABELS = re.compile(rf"{QUOTED}|\blabels\(({'|'.join(map(re.escape, NODE_VARIABLES))})\)")
_RELATES = re.compile(rf"{QUOTED}|(:RELATES)\b")
_CHAIN = re.compile(rf"{QUOTED}|(:SUPPRESSES\*[\d.]+)")
_SUPPRESSES = re.compile(rf"{QUOTED}|(:SUPPRESSES)\b")

_READ_ROOMS = ("strategies", "seeds", "ranking", "recall", "context", "graph", "evaluation")
# What these ask for is the server, not the graph.
_AS_THEY_ARE = frozenset({"graph.components", "graph.indexes", "graph.roles", "doctor.indexes"})
# Of the search by vector there are two files: for a mapped graph, the one that any server can run.
_INSTEAD = {"seeds.vector_search": "seeds.vector_procedure"}
# What the full-text index of several properties counts against its limit of 1,024 clauses.
_MOST_CLAUSES = 1_024
_RESERVED_KINDS = (*CONNECTOR_KINDS, MEMORY_LABEL)


def _replaced(pattern: re.Pattern[str], make: Callable[[re.Match[str]], str], text: str) -> str:
    """Replace what a pattern finds outside of quotes."""
    return pattern.sub(lambda found: found[0] if found[1] is None else make(found), text)


def _says_something(phrase: str, first: str) -> bool:
    """Tell whether a phrase has a word that says something, or is a name, such as the film "It"."""
    is_name = phrase != first and phrase[1:2].isupper() and phrase[2:3].islower()
    return is_name or bool(content_words(phrase))


class Translation:
    """Translates queries for one mapping; each once.

    Parameters
    ----------
    mapping
        The mapping, restricted to what the database has.
    text_properties
        The most properties that a full-text index of the mapping covers; >= 1.
    missing
        Statements that would make the full-text indexes that are missing.
    """

    def __init__(
        self, mapping: GraphMapping, *, text_properties: int = 1, missing: Sequence[str] = ()
    ) -> None:
        self.mapping = mapping
        self._missing = missing
        self._max_phrases = max(1, _MOST_CLAUSES // max(1, text_properties))
        self._done: dict[str, Query] = {}

    def query(self, query: Query) -> Query:
        """Return the query for the mapped graph.

        Raises
        ------
        MappingError
            The query writes, or asks for something that a mapped graph does not have.
        """
        if query.name not in self._done:
            self._done[query.name] = self._translated(query)
        return self._done[query.name]

    def lucene(self, phrases: Sequence[str], *, has_vector: bool) -> str | None:
        """Write the query of the full-text indexes, from quoted phrases; None without an index.

        Parameters
        ----------
        has_vector
            Whether the question is searched for by its vector, too. If not, a text with none of its
            words but "who" and "the" is not found, unless the question has no other words; scores
            are the same.
        """
        indexes = (*self.mapping.fulltext_indexes, *self.mapping.fact_indexes)
        if not indexes and not self.mapping.has_vectors:
            create = f"create it: {self._missing[0]}" if self._missing else "name fulltext_index"
            raise MappingError(
                f"the mapping {self.mapping.name!r} has neither a full-text nor a vector index, so "
                f"nothing can be searched: {create} (memoria adopt FILE --create-indexes makes "
                "what is missing; explore needs none)"
            )
        if not phrases or not indexes:
            return None
        kept = phrases[: self._max_phrases]
        needed = [] if has_vector else [each for each in kept if _says_something(each, kept[0])]
        if needed:
            kept = [f"+({' '.join(needed)})", *(each for each in kept if each not in needed)]
        return " ".join(kept)

    def _translated(self, query: Query) -> Query:
        room = query.name.partition(".")[0]
        if query.mode != "read":
            raise MappingError(
                f"the graph is read through the mapping {self.mapping.name!r}, and a mapping "
                f"writes nothing ({query.name}): to write, learn or link, use memoria's own graph, "
                "in this database or in another one",
                query=query.name,
            )
        if query.name in _AS_THEY_ARE:
            return query
        if query.name == "graph.meta":
            nothing = ", ".join(f"none AS {column.name}" for column in query.returns)
            return query.with_text(f"UNWIND [] AS none RETURN {nothing}")
        if room not in _READ_ROOMS:
            raise MappingError(
                f"{query.name} reads memoria's own graph only, not one that is read through a "
                "mapping",
                query=query.name,
            )
        own = load(_INSTEAD.get(query.name, query.name))
        rendering = _Rendering(self.mapping, held="held" in own.params)
        text = text_of(own.name, rendering.library)
        return replace(query.with_text(rendering.renamed(text)), needs=own.needs)


class _Rendering:
    """The pieces of one query for one mapping."""

    def __init__(self, mapping: GraphMapping, *, held: bool) -> None:
        self._nodes = mapping.nodes
        self._edges = mapping.edges
        self._mapping = mapping
        # Memoria's own edges hold at any time, so a query of theirs may not ask for the time; the
        # caller that has one gives it all the same.
        now = "CASE WHEN $p.held IS NULL THEN datetime() ELSE $p.held.at END"
        self._at = "$p.held.at" if held else now
        self._labels = either(mapping.labels)
        self._types = either(mapping.types)
        self._both = all(edge.direction == "both" for edge in mapping.edges)

    def library(self, name: str) -> Fragment:
        """Return the fragment of this name for the mapped graph; else memoria's own."""
        own = fragment(name)
        make: Callable[..., list[str]] | None = getattr(self, f"fragment_{name}", None)
        return own if make is None else replace(own, lines=tuple(make(*own.params)))

    def renamed(self, text: str) -> str:
        """Put the properties of the mapping in the place of memoria's."""
        text = _replaced(_LABELS, lambda found: f"[{self._kind(found[1])}]", text)
        text = _replaced(_NODE, lambda found: self._property(found[1], found[2].strip("`")), text)
        text = _replaced(_EDGE, lambda found: self._edge_property(found[1], found[2]), text)
        text = _replaced(_RELATES, lambda _: f":{self._types}", text)
        # Memoria's own edges: there are none here. A chain of them leads nowhere but to itself.
        text = _replaced(_CHAIN, lambda _: "*0..0", text)
        return _replaced(_SUPPRESSES, lambda found: f"{found[1]}&!SUPPRESSES", text)

    # The fragments that a mapping exchanges, by their names.

    def fragment_find_memory(self, m: str, wanted: str) -> list[str]:
        finds = list(self._finds(m, wanted))
        if len(finds) == 1:
            return [*finds[0], "WITH *"]
        return [f"CALL ({wanted}) {{", *self._union(m, finds), "}", "WITH *"]

    def _union(self, m: str, finds: Iterable[list[str]]) -> list[str]:
        lines: list[str] = []
        for number, find in enumerate(finds):
            lines += ["UNION"] * (number > 0)
            lines += [*(f"  {line}" for line in find), f"  RETURN {m}"]
        return lines

    def _finds(self, m: str, wanted: str) -> Iterable[list[str]]:
        """Yield a lookup for the nodes of each label and key, each by its index.

        Without the hint, the server may read a whole index while it has few nodes.
        """
        every = fragment("any_memory").filled((m,))
        earlier: list[str] = []
        keys = list(dict.fromkeys((node.key, node.scope) for node in self._nodes))
        for key, scope in keys:
            alike = [node for node in self._nodes if (node.key, node.scope) == (key, scope)]
            labels = [label for node in alike for label in node.labels]
            tests = [f"{key_of(m, alike[0])} = {wanted}"]
            tests += [f"NOT {m}:{either(earlier)}"] if earlier else []
            tests += [] if scope is None else [f"{m}.{quoted(scope)} = $p.scope"]
            earlier += labels
            where = f"WHERE {' AND '.join(tests)}"
            if key == ELEMENT_ID:
                yield [*with_names(every, either(labels)), where]
                continue
            for label in labels:
                hint = f"USING INDEX SEEK {m}:{quoted(label)}({quoted(key)})"
                yield [*with_names(every, quoted(label)), hint, where]

    def fragment_after_last(self) -> list[str]:
        """Read the last id again, as it is stored; see ``export.edges``."""

        def stored(node: NodeMapping) -> str:
            is_id = node.key == ELEMENT_ID
            return "elementId(last)" if is_id else f"last[head([{literal(node.key)}])]"

        again = self._per_node("last", stored)
        return [
            "WITH $p.after AS wanted",
            "OPTIONAL CALL (wanted) {",
            *self._union("last", self._finds("last", "wanted")),
            "}",
            f"WITH coalesce({again}, wanted) AS after",
        ]

    def fragment_all_memories(self, m: str) -> list[str]:
        return [*self.fragment_any_memory(m), f"WHERE {self.fragment_in_scope(m)[0]}"]

    def fragment_compared_memories(self, m: str) -> list[str]:
        """Bring the vectors along: a memory is compared by each fact that leads to it, too."""
        facts = [edge for edge in self._edges if edge.vector_index is not None]
        if not facts:
            return self.fragment_all_memories(m)
        lines = [
            *self.fragment_all_memories("source"),
            "CALL (source) {",
            *(f"  {line}" for line in self._leaving("source", "r", "target", facts)),
            f"  WHERE {self._holds(facts)}",
            f"  WITH r, source, target, {self._of_facts(facts, 'embedding')} AS embedding",
            "  WHERE size(embedding) = size($p.vector)",
            *(f"  {line}" for line in self._places(facts)),
            f"  UNWIND places AS {m}",
            f"  RETURN {m}, embedding",
            "}",
            f"RETURN {m}, embedding",
        ]
        if self._mapping.vector_indexes:
            nodes = [*self.fragment_all_memories(m), f"RETURN {m}, {m}.embedding AS embedding"]
            lines = [*nodes, "UNION ALL", *lines]
        return ["CALL () {", *(f"  {line}" for line in lines), "}", "WITH * WHERE true"]

    def fragment_compared_vector(self, m: str) -> list[str]:
        return ["embedding" if self._mapping.fact_vector_indexes else f"{m}.embedding"]

    def _fact_hits(self, call: str, facts: Sequence[EdgeMapping]) -> list[str]:
        """Ask an index on relationships; a hit that does not hold is counted, and leads nowhere."""
        return [
            call,
            "YIELD relationship AS r, score",
            "WITH r, score, startNode(r) AS source, endNode(r) AS target",
            f"WITH *, coalesce({self._holds(facts)}, false) AS holds",
            *self._places(facts, holds="holds"),
            "WITH score, holds, CASE WHEN holds THEN places ELSE [null] END AS places",
        ]

    def _holds(self, facts: Sequence[EdgeMapping]) -> str:
        """Whether a fact joins two nodes of the scope, and is not over: then its weight is -1."""
        tests = [f"r:{either(edge.type for edge in facts)}", "coalesce(r.weight, 0.01) >= 0"]
        return " AND ".join([*tests, *(self.fragment_in_scope(m)[0] for m in ("source", "target"))])

    def _places(self, facts: Sequence[EdgeMapping], *, holds: str | None = None) -> list[str]:
        """Name the nodes to which a fact leads: its ends, and the memories that state it."""
        if not any(edge.sources for edge in facts):
            return ["WITH *, [source, target] AS places"]
        keys = self._of_facts(facts, "sources")
        return [
            f"WITH *, {keys if holds is None else f'CASE WHEN {holds} THEN {keys} END'} AS keys",
            "CALL (keys) {",
            "  UNWIND keys AS key",
            "  CALL (key) {",
            *(f"  {line}" for line in self._union("stated", self._finds("stated", "key"))),
            "  }",
            "  RETURN collect(stated) AS stated",
            "}",
            "WITH *, [source, target] + stated AS places",
        ]

    def _of_facts(self, facts: Sequence[EdgeMapping], field: str) -> str:
        cases = [(f"r:{quoted(e.type)}", property_of("r", getattr(e, field))) for e in facts]
        return choice(cases)

    def fragment_all_memories_by_seek(self, m: str, _compared: str) -> list[str]:
        return self.fragment_all_memories(m)

    def fragment_any_memory(self, m: str) -> list[str]:
        return with_names(fragment("any_memory").filled((m,)), self._labels)

    def fragment_memories_after(self, m: str, after: str) -> list[str]:
        first, tests = self.fragment_all_memories(m)
        return [first, f"{tests} AND {m}.id > {after}"]

    def fragment_memories_among(self, m: str, ids: str) -> list[str]:
        return [f"UNWIND {ids} AS wanted", *self.fragment_find_memory(m, "wanted"), "WHERE true"]

    def fragment_in_scope(self, m: str) -> list[str]:
        tests = [f"{m}:{self._labels}"]
        if self._mapping.has_scopes:
            tests.append(f"{m}.scope = $p.scope")
        if any(node.key != ELEMENT_ID for node in self._nodes):
            tests.append(f"{m}.id IS :: STRING NOT NULL")
        return [" AND ".join(tests)]

    def fragment_is_of_scope(self, m: str) -> list[str]:
        return [f"coalesce({self.fragment_in_scope(m)[0]}, false)"]

    def fragment_is_connector(self, m: str) -> list[str]:
        return [self._per_node(m, lambda node: str(node.connector).lower())]

    def fragment_is_valid(self, m: str) -> list[str]:
        tests = []
        if any(node.valid_until for node in self._nodes):
            tests.append(f"NOT coalesce({is_reached(f'{m}.valid_until', '$p.held.at')}, false)")
        if any(node.created_at for node in self._nodes):
            made = f"coalesce({m}.created_at > $p.held.made_by, false)"
            tests.append(f"($p.held.plain OR NOT {made})")
        return [" AND ".join(tests) or "true"]

    def _pattern(self, m: str, r: str, other: str, edge: EdgeMapping) -> str:
        left, right = {"both": ("-", "-"), "out": ("-", "->"), "in": ("<-", "-")}[edge.direction]
        return f"({m}){left}[{r}:{quoted(edge.type)}]{right}({other})"

    def fragment_edges(self, m: str, r: str, other: str) -> list[str]:
        if self._both:
            return with_names(fragment("edges").filled((m, r, other)), self._types)
        lines = [f"CALL ({m}) {{"]
        for number, edge in enumerate(self._edges):
            lines += ["UNION ALL"] * (number > 0)
            lines += [
                f"  MATCH {self._pattern(m, r, other, edge)}",
                f"  RETURN {r}, {other}",
            ]
        return [*lines, "}", "WITH *"]

    def fragment_degree(self, m: str) -> list[str]:
        if self._both:
            return [f"COUNT {{ ({m})-[:{self._types}]-() }}"]
        counts = (f"COUNT {{ {self._pattern(m, '', '', edge)} }}" for edge in self._edges)
        return [f"({' + '.join(counts)})"]

    def fragment_out_edges(self, m: str, r: str, other: str) -> list[str]:
        return self._leaving(m, r, other, self._edges)

    def _leaving(self, m: str, r: str, other: str, edges: Sequence[EdgeMapping]) -> list[str]:
        types = either(edge.type for edge in edges)
        return with_names(fragment("out_edges").filled((m, r, other)), types)

    def fragment_out_degree(self, m: str) -> list[str]:
        return [f"COUNT {{ ({m})-[:{self._types}]->() }}"]

    def fragment_counted_weight(self, stored: str, most: str) -> list[str]:
        """Name the weight once where it is longer than a property."""
        if " " not in self._weight("r"):
            return list(fragment("counted_weight").lines)
        own = fragment("counted_weight").filled(("raw", most))
        return [f"[raw IN [{stored}] |", *(f"  {line}" for line in own), "][0]"]

    def fragment_earlier_question(self, m: str) -> list[str]:
        return [f"[{m}.id, null, false, false]"]

    def fragment_text_hits(self, m: str, score: str) -> list[str]:
        call = "CALL db.index.fulltext.queryNodes({}, $p.lucene, {{limit: toInteger($p.limit)}})"
        calls = [call.format(literal(name)) for name in self._mapping.fulltext_indexes]
        return hits_of(m, score, calls, self._facts_by(call, "fulltext_index"))

    def fragment_vector_hits(self, m: str, score: str) -> list[str]:
        call = "CALL db.index.vector.queryNodes({}, toInteger($p.limit), $p.vector)"
        calls = [call.format(literal(name)) for name in self._mapping.vector_indexes]
        return hits_of(m, score, calls, self._facts_by(call, "vector_index"), comparable=True)

    def _facts_by(self, call: str, field: str) -> list[list[str]]:
        """Ask each index on relationships in the way in which ``call`` asks one on nodes."""
        of_facts = call.replace("queryNodes", "queryRelationships")
        by_index: dict[str, list[EdgeMapping]] = {}
        for edge in self._edges:
            if (name := getattr(edge, field)) is not None:
                by_index.setdefault(name, []).append(edge)
        return [self._fact_hits(of_facts.format(literal(n)), e) for n, e in by_index.items()]

    # The properties.

    def _per_node(self, m: str, of: Callable[[NodeMapping], str]) -> str:
        return choice([(f"{m}:{either(node.labels)}", of(node)) for node in self._nodes])

    def _property(self, m: str, name: str) -> str:
        match name:
            case "id":
                return self._per_node(m, lambda node: key_of(m, node))
            case "scope" if not self._mapping.has_scopes:
                return literal(WHOLE_GRAPH)
            case "text":
                return self._per_node(m, lambda node: text_of_node(m, node.text))
            case "metadata":
                return self._metadata(m)
            case "metadata_pairs":
                pair = "'\"' + pair[0] + '\": ' + pair[1]"
                return f"[pair IN {self._pairs(m)} WHERE pair[1] IS NOT NULL | {pair}]"
            case "created_at":
                return self._per_node(m, lambda node: self._made(m, node))
            case "scope" | "valid_until" | "tags" | "embedding":
                return self._per_node(m, lambda node: property_of(m, getattr(node, name)))
            case _:
                return "(null)"

    def _made(self, m: str, node: NodeMapping) -> str:
        made = property_of(m, node.created_at)
        return made if node.created_at is None else zoned(made)

    def _kind(self, m: str) -> str:
        def kind(node: NodeMapping) -> str:
            if node.connector:
                return literal(CONNECTOR_KINDS[2])
            label = choice([(f"{m}:{quoted(label)}", literal(label)) for label in node.labels])
            if node.kind is None:
                return label
            said, reserved = f"{m}.{quoted(node.kind)}", ", ".join(map(literal, _RESERVED_KINDS))
            usable = f"{said} IS :: STRING NOT NULL AND NOT {said} IN ['', {reserved}]"
            return f"CASE WHEN {usable} THEN {said} ELSE {label} END"

        return self._per_node(m, kind)

    def _names(self, m: str) -> str:
        wanted = self._mapping.properties
        if wanted is True:
            is_vector = f"{m}[name] IS :: LIST<FLOAT NOT NULL> NOT NULL"  # so is an empty list
            not_ours = "name <> 'memoria_embedding_of'"  # what memoria notes of a vector
            return f"[name IN keys({m}) WHERE ({m}[name] = [] OR NOT {is_vector}) AND {not_ours}]"
        return f"[{', '.join(map(literal, wanted))}]" if wanted else "[]"

    def _metadata(self, m: str) -> str:
        """Pairs of name and value, which the client makes a map of."""
        if not self._mapping.properties:
            return "null"
        return f"[name IN {self._names(m)} WHERE {m}[name] IS NOT NULL | [name, {m}[name]]]"

    def _pairs(self, m: str) -> str:
        """Pairs of name and JSON, as memoria stores them for filters."""
        value = f"{m}[name]"
        escaped = f"replace(replace({value}, '\\\\', '\\\\\\\\'), '\"', '\\\\\"')"
        json = (
            f"CASE WHEN {value} IS :: STRING NOT NULL THEN '\"' + {escaped} + '\"' "
            f"WHEN {value} IS :: BOOLEAN NOT NULL | INTEGER NOT NULL | FLOAT NOT NULL "
            f"THEN toString({value}) END"
        )
        return f"[name IN {self._names(m)} | [name, {json}]]"

    def _edge_property(self, r: str, name: str) -> str:
        match name:
            case "weight":
                return self._weight(r)
            case "relation":
                return self._per_edge(r, lambda edge: relation_of(r, edge))
            case "tags":
                return self._per_edge(r, lambda edge: tags_of(r, edge))
            case "created_at":
                return self._per_edge(r, lambda edge: property_of(r, edge.created_at))
            case _:
                return "(null)"

    def _per_edge(self, r: str, of: Callable[[EdgeMapping], str]) -> str:
        return choice([(f"{r}:{quoted(edge.type)}", of(edge)) for edge in self._edges])

    def _weight(self, r: str) -> str:
        return self._per_edge(r, lambda edge: self._if_valid(r, edge, weight_of(r, edge.weight)))

    def _if_valid(self, r: str, edge: EdgeMapping, weight: str) -> str:
        """Return -1, which is not a weight, for an edge that says that it is not valid."""
        tests = [is_reached(f"{r}.{quoted(name)}", self._at) for name in edge.valid_until]
        if edge.valid_from is not None:
            tests.append(f"NOT {is_reached(f'{r}.{quoted(edge.valid_from)}', self._at)}")
        return f"CASE WHEN {' OR '.join(tests)} THEN -1.0 ELSE {weight} END" if tests else weight
