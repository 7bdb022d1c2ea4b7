"""Queries of learning, of counts, of exports, of conversations and documents seek, too."""

from __future__ import annotations

from typing import Any

import pytest

from memoria.doctor.plans import SCANS, explain
from memoria.store import Store
from memoria.store.queries import load
from tests.integration.counts import driver, store
from tests.integration.graph.test_stats import PARAMETERS as STATS
from tests.integration.ingest.test_export import PARAMETERS as EXPORT
from tests.integration.remember.test_conversations import NOON

__all__ = ["driver", "store"]  # fixtures


@pytest.mark.parametrize("name", sorted(STATS))
async def test_counting_a_scope_goes_through_the_index(store: Store, name: str) -> None:
    plan = await explain(store, load(name), STATS[name])
    assert not [step for step in plan if step[0] in SCANS], plan
    found = [details for step, details in plan if step.startswith("NodeUniqueIndexSeek")]
    seeks = [details for details in found if ":MemoriaMeta" not in details]  # notes of the scope
    assert len(seeks) == 1
    # All of one scope; the list of scopes is a seek in name only, over all of the index.
    assert ("scope > " if name == "graph.stats_scopes" else "scope = $p.scope") in seeks[0]


@pytest.mark.parametrize("name", sorted(EXPORT))
async def test_an_export_seeks_and_never_sorts_a_scope(store: Store, name: str) -> None:
    plan = await explain(store, load(name), EXPORT[name])
    assert not [step for step in plan if step[0] in SCANS], plan
    assert any(step[0].startswith("NodeUniqueIndexSeek") for step in plan), plan
    # Of the page of edges only: the order of memories is that of the index.
    sorts = [step[0] for step in plan if "Sort" in step[0] or "Top" in step[0]]
    assert sorts == (["Top"] if name in ("export.edges", "export.history") else []), plan


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("remember.begun", {"prefixes": ["c:", "@session:c:"]}),
        (
            "remember.connectors",
            {
                "now": NOON,
                "rows": [{"id": "@topic:x", "kind": "Topic", "name": "x", "created_at": None}],
            },
        ),
        ("remember.lock", {"ids": ["@session:c:1"]}),
        ("remember.states", {"ids": ["@session:c:1"], "wanted": ["c:1"]}),
    ],
)
async def test_no_query_of_a_conversation_looks_at_a_whole_scope(
    store: Store, name: str, parameters: dict[str, Any]
) -> None:
    plan = await explain(store, load(name), {**parameters, "scope": "s"})
    assert not [step for step in plan if step[0] in SCANS], plan
    seeks = [details for step, details in plan if "Seek" in step or "MergeUnique" in step]
    assert seeks
    assert all("(scope, id)" in details for details in seeks), plan


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        (
            "remember.documents",
            {
                "heads": ["a"],
                "key": "documents:s",
                "kind": "DataSource",
                "limit": 6,
                "titles": ["@topic:a"],
                "wanted": ["b"],
            },
        ),
        ("remember.ids", {"kind": "DataSource", "prefix": "notes/"}),
        (
            "remember.rewrite",
            {
                "parts": [{"id": "a", "keep": []}],
                "relations": ["names"],
                "renamed": [{"id": "a", "keep": []}],
                "stay": [],
            },
        ),
        ("remember.next_version", {"key": "documents:s"}),
    ],
)
async def test_no_query_of_documents_looks_at_a_whole_scope(
    store: Store, name: str, parameters: dict[str, Any]
) -> None:
    plan = await explain(store, load(name), {**parameters, "scope": "s"})
    assert not [step for step in plan if step[0] in SCANS], plan
    seeks = [details for step, details in plan if "Seek" in step or "MergeUnique" in step]
    assert seeks
    assert all("(scope, id)" in details or "(key)" in details for details in seeks), plan
