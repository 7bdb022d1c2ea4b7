"""Measure how much of what a question needs stands in its context.

    scripts/bench context [DATA_DIR] [--questions 150] [--cosine 0.98] [--embed]

Always: the sample's own questions, and the stories of ``tests/data/chains``, whose answers stand
some edges away from the words of the question; see `benchmarks.stories`. The stories are packed by
energy alone and by the hits of the search alone, too.

With DATA_DIR, which holds what `benchmarks.locomo` reads: each question of LoCoMo that has an
answer, seeds of kind Utterance, with the vectors supplied or, with ``--embed``, with those of the
default embedder; memoria's packing against plain order.
The plain ways pay for the texts alone; memoria's contexts also contain labels, days and reasons.

The share of a question's evidence inside a budget is averaged over the questions; intervals of 95 %
are bootstrapped over the questions. Every way counts tokens by the same estimate. Starts throw-away
servers. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
from numpy.typing import NDArray

import memoria
from benchmarks import locomo, stories
from memoria._support.progress import progress_bars
from memoria.recall.context import ContextBuilder, estimate_tokens
from memoria.recall.packing import pack, worth_of
from memoria.recall.ranking import NOTHING_KNOWN
from memoria.recall.ranking.energy import rank_by_energy
from memoria.recall.texts import Completed

BUDGETS = (500, 1_000, 2_000)
SAMPLE_BUDGETS = (600, 1_000, 2_000)
BASE = "plain: `ranked` by score, too long ones skipped"
PACKED = "memoria's context"
DENSE = "plain: hits of the search by vector, skipped likewise"
UNLINKED = "the same without what links add to the worth"
BY_ENERGY = "packed by energy alone (`relevance=None`)"
BY_HITS = "hits of the search alone, packed by their scores"
SAMPLES = 5_000


def plain(
    scored: Iterable[tuple[str, str]], budget: int, *, skip_too_long: bool = True
) -> set[str]:
    """Take (id, text) in the order given, a line each, as long as they fit."""
    taken, left = set(), budget
    for name, text in scored:
        tokens = estimate_tokens(text + "\n")
        if tokens <= left:
            taken.add(name)
            left -= tokens
        elif not skip_too_long:
            break
    return taken


def packed(
    recall: memoria.Recall,
    budget: int,
    config: memoria.ContextConfig,
    *,
    hits: bool = True,
    links: bool = True,
) -> memoria.ContextPack:
    """Pack as a recall does."""
    settings = memoria.RetrieverConfig(budget_tokens=budget, context=config)
    found = Completed(
        explorations=recall.explorations,
        hits=recall.hits if hits else (),
        needed=recall.needed,
        facts=replace(NOTHING_KNOWN, edges=recall.edges),
    )
    plain = {entry.memory.id: entry.score for entry in recall.ranked}
    worth = worth_of(found, recall.ranked, settings) if links else plain
    builder = ContextBuilder(budget, config=config)
    return pack(found, recall.ranked, worth, builder, query=recall.trace.query)


def packed_by_energy(recall: memoria.Recall, budget: int) -> set[str]:
    """Pack as a recall without a relevance model does."""
    settings = memoria.RetrieverConfig(budget_tokens=budget, relevance=None)
    found = Completed(
        explorations=recall.explorations, hits=recall.hits, needed=(), facts=NOTHING_KNOWN
    )
    ranked = rank_by_energy(recall.explorations)
    worth = worth_of(found, ranked, settings)
    builder = ContextBuilder(budget, config=settings.context)
    return ids(pack(found, ranked, worth, builder, query=recall.trace.query))


def ids(context: memoria.ContextPack) -> set[str]:
    """Return the ids of the memories in a context."""
    return {item.id for item in context.items}


def packed_hits(recall: memoria.Recall, budget: int) -> set[str]:
    """Pack the hits of the search, the seeds among them, and nothing that the graph found."""
    builder = memoria.ContextBuilder(budget)
    texts = {entry.memory.id: entry.memory for entry in recall.ranked}
    for seed in recall.seeds.seeds:
        if seed.id in texts:
            builder.add(
                memoria.Path(
                    seed_id=seed.id,
                    hops=(),
                    memories=(texts[seed.id],),
                    end_reason="not_explored",
                    energy=seed.score,
                )
            )
    for path in recall.hits:
        builder.add(path)
    return ids(builder.build(query=recall.trace.query))


def story_ways(recall: memoria.Recall, budget: int) -> dict[str, set[str]]:
    """Memories inside the budget: by energy alone, by hits alone, and as memoria packs them."""
    config = memoria.ContextConfig()
    return {
        BY_ENERGY: packed_by_energy(recall, budget),
        BY_HITS: packed_hits(recall, budget),
        UNLINKED: ids(packed(recall, budget, config, links=False)),
        PACKED: ids(packed(recall, budget, config)),
    }


def ways(recall: memoria.Recall, budget: int) -> dict[str, set[str]]:
    """Memories inside the budget, by each way to fill it."""
    config = memoria.ContextConfig()
    ranked = [(entry.memory.id, entry.memory.text) for entry in recall.ranked]
    texts = dict(ranked) | {path.seed_id: path.memories[0].text for path in recall.hits}
    found = (*recall.seeds.seeds, *recall.seeds.runners_up)
    near = [hit for hit in found if hit.vector_rank is not None]
    near.sort(key=lambda hit: hit.vector_rank or 0)
    return {
        "plain: `ranked` by score, ended by the first too long one": plain(
            ranked, budget, skip_too_long=False
        ),
        BASE: plain(ranked, budget),
        "plain: hits of the search by score, skipped likewise": plain(
            ((hit.id, texts[hit.id]) for hit in found), budget
        ),
        DENSE: plain(((hit.id, texts[hit.id]) for hit in near), budget),
        PACKED: ids(packed(recall, budget, config)),
        UNLINKED: ids(packed(recall, budget, config, links=False)),
        "the same without the search's other hits": ids(packed(recall, budget, config, hits=False)),
    } | {
        f"the same, {name}": ids(packed(recall, budget, changed))
        for name, changed in (
            ("without the gate", replace(config, duplicate_overlap=None)),
            ('`order="time"`', replace(config, order="time")),
            ("Markdown", replace(config, format="markdown")),
            ("JSON", replace(config, format="json")),
            ("ids in place of labels", replace(config, names="id")),
        )
    }


async def measure(
    driver: neo4j.AsyncDriver,
    folder: Path,
    embedder: memoria.Embedder,
    *,
    count: int | None,
    cosine: float | None,
) -> dict[tuple[str, int], list[float]]:
    """Ask the questions: (way, budget) -> share of the evidence, one for each question."""
    asked = [entry for entry in locomo.questions(folder) if entry["category"] != "adversarial"]
    asked = asked[:: max(1, len(asked) // count)] if count else asked
    config = memoria.RetrieverConfig(
        context=memoria.ContextConfig(duplicate_cosine=cosine),
        budget_tokens=BUDGETS[-1],
        deadline_s=locomo.LOAD_TIMEOUT_S,
    )
    shares: dict[tuple[str, int], list[float]] = {}
    pack_s: list[float] = []
    reasons: dict[str, int] = {}
    with progress_bars() as progress:
        for number, entry in enumerate(asked):
            scope = entry["conversation"]
            retriever = memoria.GraphRetriever(
                driver, scope=scope, embedder=embedder, config=config
            )
            recall = await retriever.recall(entry["question"], kinds=["Utterance"])
            pack_s.append(recall.trace.timings_s["pack"])
            for item in recall.context.omitted:
                reasons[item.reason] = reasons.get(item.reason, 0) + 1
            gold = set(entry["gold"])
            for budget in BUDGETS:
                for way, taken in ways(recall, budget).items():
                    shares.setdefault((way, budget), []).append(len(gold & taken) / len(gold))
            progress("questions", number + 1, len(asked))
    print(
        f"\n{len(asked)} questions; packing took {1000 * statistics.median(pack_s):.1f} ms in the "
        f"median, {1000 * float(np.percentile(pack_s, 95)):.1f} ms at 95 %; left out of "
        f"{BUDGETS[-1]:,} tokens: {reasons}\n"
    )
    return shares


def interval(values: NDArray[np.float64]) -> str:
    """Mean and bootstrapped interval; percent."""
    rng = np.random.default_rng(4)
    means = [rng.choice(values, len(values)).mean() for _ in range(SAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{100 * values.mean():.1f} ({100 * low:.1f} to {100 * high:.1f})"


async def tell() -> dict[tuple[str, int], list[float]]:
    """Print what stands in the contexts of the sample; return the shares of the stories."""
    shares: dict[tuple[str, int], list[float]] = {}
    count = "/".join(f"{budget:,}" for budget in SAMPLE_BUDGETS)
    print(f"\n| question to the sample | expected memories in {count} tokens |\n|---|---|")
    async with aclosing(stories.tell()) as told:
        async for each in told:
            if each.source == stories.SAMPLE:
                found = [
                    len(each.expects & ids(packed(each.recall, budget, memoria.ContextConfig())))
                    for budget in SAMPLE_BUDGETS
                ]
                print(f"| {each.question} | {found} of {len(each.expects)} |")
                continue
            for budget in BUDGETS:
                for way, taken in story_ways(each.recall, budget).items():
                    share = len(each.expects & taken) / len(each.expects)
                    shares.setdefault((way, budget), []).append(share)
    return shares


def table(shares: dict[tuple[str, int], list[float]], bases: Sequence[str]) -> None:
    """Print each way, and memoria's difference from ``bases``, question by question."""
    values: dict[Any, NDArray[np.float64]] = {key: np.array(row) for key, row in shares.items()}
    print("| % of the evidence inside | " + " | ".join(f"{b:,} tokens" for b in BUDGETS) + " |")
    print("|---" * (len(BUDGETS) + 1) + "|")
    for way in dict.fromkeys(way for way, _ in shares):
        cells = [interval(values[way, budget]) for budget in BUDGETS]
        print(f"| {way} | " + " | ".join(cells) + " |")
    for base in bases:
        gains = [interval(values[PACKED, budget] - values[base, budget]) for budget in BUDGETS]
        print(f"| difference of {PACKED} from: {base} | " + " | ".join(gains) + " |")


def main(arguments: Sequence[str]) -> None:
    """Load, ask, print."""
    parser = argparse.ArgumentParser(prog="scripts/bench context", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR", nargs="?")
    parser.add_argument("--questions", type=int, help="about so many, evenly spread; else all")
    parser.add_argument("--cosine", type=float, help="duplicate_cosine, to time its query")
    parser.add_argument("--embed", action="store_true", help="with the default embedder")
    options = parser.parse_args(arguments)
    if options.data is None and (options.embed or options.questions or options.cosine):
        parser.error("--questions, --cosine and --embed need DATA_DIR")

    async def run(data: Path) -> dict[tuple[str, int], list[float]]:
        embedder = memoria.OnnxEmbedder() if options.embed else locomo.question_embedder(data)
        async with locomo.served(data, embedder) as driver:
            return await measure(
                driver, data, embedder, count=options.questions, cosine=options.cosine
            )

    shares = asyncio.run(tell())
    print(f"\n{len(shares[PACKED, BUDGETS[0]])} questions to the stories\n")
    table(shares, (BY_ENERGY, BY_HITS, UNLINKED))
    if options.data is not None:
        table(asyncio.run(run(options.data)), (BASE, DENSE, UNLINKED))
