"""Ask the graphs of three libraries: by a mapping, by the libraries, and as memoria's own graph.

    scripts/bench mapped --python PYTHON MUSIQUE LOCOMO [--limit 80] [--write PAGE]

PYTHON has neo4j-graphrag, langchain-neo4j and graphiti-core; MUSIQUE and LOCOMO are folders in the
format of `memoria evaluate` with vectors. Each library writes its own graph (`libraries.py`) and
searches it; memoria reads the same graph. All use the vectors of the folders. Of MuSiQue's passages
as many are written as ``--passages`` says: the evidence, and others by lot. Facts of conversations
are made by rule: each utterance states one fact between its speaker and each name in it. Prints a
table, or writes it into a page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import neo4j
import numpy as np

from memoria import GraphMapping, GraphRetriever
from memoria.embed import CallableEmbedder
from memoria.evaluation import (
    Dataset,
    EvaluationConfig,
    ask_all,
    bootstrap,
    load_dataset,
    prepare,
    read_dataset,
    score,
    supplied_embedder,
)
from memoria.evaluation.dataset import Question
from memoria.graph.mapping.creating import create_indexes
from memoria.graph.mapping.detecting import detect
from memoria.graph.mapping.embedding import embed_mapped
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.types import MemoryFilter, Relation

KS = (5, 10)
# A busy machine must not rank otherwise than an idle one.
_PATIENT = StoreConfig(query_timeout_s=300)
_RETRIEVER = replace(EvaluationConfig().retriever, deadline_s=600)
_BEGIN, _END = "<!-- measured by scripts/bench mapped -->", "<!-- end of the measured table -->"
_LOTS = 20261126


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A graph of a library: what it is called, what its items are, and how its facts are read."""

    library: str
    title: str
    kind: str
    retriever: str


