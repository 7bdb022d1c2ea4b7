"""Words and sizes that an agent's surfaces offer. In a module of its own, which loads nothing.

In: nothing. Out: names, numbers. Touches nothing.
"""

from typing import Literal

#: The kinds that a writer has unless it is given others.
Kind = Literal["UserRequest", "UserPreference", "AgentAnswer", "AgentAction", "Event", "DataSource"]
#: What a coding agent calls a hook for.
Event = Literal["session-start", "prompt", "stop"]
#: The coding agents whose hooks are known.
Harness = Literal["claude", "codex"]
#: Tokens of an answer unless a call or a setting says otherwise. On four sets of chats, 1,000
#: tokens contain 83 to 97 % of the evidence that 2,000 contain.
ANSWER_TOKENS = 1_000
#: Range of the tokens that an answer may be given.
MIN_TOKENS, MAX_TOKENS = 100, 20_000
#: Tokens of a hook: of a prompt, because every prompt pays for them, and of the start of a session,
#: where the host takes 10,000 characters and a token is up to four bytes.
PROMPT_TOKENS, SESSION_TOKENS = 500, 2_000
