"""Adapters: memoria in the terms of agent frameworks, one module for each framework.

In: calls of a framework. Out: its own documents, items, entries. What they read and write is that
of the `GraphRetriever` that they are given, and so is the scope, unless the framework itself says
who the user is. A model never chooses a scope.

``memoria.integrations.langchain``, ``langgraph``, ``llama_index``, ``neo4j_graphrag`` and
``google_adk`` each import their framework, which the extra of the same name installs, so nothing
else of memoria may import them.
"""
