"""Measure how well questions find their evidence, on a dataset of memories with known answers.

In: a folder in the format of ``docs/evaluation.md``. Out: rankings, recall with intervals, latency.
`load_dataset` writes into scopes of the dataset's own; everything else reads.
"""

from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.dataset import Dataset, Question, read_dataset
from memoria.evaluation.load import LoadReport, load_dataset, prepare, supplied_embedder
from memoria.evaluation.methods import BASELINES, METHODS, STRATEGIES, check_method
from memoria.evaluation.metrics import Interval, Scores, bootstrap, score
from memoria.evaluation.report import (
    MEASURES,
    Difference,
    MethodReport,
    Report,
    Row,
    check_excluded,
    make_report,
)
from memoria.evaluation.run import Run, ask_all, run_lines

__all__ = [
    "BASELINES",
    "MEASURES",
    "METHODS",
    "STRATEGIES",
    "Dataset",
    "Difference",
    "EvaluationConfig",
    "Interval",
    "LoadReport",
    "MethodReport",
    "Question",
    "Report",
    "Row",
    "Run",
    "Scores",
    "ask_all",
    "bootstrap",
    "check_excluded",
    "check_method",
    "load_dataset",
    "make_report",
    "prepare",
    "read_dataset",
    "run_lines",
    "score",
    "supplied_embedder",
]
