"""Propose a mapping for a database: what is there, and how it may be read.

In: a store of memoria's own. Out: a `Proposal`. Reads only, and samples: no pass over the graph.
Queries: ``mapping.*``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memoria._support.wording import one_line
from memoria.errors import MappingError
from memoria.graph.mapping.checking import Problem, problems_of
from memoria.graph.mapping.database import (
    Index,
    Inventory,
    ask,
    inventory_of,
    names_of,
    with_sizes,
)
from memoria.graph.mapping.model import GraphMapping, named_mapping, names_of_mappings, toml_of
from memoria.graph.mapping.parts import ELEMENT_ID, EdgeMapping, NodeMapping, WeightOf
from memoria.graph.vocabulary import CONNECTOR_KINDS, MEMORY_LABEL, RESERVED_LABELS
from memoria.store import Store

_MOST_NAMES = 300
_SAMPLE = 50
_SHOWN_CHARS = 90
_MOST_SCOPES = 5
_KEYS = ("id", "uuid", "key", "guid", "name", "title")
_SCOPES = ("group_id", "user_id", "tenant", "tenant_id", "scope", "namespace")
_TITLES = ("name", "title", "heading", "label")
_TIMES = ("created_at", "createdAt", "created", "timestamp", "date")
_SHARES = ("weight", "score", "similarity", "confidence", "strength")
_COUNTS = ("mentions", "count", "frequency", "times")
_BEGINS = ("valid_from", "valid_at")
_VECTORS = ("fact_embedding", "embedding")
_ENDS = ("valid_until", "valid_to", "invalid_at", "invalidated_at", "expired_at")
_LONG_TEXT, _SHORT_TEXT = 12, 2
_PLAIN = {"STRING", "INTEGER", "FLOAT", "BOOLEAN"}
_MOST_PROPERTIES, _SHORT_VALUE = 20, 100
_SECRET = re.compile("password|secret|token|hash|api_?key", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A mapping for a database, and what it rests on.

    Attributes
    ----------
    based_on
        Name of the known graph that it began with; None if the samples alone speak.
    counts
        Label or type -> number, for what the mapping reads.
    left_out
        Labels and types that it does not read, with their numbers.
    samples
        Label -> a text as memoria would read it.
    scopes
        Some scopes of the nodes that were looked at, sorted.
    problems
        What is missing, with statements.
    """

    mapping: GraphMapping
    based_on: str | None
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    samples: Mapping[str, str]
    scopes: Sequence[str]
    problems: Sequence[Problem]

    def toml(self) -> str:
        """Return the mapping as TOML, with all the rest as comments."""
        known = f"the graph of {self.based_on}" if self.based_on else "a graph of its own kind"
        lines = [
            f"Proposed by memoria adopt --detect: {known}. Correct it; then memoria adopt FILE"
        ]
        lines += [f"{name}: {number}" for name, number in self.counts.items()]
        if self.left_out:
            rest = ", ".join(f"{name} ({number})" for name, number in self.left_out.items())
            lines.append(f"not read: {rest}")
        lines += [f"{label} reads: {one_line(text)}" for label, text in self.samples.items()]
        if self.scopes:
            lines.append(f"scopes, of which --scope names one: {', '.join(map(repr, self.scopes))}")
        for problem in self.problems:
            lines.append(f"! {problem.text}")
            lines += [f"  {problem.statement};"] if problem.statement else []
        return "".join(f"# {line}\n" for line in lines) + "\n" + toml_of(self.mapping)


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Some nodes of a label."""

    label: str
    number: int
    labels: Sequence[frozenset[str]]
    values: Mapping[str, Sequence[tuple[str, str | None]]]  # property -> (type, text)
    rows: Sequence[Mapping[str, str | None]]  # property -> text, node by node

    def texts(self, name: str) -> list[str]:
        return [text for kind, text in self.values.get(name, ()) if kind == "STRING" and text]

    def mean_length(self, name: str) -> float:
        texts = self.texts(name)
        return sum(map(len, texts)) / len(texts) if texts else 0.0

    def has_words(self, name: str) -> bool:
        texts = self.texts(name)
        return 2 * sum(" " in text for text in texts) >= len(texts)

    def is_common(self, name: str) -> bool:
        return 2 * len(self.values.get(name, ())) >= len(self.labels)

    def is_unique(self, name: str) -> bool:
        texts = self.texts(name)
        return len(texts) == len(self.labels) and len(set(texts)) == len(texts)


async def detect(store: Store) -> Proposal:
    """Look at a database, and propose how to read it.

    Notes
    -----
    A handful of round trips, and four for each label and type; of more than 300 labels or types the
    first 300 by name are looked at.

    Raises
    ------
    MappingError
        There is nothing that could be read.
    """
    names, type_names = await names_of(store)
    own = {MEMORY_LABEL, *RESERVED_LABELS}
    inventory = await inventory_of(store, names[:_MOST_NAMES], type_names[:_MOST_NAMES])
    samples = [
        await _sample(store, label, number)
        for label, number in inventory.labels.items()
        if number and (label not in own or label == MEMORY_LABEL)
    ]
    samples = [each for each in samples if not _is_memorias(each)]
    if not samples:
        raise MappingError(
            "this database has no graph of another program: it is empty, or holds memoria's own "
            "graph, which needs no mapping"
        )
    ends = {type_: await _ends(store, type_) for type_, number in inventory.types.items() if number}
    found = _known(samples, ends)
    based_on = None if found is None else found.name
    mapping = _guessed(samples, inventory) if found is None else found
    example = None if found is None or found.edges[0].type in ends else found.edges[0]
    mapping = _with_edges(replace(mapping, places={}), ends, example)
    mapping = _with_indexes(mapping, ends, inventory)
    inventory = await with_sizes(store, mapping, inventory)
    return Proposal(
        mapping=mapping,
        based_on=based_on,
        counts=_counts(mapping, inventory),
        left_out=_left_out(mapping, inventory, samples),
        samples=_texts(mapping, samples),
        scopes=_scopes(mapping, samples),
        problems=[
            *_not_looked_at(names, "labels"),
            *_not_looked_at(type_names, "types"),
            *problems_of(mapping, inventory),
        ],
    )


def _not_looked_at(names: Sequence[str], what: str) -> Iterator[Problem]:
    if len(names) > _MOST_NAMES:
        yield Problem(
            text=f"only {_MOST_NAMES:,} of {len(names):,} {what} were looked at, the first by name"
            ": add those that you need",
            stops=False,
        )


async def _sample(store: Store, label: str, number: int) -> _Sampled:
    limits = {"limit": _SAMPLE, "max_chars": 500}
    rows = (await ask(store, "mapping.sample_nodes", limits, label=label))["rows"]
    values: defaultdict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for _, _, properties in rows:
        for name, kind, text in properties:
            values[name].append((kind.removesuffix(" NOT NULL"), text))
    texts = [{name: text for name, _, text in properties} for _, _, properties in rows]
    return _Sampled(label, number, [frozenset(row[1]) for row in rows], values, texts)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Some relationships of a type: the labels at their ends, and their properties."""

    pairs: Sequence[tuple[frozenset[str], frozenset[str]]]
    kinds: Mapping[str, Counter[str]]


