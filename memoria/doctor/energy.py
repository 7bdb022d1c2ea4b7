"""Sample explorations, and find the memories at which their energy is lost.

In: a subject, a random generator. Out: a finding and the hubs.
Reads only, through the engine of every recall. Queries: ``doctor.seeds``, ``doctor.degrees_of``.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from memoria._support.checks import check_id, check_scope
from memoria.doctor.memory_checks import show_memory
from memoria.doctor.report import Finding, Hub
from memoria.doctor.subject import Subject
from memoria.errors import InvalidInputError
from memoria.recall.explore import ExploreRequest, explore_all
from memoria.recall.strategies import RunInput, TransferEnergy
from memoria.types import Exploration, Seed

MAX_HUBS = 10
#: Time for the explorations of one scope; seconds.
EXPLORE_S = 30.0

#: (Scope, id) of a memory -> the energies lost at it, one for each exploration.
Losses = dict[tuple[str, str], list[float]]


async def check_energy(
    subject: Subject, rng: random.Random
) -> tuple[Finding, tuple[Hub, ...], int]:
    """Explore from sampled memories, and find the hubs at which most energy is lost.

    Returns
    -------
    tuple
        The finding, the hubs, and the number of explorations.
    """
    sample = subject.config.sample
    strategy = TransferEnergy()
    picks = sorted(rng.random() for _ in range(sample))
    seeds: dict[str, list[Seed]] = defaultdict(list)
    for row in await subject.rows("seeds", picks=picks):
        if _is_usable(row["scope"], row["id"]):
            seeds[row["scope"]].append(Seed(id=row["id"], score=1.0))
    losses: Losses = defaultdict(list)
    degrees: dict[tuple[str, str], int] = {}
    explored = 0
    for scope in sorted(seeds):
        done = await _explore(subject, scope, seeds[scope], strategy)
        explored += len(done)
        for exploration in done:
            for node, lost in energy_lost(exploration).items():
                losses[scope, node].append(lost)
        ids = [node for owner, node in losses if owner == scope]
        for row in await subject.rows("degrees_of", scope=scope, ids=ids):
            degrees[scope, row["id"]] = row["degree"]
    hubs = find_hubs(losses, degrees, strategy)
    return _finding(subject, hubs, explored), hubs[:MAX_HUBS], explored


def energy_lost(exploration: Exploration) -> dict[str, float]:
    """Return the energy lost at each memory from which an exploration tried to continue.

    The lost energy is the energy of a memory minus the energy that its selected children received,
    and at least 0: a memory with few, strong edges can pass on more than it holds, since each child
    gets ``1 / sqrt(degree)`` of it, not ``1 / degree``. A memory without selected children loses
    all its energy, whether it is a dead end or a hub whose best possible transfer is below the
    threshold. Explorations do not continue from memories at the largest depth, nor from memories
    that a deadline cut off.
    """
    held = {exploration.seed.id: exploration.seed.score}
    passed: dict[str, list[float]] = {}
    for path in exploration.paths:
        for hop in path.hops:
            if hop.target not in held:  # several paths may share the hop
                held[hop.target] = hop.energy_out
                passed.setdefault(hop.source, []).append(hop.energy_out)
        if path.end_reason in ("below_threshold", "dead_end"):
            passed.setdefault(path.ids[-1], [])
    return {node: max(0.0, held[node] - math.fsum(parts)) for node, parts in passed.items()}


def _is_usable(scope: str, node: str) -> bool:
    """Tell whether memoria can explore from a node; a foreign graph may hold ids of any length."""
    try:
        check_scope(scope)
        check_id(node)
    except InvalidInputError:
        return False
    return True


async def _explore(
    subject: Subject, scope: str, seeds: Sequence[Seed], strategy: TransferEnergy
) -> tuple[Exploration, ...]:
    """Explore as a recall does, without tags; return explorations in the order of the seeds."""
    now = asyncio.get_running_loop().time()
    request = ExploreRequest(
        strategy=strategy,
        input=RunInput(seeds=tuple(seeds), scope=scope, query_tags=()),
        started=now,
        until=now + EXPLORE_S,
    )
    done = await explore_all(subject.store, request)
    for found in done:
        if found.error is not None:
            raise found.error
    return done


def find_hubs(
    losses: Losses, degrees: dict[tuple[str, str], int], strategy: TransferEnergy
) -> tuple[Hub, ...]:
    """Return the memories that always lose energy, largest loss first.

    At most ``max_branches`` children receive at most ``1 / sqrt(degree)`` each. So a memory with
    more than ``max_branches ** 2`` edges never passes on all its energy. If nothing was lost,
    shares are 0; edges may have been added while the doctor looked.
    """
    total = math.fsum(lost for parts in losses.values() for lost in parts)
    hubs = [
        Hub(
            id=key[1],
            scope=key[0],
            degree=degrees.get(key, 0),
            lost=math.fsum(parts),
            share=math.fsum(parts) / total if total else 0.0,
            explorations=len(parts),
        )
        for key, parts in losses.items()
        if degrees.get(key, 0) > strategy.max_branches**2
    ]
    return tuple(sorted(hubs, key=lambda hub: (-hub.lost, hub.scope, hub.id)))


def _finding(subject: Subject, hubs: Sequence[Hub], explored: int) -> Finding:
    finding = partial(Finding, check="energy.hubs")
    if not explored:
        return finding(severity="ok", message="no exploration was sampled")
    over = f"{explored} sampled explorations"
    if not hubs:
        return finding(severity="ok", message=f"no hubs in {over}")
    share = math.fsum(hub.share for hub in hubs)
    first = hubs[0]
    return finding(
        severity="note",
        message=f"{share:.0%} of the energy lost in {over} went to hubs: "
        f"{len(hubs)} with too many edges to ever pass on all their energy",
        remedy="see where the first hub leads; split it, or give its edges tags and weights "
        "that tell them apart",
        command=subject.command("explore", first.id, scope=first.scope),
        count=len(hubs),
        examples=tuple(show_memory(subject, (hub.scope, hub.id, None)) for hub in hubs[:5]),
    )
