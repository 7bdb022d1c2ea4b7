"""The algorithms in plain Python, against which the engine is compared, and the comparison."""
