"""The reference pages, made from the code; a program that writes them, and a hook of mkdocs.

The pages in ``docs/reference`` are committed, so that they can be read on a code host. Settings
and errors stand there in full. Of the commands and the public names, a committed page has the
summaries only; the site that mkdocs builds has their options and docstrings in full. A test
compares the committed pages with the code, and a name without documentation ends the build.

    python scripts/docs_pages.py    # write docs/reference anew
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import typer.main

import memoria
from memoria import errors, types
from memoria.cli import all_commands, app
from memoria.recall.ranking.config import MEANINGS
from memoria.recall.strategies import STRATEGIES

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOT_BUILT = (
    "This page has the summaries only. The whole of it is in the documentation that "
    "`scripts/docs` builds"
)
NOT_FOR_USERS = ("project/", "benchmarks/", "performance", "quality", "reliability")

CONFIGS = (
    memoria.RetrieverConfig,
    memoria.SeedConfig,
    memoria.RelevanceConfig,
    memoria.Calibration,
    *(memoria.HistoryConfig, memoria.RelationRoles),
    memoria.CompositeLinkConfig,
    memoria.SimilarityLinkConfig,
    memoria.LearnConfig,
    memoria.ConversationConfig,
    memoria.DocumentConfig,
    memoria.ContextConfig,
    memoria.StoreConfig,
)

# What `import memoria` brings; a star import leaves `open` out.
PUBLIC = (*memoria.__all__, "open")
# The public names by page: all of these, and the types of results in `memoria.types`.
API: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "retrieval": (
        "Retrieval",
        ("connect", "open", "GraphRetriever", "GraphMapping", "MemoryFilter", "Stream", "tools"),
    ),
    "strategies": (
        "Strategies",
        ("TransferEnergy", "LeakyIntegrateAndFire", "AnchorSpreading", "Synapse"),
    ),
    "writing": (
        "Writing",
        (
            *("apply_schema", "GraphWriter", "Linker", "Memory", "Relation", "Store"),
            *("Remembered", "WriteReport", "ForgetReport", "ScopeReceipt", "LinkReport"),
        ),
    ),
    "conversations": (
        "Conversations",
        (
            *("ConversationWriter", "Conversation", "Message", "ConversationReport"),
            *("RuleExtractor", "Extractor", "Mention"),
        ),
    ),
    "documents": (
        "Documents",
        ("DocumentWriter", "Document", "Section", "DocumentReport", "read_notes"),
    ),
    "learning": (
        "Learning",
        (
            *("Learner", "is_more_specific", "LearnReport", "ConsolidateReport", "EdgeChange"),
            *("LoggedEvent", "LoggedChange", "UndoReport", "replay", "Replay", "PathChange"),
        ),
    ),
    "results": (
        "Results",
        (
            *("Recall", "RankedMemory", "Trace", "Seeds", "Seed", "Activation", "Contribution"),
            *("Exploration", "ExplorationStats", "Path", "Hop", "Edge", "MemoryNode"),
            *("ContextBuilder", "pack", "ContextPack", "ContextItem", "OmittedItem"),
            *("FoundMemories", "MemoryPage", "Neighbourhood", "Neighbour", "PathProperties"),
            "ReembedReport",
        ),
    ),
    "embedders": (
        "Embedders",
        (
            *("Embedder", "OnnxEmbedder", "SentenceTransformerEmbedder", "CallableEmbedder"),
            *("CachedEmbedder", "reembed", "finish_reembedding", "roll_back_reembedding"),
        ),
    ),
    "settings": ("Settings", tuple(config.__name__ for config in CONFIGS)),
    "exceptions": ("Exceptions", tuple(n for n in memoria.__all__ if n.endswith("Error"))),
}


class UndocumentedError(Exception):
    """Something public has no documentation to make a page of."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Replace a committed page by the form that it has in the site (called by mkdocs)."""
    name = page.file.src_uri
    if name.startswith(NOT_FOR_USERS):
        page.meta["search"] = {"boost": 0.1}  # found, but below the pages for users
    if name == "changelog.md":
        return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    if name.startswith("reference/"):
        return pages()[name.removeprefix("reference/").removesuffix(".md")]
    return markdown


