"""Embedders: the protocol, and implementations for local models and for any function.

In: texts. Out: vectors. Importing this package loads neither a model nor a model library.
"""

from memoria.embed.attempts import Embedded, Postponed, embed_what_can_be
from memoria.embed.base import Embedder, check_vectors, checked_embedder
from memoria.embed.cached import CachedEmbedder
from memoria.embed.callable import CallableEmbedder
from memoria.embed.models import DEFAULT_ONNX_MODEL, ONNX_MODELS
from memoria.embed.onnx import OnnxEmbedder
from memoria.embed.sentence import SentenceTransformerEmbedder

__all__ = [
    "DEFAULT_ONNX_MODEL",
    "ONNX_MODELS",
    "CachedEmbedder",
    "CallableEmbedder",
    "Embedded",
    "Embedder",
    "OnnxEmbedder",
    "Postponed",
    "SentenceTransformerEmbedder",
    "check_vectors",
    "checked_embedder",
    "embed_what_can_be",
]
