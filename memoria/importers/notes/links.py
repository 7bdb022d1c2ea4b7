"""Find the notes that links lead to.

In: the paths of the notes of a folder; a link, and the note that holds it. Out: the path of the
note that is meant; the heading in it does not matter. Touches nothing but what ``aliases`` does.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from urllib.parse import unquote, urlsplit

#: Beginning of the reason for which a link becomes no edge; a host follows, or that it has none.
LINK_TO = "link to "
NOWHERE = "no note"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
#: Address of a note in basic-memory: its permalink follows.
_PERMALINK = "memory://"
_ENDINGS = ("", ".md", ".markdown")
_SUFFIX = re.compile(r"\.(md|markdown|html?)\Z", re.IGNORECASE)


class Links:
    """Finds what links mean in a folder of notes.

    Parameters
    ----------
    paths
        The paths of all notes, relative to the folder, with slashes.
    sites
        Addresses under which the folder is published.
    aliases
        Returns the paths of notes by their titles and other names, in `str.casefold`; called when
        a wiki link is not a path.
    """

    def __init__(
        self,
        paths: Iterable[str],
        sites: Sequence[str] = (),
        aliases: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._paths = set(paths)
        self._read_aliases = aliases
        self._sites = [_bare(site).rstrip("/") + "/" for site in sites]
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        self._published: dict[str, str] = {}
        for path in sorted(self._paths):
            self._by_name[path.rpartition("/")[2].casefold()].append(path)
            self._published.setdefault(_slug(path), path)

    def of_wiki_link(self, target: str, path: str) -> str | None:
        """Return the note that a wiki link in the note at ``path`` means; None if there is none.

        The target is a path from the top of the folder, or the end of one, whatever its case; or
        else a title or another name of a note. Of several notes it is the one in the same folder,
        else the one nearest to the top.

        Examples
        --------
        >>> Links(["Tea.md", "drinks/Tea.md"]).of_wiki_link("tea#Green|it", "drinks/Water.md")
        'drinks/Tea.md'
        """
        name = target.partition("|")[0].partition("#")[0].strip().removeprefix(_PERMALINK)
        folder = posixpath.dirname(path)
        if name.startswith(("./", "../")):
            return self._at(posixpath.normpath(posixpath.join(folder, name)))
        name = name.strip("/").casefold()
        found = [
            each
            for ending in _ENDINGS
            for each in self._by_name.get(f"{name}{ending}".rpartition("/")[2], ())
            if f"/{each}".casefold().endswith(f"/{name}{ending}")
        ]
        if not found:
            return self._aliases.get(name)
        return min(
            found, key=lambda each: (posixpath.dirname(each) != folder, each.count("/"), each)
        )

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return self._read_aliases()

    def of_link(self, target: str, path: str) -> str | None:
        """Return the note that a link of Markdown leads to; None if it leads elsewhere.

        Examples
        --------
        >>> links = Links(["Tea.md", "drinks/Water.md"], ["https://ada.example/notes"])
        >>> links.of_link("../Tea.md#green-tea", "drinks/Water.md")
        'Tea.md'
        >>> links.of_link("https://ada.example/notes/drinks/water/", "Tea.md")
        'drinks/Water.md'
        >>> links.of_link("https://example.org/Tea.md", "drinks/Water.md")
        """
        if target.startswith(_PERMALINK):
            return self.of_wiki_link(unquote(target.removeprefix(_PERMALINK)), path)
        if _SCHEME.match(target):
            return self._of_address(target)
        name = unquote(target.partition("#")[0].partition("?")[0])
        if not name:
            return None
        start = "" if name.startswith("/") else posixpath.dirname(path)
        return self._at(posixpath.normpath(posixpath.join(start, name.lstrip("/"))))

    def _of_address(self, address: str) -> str | None:
        """Return the note that is published at an address."""
        bare = _bare(address)
        for site in self._sites:
            if f"{bare.rstrip('/')}/".startswith(site):
                name = unquote(bare[len(site) :].partition("#")[0].partition("?")[0])
                slug = _slug(name)
                for way in (slug, f"{slug}/index", f"{slug}/readme"):
                    if (found := self._published.get(way.strip("/"))) is not None:
                        return found
        return None

    def _at(self, path: str) -> str | None:
        """Return the note at a path, which may lack its ending."""
        ways = (f"{path}{ending}" for ending in _ENDINGS)
        return next((way for way in ways if way in self._paths), None)


def unresolved(target: str) -> str | None:
    """Return where a link leads that leads to no note: a host, or ``""`` for the folder itself.

    None: it leads to a place in its own note, or to no page at all, as that of a mail does.

    >>> unresolved("https://www.example.org/a"), unresolved("gone.md"), unresolved("mailto:a@b.c")
    ('www.example.org', '', None)
    """
    if target.startswith("#") or not target:
        return None
    if target.startswith(_PERMALINK):
        return ""
    try:
        parts = urlsplit(target)
        host = parts.hostname
    except ValueError:
        return None
    if host:
        return host
    return None if parts.scheme or not _is_note(parts.path) else ""


def _is_note(path: str) -> bool:
    """Tell whether a path may be that of a note, and not of a picture."""
    ending = posixpath.splitext(path)[1].lower()
    return ending in _ENDINGS or not re.fullmatch(r"\.[a-z0-9]{1,5}", ending)


def _bare(address: str) -> str:
    """Return an address without scheme and ``www.``, with its host in lower case."""
    host, slash, path = _SCHEME.sub("", address, count=1).lstrip("/").partition("/")
    return host.lower().removeprefix("www.") + slash + path


def _slug(path: str) -> str:
    """Return a path as publishers write it: lower case, hyphens for blanks, without its ending.

    >>> _slug("drinks/Green Tea.md"), _slug("drinks/green+tea.html"), _slug("Drinks/Green-Tea/")
    ('drinks/green-tea', 'drinks/green-tea', 'drinks/green-tea')
    """
    bare = _SUFFIX.sub("", path.strip("/")).casefold()
    return "/".join(re.sub(r"[^\w.]+", "-", part).strip("-") for part in bare.split("/"))
