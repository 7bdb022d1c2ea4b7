"""How the tests open the page, ask it, and read it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from memoria import Path
from memoria.evaluation.sample import QUESTIONS
from tests.serving import TOKEN, Served

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

QUESTION = QUESTIONS[0]
WIDE = {"width": 1280, "height": 860}
NARROW = {"width": 360, "height": 780}


@asynccontextmanager
async def opened(
    browser: Browser, served: Served, secret: str = f"token={TOKEN}", **options: Any
) -> AsyncIterator[Page]:
    """A page that was opened with its token or a ticket; an error of a script fails the test."""
    context = await browser.new_context(**({"viewport": WIDE} | options))
    page = await context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda message: (
            errors.append(message.text)
            if message.type == "error" and "Failed to load resource" not in message.text
            else None
        ),
    )
    page.set_default_timeout(60_000)  # as patient as a busy machine needs
    await page.goto(f"{served.url}/#{secret}")
    try:
        yield page
    finally:
        await context.close()
    assert errors == []


async def ask(page: Page, query: str, tags: str = "") -> None:
    await page.get_by_role("textbox", name="Question").fill(query)
    if tags:
        await page.locator("#settings summary").click()
        await page.get_by_role("textbox", name="Tags").fill(tags)
        await page.locator("#settings summary").click()
    await page.get_by_role("button", name="Recall", exact=True).click()
    await page.locator("#stop").wait_for(state="hidden")


async def shows(page: Page, selector: str, text: str) -> None:
    """Wait until an element holds a text."""
    await page.locator(selector, has_text=text).first.wait_for()


def ways_of(paths: Iterable[Path]) -> set[tuple[str, ...]]:
    return {path.ids[:end] for path in paths for end in range(1, len(path.ids) + 1)}


async def nodes_of(page: Page) -> int:
    """How many memories the graph has, drawn or too far away."""
    await page.evaluate("new Promise(requestAnimationFrame)")
    number: int = await page.evaluate(
        """() => {
            document.querySelector('#scroll').style.height = '99999px';
            document.querySelector('#scroll').style.flex = 'none';
            document.querySelector('#fit').click();
            const number = document.querySelectorAll('g.node').length;
            document.querySelector('#scroll').style = '';
            return number;
        }"""
    )
    return number
