"""Charged memories, for asking at any threshold which of them fire (source: 000).

In: ids of seeds. Out: `Activation`s. Reads only, by the query of `LeakyIntegrateAndFire`.
"""

from __future__ import annotations

from collections.abc import Iterable

from memoria._support.checks import check_scope
from memoria.explore.group import query_of
from memoria.formulas import lif
from memoria.store import Store
from memoria.strategies import LeakyIntegrateAndFire, RunInput
from memoria.strategies.lif import LifRun
from memoria.types import Activation, Seed


class NeuronField:
    """Charged memories of one scope, for asking at any threshold; for retrieval use a retriever.

    Parameters
    ----------
    scope
        Scope whose memories these are.
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
        """Charge seeds fully, and let the charge spread; what was before is forgotten.

        Notes
        -----
        One round trip a hop.
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
        """Return what has come to the threshold, by charge (highest first), then id.

        Parameters
        ----------
        threshold
            Charge to fire at; None: that of the settings.
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
    """Charge seeds, and return what fires, the seeds left out.

    Parameters
    ----------
    threshold
        Charge to fire at; > 0.
    top_n
        Memories to return, at most, those of the highest charge; None: all.
    """
    field = NeuronField(store, scope=scope)
    await field.stimulate(seed_ids)
    return field.get_fired_nodes(threshold)[:top_n]
