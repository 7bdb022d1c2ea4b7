"""Without the extra ``otel`` there is nothing to record with, and nothing else changes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from memoria._support import telemetry

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "docs" / "dashboards" / "memoria.json"

WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
from memoria._support import telemetry
assert not telemetry.INSTALLED
with telemetry.memory_span("upsert_memory", store="s1", count=1) as span:
    span.set_attributes({"memoria.tokens": 3})
with telemetry.query_span("seeds.text", "neo4j"):
    telemetry.measure("memoria.recall.tokens", 3)
    telemetry.count("memoria.recall.refused")
try:
    with telemetry.query_span("seeds.text", "neo4j"):
        raise KeyError("kept")
except KeyError as exc:
    print(exc.args[0])
"""


def test_without_the_extra_everything_runs_and_errors_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("kept\n", "")


def test_the_id_of_a_recall_holds_as_long_as_the_recall() -> None:
    with telemetry.recalling("r1"):
        assert telemetry.recall_id() == "r1"
    assert telemetry.recall_id() is None


def test_the_dashboard_asks_for_metrics_that_are_measured() -> None:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"\b(?:memoria|db)_\w+", target["expr"])
    }
    units = {"s": "_seconds"}
    known = {
        name.replace(".", "_") + units.get(unit, "") + ending
        for name, (unit, _) in telemetry.HISTOGRAMS.items()
        for ending in ("_bucket", "_sum", "_count")
    } | {name.replace(".", "_") + "_total" for name in telemetry.COUNTERS}
    labels = {"memoria_stage", "db_query_summary"}
    assert asked - labels
    assert asked <= known | labels
