"""Commands without ``--embedder``: they use the embedder that the database records."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoria.cli.connection import Connection, opening_of
from memoria.cli.embedders import embedder_choice
from memoria.errors import ConfigError
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder, probe
from memoria.store import Store, Target
from tests.integration.alone import driver, store, target
from tests.integration.cli.test_commands import Call, call, secret
from tests.integration.doctor.test_doctor import wipe

__all__ = ["call", "driver", "secret", "store", "target"]

OURS = "all-minilm-l6-v2-q"
FOREIGN = "text-of-a-service"


@pytest.fixture
def here(target: Target, secret: Path) -> list[str]:
    return ["--uri", target.uri, "--password-file", str(secret)]


async def recorded(store: Store, name: str, dimensions: int = 384) -> None:
    """Set the database up for an embedder, if the last test did not."""
    if (await probe(Store(store.driver, database=store.database))).embedder == name:
        return
    await wipe(store)
    await apply_schema(store, embedder=AbsentEmbedder(name=name, dimensions=dimensions))


async def test_the_recorded_model_is_used(store: Store, call: Call, here: list[str]) -> None:
    await recorded(store, OURS)
    # Nothing is to be embedded, so that no model is loaded.
    done = call("embed", *here)
    assert (done.code, done.err) == (0, "")


async def test_a_server_for_agents_and_the_page_use_it(
    store: Store, target: Target, secret: Path
) -> None:
    await recorded(store, OURS)
    connection = Connection(uri=target.uri, password_file=secret)
    retriever = await opening_of(connection, "ada", embedder_choice(None))()
    try:
        assert retriever.embedder is not None
        assert retriever.embedder.name == OURS
    finally:
        await retriever.close()


async def test_setting_a_database_up_again_needs_no_embedder(
    store: Store, call: Call, here: list[str]
) -> None:
    await recorded(store, FOREIGN, dimensions=8)
    done = call("init", *here)
    assert done.code == 0, done.err
    facts = await probe(Store(store.driver, database=store.database))
    assert (facts.embedder, facts.dimensions) == (FOREIGN, 8)


@pytest.mark.parametrize(
    "command", [["recall", "rain"], ["remember", "Rain."], ["ingest", "-"], ["embed"]]
)
async def test_an_embedder_that_only_the_user_can_name_is_asked_for(
    store: Store, call: Call, here: list[str], command: list[str]
) -> None:
    await recorded(store, FOREIGN, dimensions=8)
    done = call(*command, *here)
    assert (done.code, done.out) == (1, "")
    (line,) = done.err.splitlines()
    assert FOREIGN in line
    assert "--embedder" in line
    if command != ["embed"]:
        done = call(*command, *here, MEMORIA_EMBEDDER="none")
        assert done.code == 0, done.err


async def test_a_server_says_it_to_the_model(store: Store, target: Target, secret: Path) -> None:
    await recorded(store, FOREIGN, dimensions=8)
    connection = Connection(uri=target.uri, password_file=secret)
    with pytest.raises(ConfigError, match=rf"'{FOREIGN}'.* --embedder"):
        await opening_of(connection, "ada", embedder_choice(None))()
