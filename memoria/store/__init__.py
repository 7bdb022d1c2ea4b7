"""Access to the database: drivers, sessions, deadlines, retries, and memoria's own errors.

In: a query and its parameters. Out: the records of the result, or one of memoria's errors.
No other room knows the exceptions of the driver.
"""

from memoria.store.doubt import with_certainty
from memoria.store.driver import Auth, Target, open_driver
from memoria.store.exchange import Records, Transaction, Work
from memoria.store.facts import ServerFacts
from memoria.store.faults import translate
from memoria.store.pool import Store, StoreOrDriver, store_of, writable_store_of
from memoria.store.session import Call, Session

__all__ = [
    "Auth",
    "Call",
    "Records",
    "ServerFacts",
    "Session",
    "Store",
    "StoreOrDriver",
    "Target",
    "Transaction",
    "Work",
    "open_driver",
    "store_of",
    "translate",
    "with_certainty",
    "writable_store_of",
]
