"""Where memoria keeps its files: the local server, lists of jars, models.

In: environment variables, as a surface read them. Out: a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import platformdirs


def default_home(environ: Mapping[str, str] = MappingProxyType({})) -> Path:
    """Folder of memoria: ``MEMORIA_HOME``, else one in the user's data folder."""
    named = environ.get("MEMORIA_HOME", "").strip()
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_data_dir("memoria", appauthor=False))
