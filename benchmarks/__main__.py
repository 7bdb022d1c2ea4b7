"""The commands of ``scripts/bench``: which there are, and which one was asked for.

In: the command line. Out: whatever the command writes.
"""

from __future__ import annotations

import sys
from importlib import import_module

RACE = "race"
# A command is a module with `main(arguments)`. It is imported only when it is asked for: most
# commands need less than the race does.
COMMANDS = {
    RACE: ("benchmarks.race.command", "memoria beside its alternatives; runs without a name, too"),
    "levers": ("benchmarks.levers.command", "settings that are a choice, each beside the other"),
    "recall": ("benchmarks.recall", "stages of a recall, on LoCoMo"),
    "strategies": ("benchmarks.strategies", "every strategy: times and answers, on LoCoMo"),
    "context": ("benchmarks.context", "how much evidence a context holds: sample, stories, LoCoMo"),
    "month": ("benchmarks.month", "a simulated month of use and learning, on LoCoMo"),
    "taught": ("benchmarks.taught", "what was taught, by questions that were not, on LoCoMo"),
    "used": ("benchmarks.used", "what an agent's own use teaches, and what it costs, on datasets"),
    "raw": ("benchmarks.raw", "graphs made of raw messages, beside prepared ones"),
    "conversations": ("benchmarks.conversations", "messages written per second, and appended"),
    "asides": ("benchmarks.asides", "small talk and commands: whether memory stays silent"),
    "facts": ("benchmarks.facts", "facts that change: current, outdated and never stated"),
    "proposals": ("benchmarks.proposals", "which facts a new text may replace; needs no server"),
    "tagged": ("benchmarks.tagged", "tags taken from the words of questions, on datasets"),
    "ingest": (
        "benchmarks.ingest",
        "memories and edges written per second, also on your server",
    ),
    "scopes": (
        "benchmarks.scopes",
        "the cost of reading two scopes in one recall, compared with one",
    ),
    "imports": ("benchmarks.imports", "memory that the import of 2 GB takes; needs no server"),
    "filters": ("benchmarks.filters", "what a filter of memories costs a search"),
    "tenants": ("benchmarks.tenants", "many new tenants at once on one store"),
    "cold": ("benchmarks.cold", "the first recalls of a server that has just started"),
    "versions": ("benchmarks.versions", "what is slower on Neo4j 5.26, beside the newest"),
    "scale": ("benchmarks.scale", "a level's query against frontier, degree and size, fitted"),
    "calls": ("benchmarks.calls", "calls, frames and files down to the driver; needs no server"),
    "sync": ("benchmarks.without_async", "what calls without async cost, on the sample memory"),
    "mcp": ("benchmarks.served", "the MCP server: greeting, first and second recall, its tokens"),
    "http": ("benchmarks.over_http", "memoria serve: what HTTP adds to a recall, and 200 clients"),
    "hooks": ("benchmarks.hooks", "memoria hook: how long coding agents wait, whatever is wrong"),
    "telemetry": ("benchmarks.telemetry", "what spans and metrics cost, on the sample memory"),
    "link": ("benchmarks.link", "memories linked per second, also on your server"),
    "linked": ("benchmarks.linked", "what links by cosine do to recall"),
    "mapped": (
        "benchmarks.mapped",
        "graphs of three libraries, through mappings and by themselves",
    ),
    "typed": ("benchmarks.typed", "questions that name a type of relationships, on your graph"),
    "mapped-scale": ("benchmarks.mapped_scale", "how fast a mapped graph is explored, by its size"),
}


def main() -> None:
    """Run the command that the first argument names."""
    name, rest = RACE, sys.argv[1:]
    if rest and not rest[0].startswith("-"):
        name, *rest = rest
    if name not in COMMANDS:
        sys.exit(f"scripts/bench: no command {name!r}; there are {', '.join(COMMANDS)}")
    if sys.argv[1:] in (["-h"], ["--help"]):
        print("commands of scripts/bench; `scripts/bench COMMAND --help` has the options of one:")
        print("\n".join(f"  {each:<12}{does}" for each, (_, does) in COMMANDS.items()), end="\n\n")
    import_module(COMMANDS[name][0]).main(rest)


if __name__ == "__main__":
    main()
