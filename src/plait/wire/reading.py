"""One JSON document -> one typed wire struct, and a count of whatever the struct did not expect.

The usual document is decoded straight into its struct (msgspec skips unknown fields without building
them). One that does not fit is read again field by field: what can be read is read, the rest is counted
in `unknown` by its path. So a provider's surprise costs time, never the stream. A struct that forbids unknown
fields is read the same way, and gets those fields in its own field `other` (named `*` on the wire).

Keys of `unknown`: `event:<type>` an event no struct reads, `field:<path>` a field no struct reads (only
with `count_fields`), `type:<path>=<what came>` a known field with an unexpected JSON type; parsers add
their own, such as `finish_reason:<value>` and `block:<type>`. When fields are counted, the first value of
each key of these three kinds is kept as well: see `Counts`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from plait import json_text

DONE = "[DONE]"
"""What some servers send as the data of a last event."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_TOO_DEEP = "JSON that is nested too deeply"


UNREAD = (msgspec.DecodeError, UnicodeEncodeError, RecursionError)
"""What decoding raises for a document that must be read field by field, or is no document."""


class NotAnObject(Exception):
    """The document is not JSON, or not an object where the wire has objects. The text says what came."""


class _Misfit(Exception):
    pass


class Counts(Counter[str]):
    """What was not understood, with counts; in `examples` the value that came first, where there is one."""

    def __init__(self, *counts: Any, **more: int) -> None:
        super().__init__(*counts, **more)
        self.examples: dict[str, Any] = {}

    def see(self, key: str, value: Any) -> None:
        """Count this key once more."""
        self[key] += 1
        self.examples.setdefault(key, value)


class Ignored(msgspec.Struct):
    """A document of a kind that is known and says nothing."""


