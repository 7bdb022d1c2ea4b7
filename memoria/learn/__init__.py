"""Learn from use: strengthen, feedback, co-activation, suppression, consolidation, undo."""

from memoria.learn.config import LearnConfig
from memoria.learn.events import MAX_USE_TIMES
from memoria.learn.learner import Learner
from memoria.learn.specific import is_more_specific

__all__ = ["MAX_USE_TIMES", "LearnConfig", "Learner", "is_more_specific"]
