"""Fetch Maven artifacts in such a way that a killed download leaves no half-written file.

In: a Maven coordinate. Out: local jar files, in the Maven cache.
Touches: the network, the Maven cache. Import this module late, since it needs the extra ``local``
or ``onnx``.
"""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from uuid import uuid4

import requests
from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import Artifact, Dependency, MavenContext, PythonResolver
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from memoria._support.progress import ProgressCallback, silent

TIMEOUT_S = 30
CHUNK_BYTES = 1 << 16
WORKERS = 8
ATTEMPTS = 3


class DamagedDownloadError(OSError):
    """The downloaded file is not the file that the repository announced."""


class AtomicResolver(PythonResolver):
    """A ``jgo`` resolver that checks a download before the file gets its final name.

    ``jgo`` itself writes straight to the final name and only warns about a wrong checksum: a
    process that is killed half-way leaves a short file, which later runs take for the whole one.
    It also opens a new connection for each file, which takes most of the time.

    Parameters
    ----------
    on_file
        Called with the name of each downloaded file, in the thread that asked for the file.
    """

    def __init__(self, on_file: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self._on_file = on_file
        self._local = threading.local()
        self._sessions: list[requests.Session] = []

    def close(self) -> None:
        """Close the connections."""
        for session in self._sessions:
            session.close()

    def download(self, artifact: Artifact) -> Path | None:
        """Download one artifact into the Maven cache.

        Raises
        ------
        FileNotFoundError
            No repository has the artifact.
        DamagedDownloadError
            The file arrived damaged at each attempt.
        requests.RequestException
            The network failed.
        """
        target = artifact.cached_path
        if target is None:
            raise FileNotFoundError(str(artifact))
        path = artifact.component.path_prefix.as_posix()
        for repository in artifact.context.remote_repos.values():
            if self._fetch(f"{repository.rstrip('/')}/{path}/{artifact.filename}", target):
                if self._on_file is not None:
                    self._on_file(target.name)
                return target
        raise FileNotFoundError(f"none of the repositories has {artifact}")

    def _session(self) -> requests.Session:
        """Return this thread's session; with one session per thread, connections are reused."""
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            retry = Retry(
                total=2,
                backoff_factor=0.5,
                status_forcelist=(429, 500, 502, 503, 504),
                raise_on_status=False,
            )
            session.mount("https://", HTTPAdapter(max_retries=retry))
            self._local.session = session
            self._sessions.append(session)
        return session

    def _fetch(self, url: str, target: Path) -> bool:
        """Download ``url`` to ``target``; return False if the repository does not have it."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._fetch_once(url, target)
            except (DamagedDownloadError, requests.exceptions.ChunkedEncodingError):
                if attempt == ATTEMPTS:
                    raise
        return False

    def _fetch_once(self, url: str, target: Path) -> bool:
        partial = target.with_name(f".{target.name}.{uuid4().hex}.part")
        with self._session().get(url, stream=True, timeout=TIMEOUT_S) as response:
            if response.status_code == requests.codes.not_found:
                return False
            response.raise_for_status()
            target.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha1(usedforsecurity=False)
            try:
                with partial.open("wb") as file:
                    for chunk in response.iter_content(CHUNK_BYTES):
                        file.write(chunk)
                        digest.update(chunk)
                if target.suffix == ".jar":
                    self._check(url, partial, target.name, digest.hexdigest())
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)
        return True

    def _check(self, url: str, file: Path, name: str, sha1: str) -> None:
        """Compare a jar with the checksum that the repository publishes next to it."""
        answer = self._session().get(f"{url}.sha1", timeout=TIMEOUT_S)
        if answer.ok and answer.text.split()[:1] != [sha1]:
            raise DamagedDownloadError(f"{name} does not have the published checksum")
        if not is_whole_jar(file):
            raise DamagedDownloadError(f"{name} is not a jar file")


def is_whole_jar(path: Path) -> bool:
    """Tell whether ``path`` is a jar whose central directory, at its very end, can be read."""
    try:
        with zipfile.ZipFile(path):
            return True
    except (OSError, zipfile.BadZipFile):
        return False


def cache_folder() -> Path:
    """Return the Maven cache that ``jgo`` uses: ``M2_REPO``, its own settings, or ~/.m2."""
    return Path(GlobalSettings.load().repo_cache)


def fetch_jars(
    coordinate: str, *, transitive: bool, progress: ProgressCallback | None = None
) -> list[Path]:
    """Return an artifact's jar files, its own first; download missing or damaged jars.

    Parameters
    ----------
    coordinate
        ``group:artifact:version``.
    transitive
        Whether to include the dependencies.
    progress
        Called as ``progress(label, done, total)``, in this thread; ``total`` is None while the list
        of dependencies is not complete.
    """
    report = progress or silent
    described = 0

    def on_file(name: str) -> None:
        nonlocal described
        if name.endswith(".pom"):
            described += 1
            report("dependencies", described, None)

    settings = GlobalSettings.load()
    resolver = AtomicResolver(on_file)
    context = MavenContext(
        resolver=resolver,
        repo_cache=settings.repo_cache,
        remote_repos={"central": MAVEN_CENTRAL_URL, **settings.repositories},
    )
    group, name, version = coordinate.split(":")
    artifact = context.project(group, name).at_version(version).artifact()
    try:
        artifacts = _with_dependencies(artifact, resolver) if transitive else [artifact]
        return _download_all(artifacts, report)
    finally:
        resolver.close()


def _with_dependencies(artifact: Artifact, resolver: PythonResolver) -> list[Artifact]:
    inputs, others = resolver.resolve([Dependency(artifact, scope="compile")])
    found = [*inputs, *(d for d in others if d.scope in ("compile", "runtime"))]
    return [dependency.artifact for dependency in found]


def _download_all(artifacts: list[Artifact], report: ProgressCallback) -> list[Path]:
    """Resolve every artifact with a few threads; the first failure cancels the others."""
    for artifact in artifacts:
        cached = artifact.cached_path
        if cached is not None and cached.exists() and not is_whole_jar(cached):
            cached.unlink(missing_ok=True)
    total = len(artifacts)
    report("jars", 0, total)
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        futures = [pool.submit(artifact.resolve) for artifact in artifacts]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                report("jars", done, total)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [future.result() for future in futures]
