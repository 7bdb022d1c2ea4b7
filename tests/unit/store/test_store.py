"""The driver's errors in memoria's terms, and retry, against a driver that fails as told."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import Any, Literal, Self

import neo4j
import pytest
from neo4j import exceptions as driver_errors

from memoria import errors
from memoria.errors import (
    AuthError,
    BudgetError,
    ClosedError,
    ConfigError,
    DeadlineError,
    DimensionError,
    IndexNotReadyError,
    InvalidInputError,
    MemoriaError,
    OverloadedError,
    QueryError,
    UnavailableError,
)
from memoria.graph.schema import apply_schema
from memoria.store import Store, Transaction, store_of, translate
from memoria.store.config import StoreConfig
from memoria.store.doubt import watch
from memoria.store.queries import Query, parse
from tests.clock import without_waiting
from tests.for_each import for_each
from tests.server_facts import server_facts

SECRET = "the cat is called Wednesday"

BY_CLASS: dict[str, type[MemoriaError]] = {
    "AuthConfigurationError": AuthError,
    "AuthError": AuthError,
    "BrokenRecordError": QueryError,
    "CertificateConfigurationError": ConfigError,
    "ClientError": QueryError,
    "ConfigurationError": ConfigError,
    "ConnectionAcquisitionTimeoutError": OverloadedError,
    "ConnectionPoolError": UnavailableError,
    "ConstraintError": QueryError,
    "CypherSyntaxError": QueryError,
    "CypherTypeError": QueryError,
    "DatabaseError": QueryError,
    "DatabaseUnavailable": UnavailableError,
    "DriverError": ClosedError,
    "Forbidden": AuthError,
    "ForbiddenOnReadOnlyDatabase": UnavailableError,
    "GqlError": QueryError,
    "IncompleteCommit": UnavailableError,
    "Neo4jError": QueryError,
    "NotALeader": UnavailableError,
    "ReadServiceUnavailable": UnavailableError,
    "ResultConsumedError": ClosedError,
    "ResultError": ClosedError,
    "ResultFailedError": ClosedError,
    "ResultNotSingleError": ClosedError,
    "RoutingServiceUnavailable": UnavailableError,
    "ServiceUnavailable": UnavailableError,
    "SessionError": ClosedError,
    "SessionExpired": UnavailableError,
    "TokenExpired": AuthError,
    "TransactionError": ClosedError,
    "TransactionNestingError": ClosedError,
    "TransientError": UnavailableError,
    "UnsupportedServerProduct": ConfigError,
    "WriteServiceUnavailable": UnavailableError,
}

BY_CODE: dict[str, type[MemoriaError]] = {
    "Neo.ClientError.Cluster.NotALeader": UnavailableError,
    "Neo.ClientError.Database.DatabaseNotFound": ConfigError,
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase": UnavailableError,
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": ConfigError,
    "Neo.ClientError.Procedure.ProcedureCallFailed": QueryError,
    "Neo.ClientError.Procedure.ProcedureNotFound": QueryError,
    "Neo.ClientError.Schema.ConstraintValidationFailed": QueryError,
    "Neo.ClientError.Schema.IndexNotFound": IndexNotReadyError,
    "Neo.ClientError.Security.AuthenticationRateLimit": AuthError,
    "Neo.ClientError.Security.AuthorizationExpired": UnavailableError,
    "Neo.ClientError.Security.CredentialsExpired": AuthError,
    "Neo.ClientError.Security.Forbidden": AuthError,
    "Neo.ClientError.Security.TokenExpired": AuthError,
    "Neo.ClientError.Security.Unauthorized": AuthError,
    "Neo.ClientError.Statement.AccessMode": QueryError,
    "Neo.ClientError.Statement.EntityNotFound": UnavailableError,
    "Neo.ClientError.Statement.SyntaxError": QueryError,
    "Neo.ClientError.Statement.TypeError": QueryError,
    "Neo.ClientError.Transaction.LockClientStopped": UnavailableError,
    "Neo.ClientError.Transaction.Terminated": UnavailableError,
    "Neo.ClientError.Transaction.TransactionTimedOut": DeadlineError,
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": DeadlineError,
    "Neo.DatabaseError.General.UnknownError": QueryError,
    "Neo.DatabaseError.Statement.ExecutionFailed": QueryError,
    "Neo.TransientError.General.DatabaseUnavailable": UnavailableError,
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": OverloadedError,
    "Neo.TransientError.General.OutOfMemoryError": OverloadedError,
    "Neo.TransientError.General.StackOverFlowError": BudgetError,
    "Neo.TransientError.General.TransactionOutOfMemoryError": BudgetError,
    "Neo.TransientError.Request.NoThreadsAvailable": OverloadedError,
    "Neo.TransientError.Transaction.DeadlockDetected": UnavailableError,
    "Neo.TransientError.Transaction.LockAcquisitionTimeout": UnavailableError,
    "Neo.TransientError.Transaction.MaximumTransactionLimitReached": OverloadedError,
    "Neo.TransientError.Transaction.Terminated": UnavailableError,
}


def server_error(code: str, message: str = "server's words") -> driver_errors.Neo4jError:
    """What the driver raises when the server answers with ``code``."""
    return driver_errors.Neo4jError._hydrate_neo4j(code=code, message=message)


def driver_classes() -> dict[str, type[Exception]]:
    return {
        name: kind
        for name, kind in vars(driver_errors).items()
        if inspect.isclass(kind) and issubclass(kind, Exception)
    }


def test_every_class_of_the_driver_has_a_meaning() -> None:
    assert set(BY_CLASS) == set(driver_classes())


@for_each("name", sorted(BY_CLASS))
def test_class_of_the_driver_becomes_one_of_ours(name: str) -> None:
    error = translate(driver_classes()[name]("words", "words"), "seeds.text")
    assert type(error) is BY_CLASS[name]
    assert error.query == "seeds.text"
    assert "(query seeds.text, " in str(error)
    assert not str(error).startswith("seeds"), "what happened comes first"


@for_each("code", sorted(BY_CODE))
def test_code_of_the_server_becomes_one_of_our_errors(code: str) -> None:
    assert type(translate(server_error(code))) is BY_CODE[code]


@for_each(
    "code",
    sorted(
        {
            *driver_errors._client_errors,
            *driver_errors._transient_errors,
            *driver_errors._ERROR_REWRITE_MAP,
        }
    ),
)
def test_every_code_that_the_driver_knows_has_a_meaning(code: str) -> None:
    error = translate(server_error(code))
    assert type(error) is not MemoriaError
    assert type(error) in vars(errors).values()


@pytest.mark.parametrize("code", ["", "nonsense", "Neo.NewKind.Of.Error", "Neo.ClientError.X.Y"])
def test_unknown_code_is_a_query_error(code: str) -> None:
    assert type(translate(server_error(code))) is QueryError


@pytest.mark.parametrize(
    ("message", "meaning"),
    [
        ("There is no such vector schema index: memory_embedding", IndexNotReadyError),
        ("There is no such fulltext schema index: memory_text", IndexNotReadyError),
        ("Index is still populating", IndexNotReadyError),
        ("Index query vector has 3 dimensions, but indexed vectors have 384.", DimensionError),
        ("Something else", QueryError),
    ],
)
def test_errors_inside_index_procedures_are_told_apart_by_their_text(
    message: str, meaning: type[MemoriaError]
) -> None:
    error = translate(server_error("Neo.ClientError.Procedure.ProcedureCallFailed", message))
    assert type(error) is meaning


@pytest.mark.parametrize(
    ("limit", "meaning"),
    [
        ("db.memory.transaction.max", BudgetError),
        ("db.memory.transaction.total.max", OverloadedError),
        ("dbms.memory.transaction.total.max", OverloadedError),
    ],
)
def test_limit_of_one_transaction_is_told_from_that_of_all(
    limit: str, meaning: type[MemoriaError]
) -> None:
    error = server_error(
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "The allocation of an extra 2.0 MiB would use more than the limit 8.0 MiB. "
        f"Currently using 8.0 MiB. {limit} threshold reached",
    )
    assert type(translate(error)) is meaning


@pytest.mark.parametrize("error", [ConnectionResetError("reset"), BrokenPipeError(), OSError("x")])
def test_broken_connection_means_unavailable(error: OSError) -> None:
    assert type(translate(error)) is UnavailableError


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "Neo.ClientError.Procedure.ProcedureCallFailed",
            f"Failed to invoke procedure: Caused by: ParseException: Cannot parse '{SECRET}'",
        ),
        (
            "Neo.ClientError.Schema.ConstraintValidationFailed",
            f"Node(7) already exists with label `Memory` and property `id` = '{SECRET}'",
        ),
        ("Neo.ClientError.Statement.TypeError", f"Expected a Number, got String('{SECRET}')"),
        ("Neo.ClientError.Statement.ArgumentError", f"{SECRET} is no valid date"),
        ("Neo.DatabaseError.General.UnknownError", SECRET),
        ("Neo.DatabaseError.Statement.ExecutionFailed", f"first line\n{SECRET}"),
        ("Neo.NewKind.Of.Error", SECRET),
    ],
)
def test_servers_words_stay_out_of_a_message_where_they_may_quote_values(
    code: str, message: str
) -> None:
    error = translate(server_error(code, message), "seeds.text")
    assert SECRET not in str(error)
    assert "Wednesday" not in str(error)
    assert code in str(error)


@pytest.mark.parametrize(
    "code",
    [
        "Neo.ClientError.Statement.AccessMode",
        "Neo.ClientError.Statement.SyntaxError",
        "Neo.ClientError.Security.Unauthorized",
        "Neo.TransientError.Transaction.DeadlockDetected",
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "Neo.ClientError.Database.DatabaseNotFound",
    ],
)
def test_servers_words_are_kept_where_they_only_speak_of_server_and_query(code: str) -> None:
    assert "server's words" in str(translate(server_error(code)))


def test_drivers_own_words_are_kept() -> None:
    assert "Driver closed" in str(translate(driver_errors.DriverError("Driver closed")))
    assert "no route" in str(translate(driver_errors.ServiceUnavailable("no route")))


def test_only_the_first_line_of_the_servers_words_is_kept() -> None:
    error = translate(server_error("Neo.ClientError.Statement.SyntaxError", f"bad\n{SECRET}"))
    assert "bad" in str(error)
    assert SECRET not in str(error)


# --- retry and deadlines: a driver that fails as told ---------------------------------------------


class FailingDriver:
    """Stands in for the driver: each query meets the next of the faults, then succeeds."""

    def __init__(self, faults: Sequence[BaseException] = (), *, delay_s: float = 0.0) -> None:
        self.faults = list(faults)
        self.delay_s = delay_s
        self.attempts = 0
        self.sessions: list[dict[str, Any]] = []
        self.functions: list[str] = []
        self.open = self.commits = 0

    def session(self, **settings: Any) -> FailingSession:
        self.sessions.append(settings)
        return FailingSession(self)


class FailingSession:
    def __init__(self, driver: FailingDriver) -> None:
        self.driver = driver

    async def begin_transaction(self, **_: Any) -> Self:
        return self

    async def commit(self) -> None:
        self.driver.commits += 1

    async def __aenter__(self) -> Self:
        self.driver.open += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def cancel(self) -> None:
        """Nothing to let go of."""

    async def close(self) -> None:
        self.driver.open = 0

    async def run(self, statement: neo4j.Query, **_: Any) -> Answer:
        self.driver.attempts += 1
        self.driver.statement = statement  # type: ignore[attr-defined]
        await asyncio.sleep(self.driver.delay_s)
        if self.driver.faults:
            raise self.driver.faults.pop(0)
        return Answer()

    async def execute_read(self, work: Callable[[FailingSession], Any]) -> Any:
        self.driver.functions.append("read")
        return await work(self)

    async def execute_write(self, work: Callable[[FailingSession], Any]) -> Any:
        self.driver.functions.append("write")
        return await work(self)


class Answer:
    """Columns and records, as the driver gives them."""

    def __init__(self, columns: Sequence[str] = ("x",), *rows: neo4j.Record) -> None:
        self.columns = columns
        self.rows = rows

    def keys(self) -> Sequence[str]:
        return self.columns

    async def __aiter__(self) -> AsyncIterator[neo4j.Record]:
        for row in self.rows:
            yield row


HEAD = "// name: test.one\n// mode: {}\n// params: x\n// returns: x\n"
QUERY = parse(HEAD.format("read") + "RETURN $p.x", "test.one")
FAST = StoreConfig(retry_base_s=0.001)


def store_over(driver: FailingDriver, config: StoreConfig = FAST) -> Store:
    return Store(driver, database="neo4j", config=config)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fault",
    [
        driver_errors.ServiceUnavailable("gone"),
        driver_errors.SessionExpired("gone"),
        ConnectionResetError("gone"),
        server_error("Neo.TransientError.Transaction.DeadlockDetected"),
        server_error("Neo.ClientError.Transaction.Terminated"),
        server_error("Neo.ClientError.Statement.EntityNotFound"),
    ],
    ids=lambda fault: getattr(fault, "code", type(fault).__name__),
)
async def test_passing_fault_is_retried_three_times(fault: Exception) -> None:
    healed = FailingDriver([fault] * 3)
    assert await store_over(healed).run(QUERY, {"x": 1}) == []
    assert healed.attempts == 4

    broken = FailingDriver([fault] * 4)
    with pytest.raises(UnavailableError) as caught:
        await store_over(broken).run(QUERY, {"x": 1})
    assert broken.attempts == 4
    assert caught.value.query == "test.one"
    assert caught.value.__cause__ is fault


@for_each(
    "fault, meaning",
    [
        (server_error(code), kind)
        for code, kind in sorted(BY_CODE.items())
        if kind is not UnavailableError
    ],
)
async def test_lasting_fault_is_not_retried(fault: Exception, meaning: type[MemoriaError]) -> None:
    driver = FailingDriver([fault])
    with pytest.raises(MemoriaError) as caught:
        await store_over(driver).run(QUERY, {"x": SECRET})
    assert type(caught.value) is meaning
    assert driver.attempts == 1
    assert driver.open == 0
    assert SECRET not in str(caught.value)


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        (TypeError("set"), {1, 2}),
        (TypeError("key"), {1: SECRET}),
        (OverflowError("2**70"), [2**70]),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogate"), {"text": "\ud800"}),
        (RecursionError(), nested(500)),
    ],
    ids=["set", "key", "number", "surrogate", "depth"],
)
async def test_a_parameter_that_can_not_be_sent_is_not_retried(
    fault: Exception, value: object
) -> None:
    driver = FailingDriver([fault])
    with pytest.raises(
        InvalidInputError, match=r"a parameter can't be sent .query test\.one"
    ) as caught:
        await store_over(driver).run(QUERY, {"x": value})
    assert driver.attempts == 1
    assert driver.open == 0
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("fault", [TypeError("x"), KeyError("x"), AssertionError(), ValueError()])
async def test_an_answer_that_the_driver_can_not_read_is_asked_for_again(fault: Exception) -> None:
    driver = FailingDriver([fault])
    assert await store_over(driver).run(QUERY, {"x": SECRET}) == []
    assert driver.attempts == 2
    broken = FailingDriver([fault] * 4)
    with pytest.raises(UnavailableError, match=r"can't be read \(query test\.one, \w+\)") as caught:
        await store_over(broken).run(QUERY, {"x": SECRET})
    assert broken.attempts == 4
    assert broken.open == 0
    assert caught.value.__cause__ is fault
    assert SECRET not in str(caught.value)


async def test_a_change_whose_answer_has_other_columns_leaves_a_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other: Any = neo4j.Record  # untyped in the driver
    answers = [Answer("x", other([("y", 1)])), Answer()]

    async def run(*_: object, **__: object) -> Answer:
        return answers.pop(0)

    monkeypatch.setattr(FailingSession, "run", run)
    query = parse(HEAD.format("write") + "RETURN $p.x", "test.one")
    with watch() as doubt:
        assert await store_over(FailingDriver()).run(query, {"x": 1}) == []
    assert answers == []
    assert doubt.arose


async def test_no_retries_where_none_are_allowed() -> None:
    driver = FailingDriver([driver_errors.ServiceUnavailable("gone")])
    with pytest.raises(UnavailableError):
        await store_over(driver, StoreConfig(max_retries=0)).run(QUERY, {"x": 1})
    assert driver.attempts == 1


@without_waiting
async def test_retries_end_before_the_deadline() -> None:
    driver = FailingDriver([driver_errors.ServiceUnavailable("gone")] * 11)
    loop = asyncio.get_running_loop()
    start = loop.time()
    with pytest.raises(UnavailableError):
        await store_over(driver, StoreConfig(max_retries=10, retry_base_s=0.05)).run(
            QUERY, {"x": 1}, until=start + 1.0
        )
    assert loop.time() - start < 10  # all ten retries would take 51 seconds
    assert 1 < driver.attempts < 7  # waits of 0.05, 0.1, 0.2 and 0.4 s, each at most 0.05 longer


@without_waiting
async def test_a_retry_without_enough_time_raises_what_it_was_to_mend() -> None:
    driver = FailingDriver([driver_errors.ServiceUnavailable("gone")], delay_s=0.6)
    until = asyncio.get_running_loop().time() + 1.0
    with pytest.raises(UnavailableError):
        await store_over(driver).run(QUERY, {"x": 1}, until=until)
    assert driver.attempts == 2, "the second one had 0.4 of 0.6 seconds"


@without_waiting
async def test_the_time_of_the_first_attempt_counts() -> None:
    driver = FailingDriver([driver_errors.ServiceUnavailable("gone")] * 2, delay_s=0.3)
    config = StoreConfig(query_timeout_s=0.4, retry_base_s=0.15)
    with pytest.raises(UnavailableError):
        await store_over(driver, config).run(QUERY, {"x": 1})
    assert driver.attempts == 1, "a second one would begin after the query's time"


@without_waiting
async def test_a_retry_has_the_time_that_is_left_of_the_querys_own() -> None:
    driver = FailingDriver([driver_errors.ServiceUnavailable("gone")] * 2, delay_s=0.6)
    loop = asyncio.get_running_loop()
    start = loop.time()
    with pytest.raises(UnavailableError):
        await store_over(driver, replace(FAST, query_timeout_s=1.0)).run(QUERY, {"x": 1})
    statement: neo4j.Query = driver.statement  # type: ignore[attr-defined]
    assert driver.attempts == 2
    assert statement.timeout == pytest.approx(0.4, abs=0.01), "the server gets no more either"
    ended_s = loop.time() - start
    assert ended_s == pytest.approx(1.0, abs=0.02), "the second one would end after 1.2 seconds"


@without_waiting
async def test_silent_server_is_left_at_the_deadline() -> None:
    driver = FailingDriver(delay_s=30)
    store = store_over(driver)
    loop = asyncio.get_running_loop()
    start = loop.time()
    with pytest.raises(DeadlineError, match=r"took longer than .* \(test\.one\)"):
        await store.run(QUERY, {"x": 1}, until=start + 0.05)
    assert loop.time() - start == pytest.approx(0.05)
    assert store.sessions_in_use == 0


@without_waiting
async def test_driver_gets_time_to_let_go_of_a_silent_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = []

    async def let_go_slowly(*_: object, **__: object) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.05)
            ended.append("in order")

    monkeypatch.setattr(FailingSession, "run", let_go_slowly)
    with pytest.raises(DeadlineError):
        await store_over(FailingDriver()).run(
            QUERY, {"x": 1}, until=asyncio.get_running_loop().time() + 0.2
        )
    assert ended == ["in order"], "cancelled again at once, it would break off"


async def test_no_query_is_sent_after_the_deadline() -> None:
    driver = FailingDriver()
    with pytest.raises(DeadlineError, match="no time left"):
        await store_over(driver).run(QUERY, {"x": 1}, until=asyncio.get_running_loop().time() - 1)
    assert driver.attempts == 0


@without_waiting
async def test_query_carries_its_name_and_the_time_left() -> None:
    driver = FailingDriver()
    await store_over(driver).run(QUERY, {"x": 1}, until=asyncio.get_running_loop().time() + 3)
    statement: neo4j.Query = driver.statement  # type: ignore[attr-defined]
    assert statement.metadata == {"app": "memoria", "query": "test.one"}
    assert statement.timeout == pytest.approx(3)


@pytest.mark.parametrize(("mode", "access"), [("read", "READ"), ("write", "WRITE")])
async def test_session_says_how_it_will_be_used(mode: str, access: str) -> None:
    driver = FailingDriver()
    query = parse(HEAD.format(mode) + "RETURN $p.x", "test.one")
    await store_over(driver).run(query, {"x": 1})
    (settings,) = driver.sessions
    assert settings["default_access_mode"] == access
    assert settings["database"] == "neo4j"


@pytest.mark.parametrize("mode", ["read", "write"])
@pytest.mark.parametrize(("transactions", "functions"), [("auto", 0), ("managed", 1)])
async def test_transaction_functions_of_the_driver_are_used_only_where_they_are_asked_for(
    mode: str, transactions: Literal["auto", "managed"], functions: int
) -> None:
    driver = FailingDriver()
    query = parse(HEAD.format(mode) + "RETURN $p.x", "test.one")
    config = StoreConfig(transactions=transactions)
    assert await store_over(driver, config).run(query, {"x": 1}) == []
    assert driver.functions == [mode] * functions
    assert driver.attempts == 1


class RefusalError(Exception):
    """What a work function raises of its own."""


async def test_what_the_work_of_a_transaction_raises_passes_and_undoes_it() -> None:
    driver = FailingDriver()

    async def work(transaction: Transaction) -> None:
        await transaction.run(QUERY, {"x": 1})
        raise RefusalError("no")

    with pytest.raises(RefusalError, match="no"):
        await store_over(driver).write(work)
    assert (driver.attempts, driver.commits) == (1, 0)
    assert driver.open == 0


async def test_the_work_of_a_transaction_is_done_again_after_a_passing_fault() -> None:
    driver = FailingDriver([driver_errors.ServiceUnavailable("gone")])
    begun = 0

    async def work(transaction: Transaction) -> str:
        nonlocal begun
        begun += 1
        await transaction.run(QUERY, {"x": 1})
        return f"done at the attempt {begun}"

    assert await store_over(driver).write(work) == "done at the attempt 2"
    assert (driver.attempts, driver.commits) == (2, 1)


async def test_an_error_within_a_transaction_names_the_query_that_failed() -> None:
    driver = FailingDriver([server_error("Neo.ClientError.Statement.TypeError")])
    with pytest.raises(QueryError) as caught:
        await store_over(driver).write(lambda tx: tx.run(QUERY, {"x": 1}), name="test.all")
    assert caught.value.query == "test.one"


@without_waiting
async def test_a_transaction_that_takes_too_long_is_ended() -> None:
    async def work(_: Transaction) -> None:
        await asyncio.sleep(60)

    with pytest.raises(DeadlineError, match=r"took longer than 1\.000 s \(test\.all\)"):
        await store_over(FailingDriver(), replace(FAST, query_timeout_s=1.0)).write(
            work, name="test.all"
        )


@pytest.mark.parametrize(("seconds", "limit_s"), [(0.5, 4.0), (60.0, 60.0)])
async def test_a_patient_store_gives_each_query_at_least_so_much_time(
    seconds: float, limit_s: float
) -> None:
    driver = FailingDriver()
    store = store_over(driver, StoreConfig(query_timeout_s=4.0))
    await store.patient(seconds).run(QUERY, {"x": 1})
    statement: neo4j.Query = driver.statement  # type: ignore[attr-defined]
    assert statement.timeout == limit_s
    assert store.config.query_timeout_s == 4.0


async def test_a_store_is_on_the_database_neo4j_unless_told_otherwise() -> None:
    store = Store(FailingDriver())  # type: ignore[arg-type]
    assert store_of(store, "neo4j") is store_of(store) is store
    async with neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1") as driver:
        assert store_of(driver).database == "neo4j"
        assert store_of(driver, "other").database == "other"
    with pytest.raises(ConfigError, match="'neo4j', not 'other'"):
        store_of(store, "other")


@pytest.mark.parametrize(
    ("needs", "version", "dialect", "can"),
    [
        ("", "5.26.0", "procedure", True),
        ("2026", "5.26.0", "procedure", False),
        ("2026", "2025.12.1", "procedure", False),
        ("2026", "2026.08.1", "procedure", True),
        ("2026", "unknown", "procedure", False),
        ("search", "2026.08.1", "procedure", False),
        ("search", "2026.08.1", "search", True),
    ],
)
def test_what_a_query_needs_decides_whether_a_server_can_run_it(
    needs: Any, version: str, dialect: Any, can: bool
) -> None:
    facts = server_facts(version=version, vector_dialect=dialect, dimensions=None)
    assert facts.can_run(replace(QUERY, needs=needs)) is can


@for_each("timeout_s", [0, -1, math.nan, math.inf, 1e7, "300", None, True])
async def test_set_up_refuses_a_time_that_no_call_may_take(timeout_s: Any) -> None:
    driver = FailingDriver()
    with pytest.raises(ConfigError, match=r"^timeout_s must be "):
        await apply_schema(store_over(driver), dimensions=384, timeout_s=timeout_s)
    assert driver.sessions == []


async def test_retry_is_logged_by_name_without_values(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="memoria")
    driver = FailingDriver([driver_errors.ServiceUnavailable(SECRET)])
    await store_over(driver).run(QUERY, {"x": SECRET})
    (record,) = caplog.records
    assert record.getMessage() == "retry 1 of test.one after UnavailableError"


async def test_store_belongs_to_the_loop_of_its_first_session() -> None:
    store = store_over(FailingDriver())
    await store.run(QUERY, {"x": 1})

    def elsewhere(query: Query) -> None:
        asyncio.run(store.run(query, {"x": 1}))

    with pytest.raises(ClosedError, match="another event loop"):
        await asyncio.to_thread(elsewhere, QUERY)
    assert await store.run(QUERY, {"x": 1}) == []


async def test_a_session_that_can_not_be_closed_is_an_error_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def closed_with_its_driver(_: FailingSession) -> None:
        raise driver_errors.DriverError("Driver closed")

    monkeypatch.setattr(FailingSession, "close", closed_with_its_driver)
    store = store_over(FailingDriver())
    with pytest.raises(ClosedError, match="Driver closed"):
        await store.run(QUERY, {"x": 1})
    assert store.sessions_in_use == 0


@pytest.mark.parametrize("error", [driver_errors.SessionExpired("garbage"), KeyError("x")])
async def test_a_session_that_fails_to_close_gives_up_its_connection(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(_: FailingSession) -> None:
        raise error

    dropped: list[FailingSession] = []
    monkeypatch.setattr(FailingSession, "close", fail)
    monkeypatch.setattr(FailingSession, "cancel", lambda session: dropped.append(session))
    with suppress(UnavailableError):
        await store_over(FailingDriver()).run(QUERY, {"x": 1})
    assert len(dropped) == 1


async def test_who_is_cancelled_while_a_session_closes_leaves_none_half_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closing, let_go = asyncio.Event(), asyncio.Event()

    async def close_until_let_go(_: FailingSession) -> None:
        closing.set()
        await let_go.wait()

    monkeypatch.setattr(FailingSession, "close", close_until_let_go)
    monkeypatch.setattr(FailingSession, "cancel", lambda _: let_go.set())
    store = store_over(FailingDriver())
    caller = asyncio.create_task(store.run(QUERY, {"x": 1}))
    await closing.wait()
    caller.cancel()
    await asyncio.wait([caller], timeout=60)
    assert caller.cancelled()
    assert let_go.is_set(), "its connection would stay in use"
    assert store.sessions_in_use == 0


async def test_twice_as_many_recalls_may_begin_as_are_at_work() -> None:
    store = store_over(FailingDriver(), StoreConfig(max_recalls=2))
    until = asyncio.get_running_loop().time()
    for limiter, places in ((store.line, 4), (store.recalls, 2)):
        async with AsyncExitStack() as stack:
            for _ in range(places):
                await stack.enter_async_context(limiter.turn(until))
            with pytest.raises(OverloadedError, match=f"no turn for a recall.*: {places} at work"):
                await stack.enter_async_context(limiter.turn(until))


async def test_sessions_are_given_in_the_order_of_asking() -> None:
    store = store_over(FailingDriver(delay_s=0.002), StoreConfig(max_sessions=2))
    served: list[int] = []

    async def caller(number: int) -> None:
        async with store.session() as session:
            served.append(number)
            await session.run(QUERY, {"x": number})

    await asyncio.gather(*(caller(number) for number in range(50)))
    assert served == list(range(50))
    assert store.sessions_in_use == 0


@without_waiting
async def test_caller_without_a_session_in_time_is_told_that_there_is_no_room() -> None:
    store = store_over(FailingDriver(), StoreConfig(max_sessions=1))
    now = asyncio.get_running_loop().time()
    async with store.session():
        with pytest.raises(OverloadedError, match="no turn for a session"):
            await store.run(QUERY, {"x": 1}, until=now + 0.05)
    assert await store.run(QUERY, {"x": 1}) == []
