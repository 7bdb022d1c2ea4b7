"""What memoria costs, and beside what: the commands of ``scripts/bench``."""