@cache
def pages() -> dict[str, str]:
    """Make every page as the site has it: name below ``reference/`` -> Markdown."""
    return {
        "configuration": configuration_page((*CONFIGS, *map(type, STRATEGIES.values()))),
        "errors": errors_page(),
        "command-line": command_line_page(),
        **{f"api/{name}": api_page(title, names) for name, (title, names) in API.items()},
    }


def committed_pages() -> dict[str, str]:
    """Make every page as it is committed: name below ``reference/`` -> Markdown."""
    return {
        "configuration": configuration_page(CONFIGS),
        "errors": errors_page(),
        "command-line": command_line_summary(),
        **{f"api/{name}": api_summary(title, names) for name, (title, names) in API.items()},
    }


def main() -> None:
    """Write the committed pages, and delete those that no page of the code's stands for."""
    texts = {REFERENCE / f"{name}.md": text for name, text in committed_pages().items()}
    for old in set(REFERENCE.rglob("*.md")) - set(texts):
        old.unlink()
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def configuration_page(configs: Iterable[type]) -> str:
    """Make a table of settings for each stage."""
    parts = [
        "# Configuration\n",
        "One frozen object per stage, checked when it is made; a value out of its range is a "
        "[`ConfigError`](errors.md#configerror). Give them to `connect` or `GraphRetriever` "
        "inside a `RetrieverConfig`, and change one for a single call with "
        "`dataclasses.replace`.\n",
    ]
    for config in configs:
        parts += [f"## {config.__name__}\n", f"{summary(config)}\n"]
        parts += ["| setting | type | default | effect, unit and range |", "|---|---|---|---|"]
        parts += [_setting_row(config, field) for field in dataclasses.fields(config)]
        parts.append("")
        if config is memoria.RelevanceConfig:
            parts += [*_features_table(), ""]
    return "\n".join(parts)


def _features_table() -> list[str]:
    """Return a table of the features of the ranking, with their weights in the default profile."""
    weights = memoria.RelevanceConfig.default().weights
    return [
        "| feature | its value for a memory | weight in the default profile |",
        "|---|---|---|",
        *(f"| `{name}` | {value} | {weights[name]:.4g} |" for name, value in MEANINGS.items()),
    ]


def _setting_row(config: type, field: dataclasses.Field[Any]) -> str:
    effects = attributes(config)
    if field.name not in effects:
        raise UndocumentedError(f"{config.__name__}.{field.name} has no entry in its docstring")
    kind = get_type_hints(config)[field.name]
    if field.default is not dataclasses.MISSING:
        default = f"`{field.default!r}`"
    elif field.default_factory is dataclasses.MISSING:
        default = "must be given"
    elif isinstance(field.default_factory, type):
        default = "its defaults"
    else:
        default = f"`{field.default_factory.__qualname__}()`"
    effect = effects[field.name]
    profile = memoria.RelevanceConfig.default().calibration
    if isinstance(profile, config):
        effect += f" In the default profile: {getattr(profile, field.name):.4g}."
    cells = [f"`{field.name}`", _type_text(kind), default, effect]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type_text(kind: Any) -> str:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return f"[`{kind.__name__}`](#{kind.__name__.lower()})"
    text = kind.__name__ if isinstance(kind, type) else re.sub(r"memoria[.\w]*\.", "", str(kind))
    if literal := re.fullmatch(r"typing\.Literal\[(.*)\]", text):
        return ", ".join(f"`{value.strip()}`" for value in literal[1].split(","))
    return f"`{text}`"


