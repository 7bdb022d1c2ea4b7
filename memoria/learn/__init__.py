"""Learn from use: strengthen, feedback, co-activation, suppression, consolidation, undo."""

from memoria.learn.config import LearnConfig
from memoria.learn.events import CO_ACTIVATED, MAX_USE_TIMES, ORIGIN
from memoria.learn.learner import Learner
from memoria.learn.specific import is_more_specific

__all__ = [
    "CO_ACTIVATED",
    "MAX_USE_TIMES",
    "ORIGIN",
    "LearnConfig",
    "Learner",
    "is_more_specific",
]
