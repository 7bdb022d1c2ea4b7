"""Explain in words how a recall came upon a memory.

In: a `Recall` and one of its memories. Out: lines, best read from the first; plain data.
Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from memoria.agents.answer import name_of, one_line
from memoria.errors import InvalidInputError
from memoria.serialize import plain_seed
from memoria.types import Hop, RankedMemory, Recall, Seed


def ranked_in(recall: Recall, memory_id: str, scope: str = "") -> tuple[int, RankedMemory]:
    """Return the rank of a memory in a recall, from 1, and what is known of it there.

    Without a scope, the best of those with the id.
    """
    for rank, found in enumerate(recall.ranked, start=1):
        if found.id == memory_id and scope in ("", found.scope):
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
    of_scope = f" of scope {name_of(found.scope)}" if found.scope else ""
    yield f"[{one_line(found.id)}]{of_scope} {place}{known}"
    # The search may have found the memory itself, although its path comes from another seed.
    own, seed = _seed_of(recall, found, found.id), _seed_of(recall, found, found.path.seed_id)
    if own is not None:
        yield _seed(found.id, own)
    if found.path.seed_id != found.id:
        yield _seed(found.path.seed_id, seed)
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
    places = {(item.scope, item.id): item for item in recall.context.omitted}
    out = places.get((found.scope, found.id))
    if out is not None:
        same = f" of [{one_line(out.duplicate_of)}]" if out.duplicate_of else ""
        if out.duplicate_scope not in ("", found.scope):
            same += f" of scope {name_of(out.duplicate_scope)}"
        yield f"  left out of the context: {out.reason}{same}"


def explanation_data(recall: Recall, rank: int, found: RankedMemory) -> dict[str, Any]:
    """Return the same for a program."""
    hit, seed = _seed_of(recall, found, found.id), _seed_of(recall, found, found.path.seed_id)
    return {
        **({"memory_scope": found.scope} if found.scope else {}),
        "recall_id": recall.trace.id,
        "memory_id": found.id,
        "rank": rank,
        "score": found.score,
        "relevance": found.relevance,
        "hit": None if hit is None else plain_seed(hit),
        "seed": None if seed is None else plain_seed(seed),
        "hops": [asdict(hop) for hop in hops_to(found)],
        "features": dict(found.features),
        "shares": dict(found.shares),
        "needed_by": dict(found.needed_by),
        "adjacent": list(found.adjacent),
    }


def _seed_of(recall: Recall, found: RankedMemory, id_: str) -> Seed | None:
    """Return the hit with this id in the scope of a memory."""
    seeds = (*recall.seeds.seeds, *recall.seeds.runners_up)
    return next((one for one in seeds if (one.scope, one.id) == (found.scope, id_)), None)


def _seed(id_: str, seed: Seed | None) -> str:
    """Say how the search found the seed."""
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
