"""Explore from seeds, level by level: requests, the groups that share a session, their runs."""

from memoria.explore.group import explore, group_size
from memoria.explore.request import ExploreRequest, HydrateAt, Listener

__all__ = ["ExploreRequest", "HydrateAt", "Listener", "explore", "group_size"]
