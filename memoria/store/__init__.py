"""The way to the database: drivers, sessions, deadlines, retry, and errors in our terms.

In: a query and its parameters. Out: its records, or one of memoria's errors.
The only place that knows the driver's exceptions.
"""

from memoria.store.driver import Auth, Target, open_driver
from memoria.store.facts import ServerFacts
from memoria.store.faults import translate
from memoria.store.pool import Store, StoreOrDriver, store_of
from memoria.store.rows import Rows
from memoria.store.session import Session

__all__ = [
    "Auth",
    "Rows",
    "ServerFacts",
    "Session",
    "Store",
    "StoreOrDriver",
    "Target",
    "open_driver",
    "store_of",
    "translate",
]
