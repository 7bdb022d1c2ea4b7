from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import threading
import traceback
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memoria._support.home import cache_folder, repositories
from memoria.downloads.jars import resolve_jars
from memoria.downloads.lock import LOCK_FILE, Lock, package_lock, parse_lock
from memoria.embed.models import ONNX_MODELS
from memoria.errors import ChecksumError, LocalServerError, MemoriaError
from memoria.local.settings import ARTIFACT, COORDINATE, NEO4J_VERSIONS
from tests.for_each import for_each

THING, PART = "org.example:thing:1.0", "org.example.parts:part:2.0:linux"


def jar(content: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("content.txt", content)
    return buffer.getvalue()


JARS = {THING: jar("thing"), PART: jar("part")}
PATHS = {
    THING: "org/example/thing/1.0/thing-1.0.jar",
    PART: "org/example/parts/part/2.0/part-2.0-linux.jar",
}


def lock_text() -> str:
    jars = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in JARS.items()
    }
    return json.dumps({"jars": jars, "sets": {THING: [THING, PART]}})


LOCK = parse_lock(lock_text())


class Repository:
    """A Maven repository on the loopback address: paths, their bytes, and what was asked."""

    def __init__(self) -> None:
        self.files = {f"/{PATHS[name]}": content for name, content in JARS.items()}
        self.kind = "application/java-archive"
        self.asked: list[str] = []
        self.credentials: set[str | None] = set()
        self.url = ""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    served = Repository()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            served.credentials.add(self.headers["Authorization"])
            body = served.files.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", served.kind)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("MEMORIA_MAVEN_URL", served.url)
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
    first = resolve_jars(THING, home=tmp_path, lock=LOCK, progress=lambda *step: seen.append(step))
    assert first == [tmp_path / "m2" / PATHS[THING], tmp_path / "m2" / PATHS[PART]]
    assert [path.read_bytes() for path in first] == list(JARS.values())
    assert seen == [("jars", 0, 2), ("jars", 1, 2), ("jars", 2, 2)]
    assert sorted(repository.asked) == sorted(f"/{path}" for path in PATHS.values())
    repository.files.clear()
    repository.asked.clear()
    assert resolve_jars(THING, home=tmp_path, lock=LOCK) == first
    assert repository.asked == []


def test_a_jar_of_another_tool_is_used_if_it_is_the_right_one(
    repository: Repository, tmp_path: Path
) -> None:
    kept = tmp_path / "m2" / PATHS[THING]
    kept.parent.mkdir(parents=True)
    kept.write_bytes(JARS[THING])
    resolve_jars(THING, home=tmp_path, lock=LOCK)
    assert repository.asked == [f"/{PATHS[PART]}"]


@pytest.mark.parametrize("damage", ["truncated", "replaced"])
def test_a_jar_that_was_changed_in_the_cache_is_refused(
    repository: Repository, tmp_path: Path, damage: str
) -> None:
    changed = resolve_jars(THING, home=tmp_path, lock=LOCK)[1]
    whole = changed.read_bytes()
    found = whole[:-20] if damage == "truncated" else jar("hack")
    changed.write_bytes(found)
    with pytest.raises(ChecksumError) as caught:
        resolve_jars(THING, home=tmp_path, lock=LOCK)
    error = caught.value
    assert error.path == changed
    assert error.expected == hashlib.sha256(whole).hexdigest()
    assert error.found == hashlib.sha256(found).hexdigest()
    for said in (str(changed), error.expected, error.found, "delete"):
        assert said in str(error)
    changed.unlink()
    resolve_jars(THING, home=tmp_path, lock=LOCK)
    assert changed.read_bytes() == whole
    assert len([path for path in repository.asked if path == f"/{PATHS[THING]}"]) == 1


@pytest.mark.usefixtures("repository")
def test_a_change_that_keeps_size_and_time_is_found_by_verify(tmp_path: Path) -> None:
    path = resolve_jars(THING, home=tmp_path, lock=LOCK)[0]
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    # The time of the change of the file's record can't be set; what can is put into our own notes.
    notes = tmp_path / "jars" / "checked.json"
    noted = json.loads(notes.read_text("utf-8"))
    noted["files"][str(path)][2] = path.stat().st_ctime_ns
    notes.write_text(json.dumps(noted), "utf-8")
    assert resolve_jars(THING, home=tmp_path, lock=LOCK)[0] == path
    with pytest.raises(ChecksumError, match=re.escape(str(path))):
        resolve_jars(THING, home=tmp_path, lock=LOCK, verify=True)


