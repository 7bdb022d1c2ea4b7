"""Make a context from the output of ``recall`` or ``explore``: ``pack``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer

from memoria._support.foreign_files import check_containers, read_whole
from memoria.cli.common import Json, print_json, print_text
from memoria.cli.packing import Packing
from memoria.errors import InvalidInputError
from memoria.ingest.jsonl import at_place
from memoria.recall.context import ContextBuilder, left_out, with_links
from memoria.serialize import (
    explorations_from,
    hits_from,
    needed_from,
    plain_context,
    probabilities_from,
    ranked_from,
    scores_from,
)
from memoria.types import Path

T = TypeVar("T")

STDIN = "-"


def pack(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Output of explore --json or recall --json --full; - is stdin.", metavar="FILE"
        ),
    ] = None,
    *,
    packing: Packing,
    as_json: Json = False,
) -> None:
    """Pack what `explore --json` or `recall --json --full` printed; needs no database.

    Several files become one context. --json prints one document: text, tokens, items, omitted.

    Examples
    --------
    memoria explore evt-062 --json | memoria pack --budget 500
    memoria pack monday.json tuesday.json --format markdown --order time
    """
    if not files and sys.stdin.isatty():
        raise typer.BadParameter("name files, or pipe in the output of explore --json")
    if (files or []).count(STDIN) > 1:
        raise typer.BadParameter("standard input can be read only once: name - once")
    builder = ContextBuilder(packing.budget, config=packing.config)
    worth: dict[str, float] | None = {}
    likely: dict[str, float] = {}
    documents = [read_document(name, _document) for name in files or [STDIN]]
    for document in documents:
        for path in document.paths:
            builder.add(path)
        # A memory that one of the documents needs for its question enters.
        likely |= {id_: max(p, likely.get(id_, 0.0)) for id_, p in document.relevance.items()}
        if worth is None or document.worth is None:  # ranked and unranked can't be compared
            worth = None
        else:
            worth |= {id_: max(w, worth.get(id_, 0.0)) for id_, w in document.worth.items()}
    # An exploration that was asked for by its seeds has no question to be irrelevant to.
    relevance = None if worth is None else likely
    context = builder.build(worth=worth, relevance=relevance, hidden=_hidden(documents))
    packing.say_too_small(context)
    packing.say_irrelevant(context, likely.values())
    if as_json:
        print_json(plain_context(context))
    elif context.text:
        print_text(context.text, wrap=packing.format_ != "json")


def read_document(name: str, read: Callable[[Any], T]) -> T:
    """Read one document with ``read``; ``-`` is standard input."""
    place = "<stdin>" if name == STDIN else name
    wanted = "give the output of explore --json or recall --json --full"
    try:
        raw = read_whole(sys.stdin.buffer if name == STDIN else name)
        if not raw.strip():
            raise InvalidInputError(f"is empty; {wanted}")
        check_containers(raw)
        return read(json.loads(raw))
    except InvalidInputError as exc:
        raise at_place(exc, place) from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"{place}: is not a JSON document; {wanted}") from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """What one document says: its paths, and what is known of their memories, by id."""

    paths: Sequence[Path]
    worth: Mapping[str, float] | None
    relevance: Mapping[str, float]
    hidden: Collection[str]  # the filter of the recall left them out


def _document(data: Any) -> _Document:
    if isinstance(data, dict) and "layers" in data:  # memories of two scopes may have equal ids
        raise InvalidInputError(
            "this recall read several scopes: to pack it, recall each scope by itself, without "
            "--also",
            field="layers",
        )
    explored = (path for found in explorations_from(data) for path in found.paths)
    paths = [*explored, *needed_from(data)]
    scores, ranked = scores_from(data), ranked_from(data)
    return _Document(
        paths=[*paths, *hits_from(data)],
        worth=None if scores is None else with_links(paths, scores),
        relevance=probabilities_from(data),
        hidden=() if ranked is None else left_out(paths, ranked),
    )


def _hidden(documents: Iterable[_Document]) -> set[str]:
    """Return the ids that every document with such a memory has left out."""
    hidden, shown = set[str](), set[str]()
    for document in documents:
        hidden.update(document.hidden)
        shown |= {id_ for path in document.paths for id_ in path.ids} - set(document.hidden)
    return hidden - shown
