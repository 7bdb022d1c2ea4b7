"""What memoria costs, and how it behaves under load; run as ``python -m benchmarks.<name>``."""
