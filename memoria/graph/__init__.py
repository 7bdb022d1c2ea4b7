"""The stored graph: what the server is, its schema, reading memories, the clock, figures."""
