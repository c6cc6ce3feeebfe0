"""JSON text as models and providers write it, read strictly (RFC 8259) and without surprises.

msgspec reads almost everything; what it refuses though the grammar allows it (a lone surrogate escape, a
number beyond a double) is read by the standard library.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec


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
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise ValueError(reason) from None


def is_json(text: str) -> bool:
    """Whether `text` is one whole JSON value."""
    try:
        loads(text)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def compact(raw: msgspec.Raw | bytes | str) -> str:
    """The same JSON document without insignificant white space; anything else as it is."""
    text = raw if isinstance(raw, str) else bytes(raw).decode()
    try:
        return msgspec.json.format(text, indent=-1)
    except (msgspec.DecodeError, RecursionError):
        return text
