"""What the levers came to, as a page.

In: a record of the levers. Out: Markdown. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.report.page import made_by


def markdown(record: Mapping[str, Any]) -> str:
    """Write the tables."""
    lines = [
        "# Levers",
        "",
        f"{made_by(record, 'levers')} Graph: {record['graph']}. Both sides of a row were "
        "asked in turns, and their answers were equal. The ratio is the median, over the cases, "
        "of the other way's time over that of the default; in brackets what holds 95 % of a "
        "bootstrap.",
        "",
        "| the default | ms | the other way | ms | ratio |",
        "|---|---|---|---|---|",
        *(
            f"| {row['kept']} | {row['ours_ms']:.1f} | {row['against']} | {row['other_ms']:.1f} "
            f"| {row['ratio']} |"
            for row in record["levers"]
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
