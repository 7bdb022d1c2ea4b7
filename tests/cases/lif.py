"""The worked figures of source 000: two walks from a question about beach yoga.

Weights above each edge; a signal loses 15 % per hop. Printed figures are rounded, here and there
by hand; the formula gives those in the comments.
"""

from __future__ import annotations

from tests.cases.build import edge, graph

SEEDS = ("beach_yoga", "outdoor_content", "saturday_scheduling")
BEACH_YOGA = graph(
    edge("beach_yoga", "fitness", 0.90),
    edge("beach_yoga", "lifestyle", 0.85),
    edge("outdoor_content", "golden_hour", 0.88),
    edge("saturday_scheduling", "weekend_content", 0.92),
    edge("fitness", "engagement_patterns", 0.70),
    edge("lifestyle", "aspirational_content", 0.80),
    edge("golden_hour", "photography_tips", 0.95),
)

# Memory -> charge as printed, and as computed.
CHARGES = {
    "fitness": (0.765, 0.765),
    "lifestyle": (0.723, 0.7225),
    "golden_hour": (0.748, 0.748),
    "weekend_content": (0.782, 0.782),
    "engagement_patterns": (0.454, 0.455175),
    "aspirational_content": (0.489, 0.4913),
    "photography_tips": (0.600, 0.60401),
}
FIRED = ["weekend_content", "fitness", "golden_hour", "lifestyle", "photography_tips"]
BELOW = ["engagement_patterns", "aspirational_content"]

# Step 3 of the walkthrough: two seeds that alone would not make lifestyle fire.
TWO_SEEDS = ("beach_yoga", "morning_routine")
MEETING = graph(
    edge("beach_yoga", "lifestyle", 0.4),  # 0.34
    edge("morning_routine", "lifestyle", 0.3),  # 0.255, together 0.595
)
