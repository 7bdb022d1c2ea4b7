"""The fenced code blocks of a Markdown page, and how each is to be tested.

A block is tested by its language: ``python`` runs in one interpreter per page, with top-level
``await``; ``sh`` runs in bash, each command by itself, and none may fail; ``json`` is read, as
the explorations that memoria prints, or line by line as ``memoria ingest`` does. A comment on the
line before the block says what else is meant:

``<!-- test: output -->``
    What the block before it printed; ``...`` stands for anything, also over several lines.
``<!-- test: save NAME -->``
    Content of the file NAME in the folder where the page's commands run.
``<!-- test: with COMMAND -->``
    Runs COMMAND where the block has the same command with fewer arguments.
``<!-- test: given uri, user, password -->``
    Python that uses these names: they are those of the page's local server, or, for
    ``embeddings_url``, ``ollama_url`` and ``api_key``, of a stand-in for a hosted model. Commands:
    so is ``bolt://localhost:7687``, ``pw.txt`` holds the password, and a stand-in plays
    cypher-shell.
``<!-- test: not run: REASON -->``
    Can't be run here; the reason stands for all to see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = {"python", "sh", "json"}
VERBS = {"output", "save", "with", "given", "not run:"}
_BLOCK = re.compile(
    r"^(?:<!-- test: (?P<how>[^\n]*?) -->\n\n?)?"
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: where it stands, what it holds, and how it is tested.

    ``verb`` is "" where its language alone says how.
    """

    place: str
    language: str
    code: str
    verb: str
    argument: str


def read_blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order.

    Raises
    ------
    ValueError
        A block that nothing says how to test, or a comment that means nothing.
    """
    text = page.read_text(encoding="utf-8")
    blocks = [_block(page, text, match) for match in _BLOCK.finditer(text)]
    fences = len(re.findall(r"^ *```", text, re.MULTILINE))
    comments = text.count("<!-- test:")
    if fences != 2 * len(blocks) or comments != sum(bool(block.verb) for block in blocks):
        raise ValueError(f"{page.name}: a fence is not closed, or a test comment has no block")
    return blocks


def _block(page: Path, text: str, match: re.Match[str]) -> Block:
    place = f"{page.name}:{text.count(chr(10), 0, match.start('code'))}"
    how = match["how"] or ""
    verb = next((known for known in VERBS if f"{how} ".startswith(f"{known} ")), "")
    if how and not verb:
        raise ValueError(f"{place}: unknown test comment: {how}")
    if not verb and match["language"] not in LANGUAGES:
        raise ValueError(
            f"{place}: a block of {match['language'] or 'no language'} needs a test comment"
        )
    indent = len(match["indent"])
    code = "".join(line[indent:] for line in match["code"].splitlines(keepends=True))
    return Block(
        place=place,
        language=match["language"],
        code=code,
        verb=verb,
        argument=how.removeprefix(verb).strip(),
    )


def commands_of(block: Block) -> list[str]:
    """The commands of a shell block, comments left out.

    Raises
    ------
    ValueError
        ``with`` names a command that is not in the block.
    """
    lines = block.code.replace("\\\n", " ").splitlines()
    commands = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if block.verb != "with":
        return commands
    program = block.argument.split()[0]
    own = [command.split("#")[0].strip() for command in commands]
    if not any(block.argument.startswith(command) for command in own):
        raise ValueError(f"{block.place}: no command of the block begins {block.argument!r}")
    return [block.argument if command.split()[0] == program else command for command in own]


def output_matches(expected: str, actual: str) -> bool:
    """Whether a printed text is the one shown, trailing spaces aside.

    >>> output_matches("a ... c", "a b\\nb c\\n")
    True
    >>> output_matches("a", "a b")
    False
    """
    wanted, found = (
        "\n".join(line.rstrip() for line in text.strip().splitlines())
        for text in (expected, actual)
    )
    pattern = ".*?".join(re.escape(part) for part in wanted.split("..."))
    return re.fullmatch(pattern, found, re.DOTALL) is not None
