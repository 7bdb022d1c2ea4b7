"""The doctor: examine a database, and say what is wrong, how bad it is, and what helps.

In: a store. Out: an `Examination`. Reads only; its remedies are for a person to run.
"""

from memoria.doctor.examine import examine
from memoria.doctor.report import SEVERITIES, Bucket, Examination, Finding, Hub, Severity
from memoria.doctor.subject import LIMIT, ExamineConfig

__all__ = [
    "LIMIT",
    "SEVERITIES",
    "Bucket",
    "Examination",
    "ExamineConfig",
    "Finding",
    "Hub",
    "Severity",
    "examine",
]
