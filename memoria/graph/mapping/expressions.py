"""Write the expressions of a mapped graph: names in quotes, keys, texts, weights.

In: parts of a mapping. Out: pieces of Cypher. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memoria.graph.mapping.parts import ELEMENT_ID, EdgeMapping, NodeMapping, WeightOf

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_OWN_NAMES = re.compile(r":(?:Memory|RELATES)\b")

# A text that begins with a date, as a text of Cypher.
_ISO_TIME = r"'\\d{4}-\\d\\d-\\d\\d.*'"


def quoted(name: str) -> str:
    r"""Quote a name of Neo4j's for a query.

    Before it looks for quotes, Cypher reads ``\u`` and four digits as one character. In a name that
    could be the end of the quote, so each backslash is written in that way.

    >>> print(quoted("a `b`"), quoted(r"\u0060"))
    `a ``b``` `\u005Cu0060`
    """
    escaped = _in_one_line(name.replace("\\", r"\u005C")).replace("`", "``")
    return f"`{escaped}`"


def literal(value: str) -> str:
    r"""Write a text as Cypher does.

    >>> print(literal("it's"))
    'it\'s'
    """
    escaped = _in_one_line(value.replace("\\", "\\\\").replace("'", "\\'"))
    return f"'{escaped}'"


def _in_one_line(text: str) -> str:
    r"""Write what ends a line as ``\u`` and four digits: queries are put together from lines."""
    return _CONTROL.sub(lambda found: rf"\u{ord(found[0]):04X}", text)


def either(names: Iterable[str]) -> str:
    """Quote names of labels or types, of which a node or relationship has one.

    >>> either(["A", "B c"])
    '`A`|`B c`'
    """
    return "|".join(map(quoted, dict.fromkeys(names)))


def with_names(lines: Iterable[str], names: str) -> list[str]:
    """Replace memoria's label or type in the lines of a fragment by names of another graph.

    >>> with_names(["(m:Memory)"], either(["A", "B"]))
    ['(m:`A`|`B`)']
    """
    return [_OWN_NAMES.sub(lambda _: f":{names}", line) for line in lines]


def choice(cases: Sequence[tuple[str, str]]) -> str:
    """Choose by the first condition that is true; without a choice, the value alone."""
    if len({value for _, value in cases}) == 1:
        return cases[0][1]
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases)
    return f"(CASE {whens} END)"


def property_of(variable: str, name: str | None) -> str:
    """Name a property; null if there is none."""
    return "(null)" if name is None else f"{variable}.{quoted(name)}"


def key_of(m: str, node: NodeMapping) -> str:
    """Name the key of a node."""
    return f"elementId({m})" if node.key == ELEMENT_ID else f"{m}.{quoted(node.key)}"


def text_of_node(m: str, names: Sequence[str]) -> str:
    """Join the properties that are there; the members of a list are joined by semicolons."""
    pieces = []
    for name in names:
        value = f"{m}.{quoted(name)}"
        members = (
            f"reduce(all = '', each IN {value} | all + '; ' + coalesce(toStringOrNull(each), ''))"
        )
        pieces.append(
            f"CASE WHEN {value} IS :: LIST<ANY> NOT NULL THEN substring({members}, 2) "
            f"ELSE toStringOrNull({value}) END"
        )
    if not pieces:
        return "null"
    if len(pieces) == 1:
        return f"({pieces[0]})"
    there = f"[piece IN [{', '.join(pieces)}] WHERE trim(piece) <> '']"
    return f"substring(reduce(text = '', piece IN {there} | text + ': ' + piece), 2)"


def relation_of(r: str, edge: EdgeMapping) -> str:
    """Say what an edge means: its fact, else its relation, else its type."""
    said = [name for name in (edge.fact, edge.relation) if name is not None]
    if not said:
        return f"type({r})"
    values = (property_of(r, name) for name in said)
    texts = (f"CASE WHEN trim(toStringOrNull({each})) <> '' THEN {each} END" for each in values)
    return f"coalesce({', '.join([*texts, f'type({r})'])})"


def tags_of(r: str, edge: EdgeMapping) -> str:
    """Name the tags of an edge: its type, if questions may ask for it; else a property."""
    return f"[type({r})]" if edge.asked_as else property_of(r, edge.tags)


def is_reached(value: str, at: str) -> str:
    """Whether a time has come, null if it is not a time; texts in ISO 8601 are read as UTC."""
    text = f"replace(left({value}, 19), ' ', 'T')"
    return (
        f"CASE WHEN {value} IS :: STRING NOT NULL THEN CASE WHEN {value} =~ {_ISO_TIME} "
        f"THEN {text} <= left(toString({at}), 19) END ELSE {zoned(value)} <= {at} END"
    )


def zoned(value: str) -> str:
    """Read a time without a zone as UTC: Cypher compares it with no other time."""
    in_utc = f"datetime({{datetime: {value}, timezone: 'Z'}})"
    return f"(CASE WHEN {value} IS :: LOCAL DATETIME NOT NULL THEN {in_utc} ELSE {value} END)"


def weight_of(r: str, weight: float | WeightOf) -> str:
    """Write a weight, by the arithmetic that the tests repeat in Python."""
    if not isinstance(weight, WeightOf):
        return repr(float(weight))
    value = property_of(r, weight.property)
    if weight.half is None and (weight.low, weight.high) == (0.0, 1.0):
        return value
    number = f"toFloat({value})"
    if weight.half is None:
        low, high = repr(float(weight.low)), repr(float(weight.high))
        made = f"({number} - {low}) / ({high} - {low})"
    else:
        made = f"{number} / ({number} + {float(weight.half)!r})"
    is_number = f"{value} IS :: INTEGER NOT NULL | FLOAT NOT NULL"
    positive = f" AND {value} >= 0" if weight.half is not None else ""
    return f"CASE WHEN {is_number}{positive} THEN {made} ELSE {value} END"


def hits_of(
    m: str,
    score: str,
    calls: Sequence[str],
    facts: Sequence[Sequence[str]],
    *,
    comparable: bool = False,
) -> list[str]:
    """Ask one index, or several; scores of several are divided by the best of each index.

    Parameters
    ----------
    facts
        Lines that ask an index on relationships: ``score`` of each fact, whether it ``holds``, and
        the ``places`` to which it leads.
    comparable
        Whether the scores of several indexes are on one scale.
    """
    if len(calls) == 1 and not facts:
        return [calls[0], f"YIELD node AS {m}, score AS {score}"]
    lines = ["CALL () {"]
    for number, call in enumerate(calls):
        lines += ["UNION ALL"] * (number > 0)
        lines += [f"  {call}", "  YIELD node, score"]
        if comparable:
            lines.append(f"  RETURN node AS {m}, score AS {score}")
        else:
            lines += [
                "  WITH collect([node, score]) AS hits, max(score) AS best",
                "  UNWIND hits AS hit",
                f"  RETURN hit[0] AS {m}, hit[1] / best AS {score}",
            ]
    for number, fact in enumerate(facts, start=len(calls)):
        lines += ["UNION ALL"] * (number > 0)
        lines += [f"  {line}" for line in fact]
        if comparable:
            lines += ["  UNWIND places AS node", f"  RETURN node AS {m}, score AS {score}"]
        else:
            lines += [
                "  WITH collect([places, score]) AS hits,",
                "    max(CASE WHEN holds THEN score END) AS best",
                "  UNWIND hits AS hit",
                "  UNWIND hit[0] AS node",
                f"  RETURN node AS {m}, hit[1] / coalesce(best, 1.0) AS {score}",
            ]
    return [*lines, "}"]
