"""Explore from seeds, level by level: the request, groups that share a session, runs of seeds."""

from memoria.recall.explore.group import explore, explore_all, in_order, raise_if_all_failed
from memoria.recall.explore.neurons import NeuronField, propagate_from_seeds
from memoria.recall.explore.request import ExploreRequest, HydrateAt, Listener, distinct
from memoria.recall.explore.seed_run import with_texts

__all__ = [
    "ExploreRequest",
    "HydrateAt",
    "Listener",
    "NeuronField",
    "distinct",
    "explore",
    "explore_all",
    "in_order",
    "propagate_from_seeds",
    "raise_if_all_failed",
    "with_texts",
]
