"""Where memoria keeps its files: the local server, lists of jars, models.

In: environment variables. Out: a folder. Reads the environment when it is called.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def default_home(environ: Mapping[str, str] | None = None) -> Path:
    """Return memoria's folder: ``MEMORIA_HOME``, else a folder in the user's data folder.

    Parameters
    ----------
    environ
        Environment variables to read; None for the variables of this process.
    """
    variables = os.environ if environ is None else environ
    named = variables.get("MEMORIA_HOME", "").strip()
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_data_dir("memoria", appauthor=False))
