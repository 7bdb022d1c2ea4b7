"""Links of pages that are read beside the site; those of the site are checked as it is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_every_link_into_the_repository_leads_to_a_file(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    missing = [link for link in links if not (ROOT / link.partition("#")[0]).exists()]
    assert not missing
