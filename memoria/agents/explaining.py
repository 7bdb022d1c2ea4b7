"""Explain in words how a recall came upon a memory.

In: a `Recall` and one of its memories. Out: lines, best read from the first; plain data.
Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from memoria.agents.answer import one_line
from memoria.errors import InvalidInputError
from memoria.types import Hop, RankedMemory, Recall, Seed


def ranked_in(recall: Recall, memory_id: str) -> tuple[int, RankedMemory]:
    """Return the rank of a memory in a recall, from 1, and what is known of it there.

    Raises
    ------
    InvalidInputError
        The recall did not find the memory.
    """
    for rank, found in enumerate(recall.ranked, start=1):
        if found.id == memory_id:
            return rank, found
    raise InvalidInputError(
        "the recall did not find this memory: give a label from its text, or an id",
        field="memory_id",
    )


def hops_to(found: RankedMemory) -> tuple[Hop, ...]:
    """Return the hops that lead to the memory; its path may go on behind it."""
    ids = found.path.ids
    return found.path.hops[: ids.index(found.id)] if found.id in ids else ()


def explanation(recall: Recall, rank: int, found: RankedMemory) -> Iterator[str]:
    """Yield the lines: place, the search, the way to it, what the ranking made of it."""
    known = "" if found.relevance is None else f", relevant with probability {_n(found.relevance)}"
    place = f"rank {rank} of {len(recall.ranked)}, score {_n(found.score)}"
    yield f"[{one_line(found.id)}] {place}{known}"
    # The search may have found the memory itself, although its path comes from another seed.
    if _seed_of(recall, found.id) is not None:
        yield _seed(recall, found.id)
    if found.path.seed_id != found.id:
        yield _seed(recall, found.path.seed_id)
    needed = found.path in recall.needed
    for hop in hops_to(found):
        yield _hop(hop, needed=needed)
    for id_, weight in sorted(found.needed_by.items()):
        yield f"  needed by [{one_line(id_)}], weight {_n(weight)}"
    if found.shares.get("adjacent"):
        yield f"  next to {', '.join(f'[{one_line(id_)}]' for id_ in found.adjacent)}"
    for name, share in sorted(found.shares.items(), key=lambda pair: (-abs(pair[1]), pair[0])):
        if share:
            yield f"  ranking: {name} {_n(found.features.get(name, 0.0))} brings {share:+.3g}"
    out = {item.id: item for item in recall.context.omitted}.get(found.id)
    if out is not None:
        same = f" of [{one_line(out.duplicate_of)}]" if out.duplicate_of else ""
        yield f"  left out of the context: {out.reason}{same}"


def explanation_data(recall: Recall, rank: int, found: RankedMemory) -> dict[str, Any]:
    """Return the same for a program."""
    hit, seed = _seed_of(recall, found.id), _seed_of(recall, found.path.seed_id)
    return {
        "recall_id": recall.trace.id,
        "memory_id": found.id,
        "rank": rank,
        "score": found.score,
        "relevance": found.relevance,
        "hit": None if hit is None else asdict(hit),
        "seed": None if seed is None else asdict(seed),
        "hops": [asdict(hop) for hop in hops_to(found)],
        "features": dict(found.features),
        "shares": dict(found.shares),
        "needed_by": dict(found.needed_by),
        "adjacent": list(found.adjacent),
    }


def _seed_of(recall: Recall, id_: str) -> Seed | None:
    seeds = (*recall.seeds.seeds, *recall.seeds.runners_up)
    return next((seed for seed in seeds if seed.id == id_), None)


def _seed(recall: Recall, id_: str) -> str:
    """Say how the search found the seed."""
    seed = _seed_of(recall, id_)
    how = []
    if seed is not None and seed.vector_rank is not None:
        cosine = "" if seed.vector_score is None else f" (cosine {_n(seed.vector_score)})"
        how.append(f"hit {seed.vector_rank} by meaning{cosine}")
    if seed is not None and seed.text_rank is not None:
        how.append(f"hit {seed.text_rank} by words")
    energy = "" if seed is None else f", energy {_n(seed.score)}"
    return f"  the search found [{one_line(id_)}]: {', '.join(how) or 'a seed'}{energy}"


def _hop(hop: Hop, *, needed: bool) -> str:
    relation = one_line(hop.relation)
    arrow = f"-{relation}->" if hop.direction == "out" else f"<-{relation}-"
    way = f"  [{one_line(hop.source)}] {arrow} [{one_line(hop.target)}]: "
    if needed:
        return way + f"a need, weight {_n(hop.weight)}; no energy came that way"
    energy = hop.energy_in * hop.weight / math.sqrt(max(hop.degree, 1)) * hop.tag_similarity
    if math.isclose(energy, hop.energy_out, rel_tol=1e-9):
        return way + (
            f"energy {_n(hop.energy_in)} * weight {_n(hop.weight)} / sqrt({hop.degree} edges) * "
            f"tag similarity {_n(hop.tag_similarity)} = {_n(hop.energy_out)}"
        )
    return way + f"energy {_n(hop.energy_in)}, weight {_n(hop.weight)}, then {_n(hop.energy_out)}"


def _n(number: float) -> str:
    return f"{number:.3g}"
