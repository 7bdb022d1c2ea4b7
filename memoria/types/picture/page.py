"""An HTML page of its own: pictures and texts, with nothing to load and no script.

In: a title, and sections of HTML. Out: the page as text.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoria.types.picture.looks import FONT, clean

_STYLE = (
    f":root{{color-scheme:light dark}}body{{{FONT};margin:1em 2em;line-height:1.4}}"
    "h1{font-size:1.4em;margin:.5em 0}h2{font-size:1.1em;margin:.5em 0}pre{max-width:60em}"
    "@media(max-width:600px){body{margin:1em;font-size:.85em}}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em .2em 0;text-align:left;"
    "vertical-align:top}td.number{text-align:right;font-variant-numeric:tabular-nums}"
)


def page(title: str, sections: Iterable[str]) -> str:
    """Return a page. No part of it comes from elsewhere, and no script runs in it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width">'
        f"<title>{clean(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{clean(title)}</h1>\n" + "\n".join(sections) + "\n</body></html>\n"
    )
