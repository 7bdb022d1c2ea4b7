"""Write the lock of memoria's jars: ``memoria/downloads/jars.json``.

In: the coordinates that memoria names, and a Maven repository. Out: the coordinate, size and
SHA-256 of every jar of each of them, with its dependencies. The cache that it fills is a new,
empty one, so that a jar which was changed on this machine can't get into the lock.

    .venv/bin/python scripts/lock_jars.py    # all that memoria names
    .venv/bin/python scripts/lock_jars.py --add org.neo4j:neo4j:2026.09.0    # one more

Touches: the network, a temporary folder, the lock. It takes about ten minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
from jgo.maven import (
    Artifact,
    Dependency,
    MavenContext,
    ProfileConstraints,
    PythonResolver,
)

from memoria._support.home import repositories
from memoria.downloads.lock import LOCK_FILE, parse_lock
from memoria.embed.models import ONNX_MODELS
from memoria.local.settings import ARTIFACT, NEO4J_VERSIONS

# Some descriptions name other dependencies on other systems; the lock has those of all of them.
SYSTEMS = tuple(itertools.product(("linux", "mac os x", "windows"), ("amd64", "aarch64")))
FAMILIES = {"linux": "unix", "mac os x": "mac", "windows": "windows"}
WORKERS = 8
TIMEOUT_S = 60


def main() -> None:
    """Make the lock anew, or add to it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--add", metavar="GROUP:ARTIFACT:VERSION", action="append", default=[])
    added: list[str] = parser.parse_args().add
    locked = json.loads(LOCK_FILE.read_text("utf-8")) if added else {"jars": {}, "sets": {}}
    servers = [f"{ARTIFACT}:{version}" for version in NEO4J_VERSIONS]
    models = [model.coordinate for model in ONNX_MODELS.values()]
    with tempfile.TemporaryDirectory(prefix="memoria-lock-") as cache:
        context = new_context(Path(cache))
        for coordinate in added or servers + models:
            print(coordinate, "...")
            artifacts = resolve(context, coordinate, alone=coordinate in models)
            with ThreadPoolExecutor(WORKERS) as pool:
                entries = list(pool.map(describe, artifacts))
            locked["jars"].update(entries)
            locked["sets"][coordinate] = [name for name, _ in entries]
            megabytes = sum(int(str(entry["size"])) for _, entry in entries) / 1e6
            print(f"  {len(entries)} jars, {megabytes:,.0f} MB")
    text = in_lines(locked)
    parse_lock(text)  # what memoria can't read must not be written
    LOCK_FILE.write_text(text, encoding="utf-8")


def new_context(cache: Path) -> MavenContext:
    """Return where jars come from, as the user's settings say, and an empty place for them."""
    remote = {f"repository {number}": url for number, url in enumerate(repositories())}
    return MavenContext(repo_cache=cache, remote_repos=remote)


def resolve(context: MavenContext, coordinate: str, *, alone: bool) -> list[Artifact]:
    """Find the jars of an artifact, its own first, in the order of their search by Java."""
    group, name, version = coordinate.split(":")
    own = context.project(group, name).at_version(version).artifact()
    others: dict[str, Artifact] = {}
    for system, processor in () if alone else SYSTEMS:
        resolver = PythonResolver(
            ProfileConstraints(os_name=system, os_family=FAMILIES[system], os_arch=processor)
        )
        needed = resolver.resolve([Dependency(own, scope="compile")])[1]
        found = {
            name_of(dependency.artifact): dependency.artifact
            for dependency in needed
            if dependency.scope in ("compile", "runtime")
        }
        print(f"  {system} {processor}: {len(found) + 1}")
        others |= {key: found[key] for key in found if key not in others}
    others.pop(name_of(own), None)
    return [own, *others.values()]


def name_of(artifact: Artifact) -> str:
    """Return the coordinate of a jar; its classifier, if it has one, comes last."""
    if artifact.packaging != "jar":
        raise SystemExit(f"{artifact} is not a jar: the lock has no place for its packaging")
    parts = [artifact.groupId, artifact.artifactId, artifact.version]
    return ":".join([*parts, artifact.classifier] if artifact.classifier else parts)


def describe(artifact: Artifact) -> tuple[str, dict[str, object]]:
    """Download a jar, compare it with the checksum that the repository publishes, and hash it."""
    content = artifact.resolve().read_bytes()
    path = artifact.component.path_prefix.as_posix()
    for repository in artifact.context.remote_repos.values():
        url = f"{repository.rstrip('/')}/{path}/{artifact.filename}.sha1"
        answer = requests.get(url, timeout=TIMEOUT_S)
        if answer.ok:
            published = answer.text.split()[0]
            break
    else:
        raise SystemExit(f"no repository publishes a checksum of {artifact}")
    if published != hashlib.sha1(content, usedforsecurity=False).hexdigest():
        raise SystemExit(f"{artifact} arrived damaged: try again")
    return name_of(artifact), {
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def in_lines(locked: dict[str, dict[str, object]]) -> str:
    """Return the lock as JSON with a line for each jar, so that a change of it is easy to read."""
    jars = ",\n".join(
        f"    {json.dumps(name)}: {json.dumps(locked['jars'][name])}"
        for name in sorted(locked["jars"])
    )
    sets = json.dumps(dict(sorted(locked["sets"].items())), indent=2).replace("\n", "\n  ")
    made_by = json.dumps("scripts/lock_jars.py; do not edit")
    return f'{{\n  "made_by": {made_by},\n  "jars": {{\n{jars}\n  }},\n  "sets": {sets}\n}}\n'


if __name__ == "__main__":
    main()
