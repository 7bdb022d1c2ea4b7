"""Examinations with fewer plans, which the server makes again after any change of an index."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from memoria.doctor import Finding
from memoria.store.queries import load

# A scan of them is an error or a warning; without its index the last can't be planned at all.
FEW_QUERIES = ("strategies.level", "seeds.text", "ingest.memories", "seeds.vector_search")


@contextmanager
def past_plans() -> Iterator[None]:
    """Leave out the plans: the server makes each again after any change of an index."""

    async def none(_: object) -> list[Finding]:
        return [Finding(check="plans.left_out", severity="ok", message="left out")]

    with pytest.MonkeyPatch.context() as patch:
        # By its name in the table of modules: the package has a function of the same name.
        patch.setattr(sys.modules["memoria.doctor.examine"], "check_plans", none)
        yield


@contextmanager
def few_plans(names: Sequence[str] = FEW_QUERIES) -> Iterator[None]:
    """Check the plans of some queries, by default of each kind that the doctor tells apart."""
    few = [load(name) for name in names]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoria.doctor.plans.shipped", lambda: few)
        yield
