"""Print the queries that memoria sends: ``queries``.

In: the name of a query, or none. Out: its text, with every shared rule in its place.
"""

from __future__ import annotations

from typing import Annotated

import typer

from memoria.cli.common import Json, print_facts, print_json, print_text
from memoria.errors import InvalidInputError
from memoria.store.queries import Query, load, names


def queries(
    name: Annotated[
        str | None, typer.Argument(help="Name of a query, such as strategies.level.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the queries that memoria sends, or print the text of one as it runs.

    `--json` prints queries: name, mode and params of each; or, of one query, its text as well.

    Examples
    --------
    memoria queries
    memoria queries strategies.level
    """
    if name is None:
        found = [load(each) for each in names()]
        if as_json:
            print_json({"queries": [_facts(query) for query in found]})
        else:
            print_text("\n".join(f"{query.mode:6}  {query.name}" for query in found))
        return
    if name not in names():
        raise InvalidInputError(f"there is no query {name}: memoria queries lists them")
    query = load(name)
    print_facts({**_facts(query), "text": query.text}, as_json, query.text)


def _facts(query: Query) -> dict[str, object]:
    return {"name": query.name, "mode": query.mode, "params": sorted(query.params)}