def errors_page() -> str:
    """Draw the error tree, and make a section for each class: meaning, retry, what to do."""
    tree = inspect.cleandoc(errors.__doc__ or "").split("::\n", 1)[1].split("Messages say")[0]
    parts = [
        "# Errors\n",
        "Everything that memoria raises on purpose is a `MemoriaError`; messages say what to do. "
        "Finding nothing is not an error: the result is empty. Parameters of a query, and so the "
        "texts of memories, never enter a message or a log.\n",
        f"```text\n{inspect.cleandoc(tree)}\n```\n",
        "| error | meaning | the same call may succeed later |",
        "|---|---|---|",
    ]
    classes = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.MemoriaError)
    ]
    for kind in classes:
        anchor = f"[`{kind.__name__}`](#{kind.__name__.lower()})"
        parts.append(f"| {anchor} | {summary(kind)} | {'yes' if kind.retryable else 'no'} |")
    for kind in classes:
        base = kind.__mro__[1].__name__
        parts += [f"\n## {kind.__name__}\n", summary(kind) + "\n"]
        parts.append(f"**What to do.** {advice(kind)}\n")
        parts += [f"`{name}`: {text}\n" for name, text in attributes(kind).items()]
        parts.append(f"Kind of `{base}`; retryable: {'yes' if kind.retryable else 'no'}.")
    return "\n".join(parts) + "\n"


def command_line_page() -> str:
    """Describe every command with its arguments and options."""
    group: Any = typer.main.get_command(app)  # Typer's own click, or click itself: by version
    context = group.context_class(group, info_name="memoria")
    parts = [
        "# Command line reference\n",
        "What `--help` says, in one page. Tasks, exit codes and the form of the JSON: "
        "[the guide](../command-line.md).\n",
        "## memoria\n",
        f"{_help_text(group, 'memoria')}\n",
        *_parameter_table(group, context, "memoria"),
    ]
    for name, command in all_commands().items():
        inside = command.context_class(command, info_name=name, parent=context)
        usage = " ".join(["memoria", name, *command.collect_usage_pieces(inside)])
        parts += [f"## memoria {name}\n", f"```text\n{usage}\n```\n"]
        parts.append(f"{_help_text(command, name)}\n")
        parts += _parameter_table(command, inside, f"memoria {name}")
    return "\n".join(parts)


def _help_text(command: Any, name: str) -> str:
    """Return the help of a command and its epilog; lines of an example stay lines."""
    if not command.help:
        raise UndocumentedError(f"memoria {name} has no help")
    text = inspect.cleandoc(command.help.replace("\b", "")).replace("\f", "")
    if command.epilog:
        text += "\n\n```text\n" + inspect.cleandoc(command.epilog.replace("\b", "")) + "\n```"
    return text


def _parameter_table(command: Any, context: Any, name: str) -> list[str]:
    rows = ["| argument or option | meaning |", "|---|---|"]
    for parameter in command.get_params(context):
        if not getattr(parameter, "help", None):
            raise UndocumentedError(f"{name}: {parameter.name} has no help")
        cells = parameter.get_help_record(context)
        named, meaning = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        rows.append(f"| `{named}` | {meaning} |")
    return [*rows, ""]


def command_line_summary() -> str:
    """Name every command with the first paragraph of its help."""
    parts = [
        "# Command line reference\n",
        f"{NOT_BUILT}, and `memoria COMMAND --help` prints it. Tasks, exit codes and the form of "
        "the JSON: [the guide](../command-line.md).\n",
    ]
    for name, command in all_commands().items():
        parts += [f"## memoria {name}\n", paragraphs(_help_text(command, name))[0] + "\n"]
    return "\n".join(parts)


def api_page(title: str, names: Sequence[str]) -> str:
    """Make a page of public names, filled in by mkdocstrings from their docstrings."""
    blocks = "\n".join(
        f"[](){{#{name.lower()}}}\n\n::: {_identifier(name)}\n" for name in _documented(names)
    )
    return f"# {title}\n\n{_origin(names)}\n\n{blocks}"


