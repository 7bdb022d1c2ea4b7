"""Show recalls as a page in the browser, served to this machine only. Needs the extra ``view``.

In: a way to open a `GraphRetriever`, saved recalls. Out: a page, and what it asks for as JSON and
server-sent events. Reads, and writes only where that is allowed.
"""
