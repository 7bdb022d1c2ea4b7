"""In a chat, thanks and other courtesies follow what answers: they must not stand above it.

Written for this test alone: the words of courtesy were not chosen by it. The vectors are those of
the default embedder. Most questions share hardly a word with the message that answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memoria import (
    Conversation,
    GraphRetriever,
    Message,
    OnnxEmbedder,
    apply_schema,
)
from memoria.local import EphemeralNeo4j
from memoria.remember.conversations import ConversationWriter
from memoria.store import Store, Target, open_driver
from tests.integration.doctor.test_doctor import wipe
from tests.integration.embed.test_onnx import BGE, embedders, model_home

__all__ = ["embedders", "model_home"]  # fixtures

# What was said, what followed, and a question.
SAID = {
    "allotment": [
        (
            "The water on the allotment is turned off from November to the middle of March.",
            "Good to know, thanks.",
            "In which months can I not irrigate my vegetables?",
        ),
        (
            "Our neighbour Sevda feeds the hens while we are away.",
            "Got it, noted.",
            "Who looks after the poultry during the holidays?",
        ),
        (
            "Never put walnut leaves on the compost: nothing grows well on it afterwards.",
            "Understood, I'll remember that.",
            "Which foliage must not be composted?",
        ),
    ],
    "workshop": [
        (
            "The band saw may only be used after the course with Ilmari.",
            "Alright, that makes sense.",
            "Who trains people on the machine?",
        ),
        (
            "Varnish and thinner are locked away in the yellow steel cabinet.",
            "Great, thank you very much!",
            "Where do we keep flammable liquids?",
        ),
        (
            "I paid 86 euros for the new clamps out of my own pocket.",
            "Thanks for telling me.",
            "How much money does the club owe me?",
        ),
    ],
    "choir": [
        (
            "Rehearsals move to the parish hall as the school gets a new roof.",
            "Oh, I see. Okay!",
            "Why do we not sing at the school at present?",
        ),
        (
            "The altos need two more voices before the concert at Advent.",
            "Yes, exactly.",
            "Which section of the singers is too small?",
        ),
    ],
}
QUESTIONS = [(name, place) for name, talk in SAID.items() for place in range(len(talk))]


@pytest.fixture(scope="module")
async def chats(
    second_server: EphemeralNeo4j, embedders: dict[str, OnnxEmbedder]
) -> AsyncIterator[GraphRetriever]:
    """All of it, in a database with the vectors of the real embedder."""
    embedder = embedders[BGE]
    async with open_driver(Target(uri=second_server.uri, auth=second_server.auth)) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        await apply_schema(store, embedder=embedder)
        await ConversationWriter(store, scope="club", embedder=embedder).write(
            Conversation(
                id=name,
                messages=[
                    message
                    for said, courtesy, _ in talk
                    for message in (Message(text=said), Message(role="assistant", text=courtesy))
                ],
            )
            for name, talk in SAID.items()
        )
        yield GraphRetriever(store, scope="club", embedder=embedder)


async def test_what_was_said_stands_above_the_thanks_that_follow(chats: GraphRetriever) -> None:
    above = {}
    for name, place in QUESTIONS:
        said, courtesy, question = SAID[name][place]
        order = [entry.memory.text for entry in (await chats.recall(question)).ranked]
        if courtesy in order and order.index(courtesy) < order.index(said):
            above[question] = order[:3]
    assert above == {}
