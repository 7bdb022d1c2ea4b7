"""Pack paths into a text for a prompt, within a budget of tokens.

In: paths, in any order. Out: a `ContextPack`: the text, the memories in it and those left out.
"""

from memoria.recall.context.builder import ContextBuilder, pack
from memoria.recall.context.near import near_pairs
from memoria.recall.context.tokens import CountTokens, estimate_tokens
from memoria.recall.context.worth import left_out, with_links

__all__ = [
    "ContextBuilder",
    "CountTokens",
    "estimate_tokens",
    "left_out",
    "near_pairs",
    "pack",
    "with_links",
]
