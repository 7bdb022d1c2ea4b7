"""Bookmarks that sessions share, and which failures mean that a cluster is not ready."""

from __future__ import annotations

import gc

import neo4j
from neo4j import exceptions as driver_errors

from memoria.store.faults import is_unsettled, translate
from memoria.store.pool import Bookmarks, bookmarks_of
from tests.for_each import for_each


async def test_a_new_bookmark_takes_the_place_of_those_that_were_sent_and_of_no_other() -> None:
    bookmarks = Bookmarks()
    await bookmarks.update_bookmarks([], ["a"])
    sent = await bookmarks.get_bookmarks()
    bookmarks.add(["theirs"])  # while the query runs
    await bookmarks.update_bookmarks(sent, ["b"])
    assert await bookmarks.get_bookmarks() == {"b", "theirs"}


async def test_an_answer_without_a_bookmark_changes_nothing() -> None:
    bookmarks = Bookmarks()
    bookmarks.add(["a"])
    await bookmarks.update_bookmarks(["a"], [])
    assert bookmarks.known == {"a"}


async def test_a_bookmark_that_is_no_string_changes_nothing() -> None:
    bookmarks = Bookmarks()
    bookmarks.add(["a"])
    await bookmarks.update_bookmarks(["a"], [5])  # type: ignore[list-item]  # a wrong message
    assert bookmarks.known == {"a"}


async def test_bookmarks_belong_to_a_driver_and_a_database_and_end_with_the_driver() -> None:
    first = neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1")
    second = neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1")
    kept = bookmarks_of(first, "a")
    assert bookmarks_of(first, "a") is kept
    assert bookmarks_of(first, "b") is not kept
    assert bookmarks_of(second, "a") is not kept
    await first.close()
    await second.close()
    kept.add(["old"])
    del first, kept
    gc.collect()
    third = neo4j.AsyncGraphDatabase.driver("bolt://127.0.0.1:1")
    assert not bookmarks_of(third, "a").known
    await third.close()


def _of_server(code: str) -> driver_errors.Neo4jError:
    made: driver_errors.Neo4jError = driver_errors.Neo4jError._hydrate_neo4j(code=code, message="")
    return made


@for_each(
    "error, unsettled",
    [
        (driver_errors.NotALeader("no"), True),
        (driver_errors.ForbiddenOnReadOnlyDatabase("no"), True),
        (driver_errors.WriteServiceUnavailable("no"), True),
        (driver_errors.ReadServiceUnavailable("no"), False),
        (driver_errors.ServiceUnavailable("no"), False),
        (driver_errors.TransientError("no"), False),
        (_of_server("Neo.TransientError.Transaction.BookmarkTimeout"), True),
        (_of_server("Neo.TransientError.Transaction.DeadlockDetected"), False),
        (_of_server("Neo.ClientError.Cluster.NotALeader"), True),
    ],
)
def test_several_errors_say_that_the_members_are_not_ready(
    error: Exception, unsettled: bool
) -> None:
    wrapped = driver_errors.SessionExpired("no connection")
    wrapped.__cause__ = error
    for each in (error, wrapped):
        found = translate(each)
        found.__cause__ = each
        assert is_unsettled(found) is unsettled
        assert found.retryable
    assert not is_unsettled(None)
