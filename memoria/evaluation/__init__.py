"""Measure how well questions find their evidence, on a dataset of memories with known answers.

In: a folder in the format of ``docs/evaluation.md``. Out: rankings, recall with intervals, latency;
and weights that are fitted to the questions.
`load_dataset` writes into scopes of its own; everything else only reads.
"""

from memoria.evaluation.answers import Answer, Answers, ask_features
from memoria.evaluation.asking import Run, ask_all, run_lines
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.dataset import Chat, Dataset, Question
from memoria.evaluation.fit import Example, Loss, Regret, fit_weights
from memoria.evaluation.foreign import foreign_questions
from memoria.evaluation.load import LoadReport, load_dataset, prepare, supplied_embedder
from memoria.evaluation.messages import read_dataset
from memoria.evaluation.methods import BASELINES, METHODS, check_method
from memoria.evaluation.metrics import Interval, Scores, bootstrap, score
from memoria.evaluation.prepared import read_asked
from memoria.evaluation.relevance import FIRST, CalibrationFigures
from memoria.evaluation.report import (
    MEASURES,
    Difference,
    MethodReport,
    Report,
    ReportRow,
    check_excluded,
    make_report,
)
from memoria.evaluation.tuning import (
    MEAN,
    TunedSet,
    TuneRow,
    Tuning,
    check_features,
    check_folds,
    tune_weights,
)

__all__ = [
    "BASELINES",
    "FIRST",
    "MEAN",
    "MEASURES",
    "METHODS",
    "Answer",
    "Answers",
    "CalibrationFigures",
    "Chat",
    "Dataset",
    "Difference",
    "EvaluationConfig",
    "Example",
    "Interval",
    "LoadReport",
    "Loss",
    "MethodReport",
    "Question",
    "Regret",
    "Report",
    "ReportRow",
    "Run",
    "Scores",
    "TuneRow",
    "TunedSet",
    "Tuning",
    "ask_all",
    "ask_features",
    "bootstrap",
    "check_excluded",
    "check_features",
    "check_folds",
    "check_method",
    "fit_weights",
    "foreign_questions",
    "load_dataset",
    "make_report",
    "prepare",
    "read_asked",
    "read_dataset",
    "run_lines",
    "score",
    "supplied_embedder",
    "tune_weights",
]
