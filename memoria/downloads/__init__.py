"""Fetch jars by their checksums: those of the local Neo4j, and models. Needs ``requests``."""
