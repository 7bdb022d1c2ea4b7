"""The page of `memoria view`, as far as it can be checked without a browser."""

from __future__ import annotations

import re
import sys
from importlib.resources import files

import pytest

from memoria._support.extras import install_command
from memoria.cli.mapping import MappedConnection
from memoria.cli.view import view
from memoria.errors import ConfigError
from memoria.recall.ranking import config, history
from memoria.recall.strategies import STRATEGIES
from memoria.types.picture.looks import KINDS, OTHER_KIND
from memoria.view.asking import strategies
from tests.for_each import for_each

STATIC = files("memoria.view") / "static"
SCRIPTS = [file.name for file in STATIC.iterdir() if file.name.endswith(".js")]


def read(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def test_kinds_have_the_same_colours_as_in_pictures() -> None:
    style = read("style.css")
    for kind, colours in {**KINDS, "other": OTHER_KIND}.items():
        assert re.findall(rf"--{kind}: (#\w+);", style) == list(colours)


def test_every_feature_of_the_ranking_is_explained() -> None:
    named = set(re.findall(r"\b(\w+): \"", read("features.js")))
    steps = {"newest", "reply", "adjacent", "in_session", "needed", "wanted", "conflicts"}
    assert named == {*config.FEATURES, *history.FEATURES} | steps | {"in_window", "in_time"}


def test_every_setting_of_a_strategy_has_a_field_in_words() -> None:
    named = set(re.findall(r"^  (\w+): \"", read("settings.js"), re.MULTILINE))
    shown = {
        name
        for settings in strategies().values()
        for name, value in settings.items()
        if isinstance(value, str | int | float)
    }
    assert named == shown | {"budget_tokens", "deadline_s", "max_seeds"} | {*STRATEGIES}


def test_the_sliders_stand_for_settings_that_the_strategies_have() -> None:
    block = read("replay.js").split("const SLIDERS = {")[1].split("};")[0]
    found = re.findall(r"^  (\w+): \{(.*)\}", block, re.MULTILINE)
    assert {name for name, _ in found} == set(STRATEGIES)
    for name, settings in found:
        assert set(re.findall(r"\"(\w+)\"", settings)) <= set(strategies()[name])


def test_without_its_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for loaded in ("memoria.view.serving", "memoria._support.web"):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    with pytest.raises(ConfigError, match=re.escape(install_command("view"))):
        view(connection=MappedConnection())


@for_each("name", SCRIPTS)
def test_no_script_makes_html_of_texts_or_loads_from_elsewhere(name: str) -> None:
    code = read(name)
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"):
        assert forbidden not in code
    elsewhere = set(re.findall(r"https?://[^\"]+", code)) - {"http://www.w3.org/2000/svg"}
    assert not elsewhere


@for_each("name", [*SCRIPTS, "style.css", "index.html"])
def test_a_file_of_the_page_stays_small(name: str) -> None:
    assert len(read(name).splitlines()) <= 400
