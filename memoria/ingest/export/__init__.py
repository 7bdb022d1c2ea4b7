"""Read a scope back out of the graph, in the form that ``memoria ingest`` reads."""

from memoria.ingest.export.lines import Skipped
from memoria.ingest.export.pages import export_lines

__all__ = ["Skipped", "export_lines"]
