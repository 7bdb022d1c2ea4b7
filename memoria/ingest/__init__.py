"""Write memories and relations into the graph, from Python or from files."""

from memoria.ingest.checks import WriteReport
from memoria.ingest.files import IngestReport, Progress, ingest_files
from memoria.ingest.writer import GraphWriter

__all__ = ["GraphWriter", "IngestReport", "Progress", "WriteReport", "ingest_files"]
