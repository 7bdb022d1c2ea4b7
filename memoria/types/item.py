"""What the readers of foreign files yield, and an import writes."""

from __future__ import annotations

from memoria.types.conversation import Conversation
from memoria.types.document import Document
from memoria.types.memory import Memory, Relation

#: A relation comes after both of its ends.
Item = Conversation | Document | Memory | Relation
