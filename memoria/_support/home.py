"""Where memoria keeps its files (the local server, jars, models), and where it gets jars from.

In: environment variables, a settings file of ``jgo``. Out: folders, addresses. Reads the
environment when it is called.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from memoria.errors import LocalServerError

#: Folder with a file for each export that runs, and the prefix of its unfinished output.
EXPORTING = "exporting"
UNFINISHED = ".memoria-export-"
MAVEN_CENTRAL_URL = "https://repo.maven.apache.org/maven2"


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


def cache_folder() -> Path:
    """Return the Maven cache: ``M2_REPO``, else as in ``jgo``'s settings, else that of Maven."""
    if named := os.environ.get("M2_REPO", "").strip():
        return Path(named).expanduser().absolute()
    settings = _settings()
    for key in ("repo_cache", "m2repo"):
        if named := settings.get("settings", key, fallback=""):
            return Path(named).expanduser().absolute()
    return Path.home() / ".m2" / "repository"


def repositories() -> list[str]:
    """Return the addresses of the repositories, in the order in which they are asked.

    ``MEMORIA_MAVEN_URL``, where it is set, is the only one. Else a file of settings of ``jgo``
    (``JGO_CONFIG_FILE``, ``~/.config/jgo.conf``, ``~/.jgorc``) may name others in its section
    ``repositories``, of which ``central`` takes the place of Maven Central.
    """
    if named := os.environ.get("MEMORIA_MAVEN_URL", "").strip():
        return [named.rstrip("/")]
    settings = _settings()
    found = {"central": MAVEN_CENTRAL_URL}
    if settings.has_section("repositories"):
        found.update(settings.items("repositories"))
    return [address.rstrip("/") for address in found.values()]


def _settings() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    path = _settings_path()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError) as exc:
        raise LocalServerError(f"can't read the settings of repositories in {path}: {exc}") from exc
    return parser


def _settings_path() -> Path:
    if named := os.environ.get("JGO_CONFIG_FILE", "").strip():
        return Path(named).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME", "").strip()
    usual = (Path(folder) if folder else Path.home() / ".config") / "jgo.conf"
    return usual if usual.exists() else Path.home() / ".jgorc"
