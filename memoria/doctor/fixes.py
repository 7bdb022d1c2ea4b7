"""Apply remedies: each remedy changes what its check finds wrong, and nothing else.

In: a store, and names of checks. Out: counts of the changes. Writes, and deletes if the remedy says
so.
Queries: ``doctor.fix_*``, ``doctor.drop``, ``doctor.replan``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, LiteralString

from memoria._support import foreign
from memoria._support.checks import check_scope
from memoria._support.stems import search_words
from memoria.doctor.edges import FAULTS as EDGE_FAULTS
from memoria.doctor.edges import PARALLEL
from memoria.doctor.faults import Fault
from memoria.doctor.indexes import check_indexes
from memoria.doctor.memory_checks import FAULTS as MEMORY_FAULTS
from memoria.doctor.memory_checks import METADATA, RECOVERED, SCOPE_KEY, wrong_scopes
from memoria.doctor.report import Fixed
from memoria.doctor.server_checks import check_dialect
from memoria.doctor.subject import INDEXES, MAX_LIMIT, ExamineConfig, Subject, read_subject
from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import DIRECTIONAL, TEXT_INDEX, VECTOR_INDEX, scope_key
from memoria.store import Store
from memoria.store.queries import Query, load
from memoria.types import metadata_pairs

#: The check of plans; all plans share one remedy.
PLANS = "plans"

_FAULTS: Mapping[str, Fault] = {
    fault.check: fault for fault in (*MEMORY_FAULTS, *EDGE_FAULTS, PARALLEL) if fault.fix
}
_DROPS = {f"indexes.{name}": name for name in sorted(INDEXES)}
#: Checks with a remedy that `fix` can apply.
FIXES = (*_FAULTS, SCOPE_KEY, *_DROPS, PLANS)

# Limits of what is read at once: memories, and characters of their metadata.
_PAGE = 5_000
_PAGE_CHARS = 2_000_000
_TEXTS = 1_000

# With this condition a query finds the memories of one scope by an index seek; without it, a query
# scans the memories of all scopes.
_OF_SCOPE: LiteralString = "m.scope = $p.scope AND m.id IS NOT NULL"
_OF_ANY: LiteralString = "true"


async def fix(
    store: Store, checks: Sequence[str], *, scope: str | None = None, options: Sequence[str] = ()
) -> tuple[Fixed, ...]:
    """Apply the remedies of these checks, one after the other, each in one transaction.

    Two of them take several transactions: ``memories.metadata_pairs`` one per 5,000 memories, and
    ``indexes.memory_text`` one per 1,000.

    Parameters
    ----------
    checks
        Names of checks, from `FIXES`.
    scope
        Change the memories and edges of this scope; None for all scopes.
    options
        Options for suggested commands, to find the same database; see `ExamineConfig`.

    Raises
    ------
    InvalidInputError
        A check has no remedy that can be applied here; nothing was changed.
    """
    for check in checks:
        if check not in FIXES:
            raise InvalidInputError(
                f"{check!r} can't be applied with fix; these can: {', '.join(FIXES)}", field="fix"
            )
    if scope is not None:
        check_scope(scope)
    config = ExamineConfig(limit=MAX_LIMIT, options=tuple(options))
    subject = await read_subject(store, scope, config)
    return tuple([await _fix(subject, check) for check in dict.fromkeys(checks)])


async def _fix(subject: Subject, check: str) -> Fixed:
    if check == PLANS:
        await subject.store.run(load("doctor.replan"), {})
        return Fixed(check=check, done="the server will make new plans for its queries")
    if check in _DROPS:
        return await _drop(subject, check)
    if check == SCOPE_KEY:
        keys = [(scope, scope_key(scope)) for scope in await wrong_scopes(subject)]
        return await _change(subject, check, "fix_scope_keys", "given the right scope_key", keys)
    fault = _FAULTS[check]
    if check == METADATA:
        return await _store_pairs(subject, fault)
    return await _change(subject, check, fault.fix, fault.done)


async def _change(
    subject: Subject, check: str, name: str, done: str, keys: Sequence[object] = ()
) -> Fixed:
    query = load(f"doctor.{name}").at(subject.facts.generation)
    values: dict[str, Any] = {
        "scope": subject.scope,
        "dimensions": subject.facts.dimensions,
        "directional": list(DIRECTIONAL),
        "new_scope": RECOVERED,
        "scope_key": scope_key(RECOVERED),
        "keys": keys,
    }
    parameters = {key: values[key] for key in query.params}
    rows = await subject.store.run(in_scope(query, subject.scope), parameters)
    return Fixed(check=check, changed=rows[0]["changed"], done=done)


async def _store_pairs(subject: Subject, fault: Fault) -> Fixed:
    """Store the pairs of metadata, which no query can read out of its JSON."""
    unpaired = in_scope(load("doctor.unpaired"), subject.scope)
    page = {"limit": _PAGE, "max_chars": _PAGE_CHARS, "scope": subject.scope}
    changed = 0
    while rows := (await subject.store.run(unpaired, page))[0]["rows"]:
        pairs = [[element, text, metadata_pairs(foreign.json_map(text))] for element, text in rows]
        done = await subject.store.run(load(f"doctor.{fault.fix}"), {"rows": pairs})
        changed += done[0]["changed"]
    return Fixed(check=METADATA, changed=changed, done=fault.done)


def in_scope(query: Query, scope: str | None) -> Query:
    """Return the query of a remedy for one scope, or for all scopes."""
    return (
        query if scope is not None else replace(query, text=query.text.replace(_OF_SCOPE, _OF_ANY))
    )


async def _store_words(store: Store) -> None:
    """Store the pieces of the names in all texts, so that the new full-text index finds them."""
    scopes = (await store.run(load("graph.stats_scopes"), {}))[0]["scopes"]
    for scope, _, _ in scopes:
        after = ""
        page = {"limit": _TEXTS, "max_chars": _PAGE_CHARS, "scope": scope}
        while rows := (await store.run(load("doctor.texts"), {**page, "after": after}))[0]["rows"]:
            after = rows[-1][0]
            words = [
                [element, text, " ".join(found)]
                for _, element, text in rows
                if (found := search_words(text))
            ]
            await store.run(load("doctor.fix_words"), {"rows": words})


async def _drop(subject: Subject, check: str) -> Fixed:
    """Drop an index if the doctor advises it; an index without a fault stays."""
    advised = [check_dialect(subject), *await check_indexes(subject, None)]
    if subject.fix(check) not in {finding.command for finding in advised}:
        return Fixed(check=check, done="dropped")
    if _DROPS[check] == TEXT_INDEX:
        await _store_words(subject.store)
    generation = subject.facts.generation
    name = subject.facts.vector_index if _DROPS[check] == VECTOR_INDEX else _DROPS[check]
    drops = load("doctor.drop").at(generation)
    for text in drops.text.split(";"):
        if name in text.split():
            await subject.store.run(replace(drops, text=text), {})
    return Fixed(check=check, changed=1, done=f"dropped; now run {subject.init}")