async def _ends(store: Store, type_: str) -> _Ends:
    rows = (await ask(store, "mapping.sample_edges", {"limit": _SAMPLE}, type_=type_))["rows"]
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, _, properties in rows:
        for name, kind in properties:
            kinds[name][kind.removesuffix(" NOT NULL")] += 1
    return _Ends([(frozenset(a), frozenset(b)) for a, b, _ in rows], kinds)


def _is_memorias(sampled: _Sampled) -> bool:
    """Whether the nodes are memoria's own: other programs have a label Memory, too."""
    return all(MEMORY_LABEL in labels for labels in sampled.labels) and "scope" in sampled.values


def _known(samples: Sequence[_Sampled], ends: Mapping[str, _Ends]) -> GraphMapping | None:
    """Return the mapping of the known graph that fits, restricted to what is there."""
    there = {sampled.label: sampled for sampled in samples}
    best: tuple[int, GraphMapping] | None = None
    for name in names_of_mappings():
        mapping = named_mapping(name)
        nodes = [
            replace(node, label=labels)
            for node in mapping.nodes
            if (labels := tuple(label for label in node.labels if _fits(node, there.get(label))))
        ]
        edges = [edge for edge in mapping.edges if edge.type in ends]
        main = next(node for node in mapping.nodes if not node.connector)
        if not any(_fits(main, there.get(label)) for label in main.labels):
            continue
        if not edges and len(mapping.edges) == 1 and _has_all_texts(main, there):
            edges = [*mapping.edges]  # an example, where relations have types of any name
        if not edges or not nodes:
            continue
        if len(nodes) == 1 and len(mapping.nodes) > 1:
            continue  # one label that many programs use is not enough
        fitting = replace(mapping, nodes=tuple(nodes), edges=tuple(edges))
        score = sum(len(node.labels) for node in nodes) + len(edges)
        if best is None or score > best[0]:
            best = (score, fitting)
    return None if best is None else best[1]


