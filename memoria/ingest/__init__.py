"""Write memories and relations into the graph, from Python or from files."""

from memoria.ingest.checks import WriteReport
from memoria.ingest.files import IngestReport, ingest_files
from memoria.ingest.writer import GraphWriter

__all__ = ["GraphWriter", "IngestReport", "WriteReport", "ingest_files"]
