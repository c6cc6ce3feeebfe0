"""One JSON document to one struct: strict and fast where it fits, field by field where it does not."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from anthropic_documents import END, Doc, args, block, delta, finish, start, stop, text, usage
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait.wire import WIRES, translator_class
from plait.wire.reading import UNREAD, Counts, Ignored, NotAnObject, Reader

ODD: list[Any] = [None, True, 0, -1, 1.5, 10**30, "", "x", "7", [], [1], ["x", {}], {}, {"a": 1}, "\ud83d"]
"""One or more of each JSON type."""


class Inner(msgspec.Struct, omit_defaults=True):
    text: str | None = None
    number: int | None = None


class Document(msgspec.Struct):
    """Has a field of each kind that wire structs have."""

    text: str | None = None
    number: int = 7
    ratio: float | None = None
    flag: bool | None = None
    inner: Inner | None = None
    inners: list[Inner] | None = None
    texts: list[str] | None = None
    named: dict[str, Inner] | None = None
    text_or_parts: str | list[Inner] | None = None
    raw: msgspec.Raw | None = None
    anything: Any = None


class Started(msgspec.Struct, tag_field="type", tag="started"):
    text: str | None = None


class Ended(msgspec.Struct, tag_field="type", tag="ended"):
    number: int | None = None


FULL: dict[str, Any] = {
    "text": "a",
    "number": 1,
    "ratio": 0.5,
    "flag": True,
    "inner": {"text": "b", "number": 2},
    "inners": [{"text": "c"}, {"number": 3}],
    "texts": ["d", "e"],
    "named": {"x": {"text": "f"}},
    "text_or_parts": [{"text": "g"}],
    "raw": {"k": [None, 1]},
    "anything": {"k": [None, 1]},
}


def read(document: Any, types: Any = Document, **options: Any) -> tuple[Any, dict[str, int]]:
    unknown: Counter[str] = Counter()
    value = Reader(types, unknown, **options).read(
        document if isinstance(document, str) else json.dumps(document)
    )
    return value, dict(unknown)


def plain(value: Any) -> Any:
    """A struct as JSON data; msgspec reads `Raw` of data in another way than of bytes."""
    return json.loads(msgspec.json.encode(value))


@pytest.mark.parametrize("count_fields", [False, True], ids=["fast", "field by field"])
def test_fits(count_fields: bool) -> None:
    """A document that fits is read the same on both ways, and nothing is counted."""
    value, unknown = read(FULL, count_fields=count_fields)
    assert (FULL, {}) == (plain(value), unknown)


@pytest.mark.parametrize(
    ("field", "came", "expected", "counted"),
    [
        ("text", 5, "5", "type:text=number"),
        ("text", 1.5, "1.5", "type:text=number"),
        ("text", True, None, "type:text=boolean"),
        ("text", {"a": 1}, None, "type:text=object"),
        ("text", ["a"], None, "type:text=array"),
        ("number", "12", 12, "type:number=string"),
        ("number", 3.0, 3, "type:number=number"),
        ("number", 2.5, 7, "type:number=number"),
        ("number", "x", 7, "type:number=string"),
        ("number", None, 7, "type:number=null"),
        ("number", True, 7, "type:number=boolean"),
        ("number", 10**30, 10**30, None),
        ("ratio", 1, 1.0, None),
        ("ratio", "1", None, "type:ratio=string"),
        ("flag", 0, None, "type:flag=number"),
        ("inner", "x", None, "type:inner=string"),
        ("inner", [{}], None, "type:inner=array"),
        ("inner", {"text": 1, "number": 2}, {"text": "1", "number": 2}, "type:inner.text=number"),
        ("inners", {"text": "a"}, None, "type:inners=object"),
        ("inners", [{"text": "a"}, "b", None], [{"text": "a"}], "type:inners[]=string"),
        ("texts", ["a", {}, "b"], ["a", "b"], "type:texts[]=object"),
        ("texts", "a", None, "type:texts=string"),
        ("named", {"x": {"text": "f"}, "y": 1}, {"x": {"text": "f"}}, "type:named.*=number"),
        ("text_or_parts", 4, "4", "type:text_or_parts=number"),
        ("text_or_parts", [{"text": []}], [{}], "type:text_or_parts[].text=array"),
        ("raw", None, None, None),
        ("raw", 3, 3, None),
        ("anything", None, None, None),
    ],
    ids=lambda value: json.dumps(value)[:30] if not isinstance(value, str) else None,
)
def test_odd_field(field: str, came: Any, expected: Any, counted: str | None) -> None:
    """What can be read of a field is read, the rest is counted by its path; all other fields are read."""
    value, unknown = read({**FULL, field: came})
    assert expected == json.loads(msgspec.json.encode(getattr(value, field)))
    for other in FULL.keys() - {field}:
        assert FULL[other] == plain(value)[other], other
    assert (counted is None) == (unknown == {})
    assert counted is None or counted in unknown


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    document = copy.deepcopy(document)
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return document


@given(st.data())
def test_any_change_leaves_the_rest(data: st.DataObject) -> None:
    """Any value in any place: no exception, and all fields but the changed one are read."""
    path = data.draw(st.sampled_from(list(places(FULL))))
    value, _ = read(changed(FULL, path, data.draw(st.sampled_from(ODD))))
    got = plain(value)
    assert {key: item for key, item in FULL.items() if key != path[0]} == {
        key: item for key, item in got.items() if key != path[0]
    }


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("array", "[]"),
        ("string", '"a"'),
        ("number", "1"),
        ("boolean", "true"),
        ("null", "null"),
        ("text that is not JSON", "{"),
        ("text that is not JSON", ""),
        ("the end marker", "[DONE]"),
        ("nested too deeply", '{"a":' * 9999 + "1" + "}" * 9999),
        ("nested too deeply", '{"text":"\\ud83d","b":' + "[" * 600 + "]" * 600 + "}"),
    ],
    ids=[
        "array",
        "string",
        "number",
        "boolean",
        "null",
        "cut",
        "empty",
        "done",
        "deep",
        "deep with half a character",
    ],
)
@pytest.mark.parametrize("types", [Document, Started | Ended], ids=["struct", "union"])
def test_not_an_object(kind: str, text: str, types: Any) -> None:
    """Anything but a JSON object is said to be what it is."""
    with pytest.raises(NotAnObject, match=kind):
        read(text, types)


@pytest.mark.parametrize(
    ("expected", "unknown", "document"),
    [
        (Started("a"), {}, {"type": "started", "text": "a"}),
        (Started("5"), {"type:text=number": 1}, {"text": 5, "type": "started"}),
        (Ended(), {"type:number=object": 1}, {"type": "ended", "number": {}}),
        (None, {}, {"type": "ping"}),
        (None, {"event:new": 1}, {"type": "new"}),
        (None, {f"event:{'x' * 100}": 1}, {"type": "x" * 999}),
        (None, {"type:type=null": 1}, {"text": "a"}),
        (None, {"type:type=object": 1}, {"type": {"started": 1}}),
        (None, {"type:type=array": 1}, {"type": ["started"]}),
        (None, {"type:type=number": 1}, {"type": 3}),
    ],
    ids=[
        "fits",
        "odd field",
        "odd field of another",
        "ignored",
        "unknown",
        "long",
        "none",
        "object",
        "array",
        "number",
    ],
)
def test_union(expected: Any, unknown: dict[str, int], document: Any) -> None:
    """The tag tells the struct; an unknown one is counted, a known one that says nothing is not."""
    assert (expected, unknown) == read(document, Started | Ended, ignored=frozenset({"ping"}))


@pytest.mark.parametrize(
    "document", [{"text": "a"}, {"type": None, "text": "a"}, {"type": 1, "text": "a"}], ids=str
)
def test_event_name_in_place_of_tag(document: Any) -> None:
    """The SSE event's name tells the struct of a document that does not; never against the document."""
    reader = Reader(Started | Ended, Counter())
    assert Started("a") == reader.read(json.dumps(document), "started")
    assert reader.read('{"type": "other"}', "started") is None
    assert reader.read("{}", "message") is None