def _has_all_texts(node: NodeMapping, there: Mapping[str, _Sampled]) -> bool:
    return all(label in there and {*node.text} <= {*there[label].values} for label in node.labels)


def _fits(node: NodeMapping, sampled: _Sampled | None) -> bool:
    if sampled is None:
        return False
    wanted = [name for name in (node.key, node.scope) if name not in (None, ELEMENT_ID)]
    texts = not node.text or any(name in sampled.values for name in node.text)
    return texts and all(name in sampled.values for name in wanted)


def _guessed(samples: Sequence[_Sampled], inventory: Inventory) -> GraphMapping:
    """Make a mapping of samples alone."""
    chosen: list[_Sampled] = []
    for sampled in sorted(samples, key=lambda each: (-each.number, each.label)):
        covered = {each.label for each in chosen}
        if not all(labels & covered for labels in sampled.labels):
            chosen.append(sampled)
    scope = next(
        (name for name in _SCOPES if all(s.texts(name) and s.is_common(name) for s in chosen)), None
    )
    nodes = [_node(sampled, scope, inventory) for sampled in chosen]
    if all(node.connector for node in nodes):
        raise MappingError(
            "no node of this database has a property with a text, so there is nothing to find: add "
            "one, or write a mapping by hand"
        )
    return GraphMapping(
        nodes=tuple(nodes),
        edges=(EdgeMapping(type="RELATES"),),  # replaced by those that are there
        name="graph",
        properties=_further(chosen, nodes),
    )


def _further(chosen: Sequence[_Sampled], nodes: Sequence[NodeMapping]) -> tuple[str, ...]:
    """Return the short properties that are neither texts nor keys, and that filters can ask for."""
    taken = {name for n in nodes for name in (n.key, n.scope, n.created_at, *n.text)}
    found = {
        name
        for sampled in chosen
        for name, values in sampled.values.items()
        if name not in taken
        and sampled.is_common(name)
        and {kind for kind, _ in values} <= _PLAIN
        and sampled.mean_length(name) <= _SHORT_VALUE
        and not _SECRET.search(name)
    }
    return tuple(sorted(found)[:_MOST_PROPERTIES])


def _node(sampled: _Sampled, scope: str | None, inventory: Inventory) -> NodeMapping:
    indexes = [index for index in inventory.indexes if sampled.label in index.labels]
    text = _text_properties(sampled, {scope})
    return NodeMapping(
        label=sampled.label,
        key=_key_of(sampled, indexes),
        text=text,
        scope=scope,
        created_at=next((name for name in _TIMES if _is_time(sampled, name)), None),
        fulltext_index=_fulltext_of(sampled.label, text, indexes),
        connector=not text or sampled.label in CONNECTOR_KINDS,
    )


