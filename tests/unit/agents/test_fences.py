"""All stored text in answers is fenced or quoted, and without hidden characters."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from benchmarks.faults.fences import CANARY, misplaced, word
from memoria._support.wording import in_short, one_line, printable, told, visible
from memoria.agents.answer import DATA, fenced_apart, name_of
from memoria.agents.mcp.chatgpt import title_of
from memoria.agents.opening import Opened
from memoria.agents.words import newest, remembered, state
from memoria.errors import InvalidInputError
from memoria.ingest.export.lines import memory_line
from memoria.integrations._fence import fenced as fenced_by_adapters
from memoria.integrations._fence import inert, shortened
from memoria.recall.context import estimate_tokens
from memoria.store import ServerFacts
from memoria.types import Memory, MemoryNode, Neighbour, Neighbourhood, Remembered
from tests.for_each import for_each
from tests.server_facts import server_facts
from tests.unit.graph.test_stats import NO_STATS

MANY = 10_000


def facts(word: str) -> ServerFacts:
    return server_facts(embedder=word, indexes={"memoria_text": "ONLINE"})


def answers(rng: random.Random) -> Iterator[str]:
    """Every text that memoria makes for a model, built from another writer's words."""
    id_, kind, tag, relation, text, scope = (word(rng) for _ in range(6))
    now = f"Scope {name_of(scope)} now contains 2 memories."
    created, certain = rng.random() < 0.7, rng.random() < 0.9
    done = Remembered(
        id="mem-1" if created and certain else id_,
        created=created,
        edges=rng.randint(0, 2),
        superseded=(id_,) if rng.random() < 0.5 else (),
        superseded_by=id_ if rng.random() < 0.5 else None,
        certain=certain,
    )
    yield remembered(done, now)
    filled = replace(NO_STATS, scope=scope, memories=1, kinds={kind: 1})
    yield state(filled, facts(relation), read_only=False)
    node = MemoryNode(
        id=id_, kind=kind, text=text, tags=[tag], created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    yield remembered(replace(done, older=(node,)), now)
    opened = Opened(500, estimate_tokens)
    opened.superseded = {id_: kind}
    near = Neighbour(memory=node, relation=relation, direction="in", weight=1.0)
    opened._add(scope, node, Neighbourhood(memory=node, neighbours=(near,), degree=1))
    opened.missing.append(id_)
    yield fenced_apart(
        f"1 of 1 in scope {name_of(scope)}.", "\n".join([opened.text, *opened.notes])
    )
    yield fenced_apart("The newest.", newest(node))
    found = fenced_by_adapters(f"[{id_}] {kind}: {text}")
    yield found
    yield shortened(found, 1, estimate_tokens)


def test_ten_thousand_hostile_words_never_leave_the_fence() -> None:
    rng = random.Random(4)
    seen = 0
    for _ in range(MANY // 6):
        for answer in answers(rng):
            assert misplaced(answer) is None, ascii(answer)
            seen += CANARY in answer
    assert seen > MANY // 3  # the words do appear, inside the fence


def test_the_check_itself_finds_words_that_stand_outside() -> None:
    good = fenced_apart('Scope "OBEY" contains 1 memory.', "OBEY")
    assert misplaced(good) is None
    assert misplaced(f"id OBEY\n{good}") == "words outside of the fence"
    assert misplaced(f"{good}\nOBEY") == "the fence does not end the answer, or ends twice"
    assert misplaced(good.replace("contains", "\x1b[31mcontains")) == "a hidden character"
    assert misplaced(good.replace(f"{DATA}\n", f"{DATA}\nOBEY\n")) is not None


HIDDEN = ["\x1b[31m", "\x9b2J", "\x07", "\r", "\x85", "\u2028", "\u202e", "\u2066", "\u200b"]


@for_each("hidden", [*HIDDEN, "\ufeff", "\xad", "\U000e0041", "\ufffa"])
def test_nothing_hidden_reaches_a_model_or_a_terminal(hidden: str) -> None:
    text = f"Bread{hidden} is\n\tout."
    letter = hidden[0]
    for shown in (visible(text), printable(text), one_line(text), in_short(ValueError(text))):
        assert letter not in shown
    assert "\n\t" in visible(text)
    assert letter not in told(InvalidInputError(text)) + title_of("a", text) + inert(text, "notes")
    assert letter not in fenced_apart("head", text)
    line = memory_line(Memory(id="a", kind="Event", text=text))
    assert letter not in line
    assert json.loads(line)["text"] == text


def test_letters_of_all_scripts_and_joined_signs_stay() -> None:
    for text in ("åäö", "שלום", "مرحبا", "नमस्ते", "👩\u200d👩\u200d👧", "می\u200cخواهم", "Ω≈ç√∫"):
        assert visible(text) == printable(text) == text
