"""The HTTP API without a database: its description, problems, repeated requests, its client."""

from __future__ import annotations

import asyncio
import inspect
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from memoria import errors
from memoria.agents.calls import FORGETTING, READING, WRITING
from memoria.agents.http.admission import Admission
from memoria.agents.http.app import api_route
from memoria.agents.http.description import attributes_of, described, model_of
from memoria.agents.http.operations import OPERATIONS
from memoria.agents.http.problems import WrongArguments, problem_of, response_of
from memoria.agents.http.repeats import Repeats
from memoria.agents.mcp.grants import Grant, line_of
from memoria.cli.mapping import MappedConnection
from memoria.cli.mcp import Exploring, Serving
from tests.docs.blocks import read_blocks
from tests.for_each import for_each

ROOT = Path(__file__).parents[3]
DESCRIPTION = described()
SCHEMAS = DESCRIPTION["components"]["schemas"]


def test_every_call_of_an_agent_is_an_operation_and_describes_its_arguments() -> None:
    calls = {each.call.name for each in OPERATIONS}
    assert calls > {call.name for call in (*READING, *WRITING, FORGETTING)}
    for operation in OPERATIONS:
        call = operation.call
        assert call.head
        assert list(call.described) == [each.name for each in call.arguments]
        written = DESCRIPTION["paths"][f"/{operation.name}"][operation.method.lower()]
        assert written["operationId"] == operation.name
        assert ("409" in written["responses"]) is (call.does != "reads")


def test_every_field_of_an_answer_is_described_and_there_but_for_those_of_several_scopes() -> None:
    may_lack = {"also_read", "memory_scope", "scope"}
    for name, schema in SCHEMAS.items():
        Draft202012Validator.check_schema(schema)
        assert "memory_recall" not in json.dumps(schema)
        for field, about in schema.get("properties", {}).items():
            described_ = about.get("description") or "$ref" in about
            assert described_, f"{name}.{field}"
        if not name.endswith("Request") and name not in {"Message", "RecallFilter"}:
            assert set(schema["properties"]) - set(schema["required"]) <= may_lack, name
    assert "also_read" not in SCHEMAS["Recalled"]["required"]
    assert {"scope", "text"} <= {*SCHEMAS["Recalled"]["required"]}


@pytest.mark.parametrize(
    ("mapping", "read_only", "said"),
    [
        ("graphiti", False, "a mapping writes nothing: to write, use memoria's own graph"),
        (None, True, "it was started with --read-only"),
        (None, False, "this token may only read"),
    ],
)
async def test_a_write_that_is_refused_says_why(
    tmp_path: Path, mapping: str | None, said: str, *, read_only: bool
) -> None:
    file = tmp_path / "tokens.txt"
    file.write_text(line_of("reader", Grant(scope="a", read_only=True)), encoding="utf-8")
    serving = Serving(tokens=file, read_only=read_only)
    connection = MappedConnection(uri="bolt://127.0.0.1:1", mapping=mapping)
    memories, rights = serving.opened("a", connection, "none", Exploring())
    transport = httpx2.ASGITransport(api_route(memories, rights, is_guarded=True))
    async with httpx2.AsyncClient(
        transport=transport,
        base_url="http://127.0.0.1:8765/v1",
        headers={"authorization": "Bearer reader"},
    ) as client:
        answer = await client.post("remember", json={"text": "New."})
    assert answer.status_code == 403
    assert said in answer.json()["detail"]


def test_the_description_refers_to_nothing_that_is_not_there() -> None:
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update({value["$ref"]} if isinstance(value.get("$ref"), str) else ())
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(DESCRIPTION)
    for place in found:
        _, _, kind, name = place.split("/")
        assert name in DESCRIPTION["components"][kind], place


def test_attributes_of_one_line_share_their_text() -> None:
    class Both:
        """Two.

        Attributes
        ----------
        first, second
            Either
            of them.

        Raises
        ------
        ValueError
            Never.
        """

    assert attributes_of(Both) == {"first": "Either of them.", "second": "Either of them."}


@for_each(
    "error, status, retry_after",
    [
        (errors.InvalidInputError("x", field="tags"), 400, None),
        (errors.ScopeError("x"), 400, None),
        (errors.EmptyScopeError("x"), 404, None),
        (errors.DimensionError("x"), 500, None),
        (errors.ConfigError("x"), 500, None),
        (errors.QueryError("x"), 500, None),
        (errors.OverloadedError("x", retry_after_s=0.2), 429, "1"),
        (errors.OverloadedError("x"), 429, "1"),
        (errors.UnavailableError("x"), 503, "1"),
        (errors.DeadlineError("x"), 504, None),
        (HTTPException(401, "x", headers={"www-authenticate": "Bearer"}), 401, None),
        (HTTPException(409, "x"), 409, "1"),
        (RuntimeError("a secret"), 500, None),
    ],
)
def test_every_error_has_a_status(error: Exception, status: int, retry_after: str | None) -> None:
    response = response_of(error)
    assert response.status_code == status
    assert response.headers.get("retry-after") == retry_after
    assert (response.headers.get("connection") == "close") is (status == 429)
    problem = json.loads(bytes(response.body))
    assert problem["retryable"] is (retry_after is not None)
    assert "secret" not in problem["detail"]
    Draft202012Validator({**SCHEMAS["Problem"], "components": DESCRIPTION["components"]})
    assert problem.keys() == SCHEMAS["Problem"]["properties"].keys()