def test_count_fields() -> None:
    """Fields that no struct reads are counted by path; those inside opaque data are not."""
    document = {
        "text": "a",
        "new": 1,
        "inner": {"n": 2},
        "inners": [{"n": 3}, {"n": 4}],
        "anything": {"n": 5},
    }
    _, unknown = read(document, count_fields=True)
    assert {"field:new": 1, "field:inner.n": 1, "field:inners[].n": 2} == unknown
    assert {} == read(document)[1]


def test_paths_are_whole() -> None:
    """A reader of what is inside a document says where that is, and the first values are kept."""
    unknown = Counts()
    reader = Reader(Document, unknown, count_fields=True, path="outer[].document")
    for new in (["a"], ["b"]):
        reader.read(json.dumps({"number": "7", "new": new, "inner": {"x": 1}}))
    assert {
        "type:outer[].document.number=string": 2,
        "field:outer[].document.inner.x": 2,
        "field:outer[].document.new": 2,
    } == unknown
    assert {
        "type:outer[].document.number=string": "7",
        "field:outer[].document.inner.x": 1,
        "field:outer[].document.new": ["a"],
    } == unknown.examples


@pytest.mark.parametrize(
    ("expected", "lost", "text"),
    [
        ({"k": None}, 0, '{"k": NaN}'),
        ({"k": [None, 1]}, 0, '{"k": [Infinity, 1]}'),
        ({"k": "\ufffd"}, 1, '{"k": "\\ud83d"}'),
        ({"\ufffd": "😀"}, 1, '{"\\ud83d": "\\ud83d\\ude00"}'),
        ({"k": 10**25}, 0, '{"k": 10000000000000000000000000}'),
        ({"k": float("inf")}, 0, '{"k": 1e999}'),
    ],
    ids=["NaN", "infinity", "half a character", "key", "big", "beyond double"],
)
def test_opaque(expected: Any, lost: int, text: str) -> None:
    """Data that is kept as it came: whole, and as Unicode."""
    unknown: Counter[str] = Counter()
    reader = Reader(Document, unknown)
    value = reader.read(f'{{"raw": {text}, "anything": {text}}}')
    assert expected == value.anything
    if "e999" not in text:
        assert expected == reader.opaque(value.raw)
    assert lost == bool(unknown["text:lone surrogate"])


