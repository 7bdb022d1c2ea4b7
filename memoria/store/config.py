"""Settings of the access to the database: one frozen object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memoria._support.settings_check import SettingsCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """Settings of the access to the database; they hold for every user of one `Store`.

    Attributes
    ----------
    connect_timeout_s
        Time to open a connection; seconds, > 0.
    query_timeout_s
        Limit of one query with its retries, also at the server; seconds, > 0. The embedder of a
        write has as long, and one second more for each text.
    long_query_timeout_s
        The same limit for queries that read a whole scope or more, or write whole texts:
        statistics, forgetting by a filter, memories and relations, conversations, documents,
        re-embedding, datasets; seconds, > 0. A longer ``query_timeout_s`` applies to them as well.
    max_retries
        Retries of a query that failed for a temporary reason; 0 to 10. While a cluster elects a
        leader, or a member of it lags behind, queries are retried until their time is up, unless
        this is 0.
    retry_base_s
        Wait before the first retry, doubled for each further retry up to 1 s, with jitter; seconds,
        > 0.
    max_sessions
        Sessions in use at once, 1 to 10,000; not more than the driver's pool has connections.
    max_recalls
        Recalls at work at once, in all scopes together, 1 to 10,000. Further recalls wait in line.
        A value above the number of processors (server and client together) slows every recall.
    transactions
        ``auto``: auto-commit transactions with memoria's own retry, one round trip for each query.
        ``managed``: the driver's ``execute_read`` and ``execute_write`` with the driver's retry
        policy, three round trips for each query.
    """

    connect_timeout_s: float = 5.0
    query_timeout_s: float = 10.0
    long_query_timeout_s: float = 60.0
    max_retries: int = 3
    retry_base_s: float = 0.05
    max_sessions: int = 50
    max_recalls: int = 8
    transactions: Literal["auto", "managed"] = "auto"

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        limits = ("connect_timeout_s", "query_timeout_s", "long_query_timeout_s")
        for name in (*limits, "retry_base_s"):
            check.seconds(name)
        check.whole("max_retries", 0, 10)
        check.whole("max_sessions", 1, 10_000)
        check.whole("max_recalls", 1, 10_000)
        check.one_of("transactions", ("auto", "managed"))
