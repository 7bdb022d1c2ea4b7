"""The page at real sizes: in three widths and both themes, with few and with 2,000 memories."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from memoria import (
    GraphRetriever,
    UnavailableError,
)
from memoria.types.picture.tree import MARGIN, Card, draw
from memoria.view.source import saved
from tests.browser.pictures import MOST_THAT_DIFFERS, keep_failed, share_that_differs
from tests.browser.visiting import NARROW, QUESTION, WIDE, ask, nodes_of, opened, shows
from tests.serving import serving

if TYPE_CHECKING:
    from playwright.async_api import Browser

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LARGE = {"width": 1920, "height": 1080}
MIDDLE = {"width": 800, "height": 900}
# Most processor time of the page for a frame while 2,000 memories are scrolled through;
# milliseconds. The eye wants a frame every 17; how late they come is up to the machine.
FRAME_MS = 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "viewport", [LARGE, WIDE, MIDDLE, NARROW], ids=["large", "wide", "middle", "narrow"]
)
async def test_nothing_is_cut_off_in_any_width_and_the_page_looks_as_it_is_pictured(
    browser: Browser,
    bakery: GraphRetriever,
    scheme: str,
    viewport: dict[str, int],
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    options = {"viewport": viewport, "color_scheme": scheme}
    if viewport is LARGE:
        options["device_scale_factor"] = 0.5  # a small file, which the documentation doesn't show
    async with serving(bakery) as served, opened(browser, served, **options) as page:
        await ask(page, QUESTION.text, ", ".join(QUESTION.tags))
        await page.locator("g.node[aria-level='2']").first.click()
        await page.locator("#memory ul li button").first.wait_for()
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert await page.evaluate(wider) == 0
        cut = """document.getElementById('tree').getBoundingClientRect().width
            - document.getElementById('scroll').clientWidth"""
        assert await page.evaluate(cut) <= 0, "no column is cut"
        over = """['context', 'paths'].filter(id => {
            const {scrollHeight, clientHeight} = document.getElementById(id);
            return scrollHeight > clientHeight + 1;
        })"""
        assert await page.evaluate(over) == [], "no part covers the next one"
        touching = """[...document.querySelectorAll('g.node')].filter(box => {
            const [small, energy] = ['.muted', '.energy'].map(
                each => box.querySelector(each).getBoundingClientRect());
            return small.right > energy.left;
        }).map(box => box.textContent)"""
        await page.get_by_role("button", name="more path").click()
        assert await page.evaluate(touching) == []
        await page.get_by_role("button", name="Only those to the context").click()
        background = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(13, 17, 23)")
        used = """() => {
            const part = id => document.getElementById(id).getBoundingClientRect();
            return (part('context').height + part('paths').height) / part('left').height;
        }"""
        if viewport in (LARGE, WIDE):
            assert await page.evaluate(used) > 1.9, "context and graph have the whole height"
        name = {360: "narrow", 1920: "large"}.get(viewport["width"], scheme)
        if viewport is MIDDLE or (viewport is not WIDE and scheme == "dark"):
            return
        await page.evaluate("document.getElementById('scroll').scrollLeft = 0")
        await page.evaluate("scrollTo(0, 0)")
        await page.evaluate("document.activeElement.blur()")
        folder = Path(__file__).parent if name == "large" else IMAGES
        now, kept = await page.screenshot(), folder / f"view-{name}.png"
        if request.config.getoption("--pictures"):
            kept.write_bytes(now)
        differs = await share_that_differs(browser, kept.read_bytes(), now)
        record_property("share_that_differs", differs)
        assert differs <= MOST_THAT_DIFFERS, f"{kept.name}: see {keep_failed(now, kept.name)}"
        # The comparison sees it if a part of the page is gone, or has another colour.
        changes = {"large": ["#left"], "narrow": ["header"]}
        for change in changes.get(name, ["#left", "#memory"]):
            await page.evaluate(f"document.querySelector('{change}').style.visibility = 'hidden'")
            without = await share_that_differs(browser, now, await page.screenshot())
            assert without > MOST_THAT_DIFFERS
            await page.evaluate(f"document.querySelector('{change}').style.visibility = ''")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_no_line_next_to_the_graph_is_cut(
    browser: Browser, bakery: GraphRetriever, viewport: dict[str, int]
) -> None:
    beyond = """[...document.querySelectorAll('#context *, #paths *, aside *')].filter(each => {
        const edge = each.closest('#context, #paths, aside').getBoundingClientRect().right;
        return !each.closest('#scroll') && each.getBoundingClientRect().right > edge;
    }).map(each => each.outerHTML)"""
    found = await bakery.recall(QUESTION.text)
    hits = {seed.id for seed in (*found.seeds.seeds, *found.seeds.runners_up)}
    reached = next(item for item in found.context.items if item.id not in hits)
    async with serving(bakery) as served, opened(browser, served, viewport=viewport) as page:
        await ask(page, QUESTION.text)
        await page.locator("#context button.label", has_text=f"[{reached.label}]").first.click()
        await shows(page, "#memory", "The strongest way to it")
        await shows(page, "#memory", "Neighbours:")
        for summary in await page.locator("main summary").all():
            await summary.click()
        assert await page.evaluate(beyond) == []


async def test_boxes_are_as_wide_as_there_is_room(browser: Browser, bakery: GraphRetriever) -> None:
    size = """() => [document.querySelector('g.node rect').getBoundingClientRect().width,
        document.getElementById('tree').getBoundingClientRect().width,
        document.getElementById('scroll').clientWidth]"""
    large = {"width": 2560, "height": 1080}
    async with serving(bakery) as served, opened(browser, served, viewport=large) as page:
        await ask(page, QUESTION.text)
        box, tree, room = await page.evaluate(size)
        assert tree <= room
        assert box == 340 or tree > 0.97 * room


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


async def test_in_an_svg_no_words_leave_their_box(browser: Browser) -> None:
    names = [
        "notes/scale.md#The order in which to grow",
        "@topic:WWW MMMM",
        "會議記錄二〇二六年十一月",
        "e",
    ]
    texts = [
        "面包店的烤箱在星期一早上是冷的，因为加热元件坏了。" * 3,
        "MMMM WWWW " * 20,
        "i" * 90,
        "Cold.",
    ]
    cards = [
        Card(name=name, kind="UserPreference", text=text, energy=0.189)
        for name, text in zip(names, texts, strict=True)
    ]
    over = """() => [...document.querySelectorAll('g')].flatMap(group => {
        const edge = group.querySelector('rect').getBBox();
        return [...group.querySelectorAll('text')].filter(each => {
            const {x, width} = each.getBBox();
            return x < edge.x || x + width > edge.x + edge.width;
        }).map(each => each.textContent);
    })"""
    page = await browser.new_page()
    title = "document.querySelector('.title').getBBox().width"
    whole = "document.querySelector('svg').viewBox.baseVal.width"
    for heading in ("會議" * 90, "Who founded and abandoned the mounds? " * 9):
        await page.set_content(draw(cards, heading=heading, facts="", spoken="", notes=[]))
        assert await page.evaluate(over) == []
        assert await page.evaluate(title) <= await page.evaluate(whole) - 2 * MARGIN
    shown = await page.locator("text.bold").first.text_content() or ""
    assert shown.endswith("ich to grow"), "the end tells parts of a note apart"
    await page.close()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_a_recall_as_html_fits_on_a_screen(
    browser: Browser, bakery: GraphRetriever, viewport: dict[str, int]
) -> None:
    html = (await bakery.recall(QUESTION.text)).to_html()
    page = await browser.new_page(viewport=viewport)
    await page.set_content(html)
    root = "document.documentElement"
    assert await page.evaluate(f"{root}.scrollWidth") <= viewport["width"]
    assert await page.evaluate(f"{root}.scrollHeight") <= viewport["height"]
    await page.close()


def test_the_documentation_shows_the_pictures_that_are_made_here() -> None:
    page = (IMAGES.parent / "view.md").read_text(encoding="utf-8")
    assert all(f"(images/view-{name}.png)" in page for name in ("light", "dark", "narrow"))


async def test_of_a_large_recall_only_what_leads_to_the_context_is_shown(
    browser: Browser,
) -> None:
    document = large_recall(2_000)
    ways = [each["ids"] for found in document["explorations"] for each in found["paths"]][:8]
    items = [
        {"label": str(n), "id": way[-1], "kind": "Event", "date": None, "score": 0.5, "path": way}
        for n, way in enumerate(ways, start=1)
    ]
    document["context"] |= {"text": "\n".join(f"[{n + 1}] text" for n in range(8)), "items": items}
    gone = UnavailableError("no database")
    file = saved("large.json", document)
    async with serving(gone, file) as served, opened(browser, served) as page:
        await shows(page, "#paths-heading", "8 paths lead to the context")
        assert await nodes_of(page) == len({tuple(w[: n + 1]) for w in ways for n in range(len(w))})
        paths = sum(len(each["paths"]) for each in document["explorations"])
        await page.get_by_role("button", name=f"Show {paths - 8} more paths").click()
        assert await page.locator("g.node").count() < 500


async def test_an_outline_that_is_made_larger_still_begins_at_its_left(browser: Browser) -> None:
    file = saved("large.json", large_recall(100))
    left = "each => each.getBoundingClientRect().left"
    async with (
        serving(UnavailableError("no database"), file) as served,
        opened(browser, served, viewport=LARGE) as page,
    ):
        await shows(page, "#status", "100 memories")
        await page.get_by_role("button", name="Larger").click()
        box = await page.locator("g.node rect").first.evaluate(left)
        assert box > await page.locator("#scroll").evaluate(left)


async def test_two_thousand_memories_stay_smooth(
    browser: Browser, record_property: Callable[[str, object], None]
) -> None:
    file = saved("large.json", large_recall(2_000))
    gone = UnavailableError("no database")
    async with serving(gone, file) as served, opened(browser, served) as page:
        await shows(page, "#status", "2000 memories")
        measured = await page.context.new_cdp_session(page)
        await measured.send("Performance.enable", {"timeDomain": "threadTicks"})

        async def used() -> float:
            """Processor time of the page so far; milliseconds."""
            metrics = (await measured.send("Performance.getMetrics"))["metrics"]
            return 1_000 * next(each["value"] for each in metrics if each["name"] == "TaskDuration")

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
        before = await used()
        times = await page.evaluate(
            """async () => {
                const [box, times] = [document.getElementById('scroll'), []];
                let last = await new Promise(requestAnimationFrame);
                while (box.scrollTop + box.clientHeight < box.scrollHeight - 1) {
                    box.scrollTop += 480;
                    const now = await new Promise(requestAnimationFrame);
                    times.push(now - last);
                    last = now;
                }
                return times;
            }"""
        )
        work = (await used() - before) / len(times)
        assert await page.locator("g.node").count() < 500  # only what is near is drawn
        await page.locator("g.node").first.focus()
        await page.keyboard.press("End")
        last = "() => document.activeElement.getBoundingClientRect().bottom <= innerHeight"
        assert await page.evaluate(last)
    found = {"drawn": drawn, "median": median(times), "largest": max(times), "frames": len(times)}
    record_property("milliseconds", json.dumps(found | {"work": work}))
    assert work < FRAME_MS


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
        "hits": [], "needed": [], "memories": memories, "ranked": [],
        "context": {"text": "", "tokens": 0, "items": [], "omitted": []},
        "trace": {
            "id": "large", "started_at": "2026-05-01T00:00:00+00:00", "timings_s": {},
            "degraded": [], "notes": [], "config": {}, "vector": None, "contributed": {},
            "vector_generation": 1, "window": None,
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
