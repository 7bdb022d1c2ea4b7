"""What the page may change where writing is allowed: replace, forget, mark right or wrong.

In: the JSON of a request. Out: a sentence that says what was done. Writes.
"""

from __future__ import annotations

from memoria._support import checks
from memoria.errors import InvalidInputError
from memoria.retriever import GraphRetriever
from memoria.serialize.from_plain import Part
from memoria.view.source import Source

ACTIONS = ("replace", "forget", "right", "wrong")


async def change(source: Source, data: object) -> dict[str, str]:
    """Do one change to one memory.

    Parameters
    ----------
    data
        ``scope``, ``action`` (one of `ACTIONS`) and ``id`` of the memory; ``text`` of the new one
        for ``replace``; ``recall_id`` for ``right`` and ``wrong``.

    Returns
    -------
    dict
        ``said``: what was done. ``id``: the memory to show next, "" if there is none.

    Raises
    ------
    InvalidInputError
        Writing is not allowed, or a field is missing or not valid. Nothing was written.
    """
    if not source.writes:
        raise InvalidInputError("this page only reads: start memoria view with --write")
    part = Part(data, "")
    action, id_ = part.string("action"), checks.check_id(part.get("id"))
    retriever = await source.of(checks.check_scope(part.get("scope")))
    if action == "replace":
        return await _replace(retriever, id_, part.string("text"))
    if action == "forget":
        return await _forget(retriever, id_)
    if action not in ACTIONS:
        raise InvalidInputError(f"action must be one of {', '.join(ACTIONS)}", field="action")
    trace = source.trace(part.string("recall_id"))
    right, wrong = ([id_], []) if action == "right" else ([], [id_])
    await retriever.learner().feedback(trace, confirmed=right, overridden=wrong)
    return {"said": f"Marked as {action} for this question.", "id": id_}


async def _replace(retriever: GraphRetriever, id_: str, text: str) -> dict[str, str]:
    found = (await retriever.get([id_])).memories
    if not found:
        raise InvalidInputError(f"no memory has the id {id_!r}", field="id")
    old = found[0]
    done = await retriever.writer().remember(
        text, kind=old.kind, tags=old.tags, supersedes=[id_], duplicates="keep"
    )
    return {"said": f"{done.id} has taken its place.", "id": done.id}


async def _forget(retriever: GraphRetriever, id_: str) -> dict[str, str]:
    report = await retriever.writer().forget([id_])
    if report.kept:
        return {"said": "Its memory is deleted; the node holds more and stays.", "id": ""}
    return {"said": "Forgotten.", "id": ""}
