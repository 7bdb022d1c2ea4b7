"""Run explorations of many seeds at once, and hand over each result as soon as it is complete.

In: seeds. Out: `Exploration`s of `Path`s with their texts, through callbacks. Reads only.
Queries: those of the strategy (`memoria.recall.strategies`), and ``graph.hydrate``.

Explorations that share a session share its queries. Texts that these queries did not return are
read in separate sessions; while streaming, they are read at the same time as the next level. A
group never waits for texts while it holds its session, so a small pool can't lock up.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from memoria._support.throttling import throttled_warning
from memoria.errors import DeadlineError, MemoriaError, UnavailableError
from memoria.graph.hydrate import Memories
from memoria.recall.explore.request import ExploreRequest, Listener
from memoria.recall.explore.seed_run import TIMER_SLACK_S, Ended, SeedRun, texts_of, with_texts
from memoria.recall.strategies import Step
from memoria.store import Store
from memoria.store.queries import Query, load
from memoria.types import Exploration, Path, Seed, path_order

log = logging.getLogger(__name__)

# Time held back for the texts of cut branches: a share of the deadline, and a limit in seconds.
_RESERVE_SHARE = 0.2
_RESERVE_S = 0.5
# An exploration that is still at work so long after its deadline hands over what it has; seconds.
_GRACE_S = 0.25


async def explore(store: Store, request: ExploreRequest, listener: Listener) -> None:
    """Explore from all seeds concurrently; return when every exploration is over.

    A failure ends only the exploration of its seed, whose `Exploration` carries the error. What is
    still at work shortly after the deadline ends, and hands over what it has.
    """
    seeds = request.input.seeds
    size = max(1, len(seeds))
    if request.seeds_per_session is not None and not request.strategy.together:
        size = request.seeds_per_session
    memories = Memories(store, scope=request.input.scope, until=request.until)
    groups = [
        Group(store, request, listener, _start(request, start, size), memories)
        for start in range(0, len(seeds), size)
    ]
    try:
        async with asyncio.timeout_at(request.until + _GRACE_S):
            await _in_parallel(groups)
    except TimeoutError:
        for group in groups:
            group.give_up()


def _start(request: ExploreRequest, first: int, size: int) -> list[SeedRun]:
    """Begin the run of a group: ``size`` seeds from ``first`` on."""
    seeds = request.input.seeds[first : first + size]
    run = request.strategy.start(replace(request.input, seeds=seeds))
    return [SeedRun(seed, run) for seed in seeds]


class Group:
    """Explorations that share a session and one run of a strategy."""

    def __init__(
        self,
        store: Store,
        request: ExploreRequest,
        listener: Listener,
        runs: Sequence[SeedRun],
        memories: Memories,
    ) -> None:
        self._store = store
        self._request = request
        self._listener = listener
        self._runs = runs
        self._memories = memories
        self._delivering = asyncio.Lock()
        reserve = min(_RESERVE_S, _RESERVE_SHARE * (request.until - request.started))
        self._levels_until = request.until - reserve

    async def run(self) -> None:
        """Spread level by level; after a shared failure, go on with one session for each seed."""
        alone: list[SeedRun] = []
        async with asyncio.TaskGroup() as deliveries:
            try:
                await self._spread(deliveries)
            except MemoriaError as exc:
                alone = self._recover(exc)
            deliveries.create_task(self._deliver())
            deliveries.create_task(self._meanwhile())  # after the read of texts has been sent
        await _in_parallel(
            Group(self._store, self._request, self._listener, [run], self._memories)
            for run in alone
        )

    def give_up(self) -> None:
        """Cut what was not reported, and hand over what there is of it, without another query."""
        late = [run for run in self._runs if not run.reported]
        for strategy_run in {id(run.strategy_run): run.strategy_run for run in late}.values():
            self._end(strategy_run.cut())
        unread = self._pop_ended(late, with_texts=False)
        if self._request.hydrate_at is None:
            self._hand_over_as_it_is(unread)
        else:
            self._hand_over(unread, were_read=False)
        for run in late:
            run.cut = True
        self._report(late)

    async def _spread(self, deliveries: asyncio.TaskGroup) -> None:
        """Ask and absorb step by step; a step is one round trip for all branches of the group."""
        run = self._runs[0].strategy_run
        async with self._store.session(until=self._levels_until) as session:
            while (step := run.ask()) is not None:
                deliveries.create_task(self._meanwhile())
                query = query_of(step).at(self._request.input.generation)
                records = await session.run(query, step.parameters)
                self._memories.take(records[0].get("memories", ()))
                self._end(run.absorb(records[0]))

    def _end(self, paths: Iterable[Path]) -> None:
        runs = {run.seed.id: run for run in self._runs}
        for path in paths:
            run = runs[path.seed_id]
            run.ended.append(Ended(run, path, path.ids))

    def _recover(self, exc: MemoriaError) -> list[SeedRun]:
        """Decide what a failed step means for the active runs; return the runs that go on alone."""
        active = [run for run in self._runs if not run.over]
        in_time = asyncio.get_running_loop().time() < self._levels_until - TIMER_SLACK_S
        parts = self._runs[0].strategy_run.parts()
        if in_time and parts:
            throttled_warning(log, "a step failed (%s): one session each", type(exc).__name__)
            for run in active:
                run.strategy_run = parts[run.seed.id]  # no longer shared with the others
            return active
        cut_short = isinstance(exc, DeadlineError) and not in_time
        for run in active:
            run.cut, run.error = True, None if cut_short else exc
        self._end(self._runs[0].strategy_run.cut())
        return []

    async def _meanwhile(self) -> None:
        """Build the memories of the last step, and hand over paths, while the next query runs.

        Yields to the event loop once, so that the next query is sent before this work starts.
        """
        await asyncio.sleep(0)
        self._memories.build()
        self._hand_over(self._pop_ended(self._runs, with_texts=True), were_read=True)
        if self._is_due():
            await self._deliver()

    def _is_due(self) -> bool:
        """Tell whether to deliver during the next level; after the last level `run` delivers."""
        if all(run.over for run in self._runs):
            return False
        match self._request.hydrate_at:
            case "branch_end":
                return any(run.ended or (run.over and not run.reported) for run in self._runs)
            case "exploration_end":
                return any(run.over and not run.reported for run in self._runs)
            case None:
                return False

    async def _deliver(self) -> None:
        """Read the texts that ended branches lack, in one query; report what is over.

        Deliveries run one at a time, so that an exploration is reported after all its paths.
        """
        async with self._delivering:
            runs = [run for run in self._runs if not run.reported]
            if self._request.hydrate_at == "exploration_end":
                runs = [run for run in runs if run.over]
            over = [run for run in runs if run.over]
            unread = self._pop_ended(runs, with_texts=False)
            if self._request.hydrate_at is None:
                self._hand_over_as_it_is(unread)
            else:
                self._hand_over(unread, were_read=await self._read_texts(unread))
            self._report(over)

    def _report(self, runs: Sequence[SeedRun]) -> None:
        """Hand over the last paths of explorations that are over, and then the explorations."""
        self._hand_over(self._pop_ended(runs, with_texts=True), were_read=True)
        for run in runs:
            run.reported = True
            self._listener.on_exploration(run.report(self._request.started))

    def _pop_ended(self, runs: Iterable[SeedRun], *, with_texts: bool) -> list[Ended]:
        """Take out the ended branches whose texts are known, or the branches that lack texts."""
        popped: list[Ended] = []
        for run in runs:
            left: list[Ended] = []
            for one in run.ended:
                (popped if self._memories.has(one.ids) == with_texts else left).append(one)
            run.ended = left
        return popped

    async def _read_texts(self, batch: Collection[Ended]) -> bool:
        """Read the memories that are not known yet; return whether that worked."""
        if not batch:
            return True
        if all(isinstance(one.run.error, UnavailableError) and not one.path.hops for one in batch):
            return False  # the first level has had its retries
        clock = asyncio.get_running_loop().time
        start = clock()
        try:
            await self._memories.read({node for one in batch for node in one.ids})
        except MemoriaError as exc:
            late = clock() >= self._request.until - TIMER_SLACK_S
            for run in {one.run for one in batch if not self._memories.has(one.ids)}:
                run.cut = True
                run.error = run.error or (None if late else exc)
            return False
        except asyncio.CancelledError:
            for one in batch:
                one.run.ended.append(one)  # for `give_up`
            raise
        finally:
            for run in {one.run for one in batch}:
                run.hydrate_s += clock() - start
        return True

    def _hand_over(self, batch: Iterable[Ended], *, were_read: bool) -> None:
        """Deliver each path once; two paths that end before the same deleted memory become one."""
        known = self._memories.known
        for one in sorted(batch, key=lambda one: path_order(one.path)):
            if were_read or self._memories.has(one.ids):  # another group may have read them since
                path = with_texts(one.path, known)
            else:
                path = one.path if one.run.outcome.found else None
            if path is not None and path.ids not in one.run.paths:
                one.run.paths[path.ids] = path
                self._listener.on_path(path)

    def _hand_over_as_it_is(self, batch: Iterable[Ended]) -> None:
        """Deliver paths with the texts that the strategy's queries returned for their beginnings.

        A caller who sets ``hydrate_at`` to None reads the other texts, and learns only then which
        memories were deleted.
        """
        known = self._memories.known
        for one in sorted(batch, key=lambda one: path_order(one.path)):
            path = replace(one.path, memories=texts_of(one.path, known))
            one.run.paths[path.ids] = path
            self._listener.on_path(path)


def query_of(step: Step) -> Query:
    """Return the query of a step; a step gives memoria's own queries by name."""
    return load(step.query) if isinstance(step.query, str) else step.query


async def _in_parallel(groups: Iterable[Group]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for group in groups:
            tasks.create_task(group.run())


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