def api_summary(title: str, names: Sequence[str]) -> str:
    """Make the committed form of such a page: summaries, and where each docstring stands."""
    parts = [
        f"# {title}\n",
        _origin(names),
        f"{NOT_BUILT}, and in the docstrings of the files named.\n",
    ]
    for name in _documented(names):
        value = _value(name)
        file = Path(inspect.getfile(inspect.unwrap(value))).relative_to(ROOT).as_posix()
        parts += [f"## {name}\n", paragraphs(inspect.getdoc(value) or "")[0] + "\n"]
        parts.append(f"In [`{file}`](../../../{file}).\n")
    return "\n".join(parts)


def _documented(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if not inspect.getdoc(_value(name)):
            raise UndocumentedError(f"{name} has no docstring")
    return names


def _value(name: str) -> Any:
    return getattr(memoria if name in PUBLIC else types, name)


def _origin(names: Sequence[str]) -> str:
    """Say from where the names of a page are imported."""
    leaves = [f"`{name}`" for name in names if name not in PUBLIC]
    if not leaves:
        return "All names of this page come from `memoria`."
    return f"The names of this page come from `memoria`; {', '.join(leaves)} from `memoria.types`."


def _identifier(name: str) -> str:
    """Return where a public name is found; a module of the same name would hide it."""
    if name not in PUBLIC:
        return f"memoria.types.{name}"
    hidden = f"memoria.{name}" in sys.modules
    return f"memoria.{name}.{name}" if hidden else f"memoria.{name}"


def summary(kind: type) -> str:
    """Return the first paragraph of a class's docstring."""
    return _paragraphs_of(kind)[0]


def advice(kind: type) -> str:
    """Return what follows the first paragraph of a class's docstring, before its sections."""
    rest = _paragraphs_of(kind)[1:]
    if not rest:
        raise UndocumentedError(f"the docstring of {kind.__name__} does not say what to do")
    return " ".join(rest)


def _paragraphs_of(kind: type) -> list[str]:
    if not kind.__doc__ or kind.__doc__.startswith(f"{kind.__name__}("):  # a dataclass's own
        raise UndocumentedError(f"{kind.__name__} has no docstring")
    body = re.split(r"\n[^\n]+\n-{3,}\n", inspect.cleandoc(kind.__doc__), maxsplit=1)[0]
    return paragraphs(body)


def paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a docstring as Markdown.

    References to the source documents are left out: who reads the pages does not have those.

    >>> paragraphs("Spread ``energy`` (source: 001,\nsection 2).\n\nReads only.")
    ['Spread `energy`.', 'Reads only.']
    >>> paragraphs("The strongest way counts (ties by id; source: 001). It ends.")
    ['The strongest way counts (ties by id). It ends.']
    """
    text = re.sub(r"\s+\(sources?: [^)]*\)|;\s+sources?: [^)]*(?=\))", "", text)
    text = text.replace("``", "`")
    return [" ".join(part.split()) for part in text.strip().split("\n\n")]


def attributes(kind: type) -> dict[str, str]:
    """Read the ``Attributes`` section of a class's docstring: name -> text.

    >>> class Sizes:
    ...     '''Of a box.
    ...
    ...     Attributes
    ...     ----------
    ...     width, height
    ...         Outside; metres.
    ...     '''
    >>> attributes(Sizes)
    {'width': 'Outside; metres.', 'height': 'Outside; metres.'}
    """
    text = inspect.cleandoc(kind.__doc__ or "")
    section = re.search(r"\nAttributes\n-{3,}\n(.*?)(?=\n\n[A-Z]\w+\n-{3,}|\Z)", text, re.DOTALL)
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if line.strip() and not line.startswith(" "):
            names = [name.strip() for name in line.split(",")]
            found.update(dict.fromkeys(names, ""))
        else:
            for name in names:
                found[name] = f"{found[name]} {line.strip()}".strip()
    return {name: paragraphs(text)[0] for name, text in found.items()}


if __name__ == "__main__":
    main()
