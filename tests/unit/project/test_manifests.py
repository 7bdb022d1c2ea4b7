"""What other programs read of memoria: ``server.json`` for the MCP registry, plugins of hosts.

The rules are those of the published schemas (the registry's of 2025-12-11, the hosts' of 2026-04),
in words of our own.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import pytest

from memoria.agents.kinds import Event, Harness
from memoria.cli import all_commands

ROOT = Path(__file__).parents[3]
PLUGINS = ROOT / "plugins"
HOSTS = [("claude-code", "claude"), ("codex", "codex")]
EVENTS = {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}  # of those that the hosts know
INPUT = {"description", "isRequired", "format", "value", "isSecret", "default", "placeholder"}


def read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def has_only(given: dict[str, Any], required: set[str], optional: set[str]) -> None:
    assert required <= given.keys() <= required | optional


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def test_the_entry_for_the_registry_obeys_its_schema() -> None:
    entry = read(ROOT / "server.json")
    has_only(
        entry, {"$schema", "name", "description", "version"}, {"title", "packages", "repository"}
    )
    assert entry["$schema"].endswith("/schemas/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 3 <= len(entry["name"]) <= 200
    assert 1 <= len(entry["description"]) <= 100
    assert 1 <= len(entry["title"]) <= 100
    has_only(entry["repository"], {"url", "source"}, set())
    (package,) = entry["packages"]
    has_only(
        package,
        {"registryType", "identifier", "transport"},
        {
            *("version", "runtimeHint", "runtimeArguments"),
            *("packageArguments", "environmentVariables"),
        },
    )
    assert package["registryType"] == "pypi"
    assert package["transport"] == {"type": "stdio"}
    for argument in (*package["runtimeArguments"], *package["packageArguments"]):
        needed = {"named": {"type", "name"}, "positional": {"type", "value"}}[argument["type"]]
        has_only(argument, needed, INPUT)
    for variable in package["environmentVariables"]:
        has_only(variable, {"name"}, INPUT)
        texts = [value for key, value in variable.items() if key not in ("isSecret", "isRequired")]
        assert all(isinstance(text, str) for text in texts)
    secrets = {each["name"] for each in package["environmentVariables"] if each.get("isSecret")}
    assert secrets == {"NEO4J_PASSWORD"}


def test_the_entry_names_this_package_and_a_command_that_it_has() -> None:
    entry, about = read(ROOT / "server.json"), project()
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == version("memoria-graph")
    assert entry["name"].rpartition("/")[2] == package["identifier"] == about["name"]
    assert entry["repository"]["url"] == about["urls"]["Homepage"]
    # The runner of packages looks for a program that is called as the package.
    assert about["scripts"][package["identifier"]] == about["scripts"]["memoria"]
    extras = re.fullmatch(r"memoria-graph\[(.+)\]", package["runtimeArguments"][0]["value"])
    assert extras is not None
    assert set(extras[1].split(",")) <= about["optional-dependencies"].keys()
    (argument,) = package["packageArguments"]
    assert argument["value"] in all_commands()
    # The registry compares this line with the description of the package, which is the README.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- mcp-name: {entry['name']} -->" in readme


@pytest.mark.parametrize(("host", "harness"), HOSTS)
def test_a_plugin_obeys_the_rules_of_its_host(host: str, harness: str) -> None:
    folder = PLUGINS / host
    (file,) = folder.glob(".*-plugin/plugin.json")
    manifest = read(file)
    has_only(manifest, {"name", "version", "description"}, {"hooks", "mcpServers"})
    assert re.fullmatch(r"[a-z0-9][-a-z0-9._]*", manifest["name"])
    for key in ("hooks", "mcpServers"):
        if key in manifest:
            assert manifest[key].startswith("./")
            assert (folder / manifest[key]).is_file()
    hooks = read(folder / "hooks" / "hooks.json")
    has_only(hooks, {"hooks"}, set())
    assert hooks["hooks"].keys() <= EVENTS
    for groups in hooks["hooks"].values():
        for group in groups:
            has_only(group, {"hooks"}, {"matcher"})
            for command in group["hooks"]:
                has_only(command, {"type", "command"}, {"timeout"})
                assert command["type"] == "command"
                assert command["timeout"] > 2  # the host ends it only if memoria has not
                assert f"--harness {harness}" in command["command"]
    assert harness in get_args(Harness)
    assert {"session-start", "prompt", "stop"} == set(get_args(Event))
    servers = read(folder / ".mcp.json")["mcpServers"]
    for server in servers.values():
        has_only(server, {"command", "args"}, {"env"})


def test_a_marketplace_names_its_owner_and_folders_that_are_there() -> None:
    claude = read(PLUGINS / ".claude-plugin" / "marketplace.json")
    has_only(claude, {"name", "owner", "plugins"}, {"description"})
    assert claude["owner"]["name"]
    codex = read(PLUGINS / ".agents" / "plugins" / "marketplace.json")
    has_only(codex, {"name", "plugins"}, {"interface"})
    for plugin in claude["plugins"]:
        has_only(plugin, {"name", "source"}, {"description"})
        assert plugin["source"].startswith("./")
        assert (PLUGINS / plugin["source"] / ".claude-plugin" / "plugin.json").is_file()
    for plugin in codex["plugins"]:
        has_only(plugin, {"name", "source", "policy", "category"}, set())
        assert plugin["source"]["source"] == "local"
        assert (PLUGINS / plugin["source"]["path"] / ".codex-plugin" / "plugin.json").is_file()
