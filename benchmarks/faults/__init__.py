"""The attack on memoria, kept as a bench: faults of the wire, of processes, callers and inputs."""
