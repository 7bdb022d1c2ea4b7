"""Serve memories to programs in any language: the calls of an agent, over HTTP.

In: a way to open a `GraphRetriever`, the rights of a server. Out: an ASGI application, and its
description in OpenAPI 3.1. Reads and writes memories as far as the credential of a request allows.
"""
