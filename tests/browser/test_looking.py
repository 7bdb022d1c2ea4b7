"""What the page shows next to a recall: an overview, a graph to look around in, one memory."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memoria import (
    GraphRetriever,
    Memory,
    Message,
    Relation,
)
from tests.browser.visiting import NARROW, QUESTION, ask, nodes_of, opened, shows
from tests.serving import serving

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

DAY = timedelta(days=1)


async def test_the_page_starts_with_what_is_there(browser: Browser, bakery: GraphRetriever) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await shows(page, ".scope", bakery.scope)
        await shows(page, "#start h3", f"{bakery.scope}: 340 memories")
        await page.get_by_role("heading", name="Newest memories").wait_for()
        newest = (await bakery.recent(limit=1))[0]
        recent = page.locator("#start ul").last.locator("button")
        assert newest.said.startswith((await recent.first.text_content() or "").rstrip("…"))
        await recent.first.click()
        await shows(page, "#memory .name", newest.id)
        await shows(page, "#memory", "Neighbours:")
        questions = page.locator("#start h3", has_text="Questions to try").locator("+ ul button")
        await questions.first.click()
        await shows(page, "#status", "in the context;")
        assert await page.locator("#start").is_hidden()
        await page.get_by_role("button", name="memoria", exact=True).click()
        await page.locator("#start").wait_for()
        assert await page.locator("#context").is_hidden()


async def test_a_mistyped_scope_is_answered_with_the_nearest(
    browser: Browser, bakery: GraphRetriever
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await shows(page, ".scope", bakery.scope)
        scope = page.get_by_role("combobox", name="Scope")
        for typo in ("bakeryx", "bkaery"):  # one letter too many; two letters swapped
            await scope.fill(typo)
            await ask(page, "bun")
            await shows(page, "#status", f"in scope {typo}. Did you mean {bakery.scope}?")


async def test_hover_and_choice_belong_to_the_shown_recall(
    browser: Browser, bakery: GraphRetriever
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text)
        await page.locator("g.node").nth(1).click()
        await page.locator("g.node").nth(1).hover()
        await shows(page, "#ledger", "energy")
        await shows(page, "#memory", "Why")
        await page.mouse.move(5, 5)
        await page.get_by_role("combobox", name="Scope").fill("nobody")
        await ask(page, "anything")
        await shows(page, "#status", "Nothing found in scope nobody.")
        await shows(page, "#ledger", "Point at a memory")
        await shows(page, "#memory", "Choose a memory")
        assert await page.locator("#legend li[class^='kind']").count() == 0


async def test_a_line_of_the_context_leads_to_its_box_and_back(
    browser: Browser, bakery: GraphRetriever
) -> None:
    expected = await bakery.recall(QUESTION.text)
    async with serving(bakery) as served, opened(browser, served) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await ask(page, QUESTION.text)
        await page.get_by_role("button", name="Copy").click()
        await shows(page, "#status", "Copied.")
        assert await page.evaluate("navigator.clipboard.readText()") == expected.context.text
        item = expected.context.items[-1]
        await page.locator("#context button.label", has_text=f"[{item.label}]").first.click()
        await shows(page, "#memory .name", item.id)
        box = page.locator("g.node[aria-selected='true']").first
        inside = """box => {
            const [it, view] = [box, document.getElementById('scroll')].map(
                each => each.getBoundingClientRect());
            return it.top >= view.top - 1 && it.bottom <= view.bottom + 1;
        }"""
        assert await box.evaluate(inside)
        await page.locator("g.node.packed").first.click()
        lines = page.locator("#context .line.chosen")
        assert not any(text.endswith(":") for text in await lines.all_text_contents())  # a date
        chosen = await lines.first.get_attribute("data-id")
        assert chosen in (await page.locator("#memory .name").text_content() or "")


async def test_on_a_telephone_a_line_leads_to_its_box_and_back(
    browser: Browser, bakery: GraphRetriever
) -> None:
    seen = """each => {
        const {top, bottom} = each.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
    }"""
    narrow = {"width": 360, "height": 780}
    async with serving(bakery) as served, opened(browser, served, viewport=narrow) as page:
        await ask(page, QUESTION.text)
        label = page.locator("#context button.label", has_text="[3]").first
        await label.click()
        await shows(page, "#memory", "Neighbours:")
        boxes = await page.locator("g.node[aria-selected='true']").all()
        assert any([await box.evaluate(seen) for box in boxes])
        await page.locator("#memory").get_by_role("button", name="[3]").click()
        assert await label.evaluate(seen)


async def test_kinds_without_a_colour_of_their_own_share_a_line_of_the_legend(
    browser: Browser, retriever: GraphRetriever
) -> None:
    texts = ("The van is red.", "Sell the van?")
    said = [Message(text=text, role="user", speaker="Mel") for text in texts]
    await retriever.conversations().append("today", said)
    await retriever.recall("van")
    colours = """lines => lines.map(each => [
        getComputedStyle(each, '::before').backgroundColor, each.textContent])"""
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "the red van")
        kinds = await page.locator("#legend li[class^='kind']").evaluate_all(colours)
        assert len({colour for colour, _ in kinds}) == len(kinds) > 1
        assert any("Session, Speaker" in text for _, text in kinds)


async def test_the_graph_is_zoomed_folded_and_searched(
    browser: Browser, bakery: GraphRetriever
) -> None:
    width = "document.getElementById('tree').getBoundingClientRect().width"
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text)
        await page.get_by_role("button", name="more path").click()
        fitting = await page.evaluate(width)
        await page.get_by_role("button", name="Larger").click()
        assert await page.evaluate(width) > 1.2 * fitting
        await page.get_by_role("button", name="Fit").click()
        assert await page.evaluate(width) == fitting
        whole = await nodes_of(page)
        await page.get_by_role("button", name="Fold", exact=True).click()
        assert await nodes_of(page) == await page.locator("g.node[aria-level='1']").count() < whole
        await page.get_by_role("searchbox", name="Find in the graph").fill("butter")
        await page.get_by_role("button", name="Next", exact=True).click()
        await shows(page, "#counted", "1 of")
        assert await page.locator("g.node.match").count() > 0
        await page.get_by_role("button", name="Unfold").click()
        assert await nodes_of(page) == whole


async def test_parts_of_one_note_are_told_apart(
    browser: Browser, retriever: GraphRetriever
) -> None:
    title = "Enabling WAL mode for SQLite database files in a folder"
    memories = [
        Memory(
            id=f"notes/sqlite/enabling-wal-mode.md#{n}", kind="DataSource", text=f"{title}\n{end}"
        )
        for n, end in enumerate(["Using sqlite-utils.", "Turning it off again.", "Checking it."])
    ]
    relations = [Relation(source=memories[0].id, target=each.id) for each in memories[1:]]
    await retriever.writer().write(memories, relations)
    await retriever.recall("WAL")
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "WAL mode SQLite")
        await page.get_by_role("button", name="more path").or_(page.locator("#fit")).first.click()
        labels = {
            " ".join(await node.locator("text").all_text_contents())
            for node in await page.locator("g.node").all()
        }
        ends = ["sqlite-utils", "off again", "Checking it"]
        assert all(any(end in label for label in labels) for end in ends)
        assert any(f"{title} · Checking it" in label for label in labels)
        await page.set_viewport_size(NARROW)  # boxes too narrow for the whole title
        drawn = page.locator("g.node text:first-of-type", has_text="…")
        await drawn.first.wait_for()
        labels = {
            " ".join(await node.locator("text").all_text_contents())
            for node in await page.locator("g.node").all()
        }
        assert all(any(end in label for label in labels) for end in ends)


async def test_what_was_opened_of_a_memory_stays_open_when_its_edges_come(
    browser: Browser, bakery: GraphRetriever
) -> None:
    read = asyncio.Event()

    async def hold(route: Route) -> None:
        await read.wait()
        await route.continue_()

    async with serving(bakery, writes=True) as served, opened(browser, served) as page:
        await page.route("**/api/memory?*", hold)
        await ask(page, QUESTION.text)
        await page.locator("#context button.label").first.click()
        await page.locator("#memory summary", has_text="Each feature").click()
        await page.get_by_role("button", name="Replace …").click()
        read.set()
        await shows(page, "#memory", "Neighbours:")
        assert await page.get_by_role("textbox", name="New text").is_visible()
        assert await page.locator("#memory details[open]").count() == 1


async def test_the_reasons_for_a_long_memory_are_in_view(
    browser: Browser, retriever: GraphRetriever
) -> None:
    await retriever.writer().write(
        [Memory(id="van", kind="DataSource", text="The van is red. " * 300)]
    )
    await retriever.recall("van")
    inside = "each => each.getBoundingClientRect().bottom < innerHeight"
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "van")
        await page.locator("#ranking li button").first.click()
        assert await page.locator("#memory caption").first.evaluate(inside)


async def test_messages_that_begin_alike_keep_their_speaker(
    browser: Browser, retriever: GraphRetriever
) -> None:
    texts = ["Wow, that is quite a van.", "Wow, that is quite an oven."]
    chat = retriever.conversations()
    await chat.append("today", [Message(text=text, role="user", speaker="Mel") for text in texts])
    await retriever.recall("quite a van")
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "quite a van or an oven")
        lines = page.locator("g.node text:first-of-type")
        await lines.first.wait_for()
        assert {f"Mel: {text}" for text in texts} <= set(await lines.all_text_contents())


async def test_messages_that_are_repeated_with_an_addition_are_shown_whole_or_by_their_ends(
    browser: Browser, retriever: GraphRetriever
) -> None:
    asked = "Which tent did Olav recommend for the tour over the plateau in late winter?"
    more = ["Say it again.", "I forgot it.", "Tell me again…"]
    texts = [asked, *(f"{asked} {each}" for each in more)]
    chat = retriever.conversations()
    await chat.append("today", [Message(text=text, role="user") for text in texts])
    await retriever.recall("tent")
    read = """[...document.querySelectorAll('g.node')].map(box =>
        [...box.querySelectorAll('text')].slice(0, 2).map(each => each.textContent).join(' '))"""
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "Which tent?")
        await page.locator("g.node").first.wait_for()
        assert {f"user: {text}" for text in texts} <= set(await page.evaluate(read))
        await page.set_viewport_size(NARROW)
        await page.locator("g.node text:first-of-type", has_text="user: …").first.wait_for()
        shown = [each for each in await page.evaluate(read) if each.startswith("user: …")]
        assert all(len(each.split()) > 5 for each in shown), "more than the words that differ"
        assert any(each.endswith("I forgot it.") for each in shown)


async def test_a_memory_shows_its_conversation_its_versions_and_its_time(
    browser: Browser, retriever: GraphRetriever
) -> None:
    began = datetime(2026, 5, 1, 9, tzinfo=UTC)
    chat = retriever.conversations()
    said = ["Where is the van?", "The van is in the yard.", "Who has its key?"]
    for n, text in enumerate(said):
        made = began + n // 2 * DAY + n * timedelta(minutes=1)
        message = Message(text=text, role="assistant" if n % 2 else "user", created_at=made)
        await chat.append("today", [message])
    writer = retriever.writer()
    await writer.remember("The van is red.", id="red", created_at=began)
    await writer.remember("The van is blue.", id="blue", supersedes=["red"], created_at=began + DAY)
    await retriever.recall("van")
    async with serving(retriever) as served, opened(browser, served) as page:
        await shows(page, "#start h3", "Newest memories")
        await page.locator("#start button.memory", has_text="in the yard").last.click()
        thread = page.locator("#memory h3", has_text="Conversation").locator("+ ol li")
        await thread.first.wait_for()
        assert await thread.all_text_contents() == [  # a day is named once
            f"2026-05-01user: {said[0]}", f"assistant: {said[1]}", f"2026-05-02user: {said[2]}"
        ]  # fmt: skip
        await page.locator("#memory .axis .dot").first.wait_for()
        dots = await page.locator("#memory .axis .dot").count()
        assert dots == len(said), "what joins them has no place in time"
        await page.locator("#start button.memory", has_text="blue").last.click()
        versions = page.locator("#memory h3", has_text="How it changed").locator("+ ol li")
        await versions.first.wait_for()
        assert await versions.all_text_contents() == [
            "2026-05-01The van is red.", "2026-05-02The van is blue."
        ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_screen_reader_and_weak_eyes_meet_no_barrier(
    browser: Browser, bakery: GraphRetriever, scheme: str
) -> None:
    from axe_playwright_python.async_playwright import Axe

    async with (
        serving(bakery, writes=True) as served,
        opened(browser, served, color_scheme=scheme) as page,
    ):

        async def barriers() -> list[str]:
            found = (await Axe().run(page)).response["violations"]
            return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found]

        await shows(page, "#start h3", "Newest memories")
        assert await barriers() == []
        await ask(page, QUESTION.text)
        await page.locator("g.node").nth(1).click()
        await shows(page, "#memory", "In time")
        for summary in await page.locator("summary").all():
            await summary.click()
        await page.get_by_role("button", name="Replace …").click()
        assert await barriers() == []
        await page.get_by_role("button", name="Keep for comparison").click()
        await ask(page, f"{QUESTION.text} And on Sunday?")
        await page.get_by_role("searchbox", name="Find in the graph").fill("butter")
        await page.get_by_role("button", name="Next", exact=True).click()
        await page.locator("g.match").first.click()
        await page.get_by_role("button", name="Forget …").click()
        assert await barriers() == []
        # The check sees a barrier: a button without a name, and a text in a faint colour.
        await page.evaluate("document.getElementById('fit').textContent = ''")
        await page.evaluate("document.getElementById('status').style.color = 'var(--line)'")
        assert {each.partition(":")[0] for each in await barriers()} >= {
            "button-name", "color-contrast"
        }  # fmt: skip


async def test_memories_are_changed_only_where_that_is_allowed(
    browser: Browser, retriever: GraphRetriever
) -> None:
    texts = {"van": "The van is red.", "key": "The key of the van is lost."}
    await retriever.writer().write(
        [Memory(id=id_, kind="Event", text=text) for id_, text in texts.items()]
    )
    await retriever.recall("van")
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "van")
        await page.locator("#ranking li button").first.click()
        assert await page.locator("#memory .actions button").all_text_contents() == ["Copy"]
    async with serving(retriever, writes=True) as served, opened(browser, served) as page:
        await ask(page, "van")
        await page.locator("#ranking button", has_text=texts["van"]).click()
        await page.get_by_role("button", name="Wrong").click()
        await shows(page, "#status", "Marked as wrong for this question.")
        await page.get_by_role("button", name="Replace …").click()
        await page.get_by_role("textbox", name="New text").fill("The van is blue.")
        await page.get_by_role("button", name="Replace", exact=True).click()
        await shows(page, "#memory .text", "The van is blue.")
        await ask(page, "van")
        assert await page.locator("#ranking button", has_text=texts["van"]).count() == 0
        await page.locator("#ranking button", has_text=texts["key"]).click()
        await page.get_by_role("button", name="Forget …").click()
        await page.get_by_role("button", name="Forget it").click()
        await shows(page, "#status", "Forgotten.")
    assert (await retriever.get(["key"])).missing == ("key",)


async def test_an_empty_scope_says_that_nothing_was_found(
    browser: Browser, retriever: GraphRetriever
) -> None:
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "anything")
        await shows(page, "#status", f"Nothing found in scope {retriever.scope}.")
        assert await page.locator("g.node").count() == 0
