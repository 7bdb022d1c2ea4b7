"""Read and write mappings as TOML, with messages that name the line.

In: a file, or its text. Out: a `GraphMapping`. Touches the file.

The reader of TOML does not tell where a value stands, so the lines are looked for in the text: a
mapping has one level of tables, each key on a line of its own.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from os import PathLike
from pathlib import Path
from typing import Any

from memoria._support.wording import kind_of
from memoria.errors import MappingError
from memoria.mapping.model import EdgeMapping, GraphMapping, NodeMapping, WeightOf

_HEADER = re.compile(r"\s*\[\[\s*(nodes|edges)\s*\]\]")
_KEY = re.compile(r"\s*([A-Za-z_]+)(?:\s*=|\.)")
_KINDS: Mapping[str, type] = {"nodes": NodeMapping, "edges": EdgeMapping}
_TOP = ("name", "properties")
_MAX_BYTES = 1_000_000


def load_mapping(path: str | PathLike[str]) -> GraphMapping:
    """Read a mapping from a TOML file.

    Raises
    ------
    MappingError
        The file can't be read, or does not say a mapping; the message names the line.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise MappingError(f"{file} is too large for a mapping: is it another file?")
        text = file.read_text(encoding="utf-8")
    except OSError as exc:
        raise MappingError(f"the mapping {file} can't be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise MappingError(f"the mapping {file} is not UTF-8 text") from exc
    return parse_mapping(text, str(file))


def parse_mapping(text: str, name: str) -> GraphMapping:
    """Read a mapping from the text of a TOML file called ``name``; see `load_mapping`."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise MappingError(f"{name} is not TOML: {exc}") from exc
    except RecursionError as exc:
        raise MappingError(f"{name} is not a mapping: it is nested too deep") from exc
    places = {key: f"{name}, line {line}" for key, line in _lines(text)}

    def at(key: str) -> str:
        return f"{places.get(key, name)}: "

    for key in given:
        if key not in (*_TOP, *_KINDS):
            raise MappingError(f"{at(key)}{_unknown(key, (*_TOP, *_KINDS))}", field=key)
    parts = {}
    for part, kind in _KINDS.items():
        rows = given.get(part, [])
        if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
            raise MappingError(
                f"{at(part)}a mapping needs at least one [[{part}]] with the lines of a "
                f"{kind.__name__}",
                field=part,
            )
        parts[part] = [_made(kind, row, f"{part}.{n}", at) for n, row in enumerate(rows)]
    try:
        return GraphMapping(
            nodes=tuple(parts["nodes"]),
            edges=tuple(parts["edges"]),
            name=given.get("name", Path(name).stem),
            properties=given.get("properties", ()),
            places=places,
        )
    except MappingError as exc:
        key = exc.field if exc.field in _TOP else ""
        prefix = at(key) if key else ""
        raise MappingError(f"{prefix}{exc}", field=exc.field) from None


def _made(kind: type, row: Mapping[str, Any], place: str, at: Any) -> Any:
    known = {each.name: each for each in fields(kind)}
    for key in row:
        if key not in known:
            raise MappingError(f"{at(f'{place}.{key}')}{_unknown(key, known)}", field=key)
    for name, each in known.items():
        if each.default is MISSING and name not in row:
            raise MappingError(f"{at(place)}{name} is missing", field=name)
    values = dict(row)
    try:
        if isinstance(values.get("label"), list):
            values["label"] = tuple(values["label"])
        if kind is EdgeMapping and isinstance(values.get("weight"), dict):
            values["weight"] = _weight(values["weight"])
        return kind(**values)
    except MappingError as exc:
        raise MappingError(f"{at(f'{place}.{exc.field}')}{exc}", field=exc.field) from None


def _weight(row: Mapping[str, Any]) -> WeightOf:
    known = [each.name for each in fields(WeightOf)]
    for key in row:
        if key not in known:
            raise MappingError(_unknown(key, known), field="weight")
    if "property" not in row:
        raise MappingError("weight needs a property to be made of, or a number", field="weight")
    return WeightOf(**row)


def _unknown(key: str, known: Any) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    meant = f"did you mean {close[0]}?" if close else f"it may be {', '.join(known)}"
    return f"{key} is not a field of a mapping here: {meant}"


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield where each key stands: ``nodes.0.key`` -> its line, from 1."""
    counts = dict.fromkeys(_KINDS, 0)
    place = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _HEADER.match(line):
            part = match[1]
            place = f"{part}.{counts[part]}"
            counts[part] += 1
            yield place, number
            if counts[part] == 1:
                yield part, number
        elif match := _KEY.match(line):
            yield (f"{place}.{match[1]}" if place else match[1]), number


def toml_of(mapping: GraphMapping) -> str:
    """Write a mapping as TOML; values that are the default are left out."""
    lines = [f"name = {_value(mapping.name)}"]
    if mapping.properties:
        lines.append(f"properties = {_value(mapping.properties)}")
    for part, rows in (("nodes", mapping.nodes), ("edges", mapping.edges)):
        for row in rows:
            lines += ["", f"[[{part}]]"]
            lines += [
                f"{each.name} = {_value(_alone(getattr(row, each.name)))}"
                for each in fields(row)
                if getattr(row, each.name) != each.default
            ]
    return "\n".join(lines) + "\n"


def _alone(value: object) -> object:
    """Return the one label of a node as it is."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _value(value: object) -> str:
    if isinstance(value, WeightOf):
        given = [e for e in fields(value) if getattr(value, e.name) != e.default]
        return f"{{ {', '.join(f'{e.name} = {_value(getattr(value, e.name))}' for e in given)} }}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)  # a basic string of TOML is one of JSON


def named_mapping(name: str) -> GraphMapping:
    """Return the mapping of a known graph."""
    if not isinstance(name, str) or name not in names_of_mappings():
        got = name if isinstance(name, str) else kind_of(name)
        raise MappingError(
            f"there is no mapping named {got!r}: there are {', '.join(names_of_mappings())}. "
            "GraphMapping.load reads one of your own from a file"
        )
    text = _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return parse_mapping(text, f"{name}.toml")


def text_of_named(name: str) -> str:
    """Return the file of a known graph as it is, with its comments."""
    named_mapping(name)
    return (_folder() / f"{name}.toml").read_text(encoding="utf-8")


def names_of_mappings() -> tuple[str, ...]:
    """Return the names of the known graphs, sorted."""
    found = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def _folder() -> Path:
    return Path(__file__).parent / "graphs"
