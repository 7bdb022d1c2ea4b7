"""Find the notes that links lead to.

In: the paths of the notes of a folder; a link, and the note that holds it. Out: the path of the
note that is meant; the heading in it does not matter. Touches nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import unquote

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_ENDINGS = ("", ".md", ".markdown")


class Links:
    """Finds what links mean in a folder of notes.

    Parameters
    ----------
    paths
        The paths of all notes, relative to the folder, with slashes.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = set(paths)
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted(self._paths):
            self._by_name[path.rpartition("/")[2].casefold()].append(path)

    def of_wiki_link(self, target: str, path: str) -> str | None:
        """Return the note that a wiki link in the note at ``path`` means; None if there is none.

        The target is a path from the top of the folder, or the end of one, whatever its case. Of
        several notes it is the one in the same folder, else the one nearest to the top.

        Examples
        --------
        >>> Links(["Tea.md", "drinks/Tea.md"]).of_wiki_link("tea#Green|it", "drinks/Water.md")
        'drinks/Tea.md'
        """
        name = target.partition("|")[0].partition("#")[0].strip()
        folder = posixpath.dirname(path)
        if name.startswith(("./", "../")):
            return self._at(posixpath.normpath(posixpath.join(folder, name)))
        name = name.strip("/").casefold()
        found = [
            each
            for ending in _ENDINGS
            for each in self._by_name[f"{name}{ending}".rpartition("/")[2]]
            if f"/{each}".casefold().endswith(f"/{name}{ending}")
        ]
        return min(
            found,
            key=lambda each: (posixpath.dirname(each) != folder, each.count("/"), each),
            default=None,
        )

    def of_link(self, target: str, path: str) -> str | None:
        """Return the note that a link of Markdown leads to; None if it leads elsewhere.

        Examples
        --------
        >>> links = Links(["Tea.md", "drinks/Water.md"])
        >>> links.of_link("../Tea.md#green-tea", "drinks/Water.md")
        'Tea.md'
        >>> links.of_link("https://example.org/Tea.md", "drinks/Water.md")
        """
        name = unquote(target.partition("#")[0].partition("?")[0])
        if not name or _SCHEME.match(target):
            return None
        start = "" if name.startswith("/") else posixpath.dirname(path)
        return self._at(posixpath.normpath(posixpath.join(start, name.lstrip("/"))))

    def _at(self, path: str) -> str | None:
        """Return the note at a path, which may lack its ending."""
        ways = (f"{path}{ending}" for ending in _ENDINGS)
        return next((way for way in ways if way in self._paths), None)
