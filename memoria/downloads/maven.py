"""Download locked jars from a Maven repository into the Maven cache.

In: jars of the lock. Out: files that the lock vouches for; nothing else stays on the disk.
Touches: the network, the Maven cache.
Import this module late, since it needs the extra ``local`` or ``onnx``.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import requests
import tenacity
from requests.adapters import HTTPAdapter
from requests.utils import get_auth_from_url, urldefragauth
from urllib3.util.retry import Retry

from memoria._support.home import repositories
from memoria._support.process_files import written_whole
from memoria._support.progress import ProgressCallback
from memoria.downloads.lock import LockedJar
from memoria.errors import ChecksumError, LocalServerError

TIMEOUT_S = 30
CHUNK_BYTES = 1 << 16
WORKERS = 8
ATTEMPTS = 3


def download_all(jars: Sequence[LockedJar], cache: Path, report: ProgressCallback) -> None:
    """Download jars with a few threads; the first failure cancels the others.

    Raises
    ------
    ChecksumError
        A repository sent another file than the lock names.
    LocalServerError
        No repository has a jar, or a page came in its place.
    requests.RequestException
        The network failed.
    """
    downloads = _Downloads(repositories(), cache)
    report("jars", 0, len(jars))
    # The largest first, so that no thread is left alone with it at the end.
    ordered = sorted(jars, key=lambda jar: jar.size, reverse=True)
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        futures = [pool.submit(downloads.fetch, jar) for jar in ordered]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                report("jars", done, len(jars))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            downloads.close()


class _Downloads:
    """Fetches jars; with one session per thread, connections are used again."""

    def __init__(self, addresses: Sequence[str], cache: Path) -> None:
        # An address may have a user and a password in it, which no message may show.
        self._credentials = {urldefragauth(each): get_auth_from_url(each) for each in addresses}
        self._cache = cache
        self._local = threading.local()
        self._sessions: list[requests.Session] = []

    def close(self) -> None:
        """Close the connections."""
        for session in self._sessions:
            session.close()

    def fetch(self, jar: LockedJar) -> None:
        """Download one jar from the first repository that has it."""
        for address, credentials in self._credentials.items():
            if self._try(f"{address}/{jar.path}", credentials, jar):
                return
        raise LocalServerError(
            f"none of the repositories has {jar.coordinate}: {', '.join(self._credentials)}"
        )

    @tenacity.retry(
        retry=tenacity.retry_if_exception_type(requests.exceptions.ChunkedEncodingError),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        reraise=True,
    )
    def _try(self, url: str, credentials: tuple[str, str], jar: LockedJar) -> bool:
        """Download ``url``, again if the connection broke; return False if it does not exist."""
        target = self._cache / jar.path
        auth = credentials if any(credentials) else None  # None: as a file .netrc says
        with self._session().get(url, auth=auth, stream=True, timeout=TIMEOUT_S) as response:
            if response.status_code == requests.codes.not_found:
                return False
            response.raise_for_status()
            if response.headers.get("Content-Type", "").startswith("text/html"):
                raise LocalServerError(
                    f"{url} answered with a page, not with a jar (was it the login page of a "
                    "proxy?); check the network and try again"
                )
            with written_whole(target) as partial:
                found = _save(response, partial, jar.size)
                if found != jar.sha256:
                    raise ChecksumError(
                        f"{url} is not the file that memoria was made with ({jar.path.name}), and "
                        f"was not used: expected SHA-256 {jar.sha256}, found {found}. Try again "
                        "from another network, or name another mirror by MEMORIA_MAVEN_URL",
                        path=target,
                        expected=jar.sha256,
                        found=found,
                    )
        return True

    def _session(self) -> requests.Session:
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


def _save(response: requests.Response, partial: Path, size: int) -> str:
    """Write what arrives, at most one piece more than ``size`` bytes; return its SHA-256."""
    digest = hashlib.sha256()
    arrived = 0
    with partial.open("wb") as file:
        for chunk in response.iter_content(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
            arrived += len(chunk)
            if arrived > size:  # it can't be the right file, and may never end
                break
    return digest.hexdigest()
