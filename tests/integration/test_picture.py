"""The picture in the README is what memoria finds."""

from __future__ import annotations

from memoria.retriever import GraphRetriever
from scripts.draw_exploration import PICTURE, explore_sample, picture


async def test_the_committed_picture_equals_a_fresh_drawing(retriever: GraphRetriever) -> None:
    exploration = await explore_sample(retriever)
    assert exploration.status == "complete"
    assert 8 <= len({node for path in exploration.paths for node in path.ids}) <= 14
    assert PICTURE.read_text(encoding="utf-8") == picture(exploration)
