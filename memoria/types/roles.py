"""What the relations of a scope mean, in the few respects in which recalls tell them apart.

In: names of relations. Out: `RelationRoles`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from memoria._support.checks import check_strings
from memoria.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRoles:
    """Which relations have a meaning that recalls act on.

    A role holds names of relations: whole names, in any case. None: nothing is declared, and
    recalls go by what is known of relations in general. Empty: no relation has this role.

    Attributes
    ----------
    need
        The source of such an edge can't be used without its target, as a tool that calls another,
        or a rule that rests on a definition. What a likely memory needs becomes likely, too.
    order
        The two ends of such an edge stand next to each other in one text or talk. What stands among
        likely memories becomes likely, too.

    Raises
    ------
    InvalidInputError
        A role is not a list of strings, a name is empty, or one name has two roles.
    """

    need: tuple[str, ...] | None = None
    order: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check the names, and keep each once, in lower case."""
        for role in ROLE_NAMES:
            if (given := getattr(self, role)) is not None:
                object.__setattr__(self, role, _names(given, role))
        if both := {*(self.need or ())} & {*(self.order or ())}:
            raise InvalidInputError(
                f"{min(both)!r} is both a need and an order: give a relation one role",
                field="order",
            )


#: The names of the roles.
ROLE_NAMES = tuple(field.name for field in fields(RelationRoles))


def _names(given: Iterable[str], role: str) -> tuple[str, ...]:
    names = tuple(sorted({name.lower() for name in check_strings(given, role)}))
    if "" in names:
        raise InvalidInputError(f"{role} has an empty name", field=role)
    return names


def usual_names(*spoken: str) -> tuple[str, ...]:
    """Return the ways in which graphs write relations, in lower case, from their words.

    >>> usual_names("depends on", "needs")
    ('depends on', 'depends-on', 'depends_on', 'dependson', 'needs')
    """
    return tuple(
        sorted(
            {name.replace(" ", joint) for name in spoken for joint in "_ -"}
            | {name.replace(" ", "") for name in spoken}
        )
    )
