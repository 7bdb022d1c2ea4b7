from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoria.cli import make_startup_cache
from memoria.local.settings import Layout


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A folder of a server, and an environment that names no cache."""
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "nice", lambda _: 0)  # this process keeps its own
    made = Layout.of(tmp_path)
    made.log.parent.mkdir(parents=True)
    return made


def writes(content: bytes) -> Callable[[Path], Any]:
    async def make(cache: Path) -> None:
        await asyncio.to_thread(cache.write_bytes, content)

    return make


async def fails(_: Path) -> None:
    raise OSError("no room")


def test_only_a_cache_that_java_has_written_is_used(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    for make in (fails, writes(b""), writes(b"classes")):
        make_startup_cache.make_later(layout)
        assert len(layout.startup_caches()) == 1
        make_startup_cache.make_later(layout)
        assert len(started) == 1, "it is being made"
        monkeypatch.setattr(make_startup_cache, "make", make)
        unfinished = Path(started.pop()[-1])
        if make is fails:
            with pytest.raises(OSError, match="no room"):
                make_startup_cache.main(unfinished)
        else:
            make_startup_cache.main(unfinished)
        assert not unfinished.exists()
    (cache,) = layout.startup_caches()
    assert cache.read_bytes() == b"classes"
    make_startup_cache.make_later(layout)
    assert started == []


def test_a_folder_that_can_not_be_used_fails_no_start(layout: Layout) -> None:
    make_startup_cache.make_later(Layout(layout.root / "missing"))