@pytest.mark.usefixtures("repository")
@pytest.mark.skipif(os.name == "nt", reason="2026-11-23: Windows keeps no time of such a change")
def test_a_change_under_an_old_time_is_found_at_the_next_start(tmp_path: Path) -> None:
    path = resolve_jars(THING, home=tmp_path, lock=LOCK)[0]
    before = path.stat()
    path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ChecksumError):
        resolve_jars(THING, home=tmp_path, lock=LOCK)


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 1}', '{"files": {"a": [1]}}'])
def test_broken_notes_are_not_trusted(tmp_path: Path, text: str) -> None:
    path = resolve_jars(THING, home=tmp_path, lock=LOCK)[0]
    path.write_bytes(b"x" * path.stat().st_size)
    (tmp_path / "jars" / "checked.json").write_text(text)
    with pytest.raises(ChecksumError):
        resolve_jars(THING, home=tmp_path, lock=LOCK)


@pytest.mark.parametrize(
    "sent",
    [jar("hack"), JARS[PART] + b"more", JARS[PART][:-9], b""],
    ids=["other", "longer", "shorter", "empty"],  # the bytes hold the time, and differ by worker
)
def test_a_wrong_download_is_refused_and_leaves_nothing(
    repository: Repository, tmp_path: Path, sent: bytes
) -> None:
    repository.files[f"/{PATHS[PART]}"] = sent
    with pytest.raises(ChecksumError, match=r"part-2\.0-linux\.jar") as caught:
        resolve_jars(THING, home=tmp_path, lock=LOCK)
    assert repository.url in str(caught.value)
    assert not list((tmp_path / "m2").rglob("part-2.0*"))
    assert not list((tmp_path / "m2").rglob("*.part"))


def test_a_page_instead_of_a_jar_is_explained(repository: Repository, tmp_path: Path) -> None:
    repository.files[f"/{PATHS[THING]}"] = b"<html><p>Please log in</html>"
    repository.kind = "text/html; charset=utf-8"
    with pytest.raises(LocalServerError, match="login page"):
        resolve_jars(THING, home=tmp_path, lock=LOCK)


def test_a_jar_that_no_repository_has_is_named(repository: Repository, tmp_path: Path) -> None:
    del repository.files[f"/{PATHS[PART]}"]
    with pytest.raises(LocalServerError, match=re.escape(PART)):
        resolve_jars(THING, home=tmp_path, lock=LOCK)


@pytest.mark.parametrize("fault", ["missing", "a page", "wrong", "closed"])
def test_the_password_of_a_mirror_is_sent_and_never_shown(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    address = repository.url if fault != "closed" else "http://127.0.0.1:port"
    monkeypatch.setenv("MEMORIA_MAVEN_URL", address.replace("//", "//ada:s3cret%21@"))
    if fault == "missing":
        repository.files.clear()
    elif fault == "a page":
        repository.kind = "text/html"
    else:
        repository.files = dict.fromkeys(repository.files, b"another")
    with pytest.raises(MemoriaError) as caught:
        resolve_jars(THING, home=tmp_path, lock=LOCK)
    shown = "".join(traceback.format_exception(caught.value))
    assert "s3cret" not in shown
    if fault != "closed":
        assert repository.url in str(caught.value)
        sent = base64.b64encode(b"ada:s3cret!").decode()
        assert repository.credentials == {f"Basic {sent}"}


def test_concurrent_downloads_fetch_each_jar_once(repository: Repository, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: resolve_jars(THING, home=tmp_path, lock=LOCK), range(4)))
    assert found == [found[0]] * 4
    assert len(repository.asked) == 2