class Reader:
    """Reads documents of one wire.

    Args:
        types: a struct class, or a union of struct classes told apart by their tag
        unknown: where surprises are counted
        ignored: tags of events that are known and carry nothing to read
        count_fields: also count every field that no struct reads (slower: each document is read twice)
        join_halves: documents are pieces of one stream, so half a surrogate pair at the end of a string is
            kept for the same field of a later document
        path: where in the wire's documents these are, for the keys of `unknown`

    Attributes:
        decode: a document's struct, or `Ignored`; raises one of `UNREAD` where `read` is needed
        fast: whether `decode` may be tried; without, a document has more to say than its struct
    """

    def __init__(
        self,
        types: Any,
        unknown: Counter[str],
        *,
        ignored: frozenset[str] = frozenset(),
        count_fields: bool = False,
        join_halves: bool = False,
        path: str = "",
    ) -> None:
        self.decode = _decoder(types, ignored)
        self._types = types
        self._unknown = unknown
        self._ignored = ignored
        self._count_fields = count_fields
        self._join_halves = join_halves
        self._path = path
        self._halves: dict[str, str] = {}
        self.fast = not count_fields

    def read(self, text: str, event: str | None = None) -> Any:
        """The struct of a document; None when no struct reads this kind of document.

        `event` is the SSE event's name, used when the document does not name its own type.

        Raises:
            NotAnObject: the document is not JSON, or not a JSON object
        """
        if self.fast:
            try:
                document = self.decode(text)
            except UNREAD:
                if text.startswith(DONE):
                    raise NotAnObject("the end marker") from None
            else:
                return None if isinstance(document, Ignored) else document
        return self.convert(self.generic(text), event)

    def read_raw(self, raw: msgspec.Raw) -> Any:
        """As `read`, of a field that is kept as raw JSON; an absent one is no object."""
        if self.fast and raw:
            try:
                return self.decode(raw)
            except UNREAD:
                pass
        return self.read(bytes(raw).decode() or "null")

    def read_run(self, texts: Iterator[str]) -> list[Any]:
        """The structs of the next documents, up to the first that needs `read`: that one is taken, too.

        Several at once cost a third less than as many calls of `read`. An ignored document is `Ignored` here.
        """
        documents: list[Any] = []
        if self.fast:
            with suppress(*UNREAD):
                documents.extend(map(self.decode, texts))  # a failure keeps those before it
        else:
            next(texts, None)
        return documents

    def convert(self, document: Any, event: str | None = None) -> Any:
        """The struct of decoded JSON data; as `read`."""
        if not isinstance(document, dict):
            raise NotAnObject(_kind(document))
        node = _node(self._types)
        if isinstance(node, inspect.UnionType):
            structs = _tagged(self._types)
            field, tag = structs[0], document.get(structs[0])
            if not isinstance(tag, str) or tag not in structs[1]:
                if isinstance(tag, str) and tag in self._ignored:
                    return None
                if event in structs[1] and (not isinstance(tag, str) or not tag):
                    document = {**document, field: event}
                    tag = event
                else:
                    what = f"event:{tag[:100]}" if isinstance(tag, str) else f"type:{field}={_kind(tag)}"
                    self._count(what, document)
                    return None
            node = structs[1][tag]
        try:
            return self._fit(document, node, self._path)
        except _Misfit:  # pragma: no cover - an object always fits a struct
            raise NotAnObject(_kind(document)) from None
        except RecursionError:
            raise NotAnObject(_TOO_DEEP) from None

    def _count(self, key: str, value: Any) -> None:
        if isinstance(self._unknown, Counts):
            self._unknown.see(key, value)
        else:
            self._unknown[key] += 1

    def opaque(self, raw: msgspec.Raw) -> Any:
        """The JSON data of a field that is kept as it is, for replay.

        Raises:
            NotAnObject: it is nested too deeply
        """
        try:
            return msgspec.json.decode(raw)
        except (
            msgspec.DecodeError,
            RecursionError,
        ):  # a field that is skipped is not checked in all its depth
            return self.generic(bytes(raw).decode())

    def close(self) -> None:
        """The stream has ended: what was kept back for a later document is counted as lost."""
        if self._halves:
            self._unknown["text:lone surrogate"] += len(self._halves)
            self._halves.clear()

    def generic(self, text: str) -> Any:
        """The JSON data of a document, as `read` sees it before it looks for structs; raises as `read`."""
        try:
            value = json_text.loads_tolerant(text)
        except ValueError as error:
            raise NotAnObject(f"text that is not JSON ({error})") from None
        if self._halves or _SURROGATE.search(text):
            value = self.clean(value)
        return value

    def clean(self, value: Any) -> Any:
        """`value` as Unicode text: half a surrogate pair is kept for a later document or becomes U+FFFD."""
        try:
            value = self._pair(value, "")
        except RecursionError:
            raise NotAnObject(_TOO_DEEP) from None
        self.fast = not self._halves and not self._count_fields
        return value

    def _pair(self, value: Any, path: str) -> Any:
        # A provider that escapes as \ud83d\ude00 may cut the pair over two documents: the half is kept
        # back and joined to the same field of a later one. A half that stays alone becomes U+FFFD.
        if isinstance(value, str):
            if not value:
                return value
            if self._join_halves and not path.endswith(".type"):  # a type is a name, never cut text
                value = self._halves.pop(path, "") + value
                if "\ud800" <= value[-1] <= "\udbff":
                    self._halves[path] = value[-1]
                    value = value[:-1]
            return self._unicode(value)
        if isinstance(value, dict):
            return {self._unicode(key): self._pair(item, f"{path}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._pair(item, path + "[]") for item in value]
        return value

    def _unicode(self, text: str) -> str:
        if _LONE_SURROGATE.search(text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if "\ufffd" in text:
                self._unknown["text:lone surrogate"] += 1
        return text

    def _fit(self, value: Any, node: inspect.Type, path: str) -> Any:
        """`value` as the type `node` describes; raises `_Misfit` where nothing of it can be read."""
        match node:
            case inspect.AnyType():
                return value
            case inspect.RawType():
                return msgspec.Raw(msgspec.json.encode(value))
            case inspect.NoneType() if value is None:
                return None
            case inspect.StructType() if isinstance(value, dict):
                return self._fit_struct(value, node, path)
            case inspect.ListType(item_type=item_type) if isinstance(value, list):
                fitted = [self._fit_or_none(item, item_type, path + "[]") for item in value]
                return [item for ok, item in fitted if ok]
            case inspect.DictType(value_type=value_type) if isinstance(value, dict):
                pairs = {key: self._fit_or_none(item, value_type, path + ".*") for key, item in value.items()}
                return {key: item for key, (ok, item) in pairs.items() if ok}
            case inspect.StrType() if isinstance(value, str):
                return value
            case inspect.BoolType() if isinstance(value, bool):
                return value
            case inspect.IntType() if isinstance(value, int) and not isinstance(value, bool):
                return value
            case inspect.FloatType() if isinstance(value, int | float) and not isinstance(value, bool):
                return _double(value)
            case inspect.UnionType(types=types):
                return self._fit_union(value, types, path)
        return self._coerce(value, node, path)

    def _fit_or_none(self, value: Any, node: inspect.Type, path: str) -> tuple[bool, Any]:
        try:
            return True, self._fit(value, node, path)
        except _Misfit:
            self._count(f"type:{path}={_kind(value)}", value)
            return False, None

    def _fit_struct(self, value: dict[str, Any], node: inspect.StructType, path: str) -> Any:
        fields: dict[str, Any] = {}
        known = {node.tag_field}
        for field in node.fields:
            known.add(field.encode_name)
            if field.encode_name in value:
                here = f"{path}.{field.encode_name}" if path else field.encode_name
                ok, fitted = self._fit_or_none(value[field.encode_name], field.type, here)
                if ok:
                    fields[field.name] = fitted
        if node.forbid_unknown_fields and value.keys() - known:
            fields["other"] = {key: item for key, item in value.items() if key not in known}
        if self._count_fields:
            for key in value.keys() - known:
                name = key[:100]
                self._count(f"field:{path}.{name}" if path else f"field:{name}", value[key])
        return node.cls(**fields)

    def _fit_union(self, value: Any, types: tuple[inspect.Type, ...], path: str) -> Any:
        for exact in (True, False):
            for node in types:
                if exact and not _accepts(node, value):
                    continue
                try:
                    return self._fit(value, node, path)
                except _Misfit:
                    continue
        raise _Misfit

    def _coerce(self, value: Any, node: inspect.Type, path: str) -> Any:
        """A scalar written as its neighbour: a number where text was, a numeral where a number was."""
        read: Any = None
        if not isinstance(value, bool):
            if isinstance(node, inspect.StrType) and isinstance(value, int | float):
                read = json.dumps(value)
            elif isinstance(node, inspect.IntType) and isinstance(value, int | float | str):
                read = _whole_number(value)
        if read is None:
            raise _Misfit
        self._count(f"type:{path}={_kind(value)}", value)
        return read


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond a double
        return math.inf if value > 0 else -math.inf


def _whole_number(value: float | str) -> int | None:
    try:
        number = float(value)
        return int(number) if number.is_integer() else None
    except (ValueError, OverflowError):
        return None


def _accepts(node: inspect.Type, value: Any) -> bool:
    match node:
        case inspect.NoneType():
            return value is None
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.ListType():
            return isinstance(value, list)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
    return True


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for type_, name in ((dict, "object"), (list, "array"), (str, "string")):
        if isinstance(value, type_):
            return name
    return "number"


@cache
def _decoder(types: Any, ignored: frozenset[str]) -> Callable[[str | bytes | msgspec.Raw], Any]:
    """What decodes a document. An ignored one has a class, too: to msgspec an unknown tag is a slow error."""
    if ignored:
        field, structs = _tagged(types)
        for number, tag in enumerate(sorted(ignored - structs.keys())):
            types |= msgspec.defstruct(f"Ignored{number}", [], bases=(Ignored,), tag_field=field, tag=tag)
    return msgspec.json.Decoder(types).decode


@cache
def _node(types: Any) -> inspect.Type:
    return inspect.type_info(types)


@cache
def _tagged(types: Any) -> tuple[str, dict[str, inspect.StructType]]:
    """The tag field, and the struct of each tag, of a union of tagged structs."""
    node = _node(types)
    assert isinstance(node, inspect.UnionType)
    structs = [item for item in node.types if isinstance(item, inspect.StructType)]
    (field,) = {item.tag_field for item in structs}
    assert field is not None
    return field, {str(item.tag): item for item in structs}
