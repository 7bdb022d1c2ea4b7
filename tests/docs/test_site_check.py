"""What ``scripts/docs`` finds wrong with a built site; small sites made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.docs_check import INDEX, INDEX_BEGINS, WORKER, faults

HEAD = f'<script src="{WORKER}"></script>'


def site(folder: Path, body: str, *, index: str = f'{INDEX_BEGINS}{{"docs": [1]}}') -> list[str]:
    """Faults of a site of one page, with a picture and a folder beside it."""
    for file, text in [
        ("index.html", f'{HEAD}<h1 id="top">A page</h1>{body}'),
        ("images/a.svg", "<svg/>"),
        (WORKER, ""),
        (INDEX, index),
    ]:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return list(faults(folder))


def test_site_whose_links_hold_has_no_faults(tmp_path: Path) -> None:
    links = ["#top", "index.html#top", "images/a.svg", "/", "https://example.org/x#y"]
    body = "".join(f'<a href="{link}">a</a>' for link in links) + '<img src="images/a.svg">'
    assert site(tmp_path, body) == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('<a href="gone.html">a</a>', "gone.html: no such file"),
        ('<a href="#gone">a</a>', "#gone: no such anchor"),
        ('<a href="index.html#gone">a</a>', "no such anchor"),
        ('<a href="images/">a</a>', "images/: a folder"),
        ('<img src="images/b.svg">', "images/b.svg: no such file"),
        ('<script src="https://cdn.example.org/x.js"></script>', "from elsewhere"),
        ('<link rel="stylesheet" href="//cdn.example.org/x.css">', "from elsewhere"),
    ],
)
def test_what_leads_nowhere_or_elsewhere_is_a_fault(tmp_path: Path, body: str, reason: str) -> None:
    [fault] = site(tmp_path, body)
    assert reason in fault


def test_search_that_can_not_run_from_disk_is_a_fault(tmp_path: Path) -> None:
    assert "does not begin" in site(tmp_path, "", index='{"docs": [1]}')[0]
    assert "is empty" in site(tmp_path, "", index=f'{INDEX_BEGINS}{{"docs": []}}')[0]
    (tmp_path / INDEX).unlink()
    (tmp_path / "index.html").write_text('<h1 id="top">A page</h1>', encoding="utf-8")
    missing = list(faults(tmp_path))
    assert [WORKER in fault or INDEX in fault for fault in missing] == [True, True]


def test_folder_without_pages_is_a_fault(tmp_path: Path) -> None:
    assert any("holds no pages" in fault for fault in faults(tmp_path))
