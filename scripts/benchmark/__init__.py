"""The benchmark: memoria beside its alternatives, in one run, on the same graphs and seeds."""
