"""Audit the locks for known faults; called by ``scripts/audit``.

In: ``locks/*.txt``, arguments of pip-audit. Out: known faults, and packages not asked about.
An audit that did not happen is never shown as a clean one: pip-audit itself ends with 0 if the
service does not know a package. Touches: the network.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

LOCKS = Path(__file__).parents[1] / "locks"
FAULTY, NOT_ASKED = 1, 3


def main() -> None:
    """Audit all packages of all locks at once."""
    wanted = packages(path.read_text(encoding="utf-8") for path in sorted(LOCKS.glob("*.txt")))
    # A package may have several versions, for several Pythons; pip-audit takes one at a time.
    most = max(len(versions) for versions in wanted.values())
    answers: dict[tuple[str, str], Mapping[str, Any]] = {}
    for turn in range(most):
        pinned = {name: found[turn] for name, found in wanted.items() if turn < len(found)}
        answers |= _asked(pinned, sys.argv[1:])
    sys.exit(report(wanted, answers))


def packages(locks: Iterable[str]) -> dict[str, list[str]]:
    """Return the versions of each package of some locks."""
    found: dict[str, set[str]] = {}
    for lock in locks:
        for name, version in re.findall(r"^([a-z0-9][\w.-]*)==([^\s;\\]+)", lock, re.MULTILINE):
            found.setdefault(name, set()).add(version)
    return {name: sorted(versions) for name, versions in sorted(found.items())}


def _asked(
    pinned: Mapping[str, str], arguments: list[str]
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the answers of the service: package and version -> what pip-audit says of them."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(f"{name}=={version}\n" for name, version in pinned.items())
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps"]
        command += ["--progress-spinner=off", "--format=json", f"--requirement={file.name}"]
        done = subprocess.run(  # noqa: S603  # our own arguments
            [*command, *arguments], capture_output=True, text=True, check=False
        )
    try:
        entries = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(done.stderr.strip()[-2_000:], file=sys.stderr)
        return {}
    skipped = [entry["skip_reason"] for entry in entries if "version" not in entry]
    if skipped:
        print(f"{len(skipped)} skipped: {skipped[0]}", file=sys.stderr)
    return {(e["name"], e["version"]): e for e in entries if "version" in e}


def report(
    wanted: Mapping[str, list[str]], answers: Mapping[tuple[str, str], Mapping[str, Any]]
) -> int:
    """Print known faults, and packages that could not be asked about; return the exit code."""
    pairs = [(name, version) for name, found in wanted.items() for version in found]
    faults = [(pair, fault) for pair in pairs for fault in answers.get(pair, {}).get("vulns", [])]
    for (name, version), fault in faults:
        fixed = ", ".join(fault.get("fix_versions", [])) or "none yet"
        print(f"{name} {version}: {fault['id']}, fixed in: {fixed}")
    silent = [f"{name} {version}" for name, version in pairs if (name, version) not in answers]
    asked = len(pairs) - len(silent)
    print(f"{asked} of {len(pairs)} packages asked about, {len(faults)} faults known")
    if silent:
        print(f"NOT AUDITED, the service did not answer about: {', '.join(silent[:10])}", end="")
        print(f" and {len(silent) - 10} more" if len(silent) > 10 else "")
    return FAULTY if faults else NOT_ASKED if silent else 0


if __name__ == "__main__":
    main()
