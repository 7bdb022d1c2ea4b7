"""A stand-in for a hosted embedding model: a server on this machine that hashes words.

In: the requests that such services take. Out: vectors; texts with words in common are near.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from zlib import crc32


class HostedModel:
    """Serves ``POST /v1/embeddings`` until it is closed."""

    KEY = "a-key"

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1/embeddings"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        wanted = json.loads(self.rfile.read(length))
        allowed = self.headers["Authorization"] == f"Bearer {HostedModel.KEY}"
        rows = [{"embedding": vector(text, wanted["dimensions"])} for text in wanted["input"]]
        body = json.dumps({"data": rows if allowed else []}).encode()
        self.send_response(200 if allowed else 401)
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
