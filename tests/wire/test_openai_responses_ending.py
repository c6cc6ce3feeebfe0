"""Responses: how a response ends, what it used, errors, whole bodies, and what nobody knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from responses_documents import (
    CALLED,
    STARTED,
    STOP,
    Document,
    added,
    arguments,
    call,
    check,
    created,
    done,
    ended,
    event,
    message,
    response,
    text,
    usage,
    used,
)

import plait
from plait.errors import (
    BadRequestError,
    ContentFilterError,
    ContextWindowExceededError,
    IncompleteStreamError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    PlaitError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.events import FinishReasonDone, TextDelta, TextDone, TokenUsage, TokenUsageDone
from plait.wire.openai_responses import mapping, wire

HI = [STARTED, TextDelta("Hi", 0)]
DONE = TextDone("Hi", 0)


@pytest.mark.parametrize(
    ("end", "finish"),
    [
        (ended(), STOP),
        (
            ended("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            FinishReasonDone("length", "max_output_tokens"),
        ),
        (
            ended("incomplete", incomplete_details={"reason": "content_filter"}),
            FinishReasonDone("content_filter", "content_filter"),
        ),
        (
            ended("incomplete", incomplete_details={"reason": "max_tool_calls"}),
            FinishReasonDone("other", "max_tool_calls"),
        ),
        (ended("incomplete", incomplete_details=None), FinishReasonDone("other", "incomplete")),
        (
            {
                "type": "response.completed",
                "response": response("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            },
            FinishReasonDone("length", "max_output_tokens"),
        ),
        (
            {"type": "response.incomplete", "response": response("completed")},
            FinishReasonDone("other", "incomplete"),
        ),
        (
            {"type": "response.completed", "response": response("cancelled")},
            FinishReasonDone("other", "cancelled"),
        ),
        ({"type": "response.completed", "response": response("in_progress")}, STOP),
        ({"type": "response.completed", "response": {"id": "r1"}}, STOP),
        ({"type": "response.completed", "response": None}, STOP),
        ({"type": "response.completed"}, STOP),
    ],
    ids=[
        "completed",
        "length",
        "filter",
        "too many calls",
        "no reason",
        "status is worse",
        "name is worse",
        "cancelled",
        "status not updated",
        "no status",
        "response is null",
        "no response",
    ],
)
def test_finish_reason(end: Document, finish: FinishReasonDone) -> None:
    """The terminal event's name, its status and its reason decide, the worst of them first."""
    check([created(), text("Hi"), end], [*HI, DONE, finish])


def test_unknown_reasons_and_statuses_are_counted() -> None:
    """They end the response all the same."""
    new = ended("incomplete", incomplete_details={"reason": "bored"})
    parser = check([created(), text("Hi"), new], [*HI, DONE, FinishReasonDone("other", "bored")])
    assert parser.unknown == {"finish_reason:bored": 1}
    odd = {"type": "response.completed", "response": response("finished")}
    parser = check([created(), text("Hi"), odd], [*HI, DONE, FinishReasonDone("stop", "finished")])
    assert parser.unknown == {"status:finished": 1}


def test_nothing_is_read_after_the_end() -> None:
    """`[DONE]`, and whatever a proxy sends after it, is no part of the response."""
    check([created(), text("Hi"), ended(), "[DONE]", text("!"), created()], [*HI, DONE, STOP])


@pytest.mark.parametrize("last", [[], ["[DONE]"], [": comment"]], ids=["nothing", "[DONE]", "comment"])
def test_a_stream_without_terminal_event_is_incomplete(last: list[Document | str]) -> None:
    """Also when all items are done, and when the server says `[DONE]`."""
    parser = check([created(), text("Hi"), done(0, message("Hi")), *last], HI, error=IncompleteStreamError)
    assert parser.message.text == "Hi"
    assert parser.message.finish_reason is None


