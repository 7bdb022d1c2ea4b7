"""Charge memories, and tell which of them fire at any threshold (source: 000).

In: ids of seeds. Out: `Activation`s. Reads only, by the query of `LeakyIntegrateAndFire`.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoria._support.checks import check_scope
from memoria.formulas import lif
from memoria.recall.explore.group import query_of
from memoria.recall.strategies import LeakyIntegrateAndFire, RunInput
from memoria.recall.strategies.lif import LifRun
from memoria.store import Store
from memoria.types import Activation, Seed


class NeuronField:
    """Charged memories of one scope. For retrieval use `GraphRetriever`.

    Parameters
    ----------
    scope
        Scope of the memories.
    settings
        Constants of the propagation.
    """

    def __init__(
        self, store: Store, *, scope: str, settings: LeakyIntegrateAndFire | None = None
    ) -> None:
        self._store = store
        self._scope = check_scope(scope)
        self._settings = settings or LeakyIntegrateAndFire()
        self._charged: LifRun | None = None

    async def stimulate(self, seed_ids: Iterable[str]) -> None:
        """Charge seeds fully, and let the charge spread; earlier charges are forgotten.

        Notes
        -----
        One round trip for each hop.
        """
        seeds = tuple(Seed(id=node, score=1.0) for node in dict.fromkeys(seed_ids))
        run_input = RunInput(seeds=seeds, scope=self._scope, query_tags=())
        self._charged = self._settings.start(run_input) if seeds else None
        while self._charged is not None and (step := self._charged.ask()) is not None:
            records = await self._store.run(query_of(step), step.parameters)
            self._charged.absorb(records[0])

    def get_fired_nodes(
        self, threshold: float | None = None, exclude_seeds: bool = True
    ) -> list[Activation]:
        """Return the memories that fire, the highest charge first, then by id.

        Parameters
        ----------
        threshold
            Charge at which a memory fires. None means the threshold of the settings.
        exclude_seeds
            Whether to leave the seeds out.
        """
        if self._charged is None:
            return []
        least = self._settings.fire_threshold if threshold is None else threshold
        return [
            fired
            for fired in self._charged.gathered()
            if lif.fires(fired.energy, least) and not (exclude_seeds and fired.source == "seed")
        ]


async def propagate_from_seeds(
    store: Store,
    seed_ids: Iterable[str],
    *,
    scope: str,
    threshold: float = lif.FIRE_THRESHOLD,
    top_n: int | None = None,
) -> list[Activation]:
    """Charge seeds, and return the other memories that fire, the highest charge first.

    Parameters
    ----------
    threshold
        Charge at which a memory fires; > 0.
    top_n
        Number of memories to return, at most; None for all.
    """
    field = NeuronField(store, scope=scope)
    await field.stimulate(seed_ids)
    return field.get_fired_nodes(threshold)[:top_n]
