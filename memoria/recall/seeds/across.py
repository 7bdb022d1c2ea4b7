"""Choose the seeds of several scopes, as if one scope held all their memories.

In: the result of the search in each scope. Out: `Seeds` that name their scopes. Touches nothing.

Cosines are on one scale, and so are the scores of the full-text index, which measures the rarity of
words over all scopes. So the lists of the scopes are merged by these scores, and then fused as the
lists of one scope are. A big scope gets no seeds for its size, and a small one none for memories
that match less well than those of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from memoria.formulas.fusion import Hits
from memoria.recall.seeds.choosing import best_hits, choose_by_cosine, fuse, joined
from memoria.recall.seeds.config import MAX_SEEDS, SeedConfig
from memoria.recall.seeds.questions import Apart
from memoria.types import Seed, Seeds

_Place = tuple[str, str]  # id and scope of a memory


def across(found: Sequence[Seeds], config: SeedConfig) -> Seeds:
    """Choose seeds from the hits of several scopes; their seeds name the scope.

    Hits of a second search, which are in neither list, follow in the order of their cosines, those
    without one in the order of their scores by words: as many as the scope that has the most
    brings.
    """
    known = {_place(one): one for each in found for one in _hits(each)}
    # Memories have short names here, in the order of their ids, so ties break as before.
    name_of = {place: f"{number:06}" for number, place in enumerate(sorted(known))}
    hits = {name_of[place]: one for place, one in known.items()}
    echoes = {name_of[_place(one)] for each in found for one in each.echoes}
    loose = {name_of[_place(one)] for each in found for one in _loose(each)}
    apart = Apart(ids=frozenset(echoes | loose), echoes=frozenset(echoes))
    by_vector = _listed(hits, lambda one: one.vector_rank and one.vector_score)
    by_words = _listed(hits, lambda one: one.text_rank and one.text_score)
    lists: list[Hits] = [by_vector, by_words]
    choose = choose_by_cosine if config.fusion == "cosine" and by_vector else fuse
    if choose is choose_by_cosine:  # kinds of facts had their places in each scope
        number = min(config.max_seeds + config.max_facts, MAX_SEEDS)
        most = max(number, config.candidates)
        config = replace(config, max_seeds=number, max_facts=0, candidates=most)
        lists = [by_vector, []]
    # The lists are cut last: many copies of the question must not push out the answers.
    others = [[hit for hit in one if hit[0] not in apart.ids] for one in lists]
    every = choose([one[: config.candidates] for one in lists], config)
    rest = choose([one[: config.candidates] for one in others], config)
    chosen = apart.back(rest, every) if apart.ids else every
    second = joined(chosen, Seeds(seeds=_second(found, name_of, config)))
    return Seeds(
        seeds=(*_named(chosen.seeds, hits), *_unembedded(found, config)),
        runners_up=_named(second.runners_up, hits),
        degraded=tuple(dict.fromkeys(note for each in found for note in each.degraded)),
        echoes=_named(chosen.echoes, hits),
        loose=tuple(id_ for each in found for id_ in each.loose),
        pending=sum(each.pending for each in found),
    )


def of_window(found: Sequence[Seeds], config: SeedConfig) -> Seeds:
    """Put the memories of a time window together, those that match best first.

    `Seed.score` comes after cosines and scores by words, because each scope has a best hit with 1.
    """
    hits = [one for each in found for one in (*each.seeds, *each.runners_up)]
    hits.sort(key=lambda one: (*_by_match(one), -one.score, *_place(one)))
    degraded = tuple(dict.fromkeys(note for each in found for note in each.degraded))
    seeds, others = hits[: config.max_seeds], hits[config.max_seeds :]
    pending = sum(each.pending for each in found)
    return Seeds(seeds=tuple(seeds), runners_up=tuple(others), degraded=degraded, pending=pending)


def _place(one: Seed) -> _Place:
    return one.id, one.scope


def _by_match(one: Seed) -> tuple[float, float]:
    """Return a key that sorts hits by cosine, then by words; hits without either come last."""
    cosine = -1.0 if one.vector_score is None else one.vector_score
    return -cosine, -(one.text_score or 0.0)


def _hits(found: Seeds) -> Iterable[Seed]:
    return (*found.seeds, *found.runners_up, *found.echoes)


def _loose(found: Seeds) -> Iterable[Seed]:
    loose = set(found.loose)
    return (one for one in _hits(found) if one.id in loose)


def _has_rank(one: Seed) -> bool:
    return one.vector_rank is not None or one.text_rank is not None


def _listed(
    hits: dict[str, Seed], score_of: Callable[[Seed], float | None]
) -> list[tuple[str, float]]:
    scores = ((name, score_of(one)) for name, one in hits.items())
    return [*best_hits([(name, score) for name, score in scores if score is not None])]


def _second(
    found: Sequence[Seeds], name_of: dict[_Place, str], config: SeedConfig
) -> tuple[Seed, ...]:
    """Return the hits of a second search, with the scores of a list of their own."""
    of_scopes = [[one for one in each.runners_up if not _has_rank(one)] for each in found]
    hits = [one for each in of_scopes for one in each]
    hits.sort(key=lambda one: (*_by_match(one), name_of[_place(one)]))
    most = max(map(len, of_scopes), default=0)
    first = config.rrf_k + 1
    return tuple(
        replace(one, id=name_of[_place(one)], score=first / (config.rrf_k + rank))
        for rank, one in enumerate(hits[:most], start=1)
    )


def _unembedded(found: Sequence[Seeds], config: SeedConfig) -> tuple[Seed, ...]:
    """Return the seeds that were compared with nothing; the scopes take turns."""
    of_scopes = ([one for one in each.seeds if not _has_rank(one)] for each in found)
    in_turns = (one for turn in zip_longest(*of_scopes) for one in turn if one is not None)
    return tuple(islice(in_turns, config.unembedded))


def _named(seeds: Iterable[Seed], hits: dict[str, Seed]) -> tuple[Seed, ...]:
    """Return seeds under their ids, with the scope of each."""
    return tuple(replace(one, id=hits[one.id].id, scope=hits[one.id].scope) for one in seeds)
