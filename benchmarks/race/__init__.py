"""memoria beside its alternatives: the same graphs, the same seeds, the results compared."""
