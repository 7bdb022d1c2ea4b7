"""The stored graph: facts about the server, the schema, reading memories, the clock, counts."""
