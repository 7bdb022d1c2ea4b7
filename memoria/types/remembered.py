"""What became of a text that was to be remembered.

Frozen data; touches nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from memoria.types.memory import MemoryNode
from memoria.types.paths import Seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What one `GraphWriter.remember` did.

    Attributes
    ----------
    id
        Id of the memory that says the text now: the new one, or one that said it before.
    created
        Whether a memory was written. If not, the memory ``id`` was there before; tags, edges and
        what it supersedes were added to it.
    duplicate_of
        Id of the memory that said the same before, in the same words or nearly the same; else None.
    echo_of
        Id of the memory of the recall ``after`` that the text only repeats; else None.
    similar
        The nearest memories, at most three, best first: ``vector_score`` is the cosine with the
        text, ``text_score`` the match of words where there is no embedder. Empty if the text was
        there word for word, because then nothing is searched.
    edges
        Number of edges that this call made. Those of a linker count, too.
    older
        The memories that a new text may replace, the nearest first, as they were before it was
        written. They are much nearer to it than the others of the twenty nearest, and have a word
        in common with it; the fewer of the twenty have this word, the more it counts. Questions,
        later memories and those by the assistant are not among them. Nothing is replaced by this
        guess: to say that the text replaces a memory, remember the same text again and name the
        memory in ``supersedes``. Empty if nothing was written, and without an embedder.
    superseded
        Ids of the memories that the memory now supersedes, of those that were to be superseded.
    superseded_by
        Id of a memory that supersedes this one, which therefore takes no part in recalls; None: it
        holds. Only a text that was there before can be superseded; to let it hold again, remember
        it with ``supersedes``.
    pending_vectors
        1 if the memory was written without a vector because the embedder failed; else 0. A later
        write makes the vector.
    certain
        False if an answer of the server was lost and the change was sent again: a memory
        that this call wrote may then count as there before.
        What was asked for is done all the same.
    """

    id: str
    created: bool
    duplicate_of: str | None = None
    echo_of: str | None = None
    similar: tuple[Seed, ...] = ()
    older: tuple[MemoryNode, ...] = ()
    edges: int = 0
    superseded: tuple[str, ...] = ()
    superseded_by: str | None = None
    pending_vectors: int = 0
    certain: bool = True

    @property
    def may_replace(self) -> tuple[str, ...]:
        """Ids of the memories that the text may replace, for ``supersedes``; see ``older``."""
        return tuple(one.id for one in self.older)

    def facts(self) -> dict[str, Any]:
        """Return all fields as plain data, with the ids ``may_replace`` instead of the memories."""
        plain = asdict(replace(self, older=()))
        del plain["older"]
        return plain | {"may_replace": self.may_replace}
