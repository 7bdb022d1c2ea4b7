"""Draw trees of cards as SVG, with nothing to load and no script.

In: trees of `Card`. Out: text. Touches nothing, and knows nothing of memories: `memoria.types`
says what stands on a card.
"""

from memoria.types.picture.page import page
from memoria.types.picture.tree import Branch, Card, draw

__all__ = ["Branch", "Card", "draw", "page"]
