"""The command line where it needs no database: files, pipes, completion."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memoria import RetrieverConfig
from memoria.recall.plain_settings import settings_of
from memoria.serialize import explorations_from, plain_explorations, plain_recall
from memoria.types import (
    ContextPack,
    Exploration,
    ExplorationStats,
    MemoryNode,
    RankedMemory,
    Recall,
    Seed,
    Seeds,
)
from memoria.types import Path as MemoryPath
from tests.integration.cli.test_commands import Call, Done, call
from tests.traces import trace

__all__ = ["call"]  # fixtures

PROGRAM = Path(sys.executable).with_name("memoria")


def memoria(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memoria", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **variables},
    )


def document(*ids: str, text: str = "It rained.") -> str:
    """What ``explore --json`` prints for seeds that lead nowhere."""
    return json.dumps(
        plain_explorations(
            Exploration(
                seed=Seed(id=id_, score=0.5),
                status="complete",
                paths=(
                    MemoryPath(
                        seed_id=id_,
                        hops=(),
                        memories=(MemoryNode(id=id_, kind="Event", text=f"{text} {id_}"),),
                        end_reason="dead_end",
                        energy=0.5,
                    ),
                ),
                error=None,
                stats=ExplorationStats(levels=1, nodes=1, elapsed_s=0.1, hydrate_s=0.0),
            )
            for id_ in ids
        )
    )


def one_error_line(done: Done) -> str:
    assert done.code == 1
    assert done.out == ""
    [line] = done.err.splitlines()
    assert line.startswith("memoria: ")
    return line


def test_pack_reads_files_and_standard_input_and_merges_them(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(document("a"), encoding="utf-8")
    done = memoria("pack", str(file), "-", "--json", stdin=document("b"))
    assert done.returncode == 0, done.stderr
    context = json.loads(done.stdout)
    assert set(context) == {"text", "tokens", "items", "omitted"}
    assert [item["id"] for item in context["items"]] == ["a", "b"]
    done = memoria("pack", str(file), "--budget", "100")
    assert "It rained. a" in done.stdout
    assert done.stdout.endswith("a\n")


def ranked(relevance: dict[str, float | None], newer: str | None = None) -> str:
    """The output of ``recall --json --full``; the best memory first."""
    plain = document(*relevance)
    explorations = explorations_from(json.loads(plain))
    recall = Recall(
        seeds=Seeds(seeds=()),
        explorations=explorations,
        ranked=tuple(
            RankedMemory(
                memory=found.paths[0].memories[0],
                score=1 / place,
                path=found.paths[0],
                relevance=relevance[found.seed.id],
                newer=None if found.seed.id == newer else newer,
            )
            for place, found in enumerate(explorations, start=1)
        ),
        context=ContextPack(text="", items=(), tokens=0, omitted=()),
        trace=trace("s", config=settings_of(RetrieverConfig())),
    )
    return json.dumps(plain_recall(recall))


def test_pack_leaves_out_what_is_not_relevant(call: Call, tmp_path: Path) -> None:
    def packed(*arguments: str, stdin: str = "") -> set[str]:
        done = call("pack", "--json", *arguments, stdin=stdin)
        assert done.code == 0, done.err
        context = json.loads(done.out)
        assert {item["reason"] for item in context["omitted"]} <= {"relevance"}
        assert ("nothing is relevant" in done.err) == (not context["items"])
        return {item["id"] for item in context["items"]}

    one = ranked({"likely": 0.5, "hardly": 0.1, "unknown": None})
    assert packed(stdin=one) == {"likely", "hardly", "unknown"}
    assert packed("--min-relevance", "0.2", stdin=one) == {"likely", "unknown"}
    assert packed("--min-relevance", "0.2", stdin=ranked({"hardly": 0.1})) == set()
    file = tmp_path / "other.json"
    file.write_text(ranked({"hardly": 0.3}), encoding="utf-8")
    both = ("--min-relevance", "0.2", str(file), "-")
    assert packed(*both, stdin=one) == {"likely", "hardly", "unknown"}, "one question needs it"
    assert "(older than [1])" in call("pack", stdin=ranked({"new": 0.5, "old": 0.4}, "new")).out
    # Nothing ranked an exploration that was asked for by its seeds.
    file.write_text(document("seed"), encoding="utf-8")
    assert packed(*both, stdin=one) == {"likely", "hardly", "unknown", "seed"}


def test_pack_in_each_format_holds_the_memory(call: Call) -> None:
    for name, order in (("text", "time"), ("markdown", "relevance"), ("json", "relevance")):
        done = call("pack", "--format", name, "--order", order, stdin=document("a"))
        assert done.code == 0, done.err
        assert "It rained. a" in done.out


def test_pack_names_what_it_can_not_read(call: Call, tmp_path: Path) -> None:
    damaged = json.loads(document("a"))
    del damaged["explorations"][0]["paths"][0]["hops"]
    secret = tmp_path / "secret.json"
    for stdin, named in (
        ("", "<stdin>: is empty"),
        ("[1", "<stdin>: is not a JSON document"),
        ("[" * 100_000, "<stdin>: is not a JSON document"),
        ("[]", "<stdin>: the document must be a map"),
        (json.dumps(damaged), "<stdin>: explorations[0].paths[0].hops is missing"),
    ):
        assert named in one_error_line(call("pack", "-", stdin=stdin))
    for path, named in ((secret, "No such file"), (tmp_path, "Is a directory")):
        done = memoria("pack", str(path))
        found = Done(done.returncode, done.stdout, done.stderr)
        assert f"{path}: {named}" in one_error_line(found)


def test_a_budget_that_nothing_fits_into_is_said_and_no_error(call: Call) -> None:
    for budget, named in (("1", "1 token;"), ("2", "2 tokens;")):
        done = call("pack", "--budget", budget, stdin=document("a"))
        assert done.code == 0
        assert done.out == ""
        assert done.err == f"nothing fits into {named} --budget gives more\n"
    done = call("pack", "--budget", "1", "--json", stdin=document("a"))
    assert json.loads(done.out)["items"] == []
    assert "nothing fits" in done.err
    for stdin in (document(), document("a")):  # where there is nothing to fit, or it fits
        assert call("pack", stdin=stdin).err == ""


@pytest.mark.parametrize(
    ("closed", "out", "err"),
    [
        ("<&-", True, True),
        (">&-", False, True),
        ("2>&-", True, False),
        ("<&- >&- 2>&-", False, False),
    ],
)
def test_a_closed_stream_is_no_traceback(tmp_path: Path, closed: str, out: bool, err: bool) -> None:
    file = tmp_path / "one.json"
    file.write_text(document("a"), encoding="utf-8")

    def with_closed(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = shlex.join([sys.executable, "-m", "memoria", *arguments])
        return subprocess.run(
            ["sh", "-c", f"{command} {closed}"],
            input="",
            capture_output=True,
            text=True,
            check=False,
        )

    done = with_closed("pack", str(file))
    assert (done.returncode, "It rained. a" in done.stdout, done.stderr) == (0, out, "")
    for arguments, named in (
        (["pack", str(tmp_path / "nowhere")], "No such file"),
        (["pack"], "is empty"),
    ):
        done = with_closed(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert len(done.stderr.splitlines()) == err
        assert (named in done.stderr) == err


def test_text_that_the_output_can_not_show_is_no_error() -> None:
    done = memoria("pack", stdin=document("a", text="é →"), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"\xe9 \u2192 a" in done.stdout


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    many = document(*(f"id{number}" for number in range(5_000)))
    for arguments in (["pack", "--json"], ["pack", "--budget", "1000000"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "memoria", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with process:
            process.stdout.close()
            process.stdin.write(many)
            process.stdin.close()
            assert process.wait(60) == 1
            assert process.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "memoria", "pack"],
            input=document("a"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "memoria: No space left on device\n"


def test_logs_before_the_first_start_say_so(call: Call) -> None:
    done = call("logs")
    assert done.code == 0
    assert done.out == ""
    assert "no log yet" in done.err
    assert json.loads(call("logs", "--json").out) == {"lines": []}


def test_shell_completion_offers_the_commands() -> None:
    environ = {
        "_MEMORIA_COMPLETE": "complete_bash",
        "COMP_WORDS": "memoria ",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [PROGRAM], capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )
    assert {"recall", "pack", "up"} <= set(done.stdout.split())
    environ["COMP_WORDS"] = "memoria reca"
    done = subprocess.run(
        [PROGRAM], capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )
    assert done.stdout.split() == ["recall"]
