"""Make a context from the output of ``recall`` or ``explore``: ``pack``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

import typer

from memoria._support.foreign_files import check_containers, read_whole
from memoria.cli.common import Json, print_json, print_text
from memoria.cli.packing import Packing
from memoria.errors import InvalidInputError
from memoria.ingest.jsonl import at_place
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import ContextBuilder, left_out
from memoria.recall.packing import flat, relevance_of, worth_of
from memoria.recall.ranking import NOTHING_KNOWN
from memoria.recall.texts import Completed
from memoria.serialize import (
    edges_from,
    explorations_from,
    hits_from,
    plain_context,
    ranked_from,
    trace_from,
)
from memoria.types import RankedMemory

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
    documents = [read_document(name, _document) for name in files or [STDIN]]
    ranked = [entry for document in documents for entry in document.ranked]
    builder = ContextBuilder(packing.budget, config=packing.config)
    for document in documents:
        for path in (*document.found.linked, *document.found.hits):
            builder.add(path)
    builder.set_edges(edge for document in documents for edge in document.found.facts.edges)
    worth = None
    ranked_by = {document.by for document in documents}
    if len(ranked_by) == 1 and None not in ranked_by:  # others can't be compared
        worth = _most(document.worth for document in documents)
    # A memory that one of the documents needs for its question enters.
    likely = _most(relevance_of(document.ranked) for document in documents)
    context = builder.build(
        worth=worth,
        relevance=None if worth is None else likely,
        hidden=_hidden(documents),
        newer={entry.id: entry.newer for entry in ranked if entry.newer is not None},
        query=" ".join(document.query for document in documents) or None,
    )
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
    """The memories found in one document and, unless it was only explored, their ranking."""

    found: Completed
    by: str | None = None  # ranked by: relevance, or the energies of a strategy
    query: str = ""
    ranked: Sequence[RankedMemory] = ()
    worth: Mapping[str, float] = field(default_factory=dict)

    @property
    def hidden(self) -> set[str]:
        """Ids of the memories that the filter of the recall left out."""
        return set() if self.by is None else left_out(self.found.linked, self.worth)


def _document(data: Any) -> _Document:
    if isinstance(data, dict) and "layers" in data:  # memories of two scopes may have equal ids
        raise InvalidInputError(
            "this recall read several scopes: to pack it, recall each scope by itself, without "
            "--also",
            field="layers",
        )
    if not (isinstance(data, dict) and "ranked" in data):
        explored = explorations_from(data)
        return _Document(
            found=Completed(explorations=explored, hits=(), needed=(), facts=NOTHING_KNOWN)
        )
    trace = trace_from(data)
    found = Completed(
        explorations=trace.explorations,
        hits=hits_from(data),
        needed=trace.needed,
        facts=replace(NOTHING_KNOWN, edges=edges_from(data)),
    )
    ranked = ranked_from(data, (*found.linked, *found.hits))
    config = RetrieverConfig()
    if trace.config.get("relevance") is None:
        config = replace(config, relevance=None)
    if trace.window is not None and trace.window.only:
        found = flat(found, ranked)
    return _Document(
        found=found,
        by="relevance" if config.relevance else str(trace.config.get("strategy")),
        query=trace.query,
        ranked=ranked,
        worth=worth_of(found, ranked, config),
    )


def _most(known: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the highest of the values of each id."""
    most: dict[str, float] = {}
    for values in known:
        most |= {id_: max(value, most.get(id_, value)) for id_, value in values.items()}
    return most


def _hidden(documents: Iterable[_Document]) -> set[str]:
    """Return the ids that every document with such a memory has left out."""
    hidden, shown = set[str](), set[str]()
    for document in documents:
        out = document.hidden
        hidden |= out
        paths = (*document.found.linked, *document.found.hits)
        shown |= {id_ for path in paths for id_ in path.ids} - out
    return hidden - shown
