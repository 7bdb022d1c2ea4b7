"""The words of the stored graph: labels, kinds, relations, origins, names of indexes.

Each word is written here only. Functions make keys from the name of a scope. Touches nothing,
so strategies may import this module.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import get_args

from memoria.types import SuppressionKind
from memoria.types.memory import RELATED as RELATED  # the default of `Relation`
from memoria.types.roles import usual_names

# --- remembered texts -----------------------------------------------------------------------------

#: Key of the metadata that `GraphWriter.remember` gives a memory, with the value true.
REMEMBERED = "remembered"


# --- labels and kinds of nodes --------------------------------------------------------------------

MEMORY_LABEL = "Memory"
#: Label of the nodes in which memoria keeps its notes about a scope or a database.
META_LABEL = "MemoriaMeta"
#: Version recorded by a set-up; a higher number comes from a newer memoria.
SCHEMA_VERSION = 1
LEARNING_EVENT_LABEL = "LearningEvent"
#: Label of the nodes that say what an event changed, so that it can be undone.
LEARNING_CHANGE_LABEL = "LearningChange"
#: Labels that a kind of memory must not have.
RESERVED_LABELS = frozenset({MEMORY_LABEL, META_LABEL, LEARNING_EVENT_LABEL, LEARNING_CHANGE_LABEL})
#: Kinds that memories may have unless the writer is given others.
DEFAULT_KINDS = (
    "UserRequest",
    "UserPreference",
    "AgentAnswer",
    "AgentAction",
    "Event",
    "DataSource",
)
#: The kind of what a user asked.
REQUEST = "UserRequest"
#: Kinds of the nodes that join memories: who speaks, what is spoken of, which session. They carry
#: energy, and are neither found, ranked nor packed. Their name is stored as ``connector_name``, not
#: as ``text``, and they have no embedding: so no index of a search holds them.
CONNECTOR_KINDS = ("Session", "Speaker", "Topic")

# --- relations of edges; `RELATED`, imported above, is another ------------------------------------

#: Relation of the edges that linking makes.
SIMILAR = "similar"
#: Relation of the edges that learning makes between memories that were active together.
CO_ACTIVATED = "co_activated"
#: Relations of a memory to what it is about, and to what it follows from.
ABOUT = "about"
CAUSED_BY = "caused_by"
#: Relation of a question to the memories that answered it.
ANSWERED_BY = "answered_by"
#: Relations of a message: to the message after it or to its answers, from each part of a long one
#: to its next part, to its session, to who said it, to what it mentions; and of a session to the
#: next one. Parts have a relation of their own, since the message after stands next to the first:
#: as long as a message may be, those before and after it stay as near.
NEXT = "next"
CONTINUED_BY = "continued_by"
IN_SESSION = "in_session"
SAID_BY = "said_by"
MENTIONS = "mentions"
NEXT_SESSION = "next_session"
#: Relations of a document: from its title to it, from a text that names its title, and from a
#: document that links to it. Its parts have `NEXT` and `MENTIONS`, too.
TITLED = "titled"
NAMES = "names"
LINKS_TO = "links_to"
#: The relations of memoria's own edges, whose meaning is known.
OWN_RELATIONS = (
    *(RELATED, SIMILAR, CO_ACTIVATED, ABOUT, CAUSED_BY, ANSWERED_BY, NEXT, CONTINUED_BY),
    *(IN_SESSION, SAID_BY, MENTIONS, NEXT_SESSION, TITLED, NAMES, LINKS_TO),
)
#: Relation of the virtual edges between memories that share tags; never stored.
AFFINITY = "shared-tags"

#: Relations that say no more than the texts that they join, for example that both mention the same
#: thing, or that they are similar.
_PLAIN = frozenset(
    {
        "",
        RELATED,
        SIMILAR,
        CO_ACTIVATED,
        ANSWERED_BY,
        CONTINUED_BY,
        IN_SESSION,
        SAID_BY,
        MENTIONS,
        TITLED,
        NAMES,
        LINKS_TO,
        NEXT_SESSION,
        AFFINITY,
    }
)
#: The relations between neighbours in a text or talk, for a scope that declares none.
USUAL_ORDER = usual_names(
    *("next", "next chunk", "next message", "next turn", "next page", "next section"),
    *("next part", "reply", "reply to", "replies to", "replied to", "in reply to"),
    *("folgt auf", "antwortet auf", "suivant", "répond à", "siguiente", "responde a"),
)

#: The relations that say no more than the two texts that they join, in lower case.
PLAIN_RELATIONS = (*sorted(_PLAIN), *USUAL_ORDER)


@lru_cache(maxsize=1_024)
def says_more(relation: str) -> bool:
    """Tell whether a relation says more than the two texts that it joins.

    >>> says_more("caused_by"), says_more("next"), says_more("REPLY_TO"), says_more("")
    (True, False, False, False)
    """
    name = relation.strip().casefold()
    return name not in _PLAIN and name not in USUAL_ORDER


# --- origins: which part of memoria made an edge --------------------------------------------------

ORIGIN_INGEST = "ingest"
ORIGIN_SIMILARITY = "similarity"
ORIGIN_LEARNED = "learned"
ORIGIN_REMEMBERED = "remembered"

# --- kinds of suppressing edges -------------------------------------------------------------------

SUPPRESSION_KINDS: tuple[SuppressionKind, ...] = get_args(SuppressionKind)
#: The kind of suppression in which each of two memories suppresses the other.
CONFLICTS: SuppressionKind = "conflicts"
#: The kinds of suppression in which only the source suppresses the target.
DIRECTIONAL = tuple(kind for kind in SUPPRESSION_KINDS if kind != CONFLICTS)

# --- names of indexes -----------------------------------------------------------------------------

UNIQUE_INDEX = "memory_scope_id"
VECTOR_INDEX = "memory_embedding"
TEXT_INDEX = "memory_text"
#: Removes accents, and drops the most common English words.
TEXT_ANALYSER = "standard-folding"
META_INDEX = "memoria_meta_key"

#: Beginning of the keys of the notes about vectors that a write could not make.
PENDING = "pending:"

# --- keys -----------------------------------------------------------------------------------------


def scope_key(scope: str) -> str:
    """Return the one-word form of a scope that the full-text index can match exactly.

    >>> scope_key("user-1") == scope_key("User 1")
    False
    """
    return "s" + hashlib.sha256(scope.encode("utf-8")).hexdigest()[:32]


def whole_id(part: str) -> str:
    """Return the id of the message or document that the memory with this id is part of.

    >>> whole_id("general:17#2"), whole_id("general:17")
    ('general:17', 'general:17')
    """
    return part.partition("#")[0]


def clock_key(scope: str) -> str:
    """Return the key of the ``:MemoriaMeta`` node that keeps the scope's clock."""
    return f"scope:{scope}"


def documents_key(scope: str) -> str:
    """Return the key of the ``:MemoriaMeta`` node that counts a scope's writes of documents."""
    return f"documents:{scope}"


def roles_key(scope: str) -> str:
    """Return the key of the ``:MemoriaMeta`` node with the roles of the scope's relations."""
    return f"roles:{scope}"


def cosines_key(embedder: str) -> str:
    """Return the key of the ``:MemoriaMeta`` node with the measured cosines of an embedder."""
    return f"cosines:{embedder}"


def pending_key(scope: str) -> str:
    """Return the beginning of the keys of the notes about vectors that a scope still lacks.

    The name of the scope is hashed, so that no key begins with another scope's.
    """
    return f"{PENDING}{scope_key(scope)}:"
