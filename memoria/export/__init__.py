"""Read a scope back out of the graph, in the form that ``memoria ingest`` reads."""

from memoria.export.lines import Skipped
from memoria.export.pages import export_lines

__all__ = ["Skipped", "export_lines"]
