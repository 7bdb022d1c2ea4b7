"""Read time phrases in questions."""

from memoria.recall.when.phrases import window_of

__all__ = ["window_of"]
