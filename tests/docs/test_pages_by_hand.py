"""What is written by hand: nothing is left to fill in, and it keeps up with the code."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

from memoria.cli import all_commands
from memoria.recall.strategies import STRATEGIES
from memoria.serialize import (
    brief_recall,
    plain_context,
    plain_explorations,
    plain_memory,
    plain_recall,
)
from memoria.types import (
    ContextItem,
    ContextPack,
    Edge,
    Exploration,
    ExplorationStats,
    MemoryNode,
    Neighbour,
    Neighbourhood,
    OmittedItem,
    RankedMemory,
    Recall,
    ScopeReceipt,
    Seed,
    Seeds,
)
from memoria.types import Path as MemoryPath
from tests.docs.pages import PAGES, ROOT, documented_json, documented_row
from tests.for_each import for_each
from tests.traces import hop, trace

COMMANDS = all_commands()
MEMORY_ROW = documented_json("explore")
RECALL_SECTION = "### `recall --json --full`"


@for_each("page", PAGES)
def test_no_page_has_a_place_that_is_still_to_be_filled(page: Path) -> None:
    assert re.findall(r"@@\w+@@", page.read_text(encoding="utf-8")) == []


def test_the_changelog_has_a_section_for_the_version_unless_that_is_still_to_come() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]
    titles = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert ("Unreleased" if ".dev" in version else version) == titles[0]


def test_every_strategy_has_a_row_in_the_table_of_strategies() -> None:
    page = (ROOT / "docs" / "strategies.md").read_text("utf-8")
    for name, strategy in STRATEGIES.items():
        assert f"\n| `{name}` | `{type(strategy).__name__}` |" in page


def test_the_guide_to_linking_says_that_tags_make_connections() -> None:
    text = " ".join((ROOT / "docs" / "linking.md").read_text("utf-8").split())
    section = text.split("## Which linker when")[1].split(" ## ")[0]
    assert (
        "Tags are the way to say that two memories belong together although their words differ: "
        "each tag in common, of few, lifts a pair that cosine alone leaves below."
    ) in section


def test_every_command_with_json_has_a_row() -> None:
    for name, command in COMMANDS.items():
        with_json = "--json" in {option for each in command.params for option in each.opts}
        assert documented_json(name).startswith(f"| `{name}` | ") == with_json, name


def recall() -> Recall:
    """A recall with something in each of its lists."""
    memories = tuple(MemoryNode(id=id_, kind="Event", text="t") for id_ in "ab")
    path = MemoryPath(
        seed_id="a",
        hops=(hop("a", "b", (1.0, 0.5)),),
        memories=memories,
        end_reason="dead_end",
        energy=0.5,
    )
    seed = Seed(id="a", score=1.0)
    stats = ExplorationStats(levels=1, nodes=2, elapsed_s=0.1, hydrate_s=0.0)
    item = ContextItem(id="a", kind="Event", date=None, score=1.0, path=path)
    left_out = OmittedItem(id="b", score=0.5, reason="budget")
    return Recall(
        seeds=Seeds(seeds=(seed,), runners_up=(seed,)),
        explorations=(
            Exploration(seed=seed, status="complete", paths=(path,), error=None, stats=stats),
        ),
        ranked=(RankedMemory(memory=memories[0], score=1.0, path=path),),
        context=ContextPack(text="t", tokens=1, items=(item,), omitted=(left_out,)),
        trace=trace("s"),
        hits=(path,),
        needed=(path,),
        edges=(Edge(source="b", target="a", relation="near", scope="s"),),
    )


def test_every_field_of_a_memory_and_of_an_edge_is_documented() -> None:
    assert undocumented(plain_memory(MemoryNode(id="a", kind="Event", text="t")), MEMORY_ROW) == []
    for kind, name in ((Neighbour, "neighbours"), (Neighbourhood, "neighbours")):
        fields = dict.fromkeys(field.name for field in dataclasses.fields(kind))
        assert undocumented(fields, documented_json(name)) == []
    receipt = dict.fromkeys(field.name for field in dataclasses.fields(ScopeReceipt))
    assert undocumented(receipt, documented_json("forget-scope")) == []


def undocumented(data: object, text: str) -> list[str]:
    """Keys of maps, at any depth, that do not stand in the text."""
    if isinstance(data, list):
        return [key for each in data for key in undocumented(each, text)]
    if not isinstance(data, dict):
        return []
    missing = [key for key in data if f"`{key}`" not in text]
    return missing + [key for each in data.values() for key in undocumented(each, text)]


def test_every_field_of_explore_recall_and_pack_is_documented() -> None:
    found = recall()
    explored = plain_explorations(found.explorations)
    explored["memories"] = list(explored["memories"].values())  # its keys are ids
    assert undocumented(explored, documented_json("explore")) == []
    whole = plain_recall(found)
    whole["memories"] = list(whole["memories"].values())
    assert undocumented(whole, documented_json("recall")) == []
    brief = brief_recall(found)
    brief["memories"] = list(brief["memories"].values())
    assert undocumented(brief | {"left_out": {}}, documented_json("recall")) == []
    for name in set(whole) - set(explored):  # those of explorations stand in their own section
        row = documented_row(name, RECALL_SECTION)
        if name in ("ranked", "context", "trace"):
            assert undocumented(whole[name], row) == []
    context = documented_row("context", RECALL_SECTION)
    assert undocumented(plain_context(found.context), context) == []
    assert "context" in documented_json("pack")
