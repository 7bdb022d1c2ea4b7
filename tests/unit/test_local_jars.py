from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memoria._support.jars import resolve_jars
from memoria.errors import LocalServerError

COORDINATE = "org.example:thing:1.0"
POM = b"""<project><modelVersion>4.0.0</modelVersion>
<groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version>%s</project>"""
DEPENDS = b"""<dependencies><dependency><groupId>org.example</groupId>
<artifactId>part</artifactId><version>2.0</version></dependency></dependencies>"""


class Repository:
    """A Maven repository on the loopback address: paths, their bytes, and what was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []

    def add(self, artifact: str, version: str, jar: bytes, pom: bytes) -> None:
        path = f"/org/example/{artifact}/{version}/{artifact}-{version}"
        self.files[f"{path}.jar"] = jar
        self.files[f"{path}.jar.sha1"] = hashlib.sha1(jar).hexdigest().encode()
        self.files[f"{path}.pom"] = pom


def jar(content: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("content.txt", content)
    return buffer.getvalue()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    served = Repository()
    served.add("thing", "1.0", jar("thing"), POM % DEPENDS)
    part = POM.replace(b"thing", b"part").replace(b"1.0", b"2.0")
    served.add("part", "2.0", jar("part"), part % b"")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            body = served.files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    settings = tmp_path / "jgo.conf"
    settings.write_text(f"[repositories]\ncentral = http://127.0.0.1:{server.server_port}\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(settings))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def test_jars_are_downloaded_once_then_found_without_network(
    repository: Repository, tmp_path: Path
) -> None:
    seen: list[tuple[str, int, int | None]] = []
    first = resolve_jars(COORDINATE, home=tmp_path, progress=lambda *step: seen.append(step))
    assert [path.name for path in first] == ["thing-1.0.jar", "part-2.0.jar"]
    assert seen[-1] == ("jars", 2, 2)
    assert ("dependencies", 1, None) in seen
    repository.files.clear()
    repository.asked.clear()
    assert resolve_jars(COORDINATE, home=tmp_path) == first
    assert repository.asked == []


def test_the_jar_alone_needs_no_description(repository: Repository, tmp_path: Path) -> None:
    alone = resolve_jars(COORDINATE, home=tmp_path, transitive=False)
    assert [path.name for path in alone] == ["thing-1.0.jar"]
    assert not any(path.endswith(".pom") for path in repository.asked)
    assert len(resolve_jars(COORDINATE, home=tmp_path)) == 2


@pytest.mark.parametrize("damage", ["truncated", "removed", "replaced"])
def test_a_damaged_jar_is_downloaded_again(
    repository: Repository, tmp_path: Path, damage: str
) -> None:
    jars = resolve_jars(COORDINATE, home=tmp_path)
    whole = jars[0].read_bytes()
    if damage == "removed":
        jars[0].unlink()
    else:
        size = len(whole) - 20 if damage == "truncated" else len(whole)
        jars[0].write_bytes(b"x" * size)
    assert resolve_jars(COORDINATE, home=tmp_path) == jars
    assert jars[0].read_bytes() == whole
    assert len([path for path in repository.asked if path.endswith("part-2.0.jar")]) == 1


@pytest.mark.usefixtures("repository")
def test_a_half_filled_cache_is_completed(tmp_path: Path) -> None:
    folder = tmp_path / "m2/org/example/thing/1.0"
    folder.mkdir(parents=True)
    (folder / "thing-1.0.jar").write_bytes(jar("thing")[:-30])
    (folder / "thing-1.0.pom").write_bytes((POM % DEPENDS)[:60])
    jars = resolve_jars(COORDINATE, home=tmp_path)
    assert [path.name for path in jars] == ["thing-1.0.jar", "part-2.0.jar"]
    assert all(zipfile.is_zipfile(path) for path in jars)


def test_a_wrong_checksum_is_refused_and_leaves_nothing(
    repository: Repository, tmp_path: Path
) -> None:
    repository.files["/org/example/part/2.0/part-2.0.jar"] = jar("something else")
    with pytest.raises(LocalServerError, match="checksum"):
        resolve_jars(COORDINATE, home=tmp_path)
    assert not list((tmp_path / "jars").glob("*.json"))
    assert [path.name for path in (tmp_path / "m2").rglob("part-2.0.*")] == ["part-2.0.pom"]
    assert not list((tmp_path / "m2").rglob("*.part"))


def test_an_unknown_artifact_is_named(repository: Repository, tmp_path: Path) -> None:
    assert repository.files
    with pytest.raises(LocalServerError, match=r"org\.example:thing:9\.9"):
        resolve_jars("org.example:thing:9.9", home=tmp_path)


def test_a_page_instead_of_a_description_is_explained(
    repository: Repository, tmp_path: Path
) -> None:
    repository.files["/org/example/thing/1.0/thing-1.0.pom"] = b"<html><p>Please log in</html>"
    with pytest.raises(LocalServerError, match="proxy"):
        resolve_jars(COORDINATE, home=tmp_path)


def test_concurrent_downloads_fetch_each_jar_once(repository: Repository, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: resolve_jars(COORDINATE, home=tmp_path), range(4)))
    assert found == [found[0]] * 4
    assert len([path for path in repository.asked if path.endswith("thing-1.0.jar")]) == 1


def test_without_network_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    monkeypatch.setenv("JGO_CONFIG_FILE", str(tmp_path / "none"))
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LocalServerError, match="HTTPS_PROXY"):
        resolve_jars(COORDINATE, home=tmp_path)


def test_a_home_that_cannot_be_written_is_named(repository: Repository, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LocalServerError, match="file"):
        resolve_jars(COORDINATE, home=file / "home")
    assert repository.asked == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"jars": 1}', json.dumps({"jars": []})])
def test_a_broken_list_of_jars_is_not_trusted(
    repository: Repository, tmp_path: Path, text: str
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "org.example_thing_1.0.json").write_text(text)
    assert len(resolve_jars(COORDINATE, home=tmp_path)) == 2
    assert repository.asked


@pytest.mark.parametrize("text", ["", "a:b", "a:b:", "a:b:1:jar"])
def test_a_coordinate_has_three_parts(tmp_path: Path, text: str) -> None:
    with pytest.raises(LocalServerError, match="coordinate"):
        resolve_jars(text, home=tmp_path)
