"""Read and declare the roles of a scope's relations.

In: a scope, `RelationRoles`. Out: `RelationRoles`. Writes one node per scope, on `declare_roles`.
Queries: ``graph.roles``, ``graph.declare_roles``.
"""

from __future__ import annotations

from memoria.graph.vocabulary import roles_key
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import RelationRoles


async def declared_roles(store: Store, scope: str) -> RelationRoles:
    """Return the roles that a scope declares; an undeclared role is None."""
    row = (await store.run(load("graph.roles"), {"key": roles_key(scope)}))[0]
    return RelationRoles(need=row["need"], order=row["order"])


async def declare_roles(store: Store, scope: str, roles: RelationRoles) -> None:
    """Declare the roles of a scope's relations; replaces all earlier declarations."""
    parameters = {"key": roles_key(scope), "need": roles.need, "order": roles.order, "scope": scope}
    await store.run(load("graph.declare_roles"), parameters)
