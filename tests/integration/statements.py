"""The statements that the driver sends, read from its log."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager


class Statements(logging.Handler):
    """The statements that the driver has sent."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.sent: set[str] = set()
        self.names: set[str] = set()
        self.order: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "C: RUN" in str(record.msg) and isinstance(record.args, tuple):
            text = str(record.args[-1])
            self.sent.add(text.partition("{")[0])
            found = re.findall(r"'query': '([a-z._]+)'", text)
            self.names.update(found)
            self.order += found


@contextmanager
def sent_statements() -> Iterator[Statements]:
    """Note the statements that are sent while the context is open."""
    handler, logger = Statements(), logging.getLogger("neo4j.io")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
