"""Local jar files of a Maven artifact: downloaded once, checked, then found offline.

In: a coordinate and memoria's folder. Out: paths of complete jar files.
Touches: the network (the first time only), the Maven cache, ``home/jars``.
"""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from uuid import uuid4
from xml.etree import ElementTree

from memoria._support.progress import ProgressCallback
from memoria.errors import LocalServerError

FREE_MB_GRAPH = 600
FREE_MB_SINGLE = 150
LOCK_TIMEOUT_S = 900


def resolve_jars(
    coordinate: str,
    *,
    home: Path,
    transitive: bool = True,
    progress: ProgressCallback | None = None,
) -> list[Path]:
    """Return the jar files of a Maven artifact and of its dependencies; download them once.

    Parameters
    ----------
    coordinate
        ``group:artifact:version``.
    home
        memoria's folder; the list of jars and their sizes is written to ``home/jars``. The jars
        themselves stay in the user's Maven cache (``M2_REPO``, else ``~/.m2/repository``).
    transitive
        Whether to include the dependencies; False returns the artifact's own jar alone.
    progress
        Called as ``progress(label, done, total)`` in the calling thread. First ``"dependencies"``
        with ``total`` None (not known yet), then ``"jars"`` with the number of jars.

    Returns
    -------
    list of Path
        The artifact's own jar first.

    Raises
    ------
    LocalServerError
        There is no network, the disk is full, or the artifact does not exist; the message says what
        to do.

    Notes
    -----
    Blocking: call it through ``asyncio.to_thread``. The list is written only when all jars are
    there, so a download that was killed is never taken for a complete one. A jar that is missing,
    is not of the listed size or can't be opened is downloaded again.
    """
    if coordinate.count(":") != 2 or not all(coordinate.split(":")):
        raise LocalServerError(f"not a Maven coordinate (group:artifact:version): {coordinate!r}")
    try:
        from filelock import FileLock, Timeout
    except ImportError as exc:
        raise _missing_extra() from exc
    listing = _listing(coordinate, home, transitive=transitive)
    try:
        if (known := _read_listing(listing)) is not None:
            return known
        listing.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(listing.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S):
            if (known := _read_listing(listing)) is not None:
                return known
            jars = _fetch(coordinate, transitive=transitive, progress=progress)
            _write_listing(listing, coordinate, jars)
            return jars
    except Timeout as exc:
        raise LocalServerError(
            f"another process has been downloading {coordinate} for {LOCK_TIMEOUT_S} s; "
            "wait for it or end it, then try again"
        ) from exc
    except OSError as exc:
        raise _explain_os_error(exc, coordinate, listing.parent) from exc


def _listing(coordinate: str, home: Path, *, transitive: bool) -> Path:
    name = coordinate.replace(":", "_") + ("" if transitive else "_alone")
    return home / "jars" / f"{name}.json"


def _read_listing(listing: Path) -> list[Path] | None:
    """Return the jars of a finished download; None without one, or if a jar has changed."""
    try:
        content = json.loads(listing.read_text(encoding="utf-8"))
        sizes = {Path(jar["path"]): int(jar["bytes"]) for jar in content["jars"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = all(_is_intact(path, size) for path, size in sizes.items())
    return list(sizes) if sizes and whole else None


def _is_intact(path: Path, size: int) -> bool:
    """Tell whether a jar has its listed size and ends with the end record of a zip file."""
    try:
        if path.stat().st_size != size:
            return False
        with path.open("rb") as file:
            file.seek(max(0, size - 65_557))
            return b"PK\x05\x06" in file.read()
    except OSError:
        return False


def _write_listing(listing: Path, coordinate: str, jars: list[Path]) -> None:
    files = [{"path": str(jar), "bytes": jar.stat().st_size} for jar in jars]
    partial = listing.with_name(f".{listing.name}.{uuid4().hex}")
    partial.write_text(json.dumps({"coordinate": coordinate, "jars": files}), encoding="utf-8")
    partial.replace(listing)


def _fetch(coordinate: str, *, transitive: bool, progress: ProgressCallback | None) -> list[Path]:
    """Download the jars; errors of the libraries become `LocalServerError`."""
    try:
        import requests

        from memoria._support import maven
    except ImportError as exc:
        raise _missing_extra() from exc
    cache = maven.cache_folder()
    _check_free_space(cache, FREE_MB_GRAPH if transitive else FREE_MB_SINGLE)
    try:
        try:
            return maven.fetch_jars(coordinate, transitive=transitive, progress=progress)
        except ElementTree.ParseError:
            _remove_damaged_descriptions(cache)
            return maven.fetch_jars(coordinate, transitive=transitive, progress=progress)
    except ElementTree.ParseError as exc:
        raise LocalServerError(
            f"the repository did not answer with a description of {coordinate} (was it the login "
            "page of a proxy?); check the network and try again"
        ) from exc
    except requests.RequestException as exc:
        raise LocalServerError(_network_message(coordinate, exc)) from exc
    except (FileNotFoundError, RuntimeError) as exc:
        raise LocalServerError(f"can't find all parts of {coordinate}: {exc}") from exc


def _network_message(coordinate: str, exc: Exception) -> str:
    from requests.exceptions import ProxyError, SSLError

    start = f"can't download {coordinate} from Maven Central"
    if isinstance(exc, SSLError):
        return (
            f"{start}: its certificate was refused. If your proxy has its own certificate, set "
            "REQUESTS_CA_BUNDLE to the file of that certificate (SSL_CERT_FILE is not read)"
        )
    if isinstance(exc, ProxyError):
        return f"{start}: the proxy named by HTTPS_PROXY does not answer; correct or unset it"
    return (
        f"{start} ({type(exc).__name__}). Check the network, or set HTTPS_PROXY (and "
        "REQUESTS_CA_BUNDLE if the proxy has its own certificate); files downloaded so far are "
        "kept. Or use a server that you already have: set NEO4J_URI"
    )


def _missing_extra() -> LocalServerError:
    return LocalServerError("downloads need more packages: pip install 'memoria-graph[all]'")


def _check_free_space(folder: Path, needed_mb: int) -> None:
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free_mb = shutil.disk_usage(existing).free >> 20
    if free_mb < needed_mb:
        raise LocalServerError(
            f"the disk is too full: the download needs {needed_mb} MB under {folder}, "
            f"{free_mb} MB are free; make room, or set M2_REPO to a folder on another disk"
        )


def _remove_damaged_descriptions(cache: Path) -> None:
    """Delete unreadable ``.pom`` files, left by a tool that was killed, from the Maven cache."""
    for path in cache.rglob("*.pom"):
        try:
            ElementTree.parse(path)  # noqa: S314 - the Maven resolver reads the same file
        except ElementTree.ParseError:
            path.unlink(missing_ok=True)


def _explain_os_error(exc: OSError, coordinate: str, folder: Path) -> LocalServerError:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return LocalServerError(
            f"the disk is full: make room for {coordinate} ({FREE_MB_GRAPH} MB), or set M2_REPO "
            "to a folder on another disk"
        )
    if isinstance(exc, PermissionError):
        return LocalServerError(
            f"no permission to write {exc.filename or folder}: set MEMORIA_HOME and M2_REPO to "
            "folders that you own"
        )
    return LocalServerError(f"can't store {coordinate}: {exc}")
