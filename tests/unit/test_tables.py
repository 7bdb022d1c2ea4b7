"""The order of the edges in the tables of an offline import."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memoria.ingest import Tables
from memoria.ingest.rows import relation_row
from memoria.types import Relation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
IDS = ["hub", "a\nb", "c"]


def test_edges_stand_with_the_busier_of_their_ends(tmp_path: Path) -> None:
    source, target = np.array([1, 0, 2, 1, 0]), np.array([2, 1, 0, 0, 2])
    names = [f'{number}\nof "{IDS[end]}"' for number, end in enumerate(source)]
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        for name, one, other in zip(names, source, target, strict=True):
            relation = Relation(source=IDS[one], target=IDS[other], relation=name)
            tables.add_relation(relation_row(relation))
        tables.arrange(source, target)
    after = tables.relations.read_bytes()
    assert tables.multiline
    assert after.startswith(b":START_ID(Memory),")
    assert after.count(b":START_ID") == 1
    places = [after.index(name.replace('"', '""').encode()) for name in names]
    assert all(after.count(name.replace('"', '""').encode()) == 1 for name in names)
    assert np.argsort(places).tolist() == [1, 2, 3, 4, 0], "those of the hub, in their order"


def test_tables_without_edges_stay_as_they_are(tmp_path: Path) -> None:
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        tables.arrange(np.array([], int), np.array([], int))
    assert tables.relations.read_bytes().count(b"\n") == 1
