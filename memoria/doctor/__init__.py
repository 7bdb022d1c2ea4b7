"""The doctor: examine a database, and say what is wrong, how bad it is, and what to do about it.

In: a store. Out: an `Examination`. `examine` reads only; `fix` applies the remedies that its caller
names.
"""

from memoria.doctor.examine import examine
from memoria.doctor.fixes import FIXES, fix
from memoria.doctor.report import SEVERITIES, Bucket, Examination, Finding, Fixed, Hub, Severity
from memoria.doctor.subject import LIMIT, ExamineConfig

__all__ = [
    "FIXES",
    "LIMIT",
    "SEVERITIES",
    "Bucket",
    "Examination",
    "ExamineConfig",
    "Finding",
    "Fixed",
    "Hub",
    "Severity",
    "examine",
    "fix",
]
