"""A real browser for the tests of the page; they belong to ``scripts/test-browser``."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pictures", action="store_true", help="write the pictures of the page into docs/images"
    )


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium without a window."""
    if not find_spec("playwright") or CHROMIUM is None:
        pytest.skip("no browser: scripts/test-browser installs Playwright; Chromium must be there")
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        found = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        await found.close()