SHAPES = (
    Shape(
        library="graphrag",
        title="MuSiQue, chunks and entities of neo4j-graphrag",
        kind="Chunk",
        retriever="`HybridCypherRetriever`",
    ),
    Shape(
        library="langchain",
        title="MuSiQue, documents and entities of LangChain",
        kind="Document",
        retriever="`HybridCypherRetriever`",
    ),
    Shape(
        library="graphiti",
        title="LoCoMo, episodes and facts of Graphiti",
        kind="Episodic",
        retriever="`Graphiti.search`",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """The figures of one way to ask: the share of the evidence for each k, question by question."""

    shape: str
    way: str
    recall: Mapping[int, Any]


def main(arguments: Sequence[str]) -> None:
    """Measure the three shapes one after the other on one server."""
    parser = argparse.ArgumentParser(prog="scripts/bench mapped", description=__doc__)
    parser.add_argument("musique", type=Path)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--python", type=Path, required=True, help="has the three libraries")
    parser.add_argument("--limit", type=int, default=80, help="questions of each set")
    parser.add_argument("--passages", type=int, default=2_000)
    parser.add_argument("--conversations", type=int, default=2)
    parser.add_argument("--write", type=Path, help="page whose table is written again")
    options = parser.parse_args(arguments)
    musique = _some_passages(read_dataset(options.musique), options.limit, options.passages)
    locomo = _some_conversations(read_dataset(options.locomo), options.limit, options.conversations)
    rows = asyncio.run(_measure(musique, locomo, options.python))
    table = "\n".join([caption(musique, locomo), "", *_table(rows)])
    if options.write is None:
        print(table)
        return
    page = options.write.read_text(encoding="utf-8")
    before, after = page.split(_BEGIN)[0], page.split(_END)[1]
    options.write.write_text(f"{before}{_BEGIN}\n{table}\n{_END}{after}", encoding="utf-8")


def caption(musique: Dataset, locomo: Dataset) -> str:
    """Say how much was asked of how much."""
    sizes = [
        (
            len(each.questions),
            sum(m.kind in each.item_kinds for f in each.memories.values() for m in f),
        )
        for each in (musique, locomo)
    ]
    (asked, passages), (talked, utterances) = sizes
    return (
        f"{asked} questions about {passages} passages of MuSiQue, and {talked} about {utterances} "
        f"utterances of LoCoMo, in percent of the evidence; gains with intervals of 95 %."
    )


async def _measure(musique: Dataset, locomo: Dataset, python: Path) -> list[Row]:
    rows: list[Row] = []
    async with (
        LocalNeo4j.ephemeral(heap_mb=1_024, page_cache_mb=256) as server,
        open_driver(Target(uri=server.uri, auth=server.auth), StoreConfig()) as driver,
    ):
        for shape in SHAPES:
            dataset = locomo if shape.library == "graphiti" else musique
            await _wipe(driver)
            answers = await asyncio.to_thread(_answers_of, shape, dataset, server, python)
            rows.append(_row(shape, shape.retriever, dataset, answers))
            for way, found in (await _through(shape, dataset, driver)).items():
                rows.append(_row(shape, way, dataset, found))
            print("\n".join(_table(rows)), file=sys.stderr, flush=True)
        for dataset, titles in ((musique, SHAPES[:2]), (locomo, SHAPES[2:])):
            await _wipe(driver)
            own = await _own(dataset, driver)
            rows += [_row(shape, "memoria's own graph", dataset, own) for shape in titles]
    return rows


def _some_passages(dataset: Dataset, limit: int, passages: int) -> Dataset:
    """Keep as many questions, their evidence and other passages by lot, and all their names."""
    questions = _spread(dataset.questions, limit)
    [(scope, memories)] = dataset.memories.items()
    gold = {id_ for question in questions for id_ in question.gold}
    others = sorted(m.id for m in memories if m.kind in dataset.item_kinds and m.id not in gold)
    random.Random(_LOTS).shuffle(others)  # noqa: S311  # lots, to be drawn again
    items = gold | {*others[: max(0, passages - len(gold))]}
    relations = [each for each in dataset.relations[scope] if _is_kept(each, items)]
    kept = items | {end for each in relations for end in (each.source, each.target)}
    return replace(
        dataset,
        questions=questions,
        memories={scope: tuple(m for m in memories if m.id in kept)},
        relations={scope: tuple(relations)},
        vectors={id_: vector for id_, vector in dataset.vectors.items() if id_ in items},
    )


def _is_kept(relation: Relation, items: set[str]) -> bool:
    """Whether both ends are kept; or one, and the other is a name in it."""
    inside = {relation.source, relation.target} & items
    return len(inside) == 2 or (bool(inside) and relation.relation == "MENTIONS")


def _some_conversations(dataset: Dataset, limit: int, number: int) -> Dataset:
    scopes = list(dataset.memories)[:number]
    asked = [q for q in dataset.questions if q.scope in scopes and q.category != "adversarial"]
    kept = {m.id for scope in scopes for m in dataset.memories[scope]}
    return replace(
        dataset,
        questions=_spread(asked, limit),
        memories={scope: dataset.memories[scope] for scope in scopes},
        relations={scope: dataset.relations[scope] for scope in scopes},
        vectors={id_: vector for id_, vector in dataset.vectors.items() if id_ in kept},
    )


def _spread(questions: Sequence[Question], limit: int) -> tuple[Question, ...]:
    limit = min(limit, len(questions))
    return tuple(questions[place * len(questions) // limit] for place in range(limit))


def _items(dataset: Dataset) -> list[dict[str, Any]]:
    """Return what a library writes: the ranked memories, with the names that edges give them."""
    found = []
    for scope, memories in dataset.memories.items():
        by_id = {memory.id: memory for memory in memories}
        names: dict[str, list[str]] = {}
        for relation in dataset.relations[scope]:
            if relation.relation in ("MENTIONS", "SAID_BY"):
                names.setdefault(relation.source, []).append(by_id[relation.target].text)
        for memory in memories:
            if memory.kind not in dataset.item_kinds:
                continue
            said = names.get(memory.id, [])
            if memory.created_at is not None:
                said = _said(memory.text, said)
            found.append(
                {
                    "id": memory.id,
                    "text": memory.text,
                    "vector": [float(value) for value in dataset.vectors[memory.id]],
                    "names": said,
                    "time": memory.created_at.isoformat() if memory.created_at else None,
                    "group": _group(scope),
                }
            )
    return found


def _said(text: str, names: Sequence[str]) -> list[str]:
    """Return the speaker first, then names in the utterance, by rule: words with a capital."""
    speaker, _, words = text.partition(":")
    capital = re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", words)
    others = [name for name in (*capital, *names) if name.lower() != speaker.lower()]
    return list(dict.fromkeys([speaker, *(others or ["conversation"])]))


def _group(scope: str) -> str:
    return re.sub(r"\W+", "_", scope)


def _answers_of(
    shape: Shape, dataset: Dataset, server: EphemeralNeo4j, python: Path
) -> dict[str, list[str]]:
    """Let a library write its graph and search it."""
    user, password = server.auth
    job = {
        "uri": server.uri,
        "user": user,
        "password": password,
        "library": shape.library,
        "items": _items(dataset),
        "questions": [
            {
                "id": question.id,
                "text": question.text,
                "vector": [float(v) for v in dataset.question_vectors[question.text]],
                "group": _group(question.scope),
            }
            for question in dataset.questions
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        script = Path(__file__).with_name("libraries.py")
        done = subprocess.run(  # noqa: S603  # a Python that the caller names
            [str(python), str(script), str(file)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GRAPHITI_TELEMETRY_ENABLED": "false"},
        )
    if done.returncode:
        sys.exit(done.stderr[-4_000:])
    found: dict[str, list[str]] = json.loads(done.stdout)
    return _as_ids(dataset, found)


def _as_ids(dataset: Dataset, found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Replace texts by the ids of their items."""
    ids = {item["text"]: item["id"] for item in _items(dataset)}
    return {
        question: list(dict.fromkeys(ids.get(each, each) for each in answers))
        for question, answers in found.items()
    }


async def _through(
    shape: Shape, dataset: Dataset, driver: neo4j.AsyncDriver
) -> dict[str, dict[str, list[str]]]:
    """Ask through the mapping that memoria proposes; also with vectors of memoria's own."""
    store = Store(driver, database="neo4j", config=_PATIENT)
    mapping = (await detect(store)).mapping
    await create_indexes(store, mapping, lambda _: None)
    embedder = supplied_embedder(dataset)
    if any(node.vector_index for node in mapping.nodes):
        return {"memoria, mapped": await _ask(shape, dataset, store, mapping, embedder)}
    by_words = await _ask(shape, dataset, store, mapping, None)
    by_facts = await _ask(shape, dataset, store, mapping, embedder)
    known = {item["text"]: item["vector"] for item in _items(dataset)}
    nothing = [0.0] * embedder.dimensions  # names have no vector in the folder
    own = CallableEmbedder(
        lambda texts: [known.get(text, nothing) for text in texts],
        dimensions=embedder.dimensions,
        name=embedder.name,
    )
    made = await embed_mapped(store, mapping, own, lambda _: None)
    found = await _ask(shape, dataset, store, made.mapping, embedder)
    return {
        "memoria, mapped, by words": by_words,
        "memoria, mapped, words and vectors of facts": by_facts,
        "memoria, mapped, and with `memoria embed --mapping`": found,
    }


async def _ask(
    shape: Shape, dataset: Dataset, store: Store, mapping: GraphMapping, embedder: Any
) -> dict[str, list[str]]:
    scope = _group(dataset.questions[0].scope) if mapping.has_scopes else None
    memory = GraphRetriever(
        store, scope=scope, mapping=mapping, embedder=embedder, config=_RETRIEVER
    )
    found = {}
    for question in dataset.questions:
        own = memory.for_scope(_group(question.scope)) if mapping.has_scopes else memory
        recall = await own.recall(question.text, where=MemoryFilter(kinds=(shape.kind,)))
        found[question.id] = [entry.memory.text for entry in recall.ranked]
    return _as_ids(dataset, found)


async def _own(dataset: Dataset, driver: neo4j.AsyncDriver) -> dict[str, list[str]]:
    """Ask memoria's own graph of the same items, names and vectors."""
    embedder = supplied_embedder(dataset)
    store = Store(driver, database="neo4j", config=_PATIENT)
    await prepare(store, embedder)
    await load_dataset(store, dataset, embedder=embedder, use_supplied=True)
    config = EvaluationConfig(ks=KS, methods=("transfer",), retriever=_RETRIEVER)
    [run] = await ask_all(store, dataset, embedder=embedder, config=config)
    return {id_: list(ranked) for id_, ranked in run.rankings.items()}


def _row(shape: Shape, way: str, dataset: Dataset, found: Mapping[str, Sequence[str]]) -> Row:
    gold = {question.id: question.gold for question in dataset.questions}
    recall = {k: 100 * score(gold, found, [k]).recall.mean(axis=1) for k in KS}
    return Row(shape=shape.title, way=way, recall=recall)


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        f"| graph | asked by | {' | '.join(f'R@{k}' for k in KS)} | than the library at {KS[-1]} |"
    ]
    lines.append("|---" * (len(KS) + 3) + "|")
    for shape in SHAPES:
        own = [row for row in rows if row.shape == shape.title]
        if not own:
            continue
        base = own[0].recall[KS[-1]]
        for row in own:
            figures = " | ".join(f"{np.mean(row.recall[k]):.1f}" for k in KS)
            gain = "" if row is own[0] else _gain(row.recall[KS[-1]] - base)
            lines.append(f"| {shape.title} | {row.way} | {figures} | {gain} |")
    return lines


def _gain(differences: Any) -> str:
    [interval] = bootstrap(np.asarray(differences)[:, None])
    return f"{interval.mean:+.1f} ({interval.low:+.1f} to {interval.high:+.1f})"


async def _wipe(driver: neo4j.AsyncDriver) -> None:
    await driver.execute_query("MATCH (n) DETACH DELETE n", database_="neo4j")
    found = await driver.execute_query(
        "SHOW CONSTRAINTS YIELD name RETURN name, 'CONSTRAINT' AS kind", database_="neo4j"
    )
    indexes = await driver.execute_query(
        "SHOW INDEXES YIELD name, owningConstraint, type WHERE owningConstraint IS NULL "
        "AND type <> 'LOOKUP' RETURN name, 'INDEX' AS kind",
        database_="neo4j",
    )
    for row in (*found.records, *indexes.records):
        await driver.execute_query(f"DROP {row['kind']} `{row['name']}`", database_="neo4j")
