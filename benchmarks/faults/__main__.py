"""Run ``scripts/faults``."""

from __future__ import annotations

import sys

from benchmarks.faults.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