def test_opaque_is_checked() -> None:
    """Data that a struct skipped over and cannot be read is said to be so."""
    deep = msgspec.Raw(b"[" * 5000 + b"]" * 5000)
    with pytest.raises(NotAnObject, match="nested too deeply"):
        Reader(Document, Counter()).opaque(deep)


@pytest.mark.parametrize("count_fields", [False, True], ids=["decoded", "field by field"])
def test_raw(count_fields: bool) -> None:
    """A field that was kept as raw JSON is read like a document; an absent one is no object."""
    unknown: Counter[str] = Counter()
    reader = Reader(Inner, unknown, count_fields=count_fields, path="inner")
    assert Inner("a", 1) == reader.read_raw(msgspec.Raw(b'{"text":"a","number":1}'))
    assert Inner("a") == reader.read_raw(msgspec.Raw(b'{"text":"a","number":[]}'))
    assert {"type:inner.number=array": 1} == unknown
    for nothing in (b"", b"null"):
        with pytest.raises(NotAnObject):
            reader.read_raw(msgspec.Raw(nothing))


def test_decode() -> None:
    """What may be tried before `read`: a struct of its own for a kind that is ignored, else an error."""
    reader = Reader(Started | Ended, Counter(), ignored=frozenset({"ping"}))
    assert Started("a") == reader.decode(b'{"type":"started","text":"a"}')
    assert isinstance(reader.decode(b'{"type":"ping"}'), Ignored)
    assert None is reader.read('{"type":"ping"}')
    for document in (b'{"type":"other"}', b'{"text":"a"}', b'{"type":"started","text":[]}', b"[DONE]"):
        with pytest.raises(UNREAD):
            reader.decode(document)


