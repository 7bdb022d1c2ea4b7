"""Expand ``// use: name(args)`` in a query file by the fragment of that name in ``cypher/_shared``.

In: the text of a query file. Out: the text with every fragment in its place.
A fragment states one rule of the graph once, such as which memories are valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memoria.errors import ConfigError

_HEADER = re.compile(r"// fragment: (?P<name>\w+)\((?P<params>[\w, ]*)\)")
_MAX_DEPTH = 8
#: Finds a quoted name or text; one that is cut in two by a doubled quote is found as two.
QUOTED = r"`[^`]*`|'(?:[^'\\\n]|\\.)*'"
_USE = re.compile(
    rf"(?P<before>(?:{QUOTED}|[^`'])*?)// use: (?P<name>\w+)\((?P<rest>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A piece of a query: its name, the names that a use of it replaces, and its lines."""

    name: str
    params: tuple[str, ...]
    lines: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, name: str) -> Fragment:
        """Read the text of the file of a fragment, whose first line is ``// fragment: name(m)``."""
        lines = text.strip().splitlines() or [""]
        head = _HEADER.fullmatch(lines[0])
        if head is None or head["name"] != name:
            raise ConfigError(f"_shared/{name}: its first line must be // fragment: {name}(...)")
        params = tuple(part.strip() for part in head["params"].split(",") if part.strip())
        body = [line for line in lines[1:] if not _is_comment(line)]
        return cls(name=name, params=params, lines=tuple(body))

    def filled(self, args: tuple[str, ...]) -> list[str]:
        """Return the lines with each parameter replaced by its argument."""
        if len(args) != len(self.params):
            raise ConfigError(
                f"_shared/{self.name} takes {len(self.params)} arguments, not {len(args)}"
            )
        if not args:
            return list(self.lines)
        given = dict(zip(self.params, args, strict=True))
        # A name in quotes, after a dot or a dollar is another one's.
        word = re.compile(rf"{QUOTED}|(?<![\w.$])({'|'.join(map(re.escape, given))})(?!\w)")
        return [word.sub(lambda match: given.get(match[1], match[0]), line) for line in self.lines]


#: Finds a fragment by its name.
Library = Callable[[str], Fragment]


def expand(text: str, library: Library) -> str:
    """Return a text with each ``// use: name(args)`` replaced by that fragment, indented alike.

    What stands before and after a use on its line stays there.

    Raises
    ------
    ConfigError
        A use can't be read, gives a wrong number of arguments, or leads back to itself.
    """
    return "\n".join(_expanded(text.splitlines(), library, 0))


def _expanded(lines: list[str], library: Library, depth: int) -> list[str]:
    if depth > _MAX_DEPTH:
        raise ConfigError("a fragment of cypher/_shared uses itself")
    done: list[str] = []
    for line in lines:
        match = _USE.fullmatch(line)
        if match is None:
            done.append(line)
            continue
        args, after = _arguments(match["rest"])
        filled = library(match["name"]).filled(args)
        first, *more = _expanded(filled, library, depth + 1)
        indent = " " * (len(match["before"]) - len(match["before"].lstrip()))
        body = [match["before"] + first, *(indent + each for each in more)]
        # Another use may follow on the same line.
        done += [*body[:-1], *_expanded([body[-1] + after], library, depth)]
    return done


def _arguments(rest: str) -> tuple[tuple[str, ...], str]:
    """Split the text behind the opening bracket into the arguments and what follows them."""
    args, start, depth = [], 0, 1
    for place, sign in enumerate(rest):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 or (sign == "," and depth == 1):
            args.append(rest[start:place].strip())
            start = place + 1
        if depth == 0:
            return tuple(arg for arg in args if arg), rest[start:]
    raise ConfigError(f"a use of a fragment has no end: {rest}")


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("//") and _USE.fullmatch(line) is None
