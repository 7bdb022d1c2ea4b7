"""What answers say in memoria's own words, and the same as data.

In: results. Out: sentences, and plain data without the texts of memories. Touches the source of
randomness.
"""

from __future__ import annotations

from typing import Any

from memoria._support.wording import cut, number_of
from memoria.agents.answer import fenced_apart, name_of, one_line
from memoria.graph.stats import ScopeStats
from memoria.recall.limits import LABELS_FOR_IDS
from memoria.recall.packing import WEAK_RELEVANCE
from memoria.recall.seeds import VECTORS_PENDING
from memoria.store import ServerFacts
from memoria.types import MemoryNode, Recall, Remembered
from memoria.types.results import best_relevance

#: Characters of a memory in a list of the newest ones.
NEWEST_CHARS = 300
_WEAK = "The best of these has a relevance of {}: they may not answer the question."
#: The longest line of `weakness`, for the room that it takes.
LONGEST_WEAKNESS = _WEAK.format("0.00012")
# Notes that begin so do not say why nothing was found.
_NO_REASONS = (LABELS_FOR_IDS, VECTORS_PENDING)
#: How a model says that a new text replaces earlier memories.
HOW_TO_REPLACE = (
    "If this text replaces a memory listed below, call memory_remember again with the same text "
    "and the ids of the replaced memories in supersedes. Otherwise do nothing; all of them are "
    "kept."
)


def why_empty(found: Recall) -> str:
    """Say why nothing is packed; an empty answer would look like an empty memory."""
    left_out = found.context.omitted_by_reason
    if "relevance" in left_out and "budget" not in left_out:
        count, best = number_of(len(found.ranked), "memory", "memories"), found.best_relevance
        shown = "" if best is None else f": the best of {count} has a relevance of {best:.2g}"
        return f"(nothing that is stored is likely to answer the question{shown})"
    if "budget" in left_out:
        return "(the memories found do not fit: ask again with more max_tokens)"
    whys = [note for note in found.trace.notes if not note.startswith(_NO_REASONS)]
    why = "; ".join(map(one_line, whys)) or "ask in other words"
    return f"(nothing was found: {why})"


def weakness(found: Recall) -> list[str]:
    """Warn, in one line, of a context whose best memory is unlikely to be evidence."""
    packed = {(item.scope, item.id) for item in found.context.items}
    best = best_relevance(entry for entry in found.ranked if (entry.scope, entry.id) in packed)
    return [] if best is None or best >= WEAK_RELEVANCE else [_WEAK.format(f"{best:.2g}")]


def notes_on(found: Recall) -> list[str]:
    """Say what the model should know about a context, the most important first."""
    left_out = found.context.omitted_by_reason.get("budget", 0)
    notes = [f"(not everything worked: {one_line(why)})" for why in found.trace.degraded]
    if found.trace.window is not None:
        notes.append(f"(preferred: {one_line(str(found.trace.window))})")
    return [*notes, *([f"({left_out} more left out for lack of tokens)"] if left_out else [])]


def recalled(found: Recall) -> dict[str, Any]:
    """Return what a recall packed and left out, for a program."""
    omitted = found.context.omitted_by_reason
    relevance = {(entry.scope, entry.id): entry.relevance for entry in found.ranked}
    memories = [
        {
            **({"scope": item.scope} if item.scope else {}),
            "label": item.label,
            "id": item.id,
            "kind": item.kind,
            "date": None if item.date is None else item.date.isoformat(),
            "score": item.score,
            "relevance": relevance.get((item.scope, item.id)),
        }
        for item in found.context.items
    ]
    return {
        "recall_id": found.trace.id,
        "memories": memories,
        "best_relevance": found.best_relevance,
        "omitted": omitted,
        "truncated": "budget" in omitted,
        "degraded": list(found.trace.degraded),
        "notes": list(found.trace.notes),
    }


def remembered(done: Remembered, now: str) -> str:
    """Report the result of remembering a text; outside the fence, only a new id may appear.

    Parameters
    ----------
    now
        A sentence on the current size of the scope.
    """
    ours, others = [f"id {one_line(done.id)}"], list[str]()
    if done.edges:
        ours.append(f"{number_of(done.edges, 'edge')} made")
    if done.pending_vectors:
        ours.append("its vector is made later, because the embedder failed")
    if done.superseded:
        others.append(f"replaces {', '.join(map(one_line, done.superseded))}")
    if done.superseded_by is not None:
        others.append(f"no longer valid: replaced by {one_line(done.superseded_by)}")
    others += [f"may be outdated now: {newest(memory)}" for memory in done.older]
    if done.older:
        ours.append(HOW_TO_REPLACE)
    if not done.certain:
        head = (
            "Remembered; an answer of the server was lost, so it is not known whether a memory "
            f"already said it. {now}"
        )
    elif done.created:
        head = "\n".join([f"Remembered. {now}", *ours])
        return fenced_apart(head, "\n".join(others)) if others else head
    else:
        head = f"Not written again: a memory already says it. {now}"
    return fenced_apart(head, "\n".join([*ours, *others]))  # the id may come from another writer


def newest(memory: MemoryNode) -> str:
    """Return a memory in one line, its text cut."""
    text = cut(one_line(memory.said[: 2 * NEWEST_CHARS]), NEWEST_CHARS)
    date = "" if memory.created_at is None else f" {memory.created_at.date().isoformat()}"
    return f"[{one_line(memory.id)}]{date} {one_line(memory.kind)}: {text}"


def state(stats: ScopeStats, facts: ServerFacts, *, read_only: bool) -> str:
    """Say what a scope holds, and whether the database is in order."""
    kinds = ", ".join(f"{name_of(kind)} {number}" for kind, number in stats.kinds.items())
    memories = number_of(stats.memories, "memory", "memories")
    pending = f", {stats.pending_vectors} get theirs later" if stats.pending_vectors else ""
    broken = [name for name, state in facts.indexes.items() if state != "ONLINE"]
    embedder = name_of(facts.embedder) if facts.embedder else "none yet"
    indexes = "all indexes are online" if facts.indexes else "the first write makes the indexes"
    if broken:
        indexes = f"not online: {', '.join(broken)}"
    return "\n".join(
        [
            f"Scope {name_of(stats.scope)} contains {memories}{f' ({kinds})' if kinds else ''} and "
            f"{number_of(stats.edges, 'edge')}; {stats.embedded} have a vector{pending}.",
            "It can only be read here." if read_only else "It can be read and written.",
            f"Embedder of the database: {embedder}; Neo4j {facts.version}; {indexes}.",
        ]
    )
