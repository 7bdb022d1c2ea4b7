"""Serve memories to agents and to people: what an agent calls, and two servers of it.

`agent` says what an agent calls and how an answer reads, `mcp` serves the same by the Model
Context Protocol, `view` is a page for people. In: a way to open a `GraphRetriever`. Out: answers,
servers. Writes only where an agent or a client asks for it.
"""
