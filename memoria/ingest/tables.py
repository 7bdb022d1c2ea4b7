"""Write memories and relations as the tables that Neo4j's offline import reads.

In: rows as `memory_row` and `relation_row` make them. Out: two CSV files with a header each.
The imported graph is the graph that a `GraphWriter` would have written, with one difference: an
empty list is not stored, since the import can't tell it from a missing value. Writes files.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from memoria._support.checks import check_scope
from memoria._support.progress import ProgressCallback, silent
from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import ORIGIN_INGEST, scope_key
from memoria.ingest.rows import time_text

LIST_DELIMITER = "\x1f"  # the unit separator
REPORT_EVERY = 10_000
_STRINGS = ("tags", "topics", "entities")
_MEMORY_HEADER = (
    "id:ID(Memory),scope:string,scope_key:string,text:string,connector_name:string,"
    "search_words:string,tags:string[],topics:string[],entities:string[],category:string,"
    "priority:double,when:string,metadata:string,metadata_pairs:string[],created_at:datetime,"
    "valid_until:datetime,embedding:double[],:LABEL\n"
)
_RELATION_HEADER = (
    ":START_ID(Memory),:END_ID(Memory),relation:string,weight:double,tags:string[],"
    "origin:string,created_at:datetime,uses:long\n"
)


class Tables:
    """The two files of one offline import, open for writing inside ``with``.

    Nothing is checked except that a value can be written into a table. The caller makes sure that
    ids are distinct, and that the ends of a relation are two different memories of the tables.

    Parameters
    ----------
    folder
        Folder of the files; created if it does not exist.
    now
        ``created_at`` of memories and relations without one, but for undated memories; aware.

    Attributes
    ----------
    multiline
        Whether any value written so far holds a line break.
    """

    def __init__(self, folder: Path, *, scope: str, now: datetime) -> None:
        self.memories = folder / "memories.csv"
        self.relations = folder / "relations.csv"
        self.multiline = False
        self._scope, self._scope_key = _text(check_scope(scope)), scope_key(scope)
        self._now = time_text(now)

    def __enter__(self) -> Self:
        self.memories.parent.mkdir(parents=True, exist_ok=True)
        self._memories = self.memories.open("wb")
        self._relations = self.relations.open("wb")
        self._memories.write(_MEMORY_HEADER.encode())
        self._starts = array("q", [self._relations.write(_RELATION_HEADER.encode())])
        return self

    def __exit__(self, *_: object) -> None:
        self._memories.close()
        self._relations.close()

    def add_memory(self, row: Mapping[str, Any]) -> None:
        """Write one memory.

        Raises
        ------
        InvalidInputError
            A tag, topic or entity can't be written into a table; the message says why.
        """
        properties = row["properties"]
        created_at, vector = row["created_at"], row["embedding"]
        strings = [_strings(properties[name], name) for name in _STRINGS]
        priority, valid_until = properties["priority"], properties["valid_until"]
        cells = (
            _text(row["id"]),
            self._scope,
            self._scope_key if properties["connector_name"] is None else "",
            _text(properties["text"]),
            _text(properties["connector_name"]),
            _text(properties["search_words"]),
            *strings,
            _text(properties["category"]),
            "" if priority is None else repr(float(priority)),
            _text(properties["when"]),
            _text(properties["metadata"]),
            _strings(properties["metadata_pairs"] or (), "metadata"),
            created_at or ("" if row["undated"] else self._now),
            "" if valid_until is None else time_text(valid_until, "valid_until"),
            "" if vector is None else LIST_DELIMITER.join(repr(float(x)) for x in vector),
            f"Memory{LIST_DELIMITER}{row['kind']}",
        )
        self._write(self._memories, cells)

    def add_relation(self, row: Mapping[str, Any]) -> None:
        """Write one relation; raises as `add_memory` does."""
        cells = (
            _text(row["source"]),
            _text(row["target"]),
            _text(row["relation"]),
            repr(float(row["weight"])),
            _strings(row["tags"], "tags"),
            ORIGIN_INGEST,
            row["created_at"] or self._now,
            "0",
        )
        self._starts.append(self._starts[-1] + self._write(self._relations, cells))

    def arrange(
        self,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        *,
        progress: ProgressCallback = silent,
    ) -> None:
        """Sort the edges so that each edge is stored next to the other edges of its busier end.

        The edges of a hub then lie on a few pages, and not each on a page of its own. Call this
        method last. While it works, the relations are on disk twice.

        Parameters
        ----------
        source, target
            Ends of all relations, in the order in which they were written, as numbers of memories;
            (E,).
        progress
            Called with ``arrange``, the number of relations in their place, and their total.
        """
        starts, self._starts = self._starts, array("q")
        if not len(source) == len(target) == len(starts) - 1:
            raise ValueError(f"{len(source)} edges to arrange, {len(starts) - 1} written")
        self._relations.close()
        if not len(source):
            return
        degrees = np.bincount(np.concatenate([source, target]))
        busier = np.where(degrees[source] >= degrees[target], source, target)
        arranged = self.relations.with_name("arranged.csv")
        with (
            self.relations.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines,
            arranged.open("wb") as out,
        ):
            out.write(lines[: starts[0]])
            for done, number in enumerate(map(int, np.argsort(busier, kind="stable")), 1):
                out.write(lines[starts[number] : starts[number + 1]])
                if done % REPORT_EVERY == 0 or done == len(source):
                    progress("arrange", done, len(source))
        arranged.replace(self.relations)

    def _write(self, file: BinaryIO, cells: Iterable[str]) -> int:
        """Write a line; return the number of its bytes."""
        line = ",".join(cells)
        if not self.multiline and ("\n" in line or "\r" in line):
            self.multiline = True
        return file.write(f"{line}\n".encode())


def _text(value: str | None) -> str:
    """Quote a string; an empty string stays a value, None becomes a missing value."""
    return "" if value is None else '"' + value.replace('"', '""') + '"'


def _strings(values: Iterable[str], field: str) -> str:
    listed = list(values)
    if not listed:
        return ""
    joined = LIST_DELIMITER.join(listed)
    if not joined or joined.count(LIST_DELIMITER) >= len(listed):
        raise InvalidInputError(
            f"{field} hold the character U+001F, or only an empty string, which an offline import "
            "can't write: leave it out, or use memoria ingest",
            field=field,
        )
    return _text(joined)
