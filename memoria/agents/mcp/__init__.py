"""Serve memories to agents by MCP, the Model Context Protocol. Needs the extra ``mcp``.

In: settings, and a way to open a `GraphRetriever`. Out: an MCP server on standard streams or HTTP.
`memoria.agents` does the work of the tools. Reads and writes memories as a client asks, as
far as its credential allows.
"""
