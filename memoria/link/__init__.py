"""Link memories that belong together: by several signals, or by similarity alone."""

from memoria.link.choose import PRUNE_BELOW
from memoria.link.config import CompositeLinkConfig, LinkConfig, SimilarityLinkConfig
from memoria.link.linker import Linker

__all__ = ["PRUNE_BELOW", "CompositeLinkConfig", "LinkConfig", "Linker", "SimilarityLinkConfig"]
