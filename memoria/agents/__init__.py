"""What an agent calls: recall, explain, open, remember, feedback, forget, status.

In: the words of a model. Out: an `Answer`, a text for the model, and the same as data. Writes only
where the agent asks for it. The surfaces that agents come by (plain functions, MCP) share this.
"""
