"""The locks of the virtual environments, and their audit."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[3]
LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "locks").glob("*.txt")}
SHARED = ("all", "bench", "dev", "docs", "image", "release")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked(extra: str | None) -> Iterator[Requirement]:
    """The requirements of pyproject.toml, with and without an extra."""
    extras = PROJECT["optional-dependencies"]
    for text in PROJECT["dependencies"] if extra is None else extras[extra]:
        requirement = Requirement(text)
        if requirement.name == PROJECT["name"]:
            for other in requirement.extras:
                yield from asked(other)
        else:
            yield requirement


def test_each_script_that_installs_has_a_lock() -> None:
    installs = {
        match
        for script in [*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"]
        if script.is_file() and script.suffix != ".py"
        for match in re.findall(
            r"^\s*scripts/install ([a-z-]+)", script.read_text("utf-8"), re.MULTILINE
        )
    }
    image = (ROOT / "Dockerfile").read_text("utf-8")
    installs |= set(re.findall(r"--requirement locks/([a-z-]+)\.txt", image))
    assert installs == LOCKS.keys()


def test_an_extra_without_a_lock_gets_one(tmp_path: Path) -> None:
    bin_, scripts = tmp_path / ".venv" / "bin", tmp_path / "scripts"
    for folder in (bin_, scripts, tmp_path / "locks"):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "lock", scripts)
    write = 'cat >/dev/null; while [ "$1" != --output-file ]; do shift; done; echo locked >"$2"'
    for script, line in ((scripts / "install", ":"), (bin_ / "uv", write)):
        script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        script.chmod(0o700)
    for name in LOCKS.keys() - {"docs"}:
        (tmp_path / "locks" / f"{name}.txt").touch()
    subprocess.run([scripts / "lock"], check=True)
    assert {file.stem for file in (tmp_path / "locks").iterdir()} == LOCKS.keys()
    assert (tmp_path / "locks" / "docs.txt").read_text(encoding="utf-8") == "locked\n"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_hashes_and_no_address(name: str) -> None:
    lock = LOCKS[name]
    assert "://" not in lock
    assert "index-url" not in lock
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        assert re.match(r"[a-z0-9][\w.-]*==\S+", entry), entry
        assert "--hash=sha256:" in entry


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_all_that_the_extra_asks_for(name: str, audit: ModuleType) -> None:
    locked = audit.packages([LOCKS[name]])
    for requirement in (*asked(None), *asked(name), Requirement("hatchling")):
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert any(requirement.specifier.contains(version) for version in versions), (
            f"{requirement}: run scripts/lock"
        )


def test_locks_of_one_environment_agree(audit: ModuleType) -> None:
    together = audit.packages(LOCKS[name] for name in SHARED)
    for name in SHARED:
        for package, versions in audit.packages([LOCKS[name]]).items():
            assert versions == together[package], f"{package} in locks/{name}.txt"


def test_each_dependency_of_a_user_has_an_upper_bound() -> None:
    mine = {"bench", "dev", "docs", "release", "test-adapters"}
    for extra in (None, *(PROJECT["optional-dependencies"].keys() - mine)):
        for requirement in asked(extra):
            operators = {each.operator for each in requirement.specifier}
            assert operators & {"<", "=="}, f"{extra}: {requirement}"


@pytest.mark.parametrize(
    ("answers", "code", "said"),
    [
        ({}, 3, "NOT AUDITED, the service did not answer about: a 1, b 2"),
        ({("a", "1"): {"vulns": []}}, 3, "1 of 2 packages asked about, 0 faults known"),
        ({("a", "1"): {"vulns": []}, ("b", "2"): {"vulns": []}}, 0, "2 of 2 packages asked about"),
        (
            {("a", "1"): {"vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}},
            1,
            "a 1: CVE-1, fixed in: 2",
        ),
    ],
)
def test_an_audit_that_did_not_happen_is_no_clean_one(
    answers: object, code: int, said: str, audit: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit.report({"a": ["1"], "b": ["2"]}, answers) == code
    assert said in capsys.readouterr().out
