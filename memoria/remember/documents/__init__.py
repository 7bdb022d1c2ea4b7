"""Write documents: notes, articles, pages."""

from memoria.remember.documents.config import DocumentConfig
from memoria.remember.documents.document_writer import (
    DOCUMENT_EXTRACTOR,
    DocumentOptions,
    DocumentWriter,
)

__all__ = ["DOCUMENT_EXTRACTOR", "DocumentConfig", "DocumentOptions", "DocumentWriter"]
