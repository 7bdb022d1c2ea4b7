"""The workflows run existing scripts, on the Pythons of the package, with fixed actions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKFLOWS = {file.name: file for file in (ROOT / ".github" / "workflows").glob("*.yml")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def steps(name: str) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(WORKFLOWS[name].read_text("utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_script_that_a_workflow_runs_exists(name: str) -> None:
    commands = "\n".join(step.get("run", "") for step in steps(name))
    for script in re.findall(r"(?:scripts|\.ci)/[\w-]+", commands):
        assert (ROOT / script).is_file(), script


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_action_is_fixed_by_its_hash(name: str) -> None:
    uses = [step["uses"] for step in steps(name) if "uses" in step]
    assert uses
    assert [each for each in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each)] == []


def test_the_tests_run_on_each_python_that_the_package_names() -> None:
    jobs = yaml.safe_load(WORKFLOWS["ci.yml"].read_text("utf-8"))["jobs"]
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: 3." in text]
    assert jobs["checks"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_every_address_of_the_project_has_the_same_owner_and_name() -> None:
    files = ["CITATION.cff", "CODE_OF_CONDUCT.md", "README.md", "SECURITY.md"]
    files += [str(file.relative_to(ROOT)) for file in (ROOT / ".github").rglob("*.yml")]
    home = PROJECT["urls"]["Homepage"]
    for file in files:
        text = (ROOT / file).read_text("utf-8")
        for address in re.findall(r"https://github\.com/memoria[\w/-]*", text):
            assert f"{address}/".startswith(f"{home}/"), file
