"""Where a benchmark ran, on which commit, and where its files go.

In: this machine. Out: plain values for a record. Reads the load of the machine; asks git.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memoria.local import NEO4J_VERSION

ROOT = Path(__file__).parent.parent
# Not in the repository: what a run writes there is an artefact of a release.
OUT = ROOT / "build" / "benchmarks"


def environment() -> dict[str, Any]:
    """Name the versions, the machine, and the commit that is measured."""
    return {
        "commit": commit(),
        "neo4j": NEO4J_VERSION,
        "driver": version("neo4j"),
        "memoria": version("memoria-graph"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_start": load(),
    }


def commit() -> str:
    """Say which commit is checked out; with ``-dirty`` where files have been changed since."""
    git = shutil.which("git")
    if git is None:
        return "unknown"
    command = [git, "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=7"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return found.stdout.strip() or "unknown"


def load() -> str:
    """Return the load of the machine: the means of 1, 5 and 15 minutes."""
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


def without_folder(argument: str) -> str:
    """Show of a path its last part: the rest says more of the machine than of the run."""
    return Path(argument).name if "/" in argument else argument
