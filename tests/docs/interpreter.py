"""Run Python blocks, one after the other, in one namespace: a process of its own.

In: JSON strings of code, one a line. Out: for each a JSON list of what it printed and its
traceback, or None. Top-level ``await`` works, as in ``python -m asyncio``.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import json
import sys
import traceback
from typing import Any


def main() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    answers = sys.stdout
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            printed, error = io.StringIO(), None
            with contextlib.redirect_stdout(printed):
                try:
                    execute(json.loads(line), namespace, runner)
                except Exception:  # noqa: BLE001  # whatever the block raises is its result
                    error = traceback.format_exc()
            answers.write(json.dumps([printed.getvalue(), error]) + "\n")
            answers.flush()


def execute(code: str, namespace: dict[str, Any], runner: asyncio.Runner) -> None:
    compiled = compile(code, "<block>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if compiled.co_flags & inspect.CO_COROUTINE:
        runner.run(eval(compiled, namespace))  # the project's own documentation
    else:
        exec(compiled, namespace)  # the same


if __name__ == "__main__":
    main()
