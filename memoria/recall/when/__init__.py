"""Read what time a question is about."""

from memoria.recall.when.phrases import window_of

__all__ = ["window_of"]
