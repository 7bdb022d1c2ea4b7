"""The drawing of an exploration: one box a memory, one edge a hop, and valid whatever they say."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.types import (
    ContextItem,
    ContextPack,
    Exploration,
    ExplorationStats,
    Hop,
    MemoryNode,
    Path,
    RankedMemory,
    Recall,
    Seed,
    Seeds,
    Trace,
)
from memoria.types.picture.looks import clean
from tests.generated import SCOPE, Question, questions
from tests.oracle.transfer import explore

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}
KINDS = ["Event", "UserRequest", "Odd kind", '"><script>']


def hop(source: str, target: str, energy_in: float, energy_out: float) -> Hop:
    return Hop(
        source=source,
        target=target,
        relation="caused_by",
        direction="in",
        weight=0.5,
        tags=(),
        tag_similarity=1.0,
        degree=4,
        energy_in=energy_in,
        energy_out=energy_out,
    )


def memories(*ids: str) -> tuple[MemoryNode, ...]:
    return tuple(MemoryNode(id=i, kind="Event", text=f"text of {i}") for i in ids)


def exploration(*paths: Path, seed: str = "a") -> Exploration:
    return Exploration(
        seed=Seed(id=seed, score=1.0),
        status="complete",
        paths=paths,
        error=None,
        stats=ExplorationStats(levels=1, nodes=1, elapsed_s=0.1, hydrate_s=0.0),
    )


# a -> b -> c and a -> b -> d: the trunk is shared.
TO_B, TO_C, TO_D = hop("a", "b", 1.0, 0.25), hop("b", "c", 0.25, 0.06), hop("b", "d", 0.25, 0.05)
FORK = exploration(
    Path(
        seed_id="a",
        hops=(TO_B, TO_C),
        memories=memories("a", "b", "c"),
        end_reason="dead_end",
        energy=0.06,
    ),
    Path(
        seed_id="a",
        hops=(TO_B, TO_D),
        memories=memories("a", "b", "d"),
        end_reason="below_threshold",
        energy=0.05,
    ),
)


def drawn(found: Exploration) -> ElementTree.Element:
    return ElementTree.fromstring(found.to_svg(question="Why?", query_tags=("x",)))


def words(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.findall(".//svg:text", NAMESPACE)]


def edges(picture: ElementTree.Element) -> list[str]:
    """The ledger of each edge in the picture."""
    return [
        group.findtext("svg:title", "", NAMESPACE)
        for group in picture.findall("svg:g", NAMESPACE)
        if group.find("svg:path", NAMESPACE) is not None
    ]


def boxes(picture: ElementTree.Element) -> list[ElementTree.Element]:
    found = picture.findall(".//svg:rect", NAMESPACE)
    return [each for each in found if "box" in each.attrib["class"].split()]


def test_a_shared_trunk_is_drawn_once() -> None:
    picture = drawn(FORK)
    assert len(boxes(picture)) == 4
    assert edges(picture) == [
        "a to b: 1.0 * 0.5 / sqrt(4) * 1.0 = 0.25",
        "b to c: 0.25 * 0.5 / sqrt(4) * 1.0 = 0.06",
        "b to d: 0.25 * 0.5 / sqrt(4) * 1.0 = 0.05",
    ]


def test_picture_says_energy_degree_relation_and_end() -> None:
    said = words(drawn(FORK))
    assert {"0.250", "0.060", "0.050", "degree 4", "text of d", "Event"} <= {*said}
    assert said.count("← caused_by") == 3
    assert said.count("0.5 · 1.000") == 3
    assert {"ends: dead end", "ends: below threshold"} <= {*said}


def test_more_energy_makes_a_wider_edge() -> None:
    strong, weak, _ = (
        float(path.attrib["stroke-width"]) for path in drawn(FORK).findall(".//svg:path", NAMESPACE)
    )
    assert strong > weak


def test_boxes_never_lie_on_each_other() -> None:
    places = [(box.attrib["x"], float(box.attrib["y"])) for box in boxes(drawn(FORK))]
    height = float(boxes(drawn(FORK))[0].attrib["height"])
    for number, (x, y) in enumerate(places):
        assert not [
            other for other in places[:number] if other[0] == x and abs(other[1] - y) < height
        ]


def test_drawing_does_not_depend_on_the_time_taken() -> None:
    later = replace(FORK, stats=replace(FORK.stats, elapsed_s=7.0))
    assert ElementTree.tostring(drawn(later)) == ElementTree.tostring(drawn(FORK))


def test_a_seed_that_passes_nothing_on_is_one_box() -> None:
    alone = Path(
        seed_id="a", hops=(), memories=memories("a"), end_reason="below_threshold", energy=1.0
    )
    picture = drawn(exploration(alone))
    assert len(boxes(picture)) == 1
    assert edges(picture) == []


def test_a_memory_whose_text_could_not_be_read_is_drawn_by_its_id() -> None:
    unread = replace(FORK.paths[0], memories=(), end_reason="truncated")
    said = words(drawn(exploration(unread)))
    assert {"a", "b", "c", "ends: truncated"} <= {*said}


@given(question=questions(), kind=st.sampled_from(KINDS), text=st.text())
def test_any_exploration_is_valid_xml_with_every_hop_in_it(
    question: Question, kind: str, text: str
) -> None:
    seed, score = question.seeds[0]
    found = explore(question.graph, SCOPE, seed, score, question.query_tags, question.config).paths
    paths = [
        Path(
            seed_id=seed,
            hops=path.hops,
            memories=tuple(
                MemoryNode(id=i, kind=kind, text=text)
                for i in (seed, *(hop.target for hop in path.hops))
            ),
            end_reason=path.end_reason,
            energy=path.energy,
        )
        for path in found
    ]
    source = exploration(*paths, seed=seed).to_svg(
        question=text, query_tags=(text,), max_memories=10_000
    )
    picture = ElementTree.fromstring(source)
    taken = {hop for path in paths for hop in path.hops}
    assert len(boxes(picture)) == len(taken) + 1
    assert sorted(ledger.rpartition(": ")[0] for ledger in edges(picture)) == sorted(
        unescape(clean(f"{hop.source} to {hop.target}")) for hop in taken
    )


def test_a_seed_that_was_not_found_is_drawn_with_the_reason() -> None:
    missing = replace(FORK, paths=(), status="seed_not_found")
    assert {"a", "seed not found"} <= {*words(drawn(missing))}


def ranked(memory: MemoryNode, score: float, path: Path) -> RankedMemory:
    return RankedMemory(memory=memory, score=score, path=path)


def recalled(*explorations: Exploration, text: str = "what <b>c</b> says") -> Recall:
    paths = [path for each in explorations for path in each.paths]
    item = ContextItem(id="c", kind="Event", date=None, score=0.06, path=paths[0], label="3")
    return Recall(
        seeds=Seeds(seeds=tuple(each.seed for each in explorations)),
        explorations=explorations,
        ranked=(ranked(memories("c")[0], 1.0, paths[0]), ranked(memories("a")[0], 0.5, paths[0])),
        context=ContextPack(text=text, items=(item,), tokens=7, omitted=()),
        trace=Trace(
            query="Why " + "so " * 50 + "often?",
            query_tags=("x",),
            scope="alice",
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            timings_s={},
            degraded=("no <vector>",),
        ),
    )


def test_the_strongest_paths_are_drawn_and_the_picture_says_so() -> None:
    picture = ElementTree.fromstring(FORK.to_svg(max_memories=3))
    assert [edge[:6] for edge in edges(picture)] == ["a to b", "b to c"]
    assert any("4 memories on 2 paths  ·  the 3 strongest are drawn" in w for w in words(picture))


def test_trees_of_a_recall_stand_below_each_other() -> None:
    other = Path(
        seed_id="x", hops=(), memories=memories("x"), end_reason="below_threshold", energy=0.4
    )
    picture = ElementTree.fromstring(
        recalled(FORK, exploration(other, seed="x")).to_svg(max_memories=40)
    )
    assert len(boxes(picture)) == 5
    assert max(boxes(picture), key=lambda box: float(box.attrib["y"])) is boxes(picture)[-1]


def test_only_the_paths_to_the_context_are_drawn_unless_more_are_asked_for() -> None:
    other = Path(
        seed_id="x", hops=(), memories=memories("x"), end_reason="below_threshold", energy=0.4
    )
    recall = recalled(FORK, exploration(other, seed="x"))
    picture = ElementTree.fromstring(recall.to_svg())
    assert [edge[:6] for edge in edges(picture)] == ["a to b", "b to c"]
    assert [box.attrib["class"] for box in boxes(picture)] == ["box", "box", "box packed"]
    assert any("1 path leads to it, 2 more" in word for word in words(picture))


def test_an_empty_context_is_drawn_with_all_paths() -> None:
    recall = recalled(FORK)
    empty = replace(recall, context=replace(recall.context, text="", items=()))
    assert len(boxes(ElementTree.fromstring(empty.to_svg()))) == 4


def test_a_notebook_shows_the_context_first_and_folds_the_picture() -> None:
    html = recalled(FORK)._repr_html_()
    order = ("1 memory, 7 tokens", "<pre", "Why: 1 path leads to it, 1 more", "<details>", "<svg")
    places = [html.index(part) for part in order]
    assert places == sorted(places)
    [line] = re.findall("<li>(.*)</li>", html)
    by = "<em>← caused_by</em>"
    assert line == f"found: text of a {by} text of b {by} [3] text of c"


def test_a_picture_of_a_large_recall_fits_on_a_screen() -> None:
    paths = [
        replace(
            FORK.paths[0], hops=(hop("a", f"n{n}", 1.0, 0.25),), memories=memories("a", f"n{n}")
        )
        for n in range(200)
    ]
    recall = recalled(exploration(*paths))
    items = tuple(
        replace(recall.context.items[0], id=path.ids[-1], path=path) for path in paths[:30]
    )
    large = replace(recall, context=replace(recall.context, items=items))
    assert str(large.leading) == "30 paths lead to it, 170 more"
    assert float(ElementTree.fromstring(large.to_svg()).attrib["height"]) <= 860


def test_a_drawing_changes_nothing_else_on_its_page() -> None:
    style = drawn(FORK).findtext("svg:style", "", NAMESPACE)
    rules = style.replace("@media (prefers-color-scheme:dark){", "").split("}")
    chosen = [each for rule in rules if rule for each in rule.partition("{")[0].split(",")]
    assert len(chosen) > 20
    assert all(each.startswith(".memoria ") for each in chosen)


def test_a_graph_has_the_stored_direction_of_edges_and_what_their_energy_came_from() -> None:
    graph = recalled(FORK).to_graph()
    assert [node["id"] for node in graph["nodes"]] == ["a", "b", "c", "d"]
    assert graph["nodes"][2]["properties"] == {
        "kind": "Event",
        "text": "text of c",
        "energy": 0.06,
        "in_context": True,
        "rank": 1,
    }
    first = graph["relationships"][0]
    assert (first["source"], first["target"], first["caption"]) == ("b", "a", "caused_by")
    assert first["width"] == 14 * 0.25**0.5
    assert first["properties"] == {
        "weight": 0.5,
        "degree": 4,
        "tag_similarity": 1.0,
        "energy_in": 1.0,
        "energy_out": 0.25,
    }
    assert len(graph["relationships"]) == 3


def test_results_name_themselves_in_one_short_line() -> None:
    recall = recalled(FORK)
    assert repr(FORK) == "<Exploration from 'a': complete, 2 paths, 1 memory>"
    assert repr(recall.context) == "<ContextPack: 1 memory, 7 tokens, 0 left out>"
    assert repr(recall).startswith("<Recall 'Why so so")
    assert repr(recall).endswith("': 1 seed, 2 paths, 2 memories ranked, 7 tokens of context>")
    far = exploration(replace(FORK.paths[0], seed_id="\n" * 500), seed="\n" * 500)
    assert max(len(repr(each)) for each in (recall, recall.context, far)) <= 200


def test_texts_stand_in_html_as_text_only() -> None:
    recall = recalled(FORK, text="<img src=x onerror=alert(1)>\n  second line")
    for html in (recall.to_html(), recall._repr_html_(), recall.context._repr_html_()):
        assert "&lt;img src=x onerror=alert(1)&gt;\n  second line" in html
        assert "<img" not in html
        assert "<script" not in html
    assert "no &lt;vector&gt;" in recall.to_html()


def test_a_page_loads_nothing() -> None:
    assert not re.findall(r"(?:src|href)=|@import|url\(", recalled(FORK).to_html())


@pytest.mark.parametrize(
    "scopes",
    [
        ("shop", "shop/a"),
        ("s" * 60 + "1" + "s" * 40, "s" * 60 + "2" + "s" * 40),
        ("2:b", "b/", "b"),
    ],
)
def test_memories_of_scopes_whose_names_begin_alike_are_drawn_apart(
    scopes: tuple[str, ...],
) -> None:
    def found(scope: str, id_: str) -> Exploration:
        path = Path(
            seed_id=id_,
            hops=(),
            memories=memories(id_),
            end_reason="dead_end",
            energy=0.4,
            scope=scope,
        )
        return Exploration(
            seed=Seed(id=id_, score=1.0, scope=scope),
            status="complete",
            paths=(path,),
            error=None,
            stats=FORK.stats,
        )

    ids = ("a/m", "m", "/m")
    recall = recalled(*(found(scope, id_) for scope in scopes for id_ in ids))
    recall = replace(
        recall,
        ranked=(),
        context=replace(recall.context, items=()),
        trace=replace(
            recall.trace, layers=tuple(replace(recall.trace, scope=scope) for scope in scopes)
        ),
    )
    nodes = [node["id"] for node in recall.to_graph()["nodes"]]
    assert len({*nodes}) == len(nodes) == len(scopes) * len(ids)
