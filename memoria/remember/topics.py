"""Topics, each in the best of its forms.

In: mentions, or connectors of several conversations. Out: connectors. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memoria.remember.ids import topic_id
from memoria.remember.mentions import Mention, best_form
from memoria.types import Memory


def topic_of(mention: Mention, topics: Mapping[str, Memory]) -> Memory:
    """Return the topic of a mention; ``topics``, by id, may hold it in another form."""
    id_ = topic_id(mention.name)
    shown = (mention.shown or mention.name).casefold()
    there = topics.get(id_)
    if there is not None and best_form(shown, there.text) == there.text:
        return there
    return Memory(id=id_, kind="Topic", text=shown)


def by_id(connectors: Iterable[Memory]) -> dict[str, Memory]:
    """Return connectors by their ids, each once."""
    found: dict[str, Memory] = {}
    for each in connectors:
        there = found.get(each.id, each)
        if each.kind != "Topic" or best_form(each.text, there.text) == each.text:
            found[each.id] = each
    return found
