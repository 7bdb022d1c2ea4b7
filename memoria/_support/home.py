"""Where memoria keeps its files: the local server, lists of jars, models.

In: environment variables. Out: a folder. Reads the environment, at the call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def default_home(environ: Mapping[str, str] | None = None) -> Path:
    """Folder of memoria: ``MEMORIA_HOME``, else one in the user's data folder.

    Parameters
    ----------
    environ
        Variables to look in; None for those of this process.
    """
    variables = os.environ if environ is None else environ
    named = variables.get("MEMORIA_HOME", "").strip()
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_data_dir("memoria", appauthor=False))