def test_every_error_of_memoria_is_a_problem_of_its_own_name() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    for kind in kinds:
        if issubclass(kind, errors.MemoriaError):
            problem = problem_of(kind("x"))
            assert problem.type == f"urn:memoria:error:{kind.__name__}"
            assert problem.title


def test_what_a_client_sent_is_not_said_back_at_length() -> None:
    (recall,) = [each for each in OPERATIONS if each.name == "recall"]
    sent = {"query": "x", **{f"{n}\x1b" + "y" * 1_000: "z" for n in range(100)}}
    with pytest.raises(ValidationError) as caught:
        model_of(recall, {}).model_validate(sent)
    problem = bytes(response_of(WrongArguments(caught.value, ["query"])).body).decode()
    assert len(problem) < 6_000
    assert "\\u001b" not in problem


async def test_a_key_is_answered_once_until_others_push_it_out() -> None:
    repeats, done = Repeats(most=2), list[str]()

    async def ask(key: str, request: bytes = b"a") -> tuple[bytes, bool]:
        async def do() -> bytes:
            await asyncio.sleep(0)
            done.append(key)
            return key.encode()

        return await repeats.once(key, request, do)

    assert [await ask("k"), await ask("k")] == [(b"k", False), (b"k", True)]
    with pytest.raises(HTTPException) as other:
        await ask("k", b"b")
    assert other.value.status_code == 422
    at_once = await asyncio.gather(ask("l"), ask("l"), return_exceptions=True)
    assert at_once[0] == (b"l", False)
    assert isinstance(at_once[1], HTTPException)
    assert at_once[1].status_code == 409
    await ask("m")
    assert await ask("k") == (b"k", False)
    assert done == ["k", "l", "m", "k"]


async def test_a_request_at_work_is_not_pushed_out_by_others() -> None:
    repeats, go = Repeats(most=2), asyncio.Event()

    async def wait() -> bytes:
        await go.wait()
        return b"slow"

    async def do() -> bytes:
        return b"done"

    slow = asyncio.create_task(repeats.once("k", b"a", wait))
    await asyncio.sleep(0)
    for key in "lmn":
        await repeats.once(key, b"a", do)
    with pytest.raises(HTTPException) as again:
        await repeats.once("k", b"a", do)
    assert again.value.status_code == 409
    go.set()
    assert await slow == (b"slow", False)
    assert await repeats.once("k", b"a", do) == (b"slow", True)


async def test_a_request_that_failed_may_be_sent_again() -> None:
    repeats = Repeats()

    async def fail() -> bytes:
        raise errors.UnavailableError("away")

    async def do() -> bytes:
        return b"done"

    with pytest.raises(errors.UnavailableError):
        await repeats.once("k", b"a", fail)
    assert await repeats.once("k", b"a", do) == (b"done", False)


async def test_a_recall_that_would_be_late_is_refused_before_it_begins() -> None:
    admission = Admission()
    with ExitStack() as at_work:
        for _ in range(6):  # assumed are 0.1 s for each that is at work, of 0.66 s at most
            at_work.enter_context(admission.admitted(2.2))
        with pytest.raises(errors.OverloadedError, match="6 recalls are at work") as refused:
            at_work.enter_context(admission.admitted(2.2))
        assert refused.value.retry_after_s == pytest.approx(0.04)
        at_work.enter_context(admission.admitted(4.0))
    with admission.admitted(0.05):  # one alone is never refused, whatever it takes
        pass


def test_the_page_shows_the_example_that_is_run() -> None:
    example = ROOT / "clients" / "typescript" / "examples" / "quickstart.ts"
    shown = [b.code for b in read_blocks(ROOT / "docs/integrations/http.md") if b.language == "ts"]
    assert shown == [example.read_text("utf-8")]


@pytest.mark.parametrize("folder", [".", "examples"])
def test_the_lock_of_the_client_names_no_registry(folder: str) -> None:
    lock = (ROOT / "clients" / "typescript" / folder / "package-lock.json").read_text("utf-8")
    packages = json.loads(lock)["packages"].values()
    assert not [each for each in packages if "://" in each.get("resolved", "")]
    assert all("integrity" in each for each in packages if "version" in each and "resolved" in each)


def test_the_client_itself_depends_on_nothing() -> None:
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text("utf-8"))
    assert not {"dependencies", "peerDependencies"} & package.keys()
