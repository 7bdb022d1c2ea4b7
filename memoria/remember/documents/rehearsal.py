"""Count what documents would become in an empty scope, without a server.

In: documents, twice. Out: a `DocumentReport`. Touches nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from memoria._support.progress import ProgressCallback
from memoria.graph.vocabulary import LINKS_TO, NAMES
from memoria.remember.documents.config import DocumentConfig
from memoria.remember.documents.cutting import cut
from memoria.remember.documents.document_writer import DOCUMENT_EXTRACTOR, groups
from memoria.remember.documents.plan import Edges, plan_document, titles_of
from memoria.remember.ids import document_id
from memoria.types import Document, DocumentReport, WriteReport


def rehearse(read: Callable[[], Iterable[Document]], progress: ProgressCallback) -> DocumentReport:
    """Return the counts of what a `DocumentWriter` would write.

    Parameters
    ----------
    read
        Reads the documents; called twice, as a text may name a document that comes later.
    """
    config = DocumentConfig()
    titled: dict[str, list[str]] = {}
    heads = set()
    for document in read():
        head = document_id(document.source, document.id)
        if cut(document, config.max_chars):
            heads.add(head)
            for name in titles_of(document.title, document.aliases):
                titled.setdefault(name, []).append(head)
    report = DocumentReport()
    for group in groups(read()):
        found = (plan_document(each, extractor=DOCUMENT_EXTRACTOR, config=config) for each in group)
        planned = [each for each in found if each is not None]
        edges = Edges(config)
        for each in planned:
            edges.add(each, titled)
        missing = edges.add_links(planned, heads)
        counts = Counter(relation for _, _, relation in edges.relations)
        parts = sum(len(each.parts) for each in planned)
        done = DocumentReport(
            documents=len(group),
            skipped=len(group) - len(planned),
            parts=parts,
            topics=len(edges.topics),
            names=counts[NAMES],
            links=counts[LINKS_TO],
            missing_links=len(missing),
            written=WriteReport(memories=parts + len(edges.topics), relations=len(edges.relations)),
        )
        report = report.plus(done)
        progress("documents", report.documents, len(heads))
    return report
