"""Write memories and relations into the graph, from Python or from files."""

from memoria.ingest.batch_writer import BatchWriter
from memoria.ingest.files import IngestReport, ingest_files
from memoria.ingest.offline import OfflineReport, write_tables
from memoria.ingest.tables import LIST_DELIMITER, Tables

__all__ = [
    "LIST_DELIMITER",
    "BatchWriter",
    "IngestReport",
    "OfflineReport",
    "Tables",
    "ingest_files",
    "write_tables",
]
