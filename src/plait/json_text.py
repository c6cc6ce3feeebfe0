"""JSON text as models and providers write it, read strictly (RFC 8259) and without surprises.

msgspec reads almost everything; what it refuses though the grammar allows it (a lone surrogate escape, a
number beyond a double) is read by the standard library.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

PORTABLE_DEPTH = 180
"""How deep data in a message may be nested: pydantic reads JSON of 200 levels, those around it included."""

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def loads(text: str) -> Any:
    """The value of one JSON document.

    Raises:
        ValueError: `text` is not one whole JSON value. NaN and infinities are not JSON, nor is a document
            nested deeper than the interpreter's recursion limit.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        reason = str(error)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise ValueError(reason) from None


def loads_tolerant(text: str) -> Any:
    """As `loads`, but NaN and infinities are null: some servers write them (log probabilities)."""
    try:
        return loads(text)
    except ValueError as error:
        if "NaN" not in text and "Infinity" not in text:
            raise
        try:
            return json.loads(text, parse_constant=lambda _constant: None, parse_int=_integer)
        except (ValueError, RecursionError):
            raise error from None


def is_json(text: str) -> bool:
    """Whether `text` is one whole JSON value."""
    try:
        loads(text)
    except ValueError:
        return False
    return True


def is_cut(text: str) -> bool:
    """Whether `text` is not JSON but could become JSON if more of it came: its end is missing."""
    try:
        loads(text)
    except ValueError as error:
        if "truncated" in str(error):
            return True
        # What is read with tolerance (NaN, 1e400), or is only half a number, is no reason to call it broken.
        if "number" in str(error).lower() or "invalid character" in str(error):
            rest = _STRING.sub("", text)
            return '"' in rest or rest.count("{") + rest.count("[") > rest.count("}") + rest.count("]")
    return False


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _integer(digits: str) -> int | float:
    # Python refuses to read integers of more than 4,300 digits: they are read as doubles, which is infinity.
    return int(digits) if len(digits) <= 4300 else float(digits)


def is_deeper(value: Any, limit: int) -> bool:
    """Whether JSON data has arrays and objects in each other more than `limit` times."""
    level = [value]
    for _ in range(limit + 1):
        nodes = [node for node in level if isinstance(node, _NESTED)]
        if not nodes:
            return False
        level = [item for node in nodes for item in (node.values() if isinstance(node, dict) else node)]
    return True


_NESTED = (dict, list)


def is_portable(value: Any) -> bool:
    """Whether JSON data can be written as JSON that any reader takes.

    That is without numbers beyond a double, halves of surrogate pairs, and more than `PORTABLE_DEPTH` levels.
    """
    if is_deeper(value, PORTABLE_DEPTH):
        return False
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def compact(raw: msgspec.Raw | bytes | str) -> str:
    """The same JSON document without insignificant white space; anything else as it is."""
    text = raw if isinstance(raw, str) else bytes(raw).decode()
    try:
        return msgspec.json.format(text, indent=-1)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def object_text(raw: msgspec.Raw) -> str:
    """The text of what should be a JSON object: as `compact`; a string in its place is that text itself."""
    text = compact(raw)
    if not text.startswith('"'):
        return text
    try:
        value = loads_tolerant(text)
    except ValueError:
        return text
    if not isinstance(value, str):
        return text
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


ABSENT = msgspec.Raw()
"""Default of a field that is kept as raw JSON. (Not None: of `Raw | None` msgspec reads null only.)"""


def given(raw: msgspec.Raw) -> msgspec.Raw | None:
    """The raw value of a field, None where it was absent or null."""
    return None if raw is ABSENT or bytes(raw) in (b"", b"null") else raw
