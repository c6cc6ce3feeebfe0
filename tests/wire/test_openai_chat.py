"""Chat Completions: text, choices, finish reasons, the end of a stream, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from chat_bodies import STARTED, STOP, WIRE, chunk, deltas, read, response, stream, text
from checking import check_parse

import plait
from plait.errors import (
    AuthenticationError,
    BadRequestError,
    IncompleteStreamError,
    OverloadedError,
    PlaitError,
    ProviderError,
    RateLimitError,
    ServerError,
)
from plait.events import (
    Event,
    FinishReasonDone,
    ResponseStarted,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
)


class TestText:
    def test_openai_order(self) -> None:
        """Role, text, finish reason, usage in a chunk without choices, `[DONE]`."""
        body = stream(
            chunk({"role": "assistant", "content": "", "refusal": None}),
            chunk({"content": "Hé"}),
            chunk({"content": "llo"}),
            chunk(finish="stop"),
            {"id": "r1", "model": "m", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
        )
        check_parse(WIRE, body, [STARTED, *text("Hé", "llo"), TokenUsageDone(TokenUsage(3, 2)), STOP])

    @pytest.mark.parametrize(
        "delta",
        [
            {"content": None},
            {"content": ""},
            {"content": "", "tool_calls": []},
            {"tool_calls": None, "refusal": "", "reasoning": "", "reasoning_details": []},
            {"function_call": None, "audio": None, "images": [], "annotations": None, "executed_tools": []},
        ],
        ids=["null", "empty", "no calls", "empty everything", "absent everything"],
    )
    def test_nothing_said(self, delta: dict[str, Any]) -> None:
        """Nulls and empty values between text change nothing: the text stays one part."""
        body = deltas({"content": "a"}, delta, {"content": "b"})
        check_parse(WIRE, body, [STARTED, *text("a", "b"), STOP])

    def test_text_with_the_finish_reason(self) -> None:
        """The last text may come in the chunk that ends the answer."""
        body = stream(chunk({"content": "a"}), chunk({"content": "!"}, "length"))
        check_parse(WIRE, body, [STARTED, *text("a", "!"), FinishReasonDone("length", "length")])

    def test_text_after_the_finish_reason(self) -> None:
        """What comes after a finish reason is read, until `[DONE]`."""
        body = stream(chunk({"content": "a"}, "stop"), chunk({"content": "b"}))
        check_parse(WIRE, body, [STARTED, *text("a", "b"), STOP])

    def test_nothing_after_done(self) -> None:
        """`[DONE]` ends the response at once; nothing behind it is read."""
        parser = plait.parser(WIRE)
        events = parser.feed(stream(chunk({"content": "a"}, "stop")))
        assert events[-1] == STOP
        assert parser.done
        assert parser.feed(stream(chunk({"content": "b"}))) == []

    def test_content_parts(self) -> None:
        """Content may be a list of parts; a part nobody knows is counted."""
        parts = [{"type": "text", "text": "a"}, "b", {"type": "hologram"}, {"type": "text", "text": ""}]
        parser = check_parse(WIRE, deltas({"content": parts}), [STARTED, *text("a", "b"), STOP])
        assert dict(parser.unknown) == {"content:hologram": 1}

    def test_number_as_content(self) -> None:
        """Content of an unexpected type is read as far as it can be, and counted."""
        parser = check_parse(WIRE, deltas({"content": 4}), [STARTED, *text("4"), STOP])
        assert dict(parser.unknown) == {"type:choices[].delta.content=number": 1}

    def test_cumulative(self) -> None:
        """On request, content that holds the whole text so far is read as such."""
        body = deltas({"content": "Go"}, {"content": "Go to"}, {"content": "Go to"}, {"content": "Go to bed"})
        check_parse(WIRE, body, [STARTED, *text("Go", " to", " bed"), STOP], cumulative=True)

    def test_refusal(self) -> None:
        """A refusal is text, marked, and the response counts as filtered though the server says stop."""
        body = deltas({"refusal": "I will "}, {"refusal": "not."})
        parser = check_parse(
            WIRE, body, [STARTED, *text("I will ", "not."), FinishReasonDone("content_filter", "stop")]
        )
        assert [part.refusal for part in parser.message.content if part.type == "text"] == [True]

    def test_refusal_after_text(self) -> None:
        """The refusal is a part of its own: the text before it is not one."""
        message = read(deltas({"content": "Well, "}, {"refusal": "no."}))
        assert [(part.text, part.refusal) for part in message.content if part.type == "text"] == [
            ("Well, ", None),
            ("no.", True),
        ]


class TestResponse:
    def test_azure_first_chunks(self) -> None:
        """Filter results without choices, and choices without a delta, say nothing of the answer."""
        body = stream(
            {"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
            {"id": "r1", "model": "m", "choices": [{"delta": None}]},
            chunk({"content": "a"}),
            {"id": "", "model": "", "choices": [{"index": 0, "content_filter_offsets": {"check_offset": 1}}]},
            chunk({}, "stop", content_filter_results={"error": {"code": "content_filter_error"}}),
        )
        check_parse(WIRE, body, [STARTED, *text("a"), STOP])

    def test_ids_and_models_change(self) -> None:
        """The response is announced once; its message has the first id and the last model."""
        body = stream(
            chunk({"content": "a"}),
            {**chunk({"content": "b"}), "id": "r2", "model": "m-exact"},
            {**chunk(finish="stop"), "id": "stub", "model": ""},
        )
        parser = check_parse(WIRE, body, [STARTED, *text("a", "b"), STOP])
        assert (parser.message.id, parser.message.model) == ("r1", "m-exact")

    def test_provider(self) -> None:
        """OpenRouter names the provider that serves."""
        body = stream({**chunk({"content": "a"}, "stop"), "provider": "Somebody"})
        check_parse(WIRE, body, [ResponseStarted("r1", "m", "Somebody"), *text("a"), STOP])

    def test_interleaved_choices(self) -> None:
        """One choice is read, the first that comes; the others are counted and never mixed in."""
        body = stream(
            chunk({"content": "a"}, index=1),
            chunk({"content": "x"}, index=0),
            chunk({"content": "b"}, index=1),
            chunk({}, "length", index=0),
            chunk({}, "stop", index=1),
        )
        parser = check_parse(WIRE, body, [STARTED, *text("a", "b"), STOP])
        assert dict(parser.unknown) == {"choice:0": 2}

    def test_message_beside_the_delta(self) -> None:
        """Perplexity repeats the whole text in `message`: only the delta counts."""
        body = stream(
            chunk({"content": "One"}, message={"content": "One"}),
            chunk({"content": " two"}, "stop", message={"content": "One two"}),
            done=False,
        )
        check_parse(WIRE, body, [STARTED, *text("One", " two"), STOP])

    def test_whole_completion_as_one_frame(self) -> None:
        """A proxy may send a non-streaming body as the stream's only frame."""
        check_parse(WIRE, stream(response({"content": "a"})), [STARTED, *text("a"), STOP])

    def test_json_body_in_place_of_a_stream(self) -> None:
        """A non-streaming body gives the events of its answer, with or without `[DONE]` behind it."""
        body = response({"content": "a"}).encode()
        check_parse(WIRE, body, [STARTED, *text("a"), STOP])
        check_parse(WIRE, body + b"\n\ndata: [DONE]\n\n", [STARTED, *text("a"), STOP])