@pytest.mark.parametrize(
    ("wire_usage", "expected"),
    [
        ({"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}, TokenUsage(5, 7)),
        (
            {
                "input_tokens": 5,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 2},
                "output_tokens": 7,
                "output_tokens_details": {"reasoning_tokens": 3},
            },
            TokenUsage(5, 7, 0, 2, 3),
        ),
        ({"input_tokens": 5, "output_tokens": 7, "input_tokens_details": None}, TokenUsage(5, 7)),
        ({"input_tokens": 5}, TokenUsage(5, 0)),
    ],
    ids=["counts", "details", "null details", "input only"],
)
def test_usage(wire_usage: Document, expected: TokenUsage) -> None:
    """Counts are whole: cached input and reasoning are within them. What is not said is None, not 0."""
    check([created(), ended(usage=wire_usage)], [STARTED, TokenUsageDone(expected), STOP])


@pytest.mark.parametrize("nothing", [None, {}], ids=["null", "empty"])
def test_no_usage(nothing: object) -> None:
    """Usage without counts is no usage."""
    check([created(), ended(usage=nothing)], [STARTED, STOP])


def test_usage_and_text_of_an_incomplete_response() -> None:
    """A response that was cut keeps what it used."""
    end = ended("incomplete", usage=usage(1, 2), incomplete_details={"reason": "max_output_tokens"})
    check(
        [created(), text("Hi"), end],
        [*HI, DONE, used(1, 2), FinishReasonDone("length", "max_output_tokens")],
    )


def failed(**error: Any) -> Document:
    """`response.failed`."""
    return ended("failed", error=error or None)


def nested(**error: Any) -> Document:
    """An error event as OpenAI sends it."""
    return {"type": "error", "sequence_number": 2, "error": error}


def flat(**error: Any) -> Document:
    """An error event as OpenAI documents it, and xAI sends it."""
    return {"type": "error", **error}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("rate_limit_exceeded", RateLimitError),
        ("insufficient_quota", RateLimitError),
        ("too_many_requests", RateLimitError),
        ("server_is_overloaded", OverloadedError),
        ("context_length_exceeded", ContextWindowExceededError),
        ("invalid_prompt", ContentFilterError),
        ("bio_policy", ContentFilterError),
        ("permission_denied", PermissionDeniedError),
        ("model_not_found", NotFoundError),
        ("invalid_image_url", BadRequestError),
        ("server_error", ServerError),
        ("brand_new", ServerError),
    ],
)
@pytest.mark.parametrize("shape", [failed, nested, flat])
@pytest.mark.parametrize("names", [True, False], ids=["event names", "data only"])
def test_errors_in_the_stream(code: str, expected: type[PlaitError], shape: Any, names: bool) -> None:
    """Every shape raises the error of its code at once; what came before it is kept."""
    parser = check(
        [created(), text("Hi"), shape(code=code, message="Oh no"), failed(code="other")],
        HI,
        error=expected,
        names=names,
    )
    assert isinstance(parser.error, ProviderError)
    assert ("Oh no", code, None) == (parser.error.message, parser.error.code, parser.error.status)
    assert parser.message.text == "Hi"


@pytest.mark.parametrize(
    ("document", "expected", "words"),
    [
        (failed(), ServerError, "the response failed"),
        (failed(code="server_error", message="We are overloaded"), OverloadedError, "We are overloaded"),
        (failed(code=None, message="prompt is too long"), ContextWindowExceededError, "prompt is too long"),
        (nested(type="invalid_request_error", message="No"), BadRequestError, "No"),
        (flat(message="No"), ServerError, "No"),
        (
            {"type": "response.completed", "response": response("failed", error={"message": "No"})},
            ServerError,
            "No",
        ),
        ({"error": {"message": "No", "code": 429}}, RateLimitError, "No"),
        ({"error": "No", "code": "permission_denied"}, PermissionDeniedError, "No"),
    ],
    ids=[
        "failed without words",
        "overloaded in words",
        "context in words",
        "bad request by type",
        "no code",
        "only the status",
        "no type",
        "xAI's shape",
    ],
)
def test_errors_without_a_known_code(document: Document, expected: type[PlaitError], words: str) -> None:
    """Words, types and statuses decide; what is left is the provider's failure. It may be the first frame."""
    parser = check([document], [STARTED] if "response" in document else [], error=expected)
    assert isinstance(parser.error, ProviderError)
    assert words == parser.error.message


def test_when_to_try_again() -> None:
    """OpenAI puts response headers into the error of an event."""
    parser = check(
        [nested(code="rate_limit_exceeded", message="Slow", headers={"Retry-After": 7})],
        [],
        error=RateLimitError,
    )
    assert isinstance(parser.error, ProviderError)
    assert parser.error.retry_after == 7.0


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"type": "keepalive", "sequence_number": 3}, None),
        ({"type": "response.debug", "error": {"message": "no error of ours"}}, None),
        ({"type": "response.future.thing", "x": 1}, "event:response.future.thing"),
        ({"type": "response.future.thing", "error": {"message": "x"}}, "event:response.future.thing"),
        ({"type": "vendor:thing", "error": {"message": "x"}}, "event:vendor:thing"),
    ],
    ids=["keepalive", "known", "unknown", "unknown with error", "vendor's"],
)
def test_events_that_are_not_read(document: Document, key: str | None) -> None:
    """They never end a stream; those that nobody knows are counted."""
    parser = check([created(), document, text("Hi"), ended()], [*HI, DONE, STOP])
    assert ({key: 1} if key else {}) == parser.unknown


