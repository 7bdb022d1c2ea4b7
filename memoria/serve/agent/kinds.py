"""Words that an agent's surfaces offer. In a module of its own, which loads nothing.

In: nothing. Out: names. Touches nothing.
"""

from typing import Literal

#: The kinds that a writer has unless it is given others.
Kind = Literal["UserRequest", "UserPreference", "AgentAnswer", "AgentAction", "Event", "DataSource"]
#: What a coding agent calls a hook for.
Event = Literal["session-start", "prompt", "stop"]
#: The coding agents whose hooks are known.
Harness = Literal["claude", "codex"]