@pytest.mark.parametrize("layout", ["names", "maven"])
def test_a_folder_takes_the_place_of_the_network(
    repository: Repository, tmp_path: Path, layout: str
) -> None:
    folder = tmp_path / "stick"
    for name, content in JARS.items():
        path = folder / (PATHS[name] if layout == "maven" else Path(PATHS[name]).name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    jars = resolve_jars(THING, home=tmp_path, lock=LOCK, source=folder)
    assert jars == [tmp_path / "m2" / path for path in PATHS.values()]
    shutil.rmtree(folder)
    assert resolve_jars(THING, home=tmp_path, lock=LOCK) == jars
    assert repository.asked == []


def test_a_folder_with_a_wrong_jar_is_refused(repository: Repository, tmp_path: Path) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    (folder / "thing-1.0.jar").write_bytes(JARS[THING])
    (folder / "part-2.0-linux.jar").write_bytes(jar("hack"))
    with pytest.raises(ChecksumError) as caught:
        resolve_jars(THING, home=tmp_path, lock=LOCK, source=folder)
    assert caught.value.path == folder / "part-2.0-linux.jar"
    assert not list((tmp_path / "m2").rglob("part-2.0*"))
    assert repository.asked == []


def test_a_folder_without_a_jar_is_refused_without_a_look_at_the_network(
    repository: Repository, tmp_path: Path
) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    (folder / "thing-1.0.jar").write_bytes(JARS[THING])
    with pytest.raises(LocalServerError, match=r"part-2\.0-linux\.jar"):
        resolve_jars(THING, home=tmp_path, lock=LOCK, source=folder)
    with pytest.raises(LocalServerError, match="does not exist"):
        resolve_jars(THING, home=tmp_path, lock=LOCK, source=tmp_path / "gone")
    assert repository.asked == []


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
        resolve_jars(THING, home=tmp_path, lock=LOCK)


def test_a_home_that_cannot_be_written_is_named(repository: Repository, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LocalServerError, match="file"):
        resolve_jars(THING, home=file / "home", lock=LOCK)
    assert repository.asked == []


def test_a_mirror_comes_from_the_environment_or_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MEMORIA_MAVEN_URL", "M2_REPO"):
        monkeypatch.delenv(name, raising=False)
    settings = tmp_path / "jgo.conf"
    monkeypatch.setenv("JGO_CONFIG_FILE", str(settings))
    usual = repositories()
    assert len(usual) == 1
    settings.write_text(
        "[settings]\nm2Repo = /srv/jars\n"
        "[repositories]\ncentral = https://m.example.org/a/\nextra = https://x.example.org\n"
    )
    assert repositories() == ["https://m.example.org/a", "https://x.example.org"]
    assert cache_folder() == Path("/srv/jars")
    monkeypatch.setenv("MEMORIA_MAVEN_URL", "https://other.example.org/")
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    assert repositories() == ["https://other.example.org"]
    assert cache_folder() == tmp_path / "m2"
    settings.write_text("no settings at all")
    monkeypatch.delenv("MEMORIA_MAVEN_URL")
    with pytest.raises(LocalServerError, match=re.escape(str(settings))):
        repositories()


# What is locked


@for_each(
    "coordinate",
    [
        "org.example:thing:../../../../etc",
        "org.example:..:1.0",
        "..:thing:1.0",
        "org/../..:thing:1.0",
        "org..example:thing:1.0",
        "org.example:thing:1.0:../x",
        "org.example:/etc/passwd:1.0",
        "org.example:a\\b:1.0",
        "org.example:thing:1.0\n",
        "org.example:C:\\x:1.0",
        "org.example:thing",
        "org.example:thing:",
        "a:b:c:d:e",
    ],
)
def test_a_lock_can_not_lead_out_of_the_cache(coordinate: str) -> None:
    entry = {"size": 1, "sha256": "0" * 64}
    text = json.dumps({"jars": {coordinate: entry}, "sets": {"a:b:1": [coordinate]}})
    with pytest.raises(LocalServerError, match="damaged"):
        parse_lock(text)


@for_each(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"jars": {}}',
        '{"jars": {}, "sets": {"a:b:1": ["a:b:1"]}}',
        '{"jars": {"a:b:1": {"size": 1, "sha256": "x"}}, "sets": {}}',
        '{"jars": {"a:b:1": {"size": "1", "sha256": "' + "0" * 64 + '"}}, "sets": {}}',
        '{"jars": {"a:b:1": {"size": 0, "sha256": "' + "0" * 64 + '"}}, "sets": {}}',
    ],
)
def test_a_damaged_lock_is_refused(text: str) -> None:
    with pytest.raises(LocalServerError, match="damaged"):
        parse_lock(text)


def test_a_version_that_is_not_locked_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match=r"org\.example:thing.* 1\.0"):
        resolve_jars("org.example:thing:9.9", home=tmp_path, lock=LOCK)
    with pytest.raises(LocalServerError, match=", ".join(sorted(NEO4J_VERSIONS))):
        resolve_jars(f"{ARTIFACT}:4.4.0", home=tmp_path)


@pytest.mark.parametrize("text", ["", "a:b", "a:b:", "a:b:1:jar"])
def test_what_is_no_coordinate_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(LocalServerError, match="it knows those of"):
        resolve_jars(text, home=tmp_path, lock=LOCK)


def test_the_lock_has_every_server_and_every_model() -> None:
    lock: Lock = package_lock()
    servers = [f"{ARTIFACT}:{version}" for version in NEO4J_VERSIONS]
    models = [model.coordinate for model in ONNX_MODELS.values()]
    assert sorted(lock.sets) == sorted(servers + models)
    assert COORDINATE in servers
    for server in servers:
        jars = lock.jars_of(server)
        assert jars[0].coordinate == server
        assert len(jars) > 100
        assert len({jar.path for jar in jars}) == len(jars)
    for model in models:
        assert [jar.coordinate for jar in lock.jars_of(model)] == [model]


def test_the_lock_is_in_the_package() -> None:
    assert LOCK_FILE.parent.parent.name == "memoria"
    assert json.loads(LOCK_FILE.read_text("utf-8"))["made_by"].startswith("scripts/lock_jars.py")
