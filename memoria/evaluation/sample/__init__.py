"""A small agent memory to try memoria with: Ada, the assistant of a bakery with three shops.

In: nothing. Out: the path of ``memories.jsonl`` (memories and edges, in the format of
``memoria ingest``), and three questions whose answers lie several edges away from the memories
that share words with the question. Touches nothing; the file is read by its caller.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

__all__ = ["QUESTIONS", "SampleQuestion", "sample_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuestion:
    """A question to the sample memory, and the memories that answer it.

    Attributes
    ----------
    text
        The question, as a user would ask it.
    tags
        Tags of the question; 2 to 4 of the tags that the sample uses.
    expects
        Ids of the memories that together answer the question; 2 to 4, several hops apart.
    """

    text: str
    tags: tuple[str, ...]
    expects: tuple[str, ...]


QUESTIONS: tuple[SampleQuestion, ...] = (
    # A stuck probe, a copied count, a moved delivery day and a stock rule cut too far.
    SampleQuestion(
        text="Why did we run out of cinnamon buns on the first Saturday of May?",
        tags=("dairy", "inventory", "stockout"),
        expects=("evt-056", "evt-053", "src-029", "pref-027"),
    ),
    # The packing slip, the replacement accepted unseen, and the rule that allowed it.
    SampleQuestion(
        text="Why did a child react to our nut-free oat cookie?",
        tags=("allergens", "recipe", "supplier"),
        expects=("src-025", "act-010", "pref-011"),
    ),
    # A discount that began with a burnt-out oven, a skipped service and an empty account.
    SampleQuestion(
        text="Why does Hotel Fyren pay less for its croissants this spring?",
        tags=("cash_flow", "croissants", "maintenance", "oven"),
        expects=("evt-016", "act-007", "pref-020"),
    ),
)


def sample_path() -> Path:
    """Return the path of ``memories.jsonl``: UTF-8, one JSON object per line, memories first."""
    return Path(str(files(__name__) / "memories.jsonl"))