class TestFinish:
    @pytest.mark.parametrize(
        ("raw", "reason"),
        [
            ("stop", "stop"),
            ("length", "length"),
            ("content_filter", "content_filter"),
            ("eos", "stop"),
            ("model_length", "context_window"),
            ("model_context_window_exceeded", "context_window"),
            ("error", "error"),
            ("insufficient_system_resource", "error"),
            ("abort", "error"),
            ("sensitive", "content_filter"),
            ("repetition", "malformed_output"),
        ],
    )
    def test_known(self, raw: str, reason: Any) -> None:
        """Each server's words have a meaning, and are kept."""
        parser = check_parse(
            WIRE, deltas({"content": "a"}, finish=raw), [STARTED, *text("a"), FinishReasonDone(reason, raw)]
        )
        assert dict(parser.unknown) == {}

    def test_unknown(self) -> None:
        """A word nobody knows is `other`, kept, and counted."""
        body = deltas({"content": "a"}, finish="bored")
        parser = check_parse(WIRE, body, [STARTED, *text("a"), FinishReasonDone("other", "bored")])
        assert dict(parser.unknown) == {"finish_reason:bored": 1}

    def test_twice(self) -> None:
        """A second finish reason replaces the first; null and empty ones do not."""
        body = stream(
            chunk({"content": "a"}, ""),
            chunk({}, "stop"),
            chunk({}, "length"),
            chunk({}, None),
            chunk({}, ""),
        )
        check_parse(WIRE, body, [STARTED, *text("a"), FinishReasonDone("length", "length")])

    @pytest.mark.parametrize("native", ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS"])
    def test_native_limit(self, native: str) -> None:
        """OpenRouter says `tool_calls` of a cut answer; the upstream's word tells."""
        call = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a": "Par'}}]}
        body = stream(chunk(call), chunk({}, "tool_calls", native_finish_reason=native))
        message = read(body)
        assert (message.finish_reason, message.raw_finish_reason) == ("length", "tool_calls")
        assert [part.complete for part in message.tool_calls] == [False]

    def test_empty_answer(self) -> None:
        """All tokens may go into hidden reasoning: an empty answer with a finish reason is complete."""
        check_parse(
            WIRE, deltas({"content": ""}, finish="length"), [STARTED, FinishReasonDone("length", "length")]
        )


class TestEnd:
    def test_finish_without_done(self) -> None:
        """Not every server says `[DONE]`."""
        check_parse(WIRE, stream(chunk({"content": "a"}, "stop"), done=False), [STARTED, *text("a"), STOP])

    def test_done_without_finish(self) -> None:
        """Nor does every server give a reason: then it is `other`, and none is made up."""
        body = stream(chunk({"content": "a"}), {"id": "r1", "model": "m", "choices": []})
        check_parse(WIRE, body, [STARTED, *text("a"), FinishReasonDone("other")])

    def test_neither(self) -> None:
        """Text and then the end of the body is half an answer."""
        body = stream(chunk({"content": "a"}), done=False)
        parser = check_parse(WIRE, body, [STARTED, TextDelta("a", 0)], error=IncompleteStreamError)
        assert parser.message.text == "a"

    @pytest.mark.parametrize(
        "documents",
        [[], [{"id": "r1", "model": "m", "choices": None}], [chunk({"role": "assistant", "content": ""})]],
        ids=["only [DONE]", "choices null", "only a role"],
    )
    def test_empty_stream(self, documents: list[dict[str, Any]]) -> None:
        """`[DONE]` after nothing is a lost error, not an empty answer; a whole body without choices, too."""
        events: list[Event] = [STARTED] if documents else []
        check_parse(WIRE, stream(*documents), events, error=IncompleteStreamError)

    @pytest.mark.parametrize("choices", [None, []], ids=["null", "empty"])
    def test_response_without_choices(self, choices: Any) -> None:
        """A whole body without a choice and without an error gets the same class as the stream."""
        with pytest.raises(IncompleteStreamError):
            plait.read_response(WIRE, {"id": "r1", "model": "m", "choices": choices})


class TestErrors:
    @pytest.mark.parametrize(
        ("document", "error", "message"),
        [
            ({"error": {"message": "no", "type": "server_error", "code": None}}, ServerError, "no"),
            ({"error": {"message": "no", "code": 429, "metadata": {}}}, RateLimitError, "no"),
            (
                {"error": {"message": "busy", "code": 502, "metadata": {"error_type": "slow_down"}}},
                OverloadedError,
                "busy",
            ),
            (
                {"object": "error", "message": "no", "type": "invalid_value", "code": 400},
                BadRequestError,
                "no",
            ),
            (
                {"code": "The service is currently unavailable", "error": "Timed out"},
                OverloadedError,
                "Timed out",
            ),
            ({"error": "text"}, ProviderError, "text"),
            ({"detail": "Unauthorized", "status_code": 401}, AuthenticationError, "Unauthorized"),
            ({"detail": [{"loc": ["a"], "msg": "field required"}]}, ProviderError, "field required"),
            ({"message": "slow", "type": "too_many_requests_error", "code": "x"}, RateLimitError, "slow"),
            ({"error_type": "overloaded_error", "error_message": "later"}, OverloadedError, "later"),
            ({"error": {"message": "quota", "type": "limit"}}, ProviderError, "quota"),
        ],
        ids=[
            "nested",
            "number",
            "metadata",
            "flat",
            "error text",
            "text",
            "detail",
            "details",
            "flat type",
            "error_message",
            "unknown type",
        ],
    )
    def test_shapes(self, document: dict[str, Any], error: type[PlaitError], message: str) -> None:
        """Every shape of error is typed, in a stream after text and as a whole body; what came is kept."""
        body = stream(chunk({"content": "a"}), document, done=False)
        parser = check_parse(WIRE, body, [STARTED, TextDelta("a", 0)], error=error)
        assert isinstance(parser.error, ProviderError)
        assert message == parser.error.message
        assert parser.message.text == "a"
        with pytest.raises(error) as raised:
            plait.read_response(WIRE, document)
        assert type(parser.error) is type(raised.value)

    def test_error_after_finish(self) -> None:
        """An error wins over a finish reason, and over nothing else: its chunk's text and usage are read."""
        late = {
            **chunk({"content": "b"}),
            "error": {"code": 400, "message": "Token limit reached"},
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }
        parser = check_parse(
            WIRE,
            stream(chunk({"content": "a"}, "length"), late),
            [STARTED, TextDelta("a", 0), TextDelta("b", 0)],
            error=BadRequestError,
        )
        assert TokenUsage(3, 2) == parser.message.token_usage

    @pytest.mark.parametrize(
        "document",
        [
            {"choices": [], "error": {"code": 502, "message": "upstream"}},
            {**chunk({}, "error"), "error": {"code": 502, "message": "upstream"}},
            chunk({}, "error", error={"code": 502, "message": "upstream"}),
            {**chunk({}), "x_groq": {"id": "q", "error": "upstream"}},
        ],
        ids=["without choices", "beside a choice", "in a choice", "in x_groq"],
    )
    def test_places(self, document: dict[str, Any]) -> None:
        """An error is found wherever servers put it."""
        body = stream(chunk({"content": "a"}), document)
        parser = check_parse(
            WIRE,
            body,
            [STARTED, TextDelta("a", 0)],
            error=ProviderError if "x_groq" in document else ServerError,
        )
        assert "upstream" in str(parser.error)

    def test_error_event(self) -> None:
        """Groq names the event, and ends there; what the model wrote stays in `raw`."""
        error = (
            'event: error\ndata: {"error": {"message": "bad call", "code": "tool_use_failed", '
            '"failed_generation": "f(", "status_code": 400}}\n\n'
        )
        body = stream(chunk({"content": "a"}), done=False) + error.encode()
        parser = check_parse(WIRE, body, [STARTED, TextDelta("a", 0)], error=BadRequestError)
        assert isinstance(parser.error, ProviderError)
        assert parser.error.raw["error"]["failed_generation"] == "f("
        assert (parser.error.status, parser.error.code) == (400, "tool_use_failed")

    def test_error_field(self) -> None:
        """Older llama.cpp wrote an SSE field named `error`."""
        check_parse(WIRE, b'error: {"code": 500, "message": "no"}\n\n', [], error=ServerError)

    def test_bare_json_error(self) -> None:
        """A proxy may write the error into the stream without `data:`."""
        body = stream(chunk({"content": "a"}), done=False) + b'{"error": {"message": "no", "code": 503}}\n\n'
        check_parse(WIRE, body, [STARTED, TextDelta("a", 0)], error=OverloadedError)

    @pytest.mark.parametrize("empty", [None, "", {}, False], ids=["null", "text", "object", "false"])
    def test_no_error(self, empty: Any) -> None:
        """An empty `error` is none."""
        body = stream({**chunk({"content": "a"}, "stop"), "error": empty})
        check_parse(WIRE, body, [STARTED, *text("a"), STOP])

    def test_words_beside_choices(self) -> None:
        """A `message` or `detail` beside choices is no error."""
        body = stream({**chunk({"content": "a"}, "stop"), "message": "hello", "detail": "x"})
        check_parse(WIRE, body, [STARTED, *text("a"), STOP])


class TestOptions:
    def test_unknown_option(self) -> None:
        """An option this wire does not have is refused, by name."""
        with pytest.raises(plait.UnknownWireError, match="think_tag'"):
            plait.parser(WIRE, think_tag=True)

    def test_fields_nobody_reads(self) -> None:
        """On request every field without a reader is counted."""
        parser = plait.parser(WIRE, count_fields=True)
        parser.feed(stream({**chunk({"content": "a", "token_id": 4}, "stop"), "obfuscation": "x"}))
        assert dict(parser.unknown) == {"field:obfuscation": 1, "field:choices[].delta.token_id": 1}

    def test_text_done_is_joined(self) -> None:
        """A long stream costs a list and one join."""
        body = deltas(*({"content": "x" * 20} for _ in range(20_000)))
        events = plait.parser(WIRE).feed(body)
        assert TextDone("x" * 400_000, 0) == events[-2]
