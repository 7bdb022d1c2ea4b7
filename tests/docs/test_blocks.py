"""What the test of the code blocks would let pass, it must not: tests of its reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import commands_of, output_matches, read_blocks


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_come_in_order_with_their_place(tmp_path: Path) -> None:
    text = "a\n\n```sh\nls\n```\n\n<!-- test: output -->\n```text\nx\ny\n```\n"
    shell, output = read_blocks(page(tmp_path, text))
    assert (shell.place, shell.language, shell.code, shell.verb) == ("page.md:3", "sh", "ls\n", "")
    assert (output.place, output.code, output.verb) == ("page.md:8", "x\ny\n", "output")


def test_comment_of_a_block_carries_its_argument(tmp_path: Path) -> None:
    text = "<!-- test: not run: needs Docker -->\n\n  ```sh\n  ls\n  ```\n"
    (block,) = read_blocks(page(tmp_path, text))
    assert (block.code, block.verb, block.argument) == ("ls\n", "not run:", "needs Docker")


@pytest.mark.parametrize(
    "text",
    [
        "```text\nx\n```\n",
        "```\nx\n```\n",
        "```yaml\nx: 1\n```\n",
        "<!-- test: looked at -->\n```sh\nls\n```\n",
        "<!-- test: outputx -->\n```sh\nls\n```\n",
        "<!-- test: output -->\n\nwords\n\n```sh\nls\n```\n",
        "```sh\nls\n",
    ],
    ids=[
        "text",
        "no_language",
        "yaml",
        "unknown_comment",
        "longer_comment",
        "comment_elsewhere",
        "not_closed",
    ],
)
def test_block_that_nothing_tests_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"page\.md"):
        read_blocks(page(tmp_path, text))


def test_a_narrower_command_replaces_its_own_and_no_other(tmp_path: Path) -> None:
    text = (
        "<!-- test: with scripts/test tests/unit -->\n```sh\nls    # all\nscripts/test   # x\n```\n"
    )
    (block,) = read_blocks(page(tmp_path, text))
    assert commands_of(block) == ["ls", "scripts/test tests/unit"]
    (other,) = read_blocks(page(tmp_path, text.replace("scripts/test   #", "scripts/demo   #")))
    with pytest.raises(ValueError, match="no command"):
        commands_of(other)


def test_command_over_several_lines_is_one(tmp_path: Path) -> None:
    (block,) = read_blocks(page(tmp_path, "```sh\nls \\\n  -l\n# a word\npwd\n```\n"))
    assert commands_of(block) == ["ls    -l", "pwd"]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("a\nb", "a  \nb\n\n", True),
        ("a ... d", "a b\nc d", True),
        ("a", "a b", False),
        ("a\n...", "b\nc", False),
        (".", "x", False),
    ],
)
def test_dots_stand_for_anything_and_nothing_else_does(
    expected: str, actual: str, same: bool
) -> None:
    assert output_matches(expected, actual) is same
