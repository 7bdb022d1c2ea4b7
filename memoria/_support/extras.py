"""The command that installs the packages of an extra.

In: the name of an extra. Out: a command. Touches nothing.
"""

from __future__ import annotations

import sys


def install_command(extra: str, *, python: str = sys.executable) -> str:
    """Return the command that adds an extra to the memoria that runs.

    It names the Python that runs: the pip of this Python finds memoria installed, from a clone as
    well as from a release, and fetches only the packages that are missing. Another pip would look
    for memoria itself.

    >>> install_command("view", python=".venv/bin/python")
    '.venv/bin/python -m pip install "memoria-graph[view]"'
    """
    program = f'"{python}"' if " " in python else python or "python"
    return f'{program} -m pip install "memoria-graph[{extra}]"'