def _text_properties(sampled: _Sampled, but: Iterable[str | None]) -> tuple[str, ...]:
    """Return the title, and the properties with long texts; else the longest text."""
    names = [n for n in sampled.values if n not in but and not n.startswith("_")]
    lengths = {n: sampled.mean_length(n) for n in names if n.lower() not in ("id", "uuid", "guid")}
    titles = [name for name in _TITLES if lengths.get(name, 0) >= _SHORT_TEXT]
    long = [
        name
        for name, length in lengths.items()
        if length >= _LONG_TEXT and name not in titles and sampled.has_words(name)
    ]
    found = [*titles[:1], *sorted(long, key=lambda name: (-lengths[name], name))[:2]]
    if not found:
        rest = [name for name, length in lengths.items() if length >= _SHORT_TEXT]
        found = sorted(rest, key=lambda name: (-lengths[name], name))[:1]
    if not found:  # an id that says something, as in LangChain's entities
        found = [name for name in ("id",) if sampled.mean_length(name) >= _SHORT_TEXT]
    return tuple(found)


def _key_of(sampled: _Sampled, indexes: Sequence[Index]) -> str:
    indexed = [
        index.properties[0]
        for index in indexes
        if index.properties and index.serves_lookups(sampled.label, index.properties[0])
    ]
    for name in [*(key for key in _KEYS if key in indexed), *indexed]:
        if sampled.is_unique(name):
            return name
    return ELEMENT_ID


def _fulltext_of(
    label: str, text: tuple[str, ...], indexes: Sequence[Index], name: str | None = None
) -> str | None:
    """Return the index that covers a text; else the name that one is to have."""
    if not text or label in CONNECTOR_KINDS:
        return None
    there = [
        index
        for index in indexes
        if index.type == "FULLTEXT" and index.entity == "NODE" and {*text} & {*index.properties}
    ]
    if there:
        return there[0].name
    return name or f"memoria_{_as_name(label) or 'node'}_text"


def _as_name(label: str) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in label.lower()).strip("_")


def _is_time(sampled: _Sampled, name: str) -> bool:
    return any("DATETIME" in kind for kind, _ in sampled.values.get(name, ()))


def _with_edges(
    mapping: GraphMapping, ends: Mapping[str, _Ends], example: EdgeMapping | None
) -> GraphMapping:
    """Add the types that join two nodes of the mapping, like an example if there is one."""
    labels, known = {*mapping.labels}, {edge.type: edge for edge in mapping.edges}
    edges = [
        known.get(type_)
        or (replace(example, type=type_, words=None) if example else _edge(type_, found))
        for type_, found in ends.items()
        if any(a & labels and b & labels for a, b in found.pairs)
    ]
    return replace(mapping, edges=tuple(edges)) if edges else mapping


def _with_indexes(
    mapping: GraphMapping, ends: Mapping[str, _Ends], inventory: Inventory
) -> GraphMapping:
    """Take the full-text and vector indexes that are there, whatever their names."""
    nodes = []
    for node in mapping.nodes:
        name = node.fulltext_index
        if name is not None and inventory.index(name) is None:
            on_label = [i for i in inventory.indexes if {*node.labels} <= {*i.labels}]
            name = _fulltext_of(node.labels[0], node.text, on_label, name)
        node = replace(node, fulltext_index=name)
        if not node.connector and inventory.index(node.vector_index or "") is None:
            vectors = _vector_index(node.labels, "NODE", inventory)
            node = replace(
                node,
                embedding=None if vectors is None else vectors.properties[0],
                vector_index=None if vectors is None else vectors.name,
            )
        nodes.append(node)
    edges = [_with_vectors(edge, ends.get(edge.type), inventory) for edge in mapping.edges]
    return replace(mapping, nodes=tuple(nodes), edges=tuple(edges))


