"""The page of `memoria view` in a real browser, on a real server and a real database."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import neo4j
import pytest

from memoria import (
    GraphRetriever,
    Memory,
    Relation,
    RetrieverConfig,
    TransferEnergy,
    UnavailableError,
)
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.view.source import saved
from tests.browser.pictures import MOST_THAT_DIFFERS, keep_failed, share_that_differs
from tests.oracle.agreement import remove
from tests.serving import TOKEN, Served, serving

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
HOSTILE = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script> oven'
QUESTION = QUESTIONS[0]
WIDE = {"width": 1280, "height": 860}
NARROW = {"width": 360, "height": 780}
# Largest median time of a frame while 2,000 memories are scrolled through; milliseconds.
# Without a graphics card, and on a busy machine; the eye wants about 17.
FRAME_MS = 50


@pytest.fixture(scope="module")
async def bakery(driver: neo4j.AsyncDriver) -> AsyncIterator[GraphRetriever]:
    """The sample memory, searched by words."""
    retriever = GraphRetriever(driver, scope=f"bakery-{uuid4().hex[:6]}")
    await ingest_files(retriever.writer(), [sample_path()])
    await retriever.recall(QUESTION.text, deadline_s=60)  # plans the queries
    yield retriever
    await remove(driver, retriever.scope)


@asynccontextmanager
async def opened(browser: Browser, served: Served, **options: Any) -> AsyncIterator[Page]:
    """A page that was opened with its token; an error of a script fails the test."""
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
    page.set_default_timeout(20_000)
    await page.goto(f"{served.url}/#token={TOKEN}")
    try:
        yield page
    finally:
        await context.close()
    assert errors == []


async def ask(page: Page, query: str, tags: str = "") -> None:
    await page.get_by_role("textbox", name="Question").fill(query)
    await page.get_by_role("textbox", name="Tags").fill(tags)
    await page.get_by_role("button", name="Recall", exact=True).click()
    await page.locator("#stop").wait_for(state="hidden")


async def shows(page: Page, selector: str, text: str) -> None:
    """Wait until an element holds a text."""
    await page.locator(selector, has_text=text).first.wait_for()


async def test_a_question_is_answered_with_paths_context_and_ranking(
    browser: Browser, bakery: GraphRetriever
) -> None:
    expected = await bakery.recall(QUESTION.text, query_tags=QUESTION.tags)
    async with serving(bakery) as served, opened(browser, served) as page:
        assert "token" not in page.url
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        await shows(page, "#status", "in the context;")
        ways = {path.ids[:n] for each in expected.explorations for path in each.paths
                for n in range(1, len(path.ids) + 1)}  # fmt: skip
        assert await page.locator("g.node").count() == len(ways)
        text = await page.locator("#context pre").text_content()
        assert text == expected.context.text
        first = page.locator("#ranking li").first
        assert expected.ranked[0].id in (await first.text_content() or "")
        for name, share in expected.ranked[0].shares.items():
            if share:
                assert name.replace("_", " ") in (await first.text_content() or "")
        await page.locator("#ranking li button").first.click()
        await shows(page, "#memory caption", "What its place is made of")
        left_out = f"Left out: {len(expected.context.omitted)}"
        assert await page.get_by_role("heading", name=left_out).count() == 1


async def test_a_memory_says_why_it_was_recalled_and_what_it_is_joined_to(
    browser: Browser, bakery: GraphRetriever
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        node = page.locator("g.node[aria-level='2']").first
        await node.hover()
        await shows(page, "#ledger", "× weight")
        await node.click()
        await shows(page, "#memory", "The strongest way to it, from the seed")
        await shows(page, "#memory", "Joined to")
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
    await retriever.recall("oven", deadline_s=60)
    said = {
        "nobody": "The scope holds no memory with this id.",
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
        await page.locator("g.node[tabindex='0']").focus()
        assert await page.evaluate(focused) == "1"
        await page.keyboard.press("ArrowRight")
        assert await page.evaluate(focused) == "2"
        await page.keyboard.press("End")
        await page.keyboard.press("Enter")
        await shows(page, "#memory", "Why")
        assert await page.locator("g.node[aria-selected='true']").count() >= 1
        # What a screen reader meets is in the order of what is seen, and says its place.
        read = """() => [...document.querySelectorAll('g.node')].map(
            n => [n.ariaLevel, n.ariaPosInSet, n.ariaSetSize].map(Number))"""
        last = [0] * 9
        for level, place, siblings in await page.evaluate(read):
            assert place == last[level] + 1 <= siblings
            last[level:] = [place, *[0] * (8 - level)]
        names = "() => [...document.querySelectorAll('g.node')].every(n => n.ariaLabel)"
        assert await page.evaluate(names)
        unnamed = """() => [...document.querySelectorAll('input, select, button')]
            .filter(e => !e.labels?.length && !e.textContent.trim()).length"""
        assert await page.evaluate(unnamed) == 0


async def test_a_hostile_memory_is_shown_as_text(
    browser: Browser, retriever: GraphRetriever
) -> None:
    memories = [
        Memory(id="oven", kind="Event", text=HOSTILE, tags=[HOSTILE[:60]]),
        Memory(id='"><img src=x onerror=hacked=1>', kind="Event", text="fuse"),
    ]
    relation = Relation(source="oven", target=memories[1].id, relation="<b>led to</b>", weight=0.9)
    await retriever.writer().write(memories, [relation])
    await retriever.recall("oven", deadline_s=60)
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "oven <script>window.hacked = 1</script>", "<i>tag</i>")
        for node in await page.locator("g.node").all():
            await node.click()
            await shows(page, "#memory", "Joined to 1 edge")
        await shows(page, "#memory", "led to")
        assert await page.locator("img, main script, main b, main i").count() == 0
        assert await page.evaluate("window.hacked === undefined")


async def test_an_empty_scope_says_that_nothing_was_found(
    browser: Browser, retriever: GraphRetriever
) -> None:
    async with serving(retriever) as served, opened(browser, served) as page:
        await ask(page, "anything")
        await shows(page, "#status", f"Nothing found in scope {retriever.scope}.")
        assert await page.locator("g.node").count() == 0


async def test_a_server_that_went_away_is_said_and_a_wrong_setting_too(
    browser: Browser, bakery: GraphRetriever
) -> None:
    async with serving(bakery) as served, opened(browser, served) as page:
        await page.locator("#settings summary").click()
        await page.get_by_label("min activation").fill("-1")
        await ask(page, QUESTION.text)
        await shows(page, "#status.error", "min_activation")
        await served.stop()
        await page.get_by_label("min activation").fill("0.01")
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
        whole = await page.locator("g.node").count()
        await page.locator("#depth").focus()
        for _ in range(4):
            await page.keyboard.press("ArrowLeft")
        await shows(page, "#depth-value", "1")
        await shows(page, "#changes", "gone")
        assert await page.locator("g.node.gone").count() > 0
        await page.get_by_role("button", name="As recorded").click()
        assert await page.locator("#depth-value").text_content() == "5"
        await page.wait_for_function(
            "whole => document.querySelectorAll('g.node').length === whole", arg=whole
        )
        assert await page.locator("g.node.gone").count() == 0


async def test_two_settings_stand_side_by_side(browser: Browser, bakery: GraphRetriever) -> None:
    config = RetrieverConfig(strategy=TransferEnergy(max_depth=1))
    deep = await bakery.recall(QUESTION.text)
    flat = await bakery.recall(QUESTION.text, config=config)
    async with serving(bakery) as served, opened(browser, served) as page:
        await ask(page, QUESTION.text)
        await page.get_by_role("button", name="Keep for comparison").click()
        await page.locator("#settings summary").click()
        await page.get_by_label("max depth").fill("1")
        await ask(page, QUESTION.text)
        await shows(page, "#comparison li", "strategy.max depth: 5 → 1")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_nothing_is_cut_off_in_any_width_and_the_page_looks_as_it_is_pictured(
    browser: Browser,
    bakery: GraphRetriever,
    scheme: str,
    viewport: dict[str, int],
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    options = {"viewport": viewport, "color_scheme": scheme}
    async with serving(bakery) as served, opened(browser, served, **options) as page:
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        await page.locator("g.node[aria-level='2']").first.click()
        await page.locator("#memory ul li button").first.wait_for()
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(wider) == 0
        background = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(13, 17, 23)")
        name = "narrow" if viewport is NARROW else scheme
        if (name, scheme) == ("narrow", "dark"):
            return
        await page.evaluate("document.getElementById('scroll').scrollLeft = 0")
        await page.evaluate("scrollTo(0, 0)")
        await page.evaluate("document.activeElement.blur()")
        now, kept = await page.screenshot(), IMAGES / f"view-{name}.png"
        if request.config.getoption("--pictures"):
            kept.write_bytes(now)
        differs = await share_that_differs(browser, kept.read_bytes(), now)
        record_property("share_that_differs", differs)
        assert differs <= MOST_THAT_DIFFERS, f"{kept.name}: see {keep_failed(now, kept.name)}"
        # The comparison sees it if a part of the page is gone, or has another colour.
        for change in ("#tree", "#memory") if name != "narrow" else ("header",):
            await page.evaluate(f"document.querySelector('{change}').style.visibility = 'hidden'")
            without = await share_that_differs(browser, now, await page.screenshot())
            assert without > MOST_THAT_DIFFERS
            await page.evaluate(f"document.querySelector('{change}').style.visibility = ''")


async def test_pictures_of_another_size_or_colour_differ(browser: Browser) -> None:
    async def picture(colour: str, width: int = 300) -> bytes:
        page = await browser.new_page(viewport={"width": width, "height": 200})
        await page.set_content(f"<body style='background: {colour}'>")
        taken = await page.screenshot()
        await page.close()
        return taken

    white = await picture("white")
    assert await share_that_differs(browser, white, white) == 0
    assert await share_that_differs(browser, white, await picture("black")) == 1
    assert await share_that_differs(browser, white, await picture("white", 320)) == 1


def test_the_readme_shows_the_picture_that_is_made_here() -> None:
    readme = (IMAGES.parents[1] / "README.md").read_text(encoding="utf-8")
    assert "(docs/images/view-light.png)" in readme


async def test_two_thousand_memories_stay_smooth(
    browser: Browser, record_property: Callable[[str, object], None]
) -> None:
    file = saved("large.json", large_recall(2_000))
    gone = UnavailableError("no database")
    async with serving(gone, file) as served, opened(browser, served) as page:
        await shows(page, "#status", "2000 memories")
        drawn = await page.evaluate(
            """async () => {
                const [start, choice] = [performance.now(), document.getElementById('saved')];
                const frame = () => new Promise(requestAnimationFrame);
                const before = document.querySelector('g.node');
                choice.dispatchEvent(new Event('change'));
                while (before.isConnected) await frame();
                await frame();
                return performance.now() - start;
            }"""
        )
        times = await page.evaluate(
            """async () => {
                const [box, times] = [document.getElementById('scroll'), []];
                let last = await new Promise(requestAnimationFrame);
                while (box.scrollTop + box.clientHeight < box.scrollHeight - 1) {
                    box.scrollTop += 240;
                    const now = await new Promise(requestAnimationFrame);
                    times.push(now - last);
                    last = now;
                }
                return times;
            }"""
        )
        assert await page.locator("g.node").count() < 500  # only what is near is drawn
        await page.locator("g.node").first.focus()
        await page.keyboard.press("End")
        last = "() => document.activeElement.getBoundingClientRect().bottom <= innerHeight"
        assert await page.evaluate(last)
    found = {"drawn": drawn, "median": median(times), "largest": max(times), "frames": len(times)}
    record_property("milliseconds", json.dumps(found))
    assert median(times) < FRAME_MS


def large_recall(size: int) -> dict[str, Any]:
    """A recall as ``recall --json`` prints it, with a tree of so many memories below five seeds."""
    rng = random.Random(7)
    kinds = ["Event", "DataSource", "UserRequest", "AgentAnswer"]
    ids = [f"n{n}" for n in range(size)]
    below: dict[str, list[str]] = {id_: [] for id_ in ids}
    ways: dict[str, list[str]] = {id_: [id_] for id_ in ids[:5]}
    for n, id_ in enumerate(ids[5:], start=5):
        parent = rng.choice([each for each in ids[:n] if len(ways[each]) < 6])
        below[parent].append(id_)
        ways[id_] = [*ways[parent], id_]
    memories = {
        id_: {"id": id_, "kind": rng.choice(kinds), "text": f"Memory {id_} of the large recall."}
        | dict.fromkeys(("category", "priority", "created_at", "valid_until"))
        | {"tags": [], "topics": [], "entities": [], "when": {}, "metadata": {}}
        for id_ in ids
    }
    return {
        "query": "Everything?", "query_tags": [], "scope": "large",
        "seeds": [seed(id_) for id_ in ids[:5]], "runners_up": [], "echoes": [], "loose": [],
        "explorations": [exploration(id_, below, ways) for id_ in ids[:5]],
        "hits": [], "memories": memories, "ranked": [],
        "context": {"text": "", "tokens": 0, "items": [], "omitted": []},
        "trace": {
            "id": "large", "started_at": "2026-05-01T00:00:00+00:00", "timings_s": {},
            "degraded": [], "notes": [], "config": {}, "vector": None, "contributed": {},
            "packed": [], "frontiers": [],
        },
    }  # fmt: skip


def seed(id_: str) -> dict[str, Any]:
    ranks = ("vector_rank", "vector_score", "text_rank", "text_score")
    return {"id": id_, "score": 1.0} | dict.fromkeys(ranks)


def exploration(
    id_: str, below: dict[str, list[str]], ways: dict[str, list[str]]
) -> dict[str, Any]:
    leaves = [way for leaf, way in ways.items() if way[0] == id_ and not below[leaf]]
    return {
        "seed": seed(id_), "status": "complete", "error": None,
        "stats": {"levels": 5, "nodes": len(leaves), "elapsed_s": 0.1, "hydrate_s": 0.0},
        "paths": [
            {
                "seed_id": id_, "ids": way, "energy": 0.8 ** (len(way) - 1),
                "end_reason": "dead_end",
                "hops": [
                    {
                        "source": source, "target": target, "relation": "near",
                        "direction": "out", "weight": 0.8, "tags": [], "tag_similarity": 1.0,
                        "degree": 1, "energy_in": 0.8**n, "energy_out": 0.8 ** (n + 1),
                    }
                    for n, (source, target) in enumerate(pairwise(way))
                ],
            }
            for way in leaves
        ],
    }  # fmt: skip
