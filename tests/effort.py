"""How much the tests try: what finds faults soonest by default, all of it with ``--thorough``.

Nothing but numbers of repetitions stands here. Every test runs either way.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Numbers of repetitions.

    Attributes
    ----------
    examples
        Of what holds for any input, without a server.
    server_examples
        The same where each example asks a server.
    formats
        Formats whose import is killed and begun again, at most 16.
    graphs
        Generated graphs that engine and oracle both explore, in each of three ways.
    graphs_in_other_sessions
        The first of them, explored in five more ways, which differ in their sessions.
    killed_writes
        Times that the writing of conversations is killed at a random place and begun again.
    killed_clients
        Times that a process that makes all vectors anew is killed at a random moment.
    kills
        Times that a server or its guard is killed and started again.
    linked_scopes
        Generated scopes that are linked as the reference links them.
    rounds
        Times that several writers write one conversation at once.
    moody_writes
        Writes whose embedder fails at random; a multiple of 4.
    asked_again
        Questions of the sample, at most three, that are asked again and in six other wordings.
    populations
        Numbers of memories and edges at which all queries are planned.
    queries
        Texts of any characters that a search is asked for.
    sentences
        Sentences that two agents remember at the same time.
    stops
        Random points at which a stream is left, in each of four ways.
    uses
        Random uses of an edge in a row that learning must follow exactly.
    vectors
        Vectors of other scopes, among which a search has to find those of a small one.
    """

    examples: int
    server_examples: int
    formats: int
    graphs: int
    graphs_in_other_sessions: int
    killed_writes: int
    killed_clients: int
    kills: int
    linked_scopes: int
    rounds: int
    moody_writes: int
    asked_again: int
    populations: int
    queries: int
    sentences: int
    stops: int
    uses: int
    vectors: int


SHORT = Effort(
    examples=50,
    server_examples=15,
    formats=4,
    graphs=200,
    graphs_in_other_sessions=50,
    killed_writes=8,
    killed_clients=2,
    kills=1,
    linked_scopes=4,
    rounds=3,
    moody_writes=240,
    asked_again=1,
    populations=2,
    queries=500,
    sentences=100,
    stops=12,
    uses=20,
    vectors=3_000,
)
THOROUGH = Effort(
    examples=100,
    server_examples=60,
    formats=16,
    graphs=2_000,
    graphs_in_other_sessions=250,
    killed_writes=100,
    killed_clients=20,
    kills=3,
    linked_scopes=12,
    rounds=40,
    moody_writes=1_000,
    asked_again=3,
    populations=3,
    queries=10_000,
    sentences=1_000,
    stops=50,
    uses=60,
    vectors=20_000,
)
_chosen = SHORT


def choose(*, thorough: bool) -> None:
    """Decide for this run, before test modules are imported.

    A short run takes the same examples every time: whoever runs it before a change and after it
    compares like with like. A thorough one takes others each time, and so looks further.
    """
    global _chosen
    _chosen = THOROUGH if thorough else SHORT
    settings.register_profile(
        "memoria",
        max_examples=_chosen.examples,
        derandomize=not thorough,
        deadline=None,  # a slow machine is not a fault
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("memoria")


def effort() -> Effort:
    """The numbers of this run."""
    return _chosen


def on_a_server() -> settings:
    """Settings of a generated test whose examples ask a server."""
    return settings(max_examples=_chosen.server_examples)