def test_events_named_only_by_the_sse_event() -> None:
    """The name in the data counts, and where there is none that of the event."""
    body = b'event: response.output_text.delta\ndata: {"output_index": 0, "delta": "Hi"}\n\n'
    parser = plait.parser("openai-responses")
    assert [TextDelta("Hi", 0)] == parser.feed(body)
    document = b'{"type": "response.output_text.delta", "output_index": 0, "delta": "!"}'
    assert [TextDelta("!", 0)] == parser.feed(b"data: %b\nevent: response.created\n\n" % document)


def test_known_events_are_read_or_ignored_but_not_both() -> None:
    """Each event type has one place."""
    read = {cls.__struct_config__.tag for cls in wire.StreamEvent.__args__}
    assert set() == read & mapping.IGNORED.keys()


BODY: Document = response(
    "completed",
    [
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [{"type": "summary_text", "text": "Hm"}],
            "encrypted_content": "E",
        },
        {
            "type": "web_search_call",
            "id": "ws",
            "status": "completed",
            "action": {"type": "search", "query": "q"},
        },
        message("Hi", "there", phase="commentary"),
        call('{"n":4}'),
        {"type": "image_generation_call", "id": "ig", "result": "iVBORw0KGgo="},
    ],
    usage=usage(3, 4),
)


def test_a_body_and_its_stream_give_the_same_message() -> None:
    """Reading is one: item by item or at once."""
    reasoning, search, hi, tool_call, image = BODY["output"]
    documents: list[Document | str] = [
        created(),
        added(0, {**reasoning, "summary": [], "encrypted_content": "other"}),
        event("reasoning_summary_text.delta", 0, "rs", summary_index=0, delta="Hm"),
        done(0, reasoning),
        added(1, {"type": "web_search_call", "id": "ws", "status": "in_progress"}),
        done(1, search),
        text("Hi", 2),
        text("the", 2, part=1),
        text("re", 2, part=1),
        done(2, hi),
        added(3, call("")),
        arguments('{"n":4}', 3),
        done(3, tool_call),
        done(4, image),
        {"type": "response.completed", "response": {**BODY, "output": []}},
    ]
    parser = plait.parser("openai-responses")
    for document in documents:
        parser.feed(f"data: {json.dumps(document)}\n\n".encode())
    assert plait.read_response("openai-responses", json.dumps(BODY)) == parser.message
    assert CALLED.finish_reason == parser.message.finish_reason


def test_a_body_in_place_of_a_stream() -> None:
    """Servers that do not stream answer a streaming request with a body."""
    parser = plait.parser("openai-responses")
    parser.feed(json.dumps(response("completed", [message("Hi")])).encode())
    assert [*HI, DONE, STOP] == parser.close()


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_body_that_goes_on_in_the_background(status: str) -> None:
    """It has no finish reason yet; what is there is read."""
    got = plait.read_response("openai-responses", response(status, [message("Hi")]))
    assert (None, status, "Hi") == (got.finish_reason, got.raw_finish_reason, got.text)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (response("completed"), ("stop", "completed")),
        (response("complete"), ("stop", "complete")),
        ({"id": "r1", "output": []}, ("stop", "completed")),
        (
            response("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            ("length", "max_output_tokens"),
        ),
        (response("cancelled"), ("other", "cancelled")),
    ],
    ids=["completed", "complete", "no status", "incomplete", "cancelled"],
)
def test_finish_of_a_body(body: Document, expected: tuple[str, str]) -> None:
    """As for streams; a body that is incomplete is not an error."""
    got = plait.read_response("openai-responses", body)
    assert expected == (got.finish_reason, got.raw_finish_reason)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            response("failed", [message("Hi")], error={"code": "rate_limit_exceeded", "message": "Slow"}),
            RateLimitError,
        ),
        ({"error": {"message": "No such model", "code": "model_not_found"}}, NotFoundError),
        ({"code": "permission_denied", "error": "No"}, PermissionDeniedError),
        ({"type": "error", "message": "Oh", "code": "server_error"}, ServerError),
        ({"detail": "Not Found"}, ProviderError),
    ],
    ids=["failed", "nested", "xAI", "error event", "detail"],
)
def test_bodies_that_are_errors(body: Document, expected: type[PlaitError]) -> None:
    """HTTP 200 says nothing: a failed response and an error of any shape raise."""
    with pytest.raises(expected) as caught:
        plait.read_response("openai-responses", body)
    if "output" in body:
        assert caught.value.partial_message is not None
        assert caught.value.partial_message.text == "Hi"


def test_fields_are_counted_on_request() -> None:
    """With `count_fields` every field that nothing reads is named, also inside items."""
    item = {**message("Hi"), "mood": "good"}
    parser = plait.parser("openai-responses", count_fields=True)
    parser.feed(f"data: {json.dumps(done(0, item))}\n\n".encode())
    assert {"field:item.role", "field:item.mood"} == parser.unknown.keys()
