"""``memoria link``, and ``memoria ingest --link``."""

from __future__ import annotations

import json

import pytest

from tests.conftest import DIMENSIONS
from tests.integration.cli.test_commands import Call, call, here, secret

__all__ = ["call", "here", "secret"]


def line(id_: str, *head: float, **fields: object) -> str:
    vector = [*head, *[0.0] * (DIMENSIONS - len(head))]
    return json.dumps({"id": id_, "kind": "Event", "text": id_, "embedding": vector, **fields})


LINES = "\n".join([line("a", 1.0), line("b", 0.8, 0.6), '{"id":"c","kind":"Event","text":"c"}'])
INGEST = ("ingest", "-", "--embedder", "none")


@pytest.mark.parametrize(("linker", "weight"), [("composite", 0.69), ("similarity", 0.8)])
def test_ingest_links_what_it_writes(
    call: Call, here: list[str], linker: str, weight: float
) -> None:
    done = call(*INGEST, "--link", linker, *here, stdin=LINES)
    assert done.code == 0, done.err
    assert ", 1 link (1 new), 1 not linked without a vector, 0 lines skipped" in done.out
    again = json.loads(call(*INGEST, "--link", linker, "--json", *here, stdin=LINES).out)
    assert {key: again[key] for key in ("linked", "unlinked", "links", "links_created")} == {
        "linked": 0,
        "unlinked": 1,
        "links": 0,
        "links_created": 0,
    }
    *edges, clock = [json.loads(text) for text in call("export", *here).out.splitlines()][3:]
    assert clock["clock"]["active_hours"] == 0.0
    assert [(edge["source"], edge["target"]) for edge in edges] == [("a", "b")]
    assert edges[0]["weight"] == pytest.approx(weight, abs=1e-6)


def test_ingest_links_nothing_unless_told(call: Call, here: list[str]) -> None:
    done = call(*INGEST, *here, stdin=LINES)
    assert "link" not in done.out
    assert len(call("export", *here).out.splitlines()) == 3


def test_link_says_what_it_did(call: Call, here: list[str]) -> None:
    call(*INGEST, *here, stdin=LINES)
    scope = here[-1]
    for arguments, said in (
        ([], "2 memories linked: 1 edge (1 new), 1 left out without a vector"),
        (["--new"], "0 memories linked: 0 edges (0 new), 2 linked before, 1 left out"),
        (
            ["--linker", "similarity", "--prune"],
            "1 edge (0 new), 1 left out without a vector, ",
        ),
        (["--prune"], "0 edges pruned"),
    ):
        done = call("link", *arguments, *here)
        assert done.code == 0, done.err
        assert said in done.out
        assert done.out.endswith(f"; scope {scope}\n")
    found = json.loads(call("link", "--json", *here).out)
    assert found == {
        "memories": 2,
        "already_linked": 0,
        "without_embedding": 1,
        "edges": 1,
        "edges_created": 0,
        "pruned": 0,
        "certain": True,
    }


def test_an_unknown_scope_has_nothing_to_link(call: Call, here: list[str]) -> None:
    done = call("link", *here)
    assert done.code == 0
    assert "memoria stats --all" in done.err
    assert done.out.startswith("0 memories linked: 0 edges (0 new)")


def test_an_unknown_linker_is_wrong_usage(call: Call, here: list[str]) -> None:
    for arguments in (["link", "--linker", "cosine"], [*INGEST, "--link", "cosine"]):
        done = call(*arguments, *here)
        assert done.code == 2
        assert "composite" in done.err


def test_thresholds_without_a_linker_that_has_them_are_refused(call: Call, here: list[str]) -> None:
    done = call("link", "--linker", "similarity", "--min-score", "0.5", *here)
    assert (done.code, "--min-score is a setting of composite" in done.err) == (1, True)
    done = call(*INGEST, "--min-cosine", "0.5", *here, stdin=LINES)
    assert (done.code, "--min-cosine needs --link" in done.err) == (1, True)
