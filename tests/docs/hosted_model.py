"""A stand-in for a hosted embedding model, and for a model server on one's own machine.

In: the requests that they take. Out: vectors that hash words, so texts with words in common are
near; or a failure, as often as it was told to fail.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from zlib import crc32


@dataclass(frozen=True)
class Failure:
    """How one request ends in place of an answer: a status, or no answer at all."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    silent_s: float = 0.0


class HostedModel:
    """Serves ``POST /v1/embeddings`` and, as Ollama does, ``POST /api/embed`` until it is closed.

    The first requests fail as they are told to, in this order.
    """

    KEY = "a-key"
    MOST = 100  # texts in one request
    DIMENSIONS = 768  # of ``/api/embed``

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.asked: list[tuple[float, int]] = []  # when, and how many texts
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1/embeddings"

    @property
    def ollama_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/api/embed"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, model: HostedModel, *connection: Any) -> None:
        self._model = model
        super().__init__(*connection)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        wanted = json.loads(self.rfile.read(length))
        self._model.asked.append((time.monotonic(), len(wanted["input"])))
        if self._model.failures:
            failure = self._model.failures.pop(0)
            time.sleep(failure.silent_s)
            self._answer(failure.status, {}, failure.headers)
        elif self.path == "/api/embed":
            rows = [vector(text, HostedModel.DIMENSIONS) for text in wanted["input"]]
            self._answer(200, {"model": wanted["model"], "embeddings": rows})
        elif self.headers["Authorization"] != f"Bearer {HostedModel.KEY}":
            self._answer(401, {})
        elif len(wanted["input"]) > HostedModel.MOST:
            self._answer(400, {})
        else:
            texts = list(enumerate(wanted["input"]))
            data = [{"index": n, "embedding": vector(t, wanted["dimensions"])} for n, t in texts]
            self._answer(200, {"data": data[::-1]})  # the order is not promised

    def _answer(
        self, status: int, content: object, headers: Mapping[str, str] | None = None
    ) -> None:
        body = json.dumps(content).encode()
        with suppress(OSError):  # whoever asked may have gone
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is theirs
        """Say nothing."""


def vector(text: str, dimensions: int) -> list[float]:
    """How often words with each hash stand in the text.

    >>> vector("one two two", 4)
    [0.0, 1.0, 2.0, 0.0]
    """
    counts = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        counts[crc32(word.encode()) % dimensions] += 1.0
    return counts
