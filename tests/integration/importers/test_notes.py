"""``import-notes``: a folder of four notes, imported, edited, and imported again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoria.store import Store, Target
from tests.integration.cli.test_commands import Done, in_process
from tests.integration.remember.test_documents import edges, memories

VAULT = Path(__file__).parents[2] / "data" / "vault"
Import = Callable[..., Done]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A copy of the notes, to be edited."""
    return Path(shutil.copytree(VAULT, tmp_path / "vault"))


@pytest.fixture
def run_import(target: Target, scope: str, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Run the command on the scope of the test."""
    assert isinstance(target.auth, tuple)
    user, password = target.auth
    monkeypatch.setenv("NEO4J_URI", target.uri)
    monkeypatch.setenv("NEO4J_USERNAME", str(user))
    monkeypatch.setenv("NEO4J_PASSWORD", str(password))

    def run(*arguments: str) -> Done:
        return in_process("import-notes", *arguments, "--scope", scope, "--embedder", "none")

    return run


def facts(done: Done) -> dict[str, Any]:
    """What a command printed as JSON."""
    assert done.code == 0, done.err
    printed: dict[str, Any] = json.loads(done.out)
    return printed


async def test_a_folder_of_notes_becomes_a_graph(
    run_import: Import, vault: Path, store: Store, scope: str
) -> None:
    done = facts(run_import(str(vault), "--json"))
    assert (done["documents"], done["parts"], done["invalid"]) == (4, 4, 0)
    assert (await memories(store, scope))["notes/2024-03-04.md"].startswith("2024-03-04\nOrdered")
    found = await edges(store, scope, "links_to", "names")
    assert found == {
        ("notes/Sourdough.md", "links_to", "notes/people/Marta Keller.md", 1.0),
        ("notes/Sourdough.md", "links_to", "notes/Stone oven.md", 1.0),
        ("notes/Sourdough.md", "names", "notes/people/Marta Keller.md", 0.95),
        ("notes/Sourdough.md", "names", "notes/Stone oven.md", 0.95),
        ("notes/people/Marta Keller.md", "links_to", "notes/Sourdough.md", 1.0),
        ("notes/2024-03-04.md", "names", "notes/Stone oven.md", 0.95),
        ("notes/2024-03-04.md", "names", "notes/people/Marta Keller.md", 0.95),
    }
    mentions = await edges(store, scope, "mentions")
    both = {source for source, _, topic, _ in mentions if topic == "@topic:jonas lind"}
    assert both == {"notes/Stone oven.md", "notes/people/Marta Keller.md"}


async def test_notes_imported_again_are_updated_and_those_gone_are_pruned(
    run_import: Import, vault: Path, store: Store, scope: str
) -> None:
    facts(run_import(str(vault), "--json"))
    (vault / "2024-03-04.md").write_text("Nothing happened.", encoding="utf-8")
    (vault / "Stone oven.md").unlink()
    again = facts(run_import(str(vault), "--json"))
    assert (again["written"]["memories_created"], again["forgotten"]) == (0, 0)
    assert "notes/Stone oven.md" in await memories(store, scope)
    assert {a for a, _, _, _ in await edges(store, scope, "names")} == {"notes/Sourdough.md"}
    pruned = facts(run_import(str(vault), "--prune", "--json"))
    assert pruned["forgotten"] == 1
    assert set(await memories(store, scope)) == {
        "notes/2024-03-04.md",
        "notes/Sourdough.md",
        "notes/people/Marta Keller.md",
    }


async def test_a_dry_run_counts_what_is_written_later(
    run_import: Import, vault: Path, store: Store, scope: str
) -> None:
    (vault / "odd.md").write_text(
        "---\ntitle: Odd: a note\n@odd\n---\n%%no%% See [[Stone oven]], [[Gone]] and "
        "[the web](https://example.org/x).\n",
        encoding="utf-8",
    )
    (vault / "README.md").write_text("Stone oven, Sourdough", encoding="utf-8")
    options = (str(vault), "--exclude", "README.md")
    rehearsed = facts(run_import(*options, "--dry-run", "--json"))
    assert await memories(store, scope) == {}
    done = facts(run_import(*options, "--json"))
    for name in ("documents", "parts", "topics", "names", "links", "missing_links", "left_out"):
        assert rehearsed[name] == done[name], name
    assert rehearsed["written"]["relations"] == done["written"]["relations"] > 20
    assert done["left_out"] == {"excluded": 1, "comment": 1, "front matter that is not YAML": 1}
    assert done["links_elsewhere"] == {"example.org": 1}
    assert done["missing_links"] == 1
    line = run_import(*options, "--dry-run").out
    assert "would write 5 notes, 5 memories, " in line
    assert "; left out: 1 " in line
    assert "; 1 link to a missing note; links to other places: 1 example.org\n" in line


async def test_one_note_is_imported_by_its_path_and_its_links_lead_to_what_is_there(
    run_import: Import, vault: Path, store: Store, scope: str
) -> None:
    facts(run_import(str(vault / "Stone oven.md"), "--json"))
    assert list(await memories(store, scope)) == ["notes/Stone oven.md"]
    refused = run_import(str(vault / "Stone oven.md"), "--prune")
    assert refused.code == 2


async def test_a_note_that_cannot_be_read_stops_the_import_or_is_left_out(
    run_import: Import, vault: Path, store: Store, scope: str
) -> None:
    (vault / "zz.md").write_bytes(b"fine\n\xff")
    stopped = run_import(str(vault))
    assert stopped.code == 1
    assert f"{vault / 'zz.md'}" in stopped.err.replace("\n", "")
    assert "line 2: not UTF-8" in stopped.err
    done = run_import(str(vault), "--skip-invalid", "--prune")
    assert done.code == 0
    assert "1 that can't be read" in done.out
    assert "nothing was pruned" in done.err
    assert len(await memories(store, scope)) == 4


async def test_an_empty_note_is_left_out_and_a_note_that_was_emptied_is_forgotten(
    run_import: Import, tmp_path: Path, store: Store, scope: str
) -> None:
    said = "One. " * 500
    for name, text in {"full": said, "empty": "---\n---\n\n", "named": "# Name"}.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    done = facts(run_import(str(tmp_path), "--json"))
    assert (done["documents"], done["skipped"], done["absent"]) == (3, 1, 0)
    assert facts(run_import(str(tmp_path), "--dry-run", "--json"))["skipped"] == 1
    stored = await memories(store, scope)
    assert {id_.partition("#")[0] for id_ in stored} == {"notes/full.md", "notes/named.md"}

    (tmp_path / "full.md").write_text(" ", encoding="utf-8")
    (tmp_path / "named.md").unlink()
    (tmp_path / "new.md").write_text("New.", encoding="utf-8")
    line = run_import(str(tmp_path)).out
    assert "2 empty" in line
    assert "; 1 note is no longer in the folder: --prune forgets it; scope" in line
    assert set(await memories(store, scope)) == {"notes/named.md", "notes/new.md"}


def test_a_folder_without_notes_says_what_notes_are(run_import: Import, tmp_path: Path) -> None:
    done = run_import(str(tmp_path), "--dry-run")
    assert "they are files whose names end in .md or .markdown" in done.err


async def test_an_empty_folder_prunes_nothing(
    run_import: Import, vault: Path, tmp_path: Path, store: Store, scope: str
) -> None:
    facts(run_import(str(vault), "--json"))
    unmounted = tmp_path / "unmounted"
    unmounted.mkdir()
    done = facts(run_import(str(unmounted), "--prune", "--json"))
    assert (done["documents"], done["forgotten"]) == (0, 0)
    assert done["problems"] == ["nothing was pruned, since no note was read"]
    assert len(await memories(store, scope)) == 4
