"""The container of ``--neo4j=container``: made, not started, as that needs Docker."""

from __future__ import annotations

import re
from pathlib import Path

from tests.servers import BOLT_PORT, container

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8").partition("\n  memoria:")[0]
PASSWORD = "not-the-password"
# A version of Docker's interface that is named is not asked for.
WITHOUT_DOCKER = {"docker_client_kw": {"version": "1.44"}}


def settings_of_the_compose_file() -> dict[str, str]:
    """The variables that the image takes for settings."""
    found = dict(re.findall(r'^      (NEO4J_\w+): "([^"]*)"$', COMPOSE, re.MULTILINE))
    assert len(found) == COMPOSE.count("\n      NEO4J_")
    return {name: re.sub(r"\$\{.*\}", PASSWORD, value) for name, value in found.items()}


def test_container_is_the_one_of_the_compose_file() -> None:
    """Its module is imported here for the first time, and warnings are errors."""
    made = container(PASSWORD, **WITHOUT_DOCKER)
    try:
        made._configure()
        assert made.image == re.findall(r"^    image: (.+)$", COMPOSE, re.MULTILINE)[0]
        assert made.env == settings_of_the_compose_file()
        assert made.ports == {str(BOLT_PORT): None}, "published at a free port"
        assert f":{BOLT_PORT}" in COMPOSE
    finally:
        made.stop()


def test_container_is_ready_when_the_log_of_the_server_says_so() -> None:
    made = container(PASSWORD, **WITHOUT_DOCKER)
    made.stop()
    pattern = made._wait_strategy._message  # type: ignore[union-attr]
    log = (
        "2026-11-22 18:34:11.814+0000 INFO  Starting...\n"
        "2026-11-22 18:34:18.898+0000 INFO  Bolt enabled on localhost:7687.\n"
    )
    assert not pattern.search(log)
    assert pattern.search(f"{log}2026-11-22 18:34:18.914+0000 INFO  Started.\n")
