"""Explore from all seeds, and return the explorations in the order of the seeds.

In: an `ExploreRequest`. Out: its `Exploration`s. Reads only, by the queries of the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memoria.recall.explore.group import explore
from memoria.recall.explore.request import ExploreRequest, Listener
from memoria.store import Store
from memoria.types import Exploration, Path, Seed


async def explore_all(
    store: Store, request: ExploreRequest, on_path: Callable[[Path], None] = lambda _: None
) -> tuple[Exploration, ...]:
    """Explore from every seed; return all explorations, in the order of the seeds.

    Parameters
    ----------
    on_path
        Called with each path as soon as its texts are known.

    Raises
    ------
    MemoriaError
        Every exploration failed; the error is that of the first.
    """
    done: list[Exploration] = []
    await explore(store, request, Listener(on_exploration=done.append, on_path=on_path))
    return in_order(request.input.seeds, done)


def in_order(seeds: Sequence[Seed], found: Iterable[Exploration]) -> tuple[Exploration, ...]:
    """Return explorations in the order of their seeds; raise the first error if all have failed."""
    by_seed = {exploration.seed.id: exploration for exploration in found}
    explorations = tuple(by_seed[seed.id] for seed in seeds)
    raise_if_all_failed(explorations)
    return explorations


def raise_if_all_failed(explorations: Sequence[Exploration]) -> None:
    """Raise the error of the first exploration if every exploration has an error."""
    errors = [exploration.error for exploration in explorations if exploration.error is not None]
    if errors and len(errors) == len(explorations):
        raise errors[0]
