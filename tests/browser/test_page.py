"""The page of `memoria view` in a real browser, on a real server and a real database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memoria import (
    GraphRetriever,
    Memory,
    Relation,
    RetrieverConfig,
    TransferEnergy,
    UnavailableError,
)
from memoria._support.wording import number_of
from memoria.view.guard import Ticket
from memoria.view.source import saved
from tests.browser.visiting import QUESTION, ask, nodes_of, opened, shows, ways_of
from tests.serving import serving

if TYPE_CHECKING:
    from playwright.async_api import Browser

HOSTILE = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script> oven'


async def test_a_question_is_answered_with_paths_context_and_ranking(
    browser: Browser, bakery: GraphRetriever
) -> None:
    expected = await bakery.recall(QUESTION.text, query_tags=QUESTION.tags)
    leading = expected.leading
    async with serving(bakery) as served, opened(browser, served) as page:
        assert "token" not in page.url
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        every = number_of(len(leading.paths) + leading.others, "path")
        await shows(page, "#status", f"in the context; {len(expected.seeds.seeds)} seeds, {every},")
        assert await page.locator("#context pre").text_content() == expected.context.text
        assert await nodes_of(page) == len(ways_of(leading.paths))
        many = number_of(len(leading.paths), "path leads", "paths lead")
        await shows(page, "#paths-heading", f"{many} to the context")
        await page.get_by_role("button", name=f"Show {leading.others} more").click()
        hits = [path for path in leading.paths if path.end_reason == "not_explored"]
        assert await nodes_of(page) == len(ways_of([*expected.paths, *hits]))
        await page.get_by_role("button", name="Only those to the context").click()
        assert await nodes_of(page) == len(ways_of(leading.paths))
        first = page.locator("#ranking li").first
        assert expected.ranked[0].id in (await first.text_content() or "")
        assert "Words +" in (await first.text_content() or "")
        await page.locator("#ranking li button").first.click()
        await shows(page, "#memory caption", "What speaks for it")
        await page.locator("#memory summary", has_text="Each feature").click()
        for name, share in expected.ranked[0].shares.items():
            if share:
                await shows(page, "#memory th", name)
        left_out = f"Left out: {len(expected.context.omitted)}"
        assert await page.locator("#context summary", has_text=left_out).count() == 1


async def test_a_ticket_opens_the_page_once(browser: Browser, retriever: GraphRetriever) -> None:
    ticket = Ticket()
    secret = f"ticket={ticket.text}"
    async with (
        serving(retriever, ticket=ticket) as served,
        opened(browser, served, secret) as page,
    ):
        has_scope = "scope => document.getElementById('scope').value === scope"
        await page.wait_for_function(has_scope, arg=retriever.scope)
        assert page.url == f"{served.url}/", "the address still holds the ticket"
        await page.reload()
        await page.wait_for_function(has_scope, arg=retriever.scope)
        async with opened(browser, served, secret) as second:
            await shows(second, "#status.error", "this address was used before")
            assert await second.locator("#scope").input_value() == ""
        await ask(page, "oven")
        await shows(page, "#status.error", "this page was opened again")


async def test_a_memory_says_why_it_was_recalled_and_what_it_is_joined_to(
    browser: Browser, bakery: GraphRetriever
) -> None:
    found = await bakery.recall(QUESTION.text, query_tags=QUESTION.tags)
    hits = {seed.id for seed in (*found.seeds.seeds, *found.seeds.runners_up)}
    reached = next(item for item in found.context.items if item.id not in hits)
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        await page.locator("g.node[aria-level='2']").first.hover()
        await shows(page, "#ledger", "× weight")
        await page.locator("#context button.label", has_text=f"[{reached.label}]").first.click()
        await shows(page, "#memory", "The strongest way to it, in")
        await shows(page, "#memory", "Neighbours:")
        await page.locator("#memory ul li button").first.wait_for()
        before = await page.locator("#memory .name").text_content()
        await page.locator("#memory ul li button").first.click()
        await page.wait_for_function(
            "before => document.querySelector('#memory .name').textContent !== before", arg=before
        )


async def test_of_a_memory_that_is_not_there_the_page_says_why_not(
    browser: Browser, retriever: GraphRetriever
) -> None:
    over = datetime(2020, 1, 1, tzinfo=UTC)
    memories = [
        Memory(id="oven", kind="Event", text="The oven was cold."),
        Memory(id="bun", kind="Event", text="Cardamom sells well."),
        Memory(id="sale", kind="Event", text="A sale of an oven.", valid_until=over),
        Memory(id="asked", kind="UserRequest", text="Oven?"),
    ]
    await retriever.writer().write(memories)
    await retriever.writer().remember("The oven was warm.", id="new", supersedes=["oven"])
    await retriever.recall("oven")
    said = {
        "nobody": "The scope has no memory with this id.",
        "oven": "new has taken its place",
        "sale": "It held until 2020-01-01",
        "bun": "not among the hits of the search. No edge leads to it.",
        "asked": "An earlier question, which says no more than this one.",
    }
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "oven")
        for id_, reason in said.items():
            await page.get_by_role("textbox", name="Id of a memory that is missing above").fill(id_)
            await page.get_by_role("button", name="Why not?").click()
            await shows(page, "#memory", reason)


async def test_the_tree_is_gone_through_with_the_keyboard(
    browser: Browser, bakery: GraphRetriever
) -> None:
    focused = "document.activeElement.getAttribute('aria-level')"
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        assert await page.locator("g.node[tabindex='0']").count() == 1
        await page.locator("#replay summary").focus()
        await page.keyboard.press("Tab")
        assert await page.evaluate(focused) == "1", "the tree is one stop, and it is a memory"
        await page.keyboard.press("ArrowRight")
        assert await page.evaluate(focused) == "2"
        # What a screen reader meets is in the order of what is seen, and says its place.
        read = """() => [...document.querySelectorAll('g.node')].map(
            n => [n.ariaLevel, n.ariaPosInSet, n.ariaSetSize].map(Number))"""
        last = [0] * 9
        for level, place, siblings in await page.evaluate(read):
            assert place == last[level] + 1 <= siblings
            last[level:] = [place, *[0] * (8 - level)]
        await page.keyboard.press("End")
        await page.keyboard.press("Enter")
        await shows(page, "#memory", "Why")
        assert await page.locator("g.node[aria-selected='true']").count() >= 1
        names = "() => [...document.querySelectorAll('g.node')].every(n => n.ariaLabel)"
        assert await page.evaluate(names)


#: Titles and the names for screen readers.
SPOKEN = """[...document.querySelectorAll('[title], [aria-label]')]
    .map(each => `${each.getAttribute('title')} ${each.getAttribute('aria-label')}`).join(' ')"""


async def test_a_hostile_memory_is_shown_as_text(
    browser: Browser, retriever: GraphRetriever
) -> None:
    memories = [
        Memory(id="oven", kind="Event", text=HOSTILE, tags=[HOSTILE[:60]]),
        Memory(id='"><img src=x onerror=hacked=1>', kind="Event", text="fuse\u202e"),
        Memory(
            id="\u202egnp.exe",
            kind="Event",
            text="oven \u2067reversed",
            created_at=datetime(2026, 5, 1, tzinfo=UTC),  # another time: they get a timeline
        ),
    ]
    relations = [
        Relation(source="oven", target=each.id, relation="<b>led to</b>", weight=0.9)
        for each in memories[1:]
    ]
    await retriever.writer().write(memories, relations)
    await retriever.recall("oven")
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "oven <script>window.hacked = 1</script>", "<i>tag</i>")
        spoken = ""
        for node in await page.locator("g.node").all():
            await node.click()
            await shows(page, "#memory", "Neighbours:")
            read: str = await page.evaluate("document.body.textContent")
            spoken += await page.evaluate(SPOKEN)
            assert not {"\u202e", "\u2067"} & {*read, *spoken}, "no id or text looks reversed"
        assert r"\u202egnp.exe" in read
        assert r"oven \u2067reversed" in read
        in_time = r"2026-05-01 oven \u2067reversed"
        assert f"{in_time} {in_time}" in spoken, "the title and the name of a dot in the timeline"
        await shows(page, "#memory", "led to")
        assert await page.locator("img, main script, main b, main i").count() == 0
        assert await page.evaluate("window.hacked === undefined")


async def test_a_server_that_went_away_is_said_and_a_wrong_setting_too(
    browser: Browser, bakery: GraphRetriever
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await page.locator("#settings summary").click()
        await page.get_by_label("Stop below this energy").fill("-1")
        await ask(page, QUESTION.text)
        await shows(page, "#status.error", "min_activation")
        await served.stop()
        await page.get_by_label("Stop below this energy").fill("0.01")
        await ask(page, QUESTION.text)
        await shows(page, "#status.error", "memoria view does not answer any more")


async def test_a_database_that_is_not_there_is_said(browser: Browser) -> None:
    error = UnavailableError("no database: start the local server with `memoria up`")
    async with serving(error) as served, opened(browser, served) as page:
        await ask(page, "oven")
        await shows(page, "#status.error", "no database: start the local server")


async def test_the_sliders_replay_on_the_recorded_seeds(
    browser: Browser, bakery: GraphRetriever
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        await page.get_by_role("button", name="more path").click()
        whole = await nodes_of(page)
        await page.get_by_text("Try other limits").click()
        await page.locator("#depth").focus()
        for _ in range(4):
            await page.keyboard.press("ArrowLeft")
        await shows(page, "#depth-value", "1")
        await shows(page, "#changes", "gone")
        assert await page.locator("g.node.gone").count() > 0
        assert await page.locator("g.node.new").count() == 0, "a path that ends earlier is known"
        await page.get_by_role("button", name="Back to this recall").click()
        await page.get_by_role("button", name="more path").click()
        assert await page.locator("#depth-value").text_content() == "5"
        assert await nodes_of(page) == whole
        assert await page.locator("g.node.gone").count() == 0


async def test_two_settings_stand_side_by_side(browser: Browser, bakery: GraphRetriever) -> None:
    config = RetrieverConfig(strategy=TransferEnergy(max_depth=1))
    deep = await bakery.recall(QUESTION.text)
    flat = await bakery.recall(QUESTION.text, config=config)
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text)
        await page.get_by_role("button", name="Keep for comparison").click()
        await page.locator("#settings summary").click()
        await page.get_by_label("Most steps from a hit").fill("1")
        await ask(page, QUESTION.text)
        await shows(page, "#comparison li", "Most steps from a hit: 5 → 1")
        rows = page.locator("#comparison tbody tr")
        ranks = {entry.id: place for place, entry in enumerate(deep.ranked, start=1)}
        for place, entry in enumerate(flat.ranked[:3]):
            cells = await rows.nth(place).locator("td.number").all_text_contents()
            assert [cell.split()[0] for cell in cells] == [str(ranks[entry.id]), str(place + 1)]
        await page.get_by_role("button", name="End the comparison").click()
        assert await page.locator("#comparison").is_hidden()


async def test_a_saved_recall_is_shown_without_a_database(
    browser: Browser, bakery: GraphRetriever, tmp_path: Path
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text)
        async with page.expect_download() as waiting:
            await page.get_by_text("Save this recall").click()
        file = tmp_path / "recall.json"
        await (await waiting.value).save_as(file)
        drawn = await page.locator("g.node").count()
    kept = saved("monday.json", json.loads(file.read_text("utf-8")))
    gone = UnavailableError("no database")
    async with serving(gone, kept) as served, opened(browser, served) as page:
        await page.wait_for_function(
            "drawn => document.querySelectorAll('g.node').length === drawn", arg=drawn
        )
        assert await page.get_by_role("textbox", name="Question").input_value() == QUESTION.text
        await page.locator("g.node").first.click()
        await shows(page, "#memory", "Its edges can't be read: no database")
