"""The wheel holds the query files, all of them and nothing else, byte for byte."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built through the sdist as a release is."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_wheel_holds_the_query_files_byte_for_byte(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {
            name.removeprefix("memoria/_cypher/"): archive.read(name)
            for name in archive.namelist()
            if name.startswith("memoria/_cypher/")
        }
    cypher = ROOT / "cypher"
    expected = {
        path.relative_to(cypher).as_posix(): path.read_bytes()
        for path in cypher.rglob("*")
        if path.is_file()
    }
    assert packed == expected
    assert "strategies/level.cypher" in packed


def test_wheel_holds_the_package_and_the_sample_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} <= {"memoria", wheel_info(names)}
    assert "memoria/evaluation/sample/memories.jsonl" in names
    assert "memoria/recall/ranking/profiles/default.json" in names
    assert "memoria/py.typed" in names
    data = [name for name in names if name.endswith((".npy", ".npz", ".gz", ".jar"))]
    vectors = [f"memoria/recall/{name}" for name in ("asides.npy", "leaning.npy", "subjects.npz")]
    assert data == vectors, "evaluation data is not shipped"


def wheel_info(names: list[str]) -> str:
    """Folder of the wheel's own metadata."""
    return next(name for name in names if ".dist-info/" in name).split("/")[0]
