"""Colours, and the parts of a drawing: a line of text, a rectangle, a style.

In: places and words. Out: SVG as text. Every rule of the style begins with the class of the
drawing, so that it changes nothing else on the page of a notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from textwrap import wrap
from unicodedata import east_asian_width

from memoria._support.wording import cut

#: Class of the drawing.
ROOT = "memoria"

# Colours of the kinds that every memory may have, for light and dark surroundings.
KINDS = {
    "UserRequest": ("#8250df", "#b392f0"),
    "UserPreference": ("#bf3989", "#f778ba"),
    "AgentAnswer": ("#1a7f37", "#56d364"),
    "AgentAction": ("#0b7285", "#39c5cf"),
    "Event": ("#0969da", "#6cb6ff"),
    "DataSource": ("#8a5a00", "#e3b341"),
}
OTHER_KIND = ("#59636e", "#9198a1")

# Each look: class of the elements, property, colour in light and in dark surroundings.
LOOKS = [
    ("card", "fill", "#ffffff", "#0d1117"),
    ("card", "stroke", "#d0d7de", "#30363d"),
    ("box", "fill", "#f6f8fa", "#161b22"),
    ("box", "stroke", "#d0d7de", "#3d444d"),
    ("packed", "stroke", "#1a7f37", "#56d364"),
    ("text", "fill", "#1f2328", "#e6edf3"),
    ("muted", "fill", "#59636e", "#9198a1"),
    ("energy", "fill", "#bc4c00", "#f0a35e"),
    ("edge", "stroke", "#f2a65a", "#b8692b"),
    ("halo", "stroke", "#ffffff", "#0d1117"),
    ("kind", "fill", *OTHER_KIND),
    *((f"kind-{kind}", "fill", *colours) for kind, colours in KINDS.items()),
]
FONT = "font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif"
SHAPES = {
    "text": f"{FONT};font-size:12px",
    ".small": "font-size:11px",
    ".title": "font-size:18px",
    ".title,.bold": "font-weight:600",
    ".end": "text-anchor:end",
    ".edge": "fill:none;stroke-linecap:round",
    ".packed": "stroke-width:2px",
    ".halo": "stroke-width:3px;paint-order:stroke",
}
# Letters that are narrower or wider than most, in a wide font such as DejaVu Sans.
_NARROW, _WIDE, _SIGNS = " ijlrtfI.,:;'|!()[]/-·", "mwMW@%…", "→←#~+="
_NARROWEST = 0.36  # of their size
_TRIED_CHARACTERS = 400  # more never fit


def colour_of(kind: str) -> str:
    """Return the colour of a kind in light surroundings."""
    return KINDS.get(kind, OTHER_KIND)[0]


def class_of(kind: str) -> str:
    """Return the class of what is drawn in the colour of a kind."""
    return f"kind-{kind}" if kind in KINDS else "kind"


def fitted(words: str, pixels: float, size: float, cutting: Callable[[str, int], str] = cut) -> str:
    """Cut words until they fit into a width in pixels, in letters of a size."""
    most = min(len(words), _TRIED_CHARACTERS)
    while most > 1 and width_of(cutting(words, most), size) > pixels:
        most -= 1
    return cutting(words, most)


def lines_of(words: str, pixels: float, size: float, most: int) -> list[str]:
    """Break words into lines no wider than some pixels; at most so many, the last one cut."""
    words = cut(words, _TRIED_CHARACTERS)
    characters = int(pixels / (size * _NARROWEST))
    while True:
        lines = wrap(words, characters, max_lines=most, placeholder=" …")
        if characters <= 4 or all(width_of(line, size) <= pixels for line in lines):
            return lines
        characters -= 1


def width_of(words: str, size: float) -> float:
    """Estimate the width of words in pixels, rather too wide than too narrow."""
    return size * sum(map(_width, words))


def _width(letter: str) -> float:
    if letter in _NARROW:
        return _NARROWEST
    if letter in _WIDE or east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() or letter in _SIGNS else 0.6


def label(x: float, y: float, words: str, look: str) -> str:
    """Write one line of text."""
    return f'<text class="{look}" x="{x:g}" y="{y:g}">{clean(words)}</text>'


def rectangle(look: str, x: float, y: float, width: float, height: float) -> str:
    """Draw a rectangle with round corners."""
    return (
        f'<rect class="{look}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
        f'rx="{min(6, width / 2):g}"/>'
    )


def style() -> str:
    """Write the looks, those for dark surroundings behind a media query."""
    shapes = "".join(_rule(what, how) for what, how in SHAPES.items())
    light = "".join(_rule(f".{name}", f"{what}:{colour}") for name, what, colour, _ in LOOKS)
    dark = "".join(_rule(f".{name}", f"{what}:{colour}") for name, what, _, colour in LOOKS)
    return f"<style>{shapes}{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def clean(words: str) -> str:
    """Make words fit for XML: escaped, and without the characters that it does not allow."""
    return escape("".join(c if c.isprintable() else " " for c in words))


def _rule(what: str, how: str) -> str:
    chosen = ",".join(f".{ROOT} {each}" for each in what.split(","))
    return f"{chosen}{{{how}}}"
