"""The roles of relations: the meanings of relations that recalls act on.

In: names of relations. Out: `RelationRoles`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from memoria._support.checks import check_strings
from memoria.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRoles:
    """The roles of relations: which relations say a need, and which say an order.

    A role is a list of relation names: whole names, in upper or lower case. None: the role is not
    declared, and recalls use general rules instead. Empty: no relation has this role.

    Attributes
    ----------
    need
        Relations whose source can't be used without the target, such as a tool that calls another,
        or a rule that depends on a definition. What a likely memory needs becomes likely, too.
    order
        Relations between neighbours in one text or talk. The neighbours of likely memories become
        likely, too.

    Raises
    ------
    InvalidInputError
        A role is not a list of strings, a name is empty, or one name has two roles.
    """

    need: tuple[str, ...] | None = None
    order: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check the names and store each once, in lower case."""
        for role in ROLE_NAMES:
            if (given := getattr(self, role)) is not None:
                object.__setattr__(self, role, _names(given, role))
        if both := {*(self.need or ())} & {*(self.order or ())}:
            raise InvalidInputError(
                f"{min(both)!r} is both a need and an order: give a relation one role",
                field="order",
            )


#: Names of the roles.
ROLE_NAMES = tuple(field.name for field in fields(RelationRoles))


def _names(given: Iterable[str], role: str) -> tuple[str, ...]:
    names = tuple(sorted({name.lower() for name in check_strings(given, role)}))
    if "" in names:
        raise InvalidInputError(f"{role} has an empty name", field=role)
    return names


def usual_names(*spoken: str) -> tuple[str, ...]:
    """Return the usual spellings of relation names, in lower case, from their words.

    >>> usual_names("depends on", "needs")
    ('depends on', 'depends-on', 'depends_on', 'dependson', 'needs')
    """
    return tuple(
        sorted(
            {name.replace(" ", joint) for name in spoken for joint in "_ -"}
            | {name.replace(" ", "") for name in spoken}
        )
    )
