"""Compare pictures of the page with those that are kept, as tolerant as fonts need.

In: two PNG pictures. Out: the share of them that differs. Touches a page of the browser.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Browser

#: Squares of pixels whose mean colours are compared: the letters of another font, or a time in
#: milliseconds, fill a square alike; a panel that is gone, or moved, does not.
SQUARE = 10
#: Difference of a mean colour, of 255, from which on a square counts.
FAINT = 32
#: Share of the squares that may differ from a kept picture.
MOST_THAT_DIFFERS = 0.02

_COMPARE = """async ([before, after, square, faint]) => {
    const load = async (data) => {
        const picture = new Image();
        picture.src = `data:image/png;base64,${data}`;
        await picture.decode();
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [picture.width, picture.height];
        const context = canvas.getContext('2d');
        context.drawImage(picture, 0, 0);
        return context.getImageData(0, 0, picture.width, picture.height);
    };
    const [one, other] = [await load(before), await load(after)];
    if (one.width !== other.width || one.height !== other.height) return 1;
    let [all, differ] = [0, 0];
    for (let top = 0; top + square <= one.height; top += square) {
        for (let left = 0; left + square <= one.width; left += square) {
            const sums = [0, 0, 0];
            for (let y = top; y < top + square; y++) {
                for (let x = left; x < left + square; x++) {
                    const at = 4 * (y * one.width + x);
                    for (const c of [0, 1, 2]) sums[c] += one.data[at + c] - other.data[at + c];
                }
            }
            all += 1;
            differ += Math.max(...sums.map(Math.abs)) > faint * square * square ? 1 : 0;
        }
    }
    return differ / all;
}"""


async def share_that_differs(browser: Browser, before: bytes, after: bytes) -> float:
    """Return the share of the squares in which two pictures differ; 1 if their sizes do."""
    page = await browser.new_page()
    try:
        pictures = [base64.b64encode(each).decode() for each in (before, after)]
        found: float = await page.evaluate(_COMPARE, [*pictures, SQUARE, FAINT])
        return found
    finally:
        await page.close()


def keep_failed(picture: bytes, name: str) -> Path:
    """Write a picture where it can be looked at."""
    file = Path(tempfile.mkdtemp(prefix="memoria-view-")) / name
    file.write_bytes(picture)
    return file
