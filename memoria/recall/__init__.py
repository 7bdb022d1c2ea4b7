"""One recall from end to end, and its replay."""

from memoria.recall.call import RecallCall
from memoria.recall.replay import PathChange, Replay, replay
from memoria.recall.run import Engine, Recaller
from memoria.recall.validity import validity_of

__all__ = ["Engine", "PathChange", "RecallCall", "Recaller", "Replay", "replay", "validity_of"]
