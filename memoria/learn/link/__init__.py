"""Link memories that belong together: by several signals, or by similarity alone."""

from memoria.learn.link.choose import PRUNE_BELOW
from memoria.learn.link.config import CompositeLinkConfig, LinkConfig, SimilarityLinkConfig
from memoria.learn.link.linker import Linker

__all__ = ["PRUNE_BELOW", "CompositeLinkConfig", "LinkConfig", "Linker", "SimilarityLinkConfig"]