def _with_vectors(edge: EdgeMapping, found: _Ends | None, inventory: Inventory) -> EdgeMapping:
    """Take the vectors of facts: those with an index, else those under a known name."""
    there = _vector_index((edge.type,), "RELATIONSHIP", inventory)
    if there is not None:
        return replace(edge, embedding=there.properties[0], vector_index=there.name)
    kinds = {} if found is None else found.kinds
    for name in (edge.embedding or "", *_VECTORS):
        if any(kind.startswith("LIST<FLOAT") for kind in kinds.get(name, ())):
            index = edge.vector_index or f"memoria_{_as_name(edge.type) or 'edge'}_vectors"
            return replace(edge, embedding=name, vector_index=index)
    return replace(edge, embedding=None, vector_index=None)


def _vector_index(names: Iterable[str], entity: str, inventory: Inventory) -> Index | None:
    """Return an index that compares vectors by cosine under all of these labels, or types."""
    return next(
        (
            index
            for index in inventory.indexes
            if (index.type, index.entity) == ("VECTOR", entity)
            and index.similarity == "cosine"
            and {*names} <= {*index.labels}
        ),
        None,
    )


def _edge(type_: str, found: _Ends) -> EdgeMapping:
    def numbers(name: str) -> bool:
        return bool(found.kinds.get(name)) and set(found.kinds[name]) <= {"FLOAT", "INTEGER"}

    def is_text(name: str) -> bool:
        return "STRING" in found.kinds.get(name, ())

    share = next((name for name in _SHARES if numbers(name)), None)
    count = next((name for name in _COUNTS if numbers(name)), None)
    weight: float | WeightOf = 0.5
    if share is not None:
        weight = WeightOf(property=share)
    elif count is not None:
        weight = WeightOf(property=count, half=3.0)
    lists = [n for n, kinds in found.kinds.items() if any(k.startswith("LIST<STR") for k in kinds)]
    times = {n for n, kinds in found.kinds.items() if any("DATETIME" in kind for kind in kinds)}
    return EdgeMapping(
        type=type_,
        weight=weight,
        relation=next((name for name in ("relation", "name") if is_text(name)), None),
        fact="fact" if is_text("fact") else None,
        tags="tags" if "tags" in lists else None,
        created_at=next((name for name in _TIMES if name in times), None),
        valid_from=next((name for name in _BEGINS if name in times), None),
        valid_until=tuple(name for name in _ENDS if name in times),
    )


def _counts(mapping: GraphMapping, inventory: Inventory) -> dict[str, int]:
    counted = {f"(:{label})": inventory.labels.get(label) or 0 for label in mapping.labels}
    types = {f"[:{type_}]": inventory.types.get(type_) or 0 for type_ in mapping.types}
    return counted | types


def _left_out(
    mapping: GraphMapping, inventory: Inventory, samples: Sequence[_Sampled]
) -> dict[str, int]:
    labels, types = {*mapping.labels}, {*mapping.types}
    rest = {
        f"(:{each.label})": each.number
        for each in samples
        if not all(found & labels for found in each.labels)
    }
    unread = {f"[:{t}]": n for t, n in inventory.types.items() if n and t not in types}
    return rest | unread


def _scopes(mapping: GraphMapping, samples: Sequence[_Sampled]) -> list[str]:
    found = {
        scope
        for sampled in samples
        for node in mapping.nodes
        if sampled.label in node.labels and node.scope is not None
        for scope in sampled.texts(node.scope)
    }
    return sorted(found)[:_MOST_SCOPES]


def _texts(mapping: GraphMapping, samples: Sequence[_Sampled]) -> dict[str, str]:
    """Return the text of the first node of each label that is mapped and has one."""
    found = {}
    for sampled in samples:
        for node in mapping.nodes:
            if sampled.label in node.labels and node.text:
                texts = (": ".join(filter(None, map(row.get, node.text))) for row in sampled.rows)
                found[sampled.label] = next(filter(None, texts), "")[:_SHOWN_CHARS]
    return found
