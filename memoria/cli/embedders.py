"""The embedder that ``--embedder`` names: a built-in one, one of a library, or the caller's own.

Without the option it is the embedder whose vectors the database holds.

In: a name, or the record of a database. Out: an embedder. Touches: imports the module that the name
names, asks the database for its record; no model is loaded.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from memoria._support.extras import install_command
from memoria._support.progress import ProgressCallback, progress_bars
from memoria._support.wording import in_short, kind_of
from memoria.embed import (
    DEFAULT_ONNX_MODEL,
    ONNX_MODELS,
    Embedder,
    OnnxEmbedder,
    SentenceTransformerEmbedder,
    checked_embedder,
)
from memoria.errors import ConfigError, InvalidInputError, MemoriaError

if TYPE_CHECKING:  # the driver takes long to load, and `memoria mcp` greets before that
    from memoria.store import Store

LIBRARY = "sentence-transformers"
FORMS = f"{', '.join(ONNX_MODELS)}, {LIBRARY}:MODEL, module:name of one of your own"
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        envvar="MEMORIA_EMBEDDER",
        help=f"{FORMS}, or none. Default: that of the database, else {DEFAULT_ONNX_MODEL}.",
    ),
]
#: Gives the embedder for a database; the name of ``--embedder`` has been checked before.
EmbedderChoice: TypeAlias = "Callable[[Store], Awaitable[Embedder | None]]"


def embedder_choice(name: str | None) -> EmbedderChoice:
    """Return what chooses the embedder for a database: the named one, else the recorded one.

    Raises
    ------
    ConfigError
        As `embedder_named`; what is returned raises it as `recorded_embedder`.
    """
    named = None if name is None else embedder_named(name)

    async def choose(store: Store) -> Embedder | None:
        if name is not None:
            return named
        from memoria.graph.server_facts import server_facts

        if store.translation is not None:
            return None  # nobody recorded which embedder made the vectors of a mapped graph
        return recorded_embedder((await server_facts(store)).embedder)

    return choose


def recorded_embedder(recorded: str | None) -> Embedder:
    """Return the embedder whose vectors a database holds; the default if it holds none yet.

    What stands in a database never names code or files: only memoria's own models are found by it.
    """
    if recorded is None or recorded in ONNX_MODELS:
        return OnnxEmbedder(recorded or DEFAULT_ONNX_MODEL)
    raise ConfigError(
        f"the vectors of this database were made by {recorded!r}, which is not one of memoria's "
        f"own models: name the embedder by --embedder {LIBRARY}:MODEL or --embedder module:name "
        "(or in MEMORIA_EMBEDDER); --embedder none works without vectors"
    )


def embedder_named(name: str) -> Embedder | None:
    """Return the embedder that ``--embedder`` names; None for ``none``.

    Raises
    ------
    ConfigError
        The model, module or name was not found, it is not an embedder, or packages are missing.
    """
    if name == "none":
        return None
    source, colon, rest = name.partition(":")
    if not colon:
        return OnnxEmbedder(name)
    if not (source and rest):
        raise ConfigError(f"--embedder {name} must be one of {FORMS}, none")
    return _of_library(rest) if source == LIBRARY else _own(source, rest)


async def load_model(embedder: Embedder | None, progress: ProgressCallback | None = None) -> None:
    """Load the model now, with progress bars: a download takes longer than a call's deadline."""
    if isinstance(embedder, OnnxEmbedder):
        with progress_bars() if progress is None else nullcontext(progress) as show:
            await embedder.load(show)
    elif isinstance(embedder, SentenceTransformerEmbedder):
        await embedder.load()


def _of_library(model: str) -> Embedder:
    if find_spec("sentence_transformers") is None:
        raise ConfigError(
            f"--embedder {LIBRARY}:{model} needs more packages: {install_command(LIBRARY)}"
        )
    return SentenceTransformerEmbedder(model)


def _own(module_name: str, name: str) -> Embedder:
    """Return the object that a module has under a name, or what it makes if it is a factory."""
    given = f"--embedder {module_name}:{name}"
    module = _module(module_name, given)
    if not hasattr(module, name):
        raise ConfigError(f"{given}: the module {module_name} has no {name}")
    found = getattr(module, name)
    if _is_factory(found):
        try:
            found = found()
        except MemoriaError:
            raise
        except Exception as exc:  # foreign code, which may raise anything
            raise ConfigError(f"{given}: {name}() failed ({in_short(exc)})") from exc
    try:
        return checked_embedder(found)
    except InvalidInputError as exc:
        raise ConfigError(
            f"{given} must be an embedder, or a function without arguments that returns one, "
            f"got {kind_of(found)}: wrap a function that embeds texts in CallableEmbedder"
        ) from exc


def _module(name: str, given: str) -> ModuleType:
    """Import a module that is installed or lies in the current folder."""
    folder = os.getcwd()  # noqa: PTH109  # sys.path holds strings
    if folder not in sys.path and "" not in sys.path:  # `python -m memoria` has it, `memoria` not
        sys.path.append(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as exc:
        if exc.name is None or not f"{name}.".startswith(f"{exc.name}."):
            raise ConfigError(f"{given}: the module needs {exc.name}: install it") from exc
        raise ConfigError(
            f"{given}: the module {exc.name} was not found: run the command in its folder, or set "
            "PYTHONPATH"
        ) from exc
    except Exception as exc:  # foreign code, which may raise anything
        raise ConfigError(f"{given}: the module can't be imported ({in_short(exc)})") from exc


def _is_factory(found: Any) -> bool:
    """Tell whether something is to be called, without arguments, to get the embedder."""
    is_embedder = not isinstance(found, type) and hasattr(found, "embed_documents")
    if is_embedder or not callable(found):
        return False
    try:
        inspect.signature(found).bind()
    except (TypeError, ValueError):  # it needs arguments, or does not tell
        return False
    return True
