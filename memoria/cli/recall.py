"""Find memories, and follow their relations: ``recall``, ``explore``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from memoria.cli.choices import StrategyName, Weights, exploration_config, weights_named
from memoria.cli.common import (
    FAILED,
    Json,
    Scope,
    Settings,
    Tags,
    err,
    out,
    print_json,
    printable,
    say_missing,
    warn,
)
from memoria.cli.embedders import EmbedderName, embedder_choice, load_model
from memoria.cli.filtering import Filtering
from memoria.cli.holding import Holding, TimePhrases
from memoria.cli.mapping import MappedConnection
from memoria.cli.nothing import say_excluded, say_nothing_found
from memoria.cli.packing import Packing
from memoria.cli.render import screen, show_paths, summary
from memoria.cli.showing import Showing
from memoria.embed import Embedder
from memoria.recall.call import AUTO, QueryTags
from memoria.recall.config import RecallSettings, RetrieverConfig
from memoria.recall.explore import in_order
from memoria.recall.packing import relevance_of
from memoria.recall.strategies import TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.serialize import brief_recall, plain_explorations, plain_recall
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Exploration, MemoryFilter, Recall, Seed

DEFAULTS = RetrieverConfig()
_FIRST_ANSWER_S = 60.0
_TRANSFER = TransferEnergy()
_OF_IT = f"Only for the strategy {TransferEnergy.name}."

Depth = Annotated[
    int | None,
    typer.Option(
        "--depth",
        metavar="N",
        help=f"Most hops from a seed; {_TRANSFER.max_depth} if not given. {_OF_IT}",
    ),
]

Also = Annotated[
    list[str] | None,
    typer.Option("--also", metavar="SCOPE", help="Read this scope as well; may be repeated."),
]

AutoTags = Annotated[
    bool,
    typer.Option(
        "--auto-tags",
        help="Instead of --tag: take the tags around the hits whose words occur in the question.",
    ),
]


def recall(
    question: Annotated[str, typer.Argument(help="The question, in your own words.")],
    tag: Tags = None,
    *,
    auto_tags: AutoTags = False,
    filtering: Filtering,
    packing: Packing,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time for the whole recall.")
    ] = (DEFAULTS.deadline_s),
    max_seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Most seeds; by default the strategy decides.")
    ] = None,
    strategy: StrategyName = TransferEnergy.name,
    depth: Depth = None,
    settings: Settings = None,
    relevance: Weights = "default",
    holding: Holding,
    timing: TimePhrases,
    scope: Scope = "default",
    also: Also = None,
    connection: MappedConnection,
    showing: Showing,
    embedder: EmbedderName = None,
    as_json: Json = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="With --json: everything, for learn, pack, replay and view."),
    ] = False,
) -> None:
    """Find memories by a question, follow their relations, and pack the results for a prompt.

    Prints the context, then the paths that lead to its memories, with the energy that reached each
    of them, then the time. --paths prints all paths; --context the context alone. --json prints
    one document: query, query_tags, scope, context, left_out, ranked, paths, more_paths, memories,
    trace. With --full it has everything that was found, and `memoria pack` turns it into another
    context.

    Options such as --kind say which memories may be found, ranked and packed; relations lead
    through the others. --tag is a tag of the question, --with-tag one of the memories.
    With --auto-tags the question itself says which tags it has.

    With --also the recall reads several scopes; context and paths say what is from which scope.

    Examples
    --------
    memoria recall "Why did the cinnamon buns run out?" --tag stockout --tag dairy
    memoria recall "Why did the cinnamon buns run out?" --html why.html
    memoria recall "What does Ada prefer?" --kind UserPreference --scope ada
    memoria recall "What broke?" --since 2026-05-01 --until 2026-06-01 --metadata channel=support
    memoria recall "Why is the oven cold?" --scope alice --also team --also project-x
    memoria recall "Why is the oven cold?" --json --full | memoria pack --format markdown
    memoria recall "Why is the oven cold?" --strategy lif --set strategy.max_hops=2 --relevance none
    """
    if full and not as_json:
        raise typer.BadParameter("give it with --json", param_hint="--full")
    choose, where, tags = embedder_choice(embedder), filtering.where, _query_tags(tag, auto_tags)
    config = replace(
        exploration_config(strategy, {"max_depth": depth}, settings),
        relevance=weights_named(relevance),
        context=packing.config,
    )
    config = holding.over(timing.over(config))
    given = RecallSettings(budget_tokens=packing.budget, deadline_s=deadline, max_seeds=max_seeds)
    config = config.overridden(given)

    async def ask(store: Store) -> Recall:
        model = await choose(store)
        async with GraphRetriever(store, scope=scope, embedder=model, config=config) as retriever:
            await _prepared(model, retriever)  # after the server was checked: it takes long
            scopes = (scope, *also) if also else None
            found = await retriever.recall(question, query_tags=tags, where=where, scopes=scopes)
        return await _say_unfound(store, found, scopes or (scope,), where)

    # A freshly started server is slow to report its version; the recall has its own deadline.
    found = connection.run(ask, StoreConfig(query_timeout_s=_FIRST_ANSWER_S))
    showing.draw(found)
    packing.say_too_small(found.context)
    if as_json or showing.context_only:  # else the last line of the output says it
        packing.say_irrelevant(found.context, relevance_of(found.ranked).values())
    if as_json:
        print_json(plain_recall(found) if full else brief_recall(found))
    else:
        showing.show(found, budget=packing.budget, wrap=packing.format_ != "json")


async def _prepared(model: Embedder | None, retriever: GraphRetriever) -> None:
    """Load the model, and let the server plan the queries of a mapped graph.

    `memoria up` has planned those of memoria's own.
    """
    await load_model(model)
    if retriever.mapping is not None:
        from memoria.cli.warming import plan_recalls

        await plan_recalls(retriever.store, retriever.scope, retriever.config)


async def _say_unfound(
    store: Store, found: Recall, scopes: Sequence[str], where: MemoryFilter
) -> Recall:
    """Say in which scopes nothing was found, and which excluded ids: they may be mistyped."""
    await say_excluded(store, scopes, where)
    for name in scopes:
        if not any(one.scope in ("", name) for one in found.ranked):
            text = "" if found.ranked else f"nothing found in scope {name!r}"
            await say_nothing_found(store, name, text)
    return found


def explore(
    seeds: Annotated[
        list[str], typer.Argument(metavar="SEED", help="Where to start: ID, or ID=SCORE; score 1.")
    ],
    tag: Tags = None,
    strategy: StrategyName = TransferEnergy.name,
    depth: Depth = None,
    branches: Annotated[
        int | None,
        typer.Option(
            help=f"Most neighbours per memory; {_TRANSFER.max_branches} if not given. {_OF_IT}"
        ),
    ] = None,
    min_activation: Annotated[
        float | None,
        typer.Option(help=f"Energy to exceed; {_TRANSFER.min_activation} if not given. {_OF_IT}"),
    ] = None,
    settings: Settings = None,
    *,
    holding: Holding,
    scope: Scope = "default",
    connection: MappedConnection,
    as_json: Json = False,
) -> None:
    """Follow the relations from memories that you name.

    A seed is an id, or ID=SCORE with a score above 0 and up to 1. If the text after the last = is
    not a number, it belongs to the id. A memory that is superseded or outdated counts as not found.
    Exit code 1 if no seed is found. --json prints one document: explorations, memories;
    `memoria pack` turns it into a context.

    Examples
    --------
    memoria explore evt-062 --depth 2
    memoria explore evt-062=0.9 src-029=0.4 --tag dairy
    memoria explore evt-062 --strategy synapse --set strategy.max_steps=2
    memoria explore evt-062 --json | memoria pack --budget 500
    """
    shortcuts = {"max_depth": depth, "max_branches": branches, "min_activation": min_activation}
    config = holding.over(exploration_config(strategy, shortcuts, settings))
    chosen = [_seed(text) for text in seeds]

    async def follow(store: Store) -> tuple[Exploration, ...]:
        retriever = GraphRetriever(store, scope=scope)
        if as_json:
            async with retriever.explore_seeds(chosen, query_tags=tag or (), config=config) as ends:
                found = in_order(chosen, [one async for one in ends])
        else:
            async with retriever.stream_paths(chosen, query_tags=tag or (), config=config) as paths:
                await show_paths(paths, screen)
            found = paths.result
        if all(each.status == "seed_not_found" for each in found):
            await say_nothing_found(store, scope)
        return found

    found = connection.run(follow)
    if as_json:
        print_json(plain_explorations(found))
    else:
        out.print(summary(found), style="dim", markup=False)
    _report(found, scope, config)


def _query_tags(tags: Sequence[str] | None, auto: bool) -> QueryTags:
    """Return the tags of the question, or what tells the retriever to find them in it."""
    if auto and tags:
        raise typer.BadParameter("give either --tag or --auto-tags", param_hint="--auto-tags")
    return AUTO if auto else tags or ()


def _seed(text: str) -> Seed:
    """Read ``id`` or ``id=score``."""
    id_, _, score = text.rpartition("=")
    if id_ and re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", score):
        return Seed(id=id_, score=float(score))
    return Seed(id=text, score=1.0)


def _report(explorations: Sequence[Exploration], scope: str, config: RetrieverConfig) -> None:
    """Print the seeds without a result; end with an error if no seed has one, or one failed."""
    missing = [found.seed.id for found in explorations if found.status == "seed_not_found"]
    say_missing(missing, scope)
    if missing and not config.include_outdated:
        warn("superseded and outdated memories count as missing; --include-outdated finds them")
    for found in explorations:
        if found.error is not None:
            text = printable(f"memoria: from {found.seed.id}: {found.error}")
            err.print(text, style="red", markup=False)
    if len(missing) == len(explorations) or any(found.error for found in explorations):
        raise typer.Exit(FAILED)
