"""One recall from end to end, and its replay."""

from memoria.recall.asides import Asides
from memoria.recall.call import AUTO, Engine, QueryTags, RecallCall
from memoria.recall.replay import PathChange, Replay, replay
from memoria.recall.run import Recaller
from memoria.recall.validity import validity_of

__all__ = [
    "AUTO",
    "Asides",
    "Engine",
    "PathChange",
    "QueryTags",
    "RecallCall",
    "Recaller",
    "Replay",
    "replay",
    "validity_of",
]
