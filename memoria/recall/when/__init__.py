"""The time that a question is about, read by rules from its words."""

from memoria.recall.when.phrases import window_of
from memoria.recall.when.tense import is_future, tense_of

__all__ = ["is_future", "tense_of", "window_of"]
