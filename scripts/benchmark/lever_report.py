"""What the levers came to, as Markdown and JSON.

In: a record of `levers`. Out: ``levers.json`` and ``levers.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def markdown(record: Mapping[str, Any]) -> str:
    """Write the tables."""
    lines = [
        "# Levers",
        "",
        "Made by `scripts/bench --levers`. Both sides of a row were asked in turns, and their "
        "answers were equal, where nothing else is said. The ratio is the median, over the cases, "
        "of the other way's time over memoria's; in brackets what holds 95 % of a bootstrap.",
        "",
        "| memoria's way | ms | the other way | ms | ratio |",
        "|---|---|---|---|---|",
        *(
            f"| {row['kept']} | {row['ours_ms']:.1f} | {row['against']} | {row['other_ms']:.1f} "
            f"| {row['ratio']} |"
            for row in record["levers"]
        ),
        "",
        "| query, profiled | operator | database hits | share | rows |",
        "|---|---|---|---|---|",
        *_profile_lines(record["profiles"]),
        "",
        *_search_lines(record["searches"]),
        "",
        "| written through `GraphWriter`, per second | memories or edges in a batch | first round "
        "| median of the others | best |",
        "|---|---|---|---|---|",
        *(
            f"| {row['what']} | {row['batch']:,} | {row['first']:,.0f} | {row['per_s']:,.0f} "
            f"| {row['best']:,.0f} |"
            for row in record["ingest"]
        ),
        "",
        "| delay of a round trip, ms | `RETURN 1`, ms | whole recall, ms | its round trips "
        '| with `round_trips="single"`, 3 round trips, ms | ratio |',
        "|---|---|---|---|---|---|",
        *(
            f"| {row['delay_ms']} | {row['round_trip_ms']:.1f} | {row['recall_ms']:.1f} "
            f"| {row['trips']:.0f} | {row['single_ms']:.1f} | {row['ratio']} |"
            for row in record["delays"]
        ),
    ]
    return "\n".join(lines) + "\n"


def _profile_lines(profiles: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write the operators of each query that make up a hundredth of its database hits."""
    for profile in profiles:
        whole = sum(row["hits"] for row in profile["operators"])
        for row in profile["operators"]:
            if row["hits"] * 100 >= whole > 0:
                yield (
                    f"| {profile['query']} | {row['operator']} | {row['hits']:,} "
                    f"| {100 * row['hits'] / whole:.0f} % | {row['rows']:,} |"
                )


def _search_lines(record: Mapping[str, Any]) -> list[str]:
    sizes = record["index_mb"]
    head = (
        "| hits asked of the index | hits in the scope | share of the true nearest five | ms |",
        "|---|---|---|---|---|",
    )
    lines = []
    for title, rows in (
        (f"one scope of {record['memories']:,} memories", record["large_scope"]),
        (f"a scope of {record['small']:,} beside it", record["small_scope"]),
    ):
        lines += [
            f"| {title} {head[0]}",
            head[1],
            *(
                f"| {row['way']} | {row['limit']} | {row['hits']:.0f} | {row['found']:.3f} "
                f"| {row['p50_ms']:.1f} |"
                for row in rows
            ),
            "",
        ]
    if sizes is None:
        return lines[:-1]
    size = (
        f"The index takes {sizes['plain']:.1f} MB on disk, quantised {sizes['quantised']:.1f} MB."
    )
    return [*lines, size]


def save(record: Mapping[str, Any], out: Path) -> None:
    """Write ``levers.json`` and ``levers.md``."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "levers.json").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (out / "levers.md").write_text(markdown(record), encoding="utf-8")
