"""How energy moves; one strategy a file."""
