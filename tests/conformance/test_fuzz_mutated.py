"""Streams in which something is wrong: events or a typed error, and never half an answer as a whole one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fuzzing import fuzz
from hypothesis import given, note
from hypothesis import strategies as st

import plait
from plait import conformance
from plait.conformance import Reading, strategies
from plait.conformance.content import content_breaches
from plait.conformance.encoding import ENCODERS
from plait.conformance.frames import frames, framing
from plait.conformance.reading import difference
from plait.conformance.strategies import Body
from plait.errors import PlaitError

WIRES = [*ENCODERS]


def may_succeed(body: Body) -> bool:
    """Whether a terminal event came, decided without the parser.

    Where something is wrong with a document, the reading that is more patient counts.
    """
    data = body.data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if body.framing == "json-array" and data.startswith(b"["):
        payloads = _objects(data.decode("utf-8", "replace"))
    elif framing(body.wire, data) == "json":
        return True  # a whole answer: nothing else says whether it is one
    else:
        payloads = _payloads(body.wire, data)
    completes = conformance.TERMINALS[body.wire].completes
    before: list[Any] = []
    for payload in map(_patient, payloads):
        if completes(payload, before) or _type(payload) == "messageStop":
            return True
        before.append(payload)
    return False


def _payloads(wire: str, data: bytes) -> Iterator[Any]:
    """What the frames hold; an object may have its event's name for a type, and several may share one."""
    for frame in frames(wire, data):
        text = frame.payload if isinstance(frame.payload, str) else ""
        for payload in (*_objects(text), *text.split("\n"), frame.payload):
            if isinstance(payload, dict):
                yield {**payload, "type": frame.event}
            yield payload


def _objects(text: str) -> Iterator[Any]:
    """Every JSON object in a text that is not in another one."""
    at = text.find("{")
    while at >= 0:
        try:
            document, at = json.JSONDecoder(parse_int=float).raw_decode(text, at)
            yield document
        except (ValueError, RecursionError):
            at += 1
        at = text.find("{", at)


def _patient(value: Any) -> Any:
    """The same data, with reasons that are numbers as text, and without indexes: any choice may be read."""
    if isinstance(value, list):
        return [_patient(item) for item in value]
    if not isinstance(value, dict):
        return value
    read = {name: _patient(item) for name, item in value.items()}
    for name in read.keys() & {"finish_reason", "finishReason", "stopReason", "done_reason"}:
        read[name] = read[name] if read[name] is None else str(read[name])
    read.pop("index", None)
    return read


def _type(payload: Any) -> Any:
    return payload.get("type") if isinstance(payload, dict) else None


def read(body: Body, chunks: list[bytes]) -> Reading:
    return conformance.read(lambda: plait.parser(body.wire), chunks)


@pytest.mark.parametrize("wire", WIRES)
@fuzz(120)
@given(data=st.data())
def test_mutated_stream(wire: str, data: st.DataObject) -> None:
    """Events that keep the laws, then a typed error or an end that the wire has said; on any chunking."""
    body = data.draw(strategies.mutated(wire))
    note(f"{body.data!r}")
    whole = read(body, [body.data])
    assert whole.crash is None
    assert [] == [*content_breaches(whole)]
    assert whole.error is not None or may_succeed(body)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body.data)), max_size=6)))
    ends = zip([0, *cuts], [*cuts, len(body.data)], strict=True)
    assert None is difference(whole, read(body, [body.data[start:end] for start, end in ends]))


@pytest.mark.parametrize("wire", WIRES)
@fuzz(20)
@given(data=st.data())
def test_mutated_stream_byte_by_byte(wire: str, data: st.DataObject) -> None:
    """One byte at a time, the same events come, then the same fault."""
    body = data.draw(strategies.mutated(wire))
    note(f"{body.data!r}")
    bytes_ = [body.data[at : at + 1] for at in range(len(body.data))]
    assert None is difference(read(body, [body.data]), read(body, bytes_))


@pytest.mark.parametrize("wire", WIRES)
@fuzz(80)
@given(data=st.data())
def test_mutated_stream_on_each_path(wire: str, data: st.DataObject) -> None:
    """An event a chunk, which is read the quick way, and documents read field by field give the same."""
    body = data.draw(strategies.mutated(wire))
    note(f"{body.data!r}")
    whole = read(body, [body.data])
    blocks = [block + b"\n\n" for block in body.data.split(b"\n\n")]
    blocks[-1] = blocks[-1].removesuffix(b"\n\n")
    assert None is difference(whole, read(body, blocks))
    slow = conformance.read(lambda: plait.parser(wire, count_fields=True), blocks)
    assert whole.events == slow.events
    assert (type(whole.error), str(whole.error)) == (type(slow.error), str(slow.error))


@pytest.mark.parametrize("wire", WIRES)
@fuzz(60)
@given(data=st.data())
def test_mutated_document(wire: str, data: st.DataObject) -> None:
    """A body that is not streamed is a message or a typed error, read whole or by the parser of a stream."""
    body = data.draw(strategies.mutated_documents(wire))
    note(f"{body.data!r}")
    as_stream = read(body, [body.data])
    assert as_stream.crash is None
    assert [] == [*content_breaches(as_stream)]
    assert fault_of(lambda: plait.read_response(wire, body.data)) in (None, PlaitError)


@pytest.mark.parametrize("wire", WIRES)
@fuzz(60)
@given(data=st.data())
def test_error_response(wire: str, data: st.DataObject) -> None:
    """An HTTP error response is a typed error, whatever its body and its headers are."""
    body = data.draw(strategies.mutated_documents(wire))
    note(f"{body.data!r}")
    headers = data.draw(st.dictionaries(st.sampled_from(HEADERS), st.text(max_size=12), max_size=3))
    error = plait.read_error(
        wire, data.draw(st.sampled_from([400, 401, 429, 500, 529, 600])), headers, body.data
    )
    assert isinstance(error, plait.ProviderError)
    assert str(error)


HEADERS = ("x-request-id", "Retry-After", "retry-after-ms", "date", "x-amzn-errortype", "x-ratelimit-reset")


def fault_of(read: Callable[[], Any]) -> type[PlaitError] | None:
    """What was raised, if it is Plait's; anything else goes on to fail the test."""
    try:
        read()
    except PlaitError:
        return PlaitError
    return None