class TestHalves:
    """Characters whose surrogates come in two documents."""

    def texts(self, *texts: str, join_halves: bool = True) -> tuple[list[str], int]:
        unknown: Counter[str] = Counter()
        reader = Reader(Document, unknown, join_halves=join_halves)
        got = [reader.read(json.dumps({"text": text})).text for text in texts]
        reader.close()
        return got, unknown["text:lone surrogate"]

    def test_joined(self) -> None:
        """The first half waits for the same field of a later document."""
        assert (["a", "😀b", "c"], 0) == self.texts("a\ud83d", "\ude00b", "c")

    def test_lost(self) -> None:
        """A half without its other half becomes U+FFFD, or is counted at the end."""
        assert (["a", "\ufffdb", "c"], 2) == self.texts("a\ud83d", "b", "c\ud83d")

    def test_a_type_is_no_text(self) -> None:
        """Half a character at the end of a `type` once spoilt the type of the next document."""
        kind = json.dumps({"type": "\ud83d"})
        parser = plait.parser("anthropic-messages")
        parser.feed(f'data: {kind}\n\ndata: {{"type":"message_stop"}}\n\n'.encode())
        assert parser.done

    def test_other_fields_do_not_mix(self) -> None:
        """The half of one field is not given to another."""
        reader = Reader(Document, Counter(), join_halves=True)
        first = reader.read(json.dumps({"text": "\ud83d", "inner": {"text": "x"}}))
        second = reader.read(json.dumps({"text": "\ude00", "inner": {"text": "y"}}))
        assert ("", "x", "😀", "y") == (first.text, first.inner.text, second.text, second.inner.text)

    def test_single_documents_do_not_wait(self) -> None:
        """Without `join_halves` every document stands for itself."""
        assert (["a\ufffd", "\ufffdb"], 2) == self.texts("a\ud83d", "\ude00b", join_halves=False)


def structs(types: Any) -> Iterator[msgspec.inspect.StructType]:
    """All structs that are reachable from a type."""
    queue, seen = [msgspec.inspect.type_info(types)], set()
    while queue:
        node: Any = queue.pop()
        queue += getattr(node, "types", ())
        queue += [
            child for name in ("item_type", "value_type") if (child := getattr(node, name, None)) is not None
        ]
        if isinstance(node, msgspec.inspect.StructType) and node.cls not in seen:
            seen.add(node.cls)
            queue += [field.type for field in node.fields]
            yield node


@pytest.mark.parametrize("wire", WIRES)
def test_wire_structs_need_no_field(wire: str) -> None:
    """No field of a wire struct is required, so reading field by field can always make one."""
    cls = translator_class(wire)
    required = [
        f"{struct.cls.__name__}.{field.name}"
        for types in (cls.types, cls.response_type)
        for struct in structs(types)
        for field in struct.fields
        if field.required
    ]
    assert [] == required


DOCUMENTS: list[Doc] = [
    start(content=[], usage=usage(3, 1)),
    *(block(0, "thinking", thinking="", signature=""), delta(0, "thinking_delta", thinking="hm")),
    *(delta(0, "signature_delta", signature="S"), stop(0)),
    block(1, "text", text="", citations=[]),
    delta(1, "citations_delta", citation={"type": "x", "url": "u", "start_char_index": 1}),
    *(text(1, "Hi"), stop(1)),
    *(block(2, "server_tool_use", id="s", name="web_search", input={}), args(2, '{"query":"q"}'), stop(2)),
    block(3, "web_search_tool_result", tool_use_id="s", content=[{"url": "u", "title": "t"}]),
    *(stop(3), block(4, "mcp_tool_result", tool_use_id="s", content="r"), stop(4)),
    *(block(5, "compaction", content=None), delta(5, "compaction_delta", content="sum"), stop(5)),
    *(block(6, "tool_use", id="t", name="f", input={}, caller={"a": 1}), args(6, "{}"), stop(6)),
    finish("tool_use", usage("-", 9, output_tokens_details={"thinking_tokens": 2})),
    END,
]
PLACES = [(number, path) for number, document in enumerate(DOCUMENTS[:-1]) for path in places(document)]


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), min_size=1, max_size=3))
def test_changed_streams_are_read(changes: list[tuple[tuple[int, tuple[Any, ...]], Any]]) -> None:
    """A stream with any values in any places is read to its end, and all it gives survives JSON."""
    documents: list[dict[str, Any]] = list(DOCUMENTS)
    for (number, path), value in {place[0]: (place, value) for place, value in changes}.values():
        documents[number] = changed(documents[number], path, value)
    parser = plait.parser("anthropic-messages")
    body = "".join(f"data: {json.dumps(document)}\n\n" for document in documents)
    events = [*parser.feed(body.encode()), *parser.close()]
    assert "finish_reason_done" == events[-1].type
    assert events == [plait.event_from_dict(json.loads(json.dumps(event.to_dict()))) for event in events]
    message = parser.message
    assert message == plait.AssistantMessage.model_validate_json(json.dumps(message.to_dict()))
