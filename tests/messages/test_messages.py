"""Messages: strict, frozen, snake_case or camelCase in and out, opaque JSON untouched."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from pydantic import TypeAdapter, ValidationError

from plait.errors import InvalidDataError
from plait.events import ReasoningPart, TokenUsage
from plait.messages import (
    AssistantMessage,
    Message,
    ProviderPart,
    ReasoningContent,
    SystemMessage,
    TextPart,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)

ADAPTER: TypeAdapter[Any] = TypeAdapter(Message)

OPAQUE = {"userKey": None, "list": [None, {"a_b": None}], "deep": {"camelCase": {"snake_case": 1}}}
ASSISTANT = {
    "role": "assistant",
    "content": [
        {
            "type": "reasoning",
            "id": "r1",
            "details": [
                {"type": "text", "text": "hm", "signature": "s", "format": "f"},
                {"type": "redacted", "data": "d"},
            ],
        },
        {
            "type": "text",
            "text": "Hi",
            "citations": [{"url": "https://a.example", "cited_text": "x", "data": OPAQUE}],
        },
        {"type": "provider", "format": "f", "data": OPAQUE},
        {
            "type": "tool-call",
            "tool_call_id": "i1",
            "call_id": "c1",
            "tool_name": "find",
            "arguments": '{"a": null}',
            "complete": True,
            "kind": "function",
            "extra": {"caller": OPAQUE},
            "input": {"a": None},
        },
        {"type": "image", "image": {"type": "data", "data": "aGk=", "media_type": "image/png"}},
        {"type": "file", "data": {"type": "url", "url": "https://a.example/f"}, "media_type": "text/plain"},
    ],
    "id": "m1",
    "finish_reason": "tool_calls",
    "raw_finish_reason": "tool_use",
    "token_usage": {"input_tokens": 3, "output_tokens": 2, "cache_read_tokens": 1},
    "metadata": OPAQUE,
}
TOOL = {
    "role": "tool",
    "content": [
        {"type": "tool-result", "tool_call_id": "i1", "call_id": "c1", "tool_name": "find", "output": output}
        for output in (
            {"type": "text", "value": "ok"},
            {"type": "json", "value": OPAQUE},
            {"type": "content", "value": [{"type": "text", "text": "a"}]},
            {"type": "execution-denied", "value": "no"},
            {"type": "error-text", "value": "boom"},
            {"type": "error-json", "value": {"code": None}},
        )
    ],
}
ALL = {
    "system": {"role": "system", "content": "Be brief."},
    "user": {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
    "assistant": ASSISTANT,
    "tool": TOOL,
}
each_message = pytest.mark.parametrize("data", ALL.values(), ids=ALL)


@each_message
def test_survives_json(data: dict[str, Any]) -> None:
    """`to_dict` gives what was read: absent fields are left out, nulls inside opaque JSON stay."""
    message = ADAPTER.validate_python(data)
    assert data == message.to_dict()
    assert message == ADAPTER.validate_json(json.dumps(message.to_dict()))


@each_message
def test_camel_case(data: dict[str, Any]) -> None:
    """camelCase out can be read again, and our keys are the only ones that change."""
    message = ADAPTER.validate_python(data)
    camel = message.to_dict(camel=True)
    assert message == ADAPTER.validate_python(camel)
    assert data == message.to_dict()


def test_camel_case_keys() -> None:
    """Fields are renamed, keys inside opaque JSON are not."""
    camel = AssistantMessage.model_validate(ASSISTANT).to_dict(camel=True)
    assert {"inputTokens": 3, "outputTokens": 2, "cacheReadTokens": 1} == camel["tokenUsage"]
    assert "tool_use" == camel["rawFinishReason"]
    assert OPAQUE == camel["metadata"]
    assert OPAQUE == camel["content"][2]["data"]
    assert {"caller": OPAQUE} == camel["content"][3]["extra"]
    assert "x" == camel["content"][1]["citations"][0]["citedText"]


@each_message
def test_pydantic_json(data: dict[str, Any]) -> None:
    """Pydantic's own JSON can be read again too."""
    message = ADAPTER.validate_python(data)
    assert message == ADAPTER.validate_json(message.model_dump_json())


def test_schema_is_made() -> None:
    """The JSON schema of a message can be generated."""
    assert {"system", "user", "assistant", "tool"} == set(ADAPTER.json_schema()["discriminator"]["mapping"])


@pytest.mark.parametrize("cls", [UserMessage, AssistantMessage], ids=["user", "assistant"])
def test_text_is_one_part(cls: type[UserMessage | AssistantMessage]) -> None:
    """A string is one text part."""
    assert [TextPart(text="Hi")] == cls(content="Hi").content


@pytest.mark.parametrize(
    "data",
    [
        {"role": "robot", "content": "x"},
        {"role": "user", "content": "x", "colour": 1},
        {"role": "user", "content": [{"type": "tool-call", "tool_call_id": "i", "tool_name": "f"}]},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "tool", "content": []},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "x", "finish_reason": "tired"},
        {"role": "assistant", "content": "x", "token_usage": {"input_tokens": "3"}},
    ],
    ids=["role", "unknown key", "wrong part", "no text", "no result", "no content", "finish reason", "usage"],
)
def test_refuses(data: dict[str, Any]) -> None:
    """Messages are closed toward the user."""
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(data)


def test_frozen() -> None:
    """No field of a message or part can be set."""
    with pytest.raises(ValidationError, match="frozen"):
        SystemMessage(content="a").content = "b"


class TestAssistantMessage:
    """The views on a message."""

    def test_views(self) -> None:
        """Text, calls and reasoning are found among the parts, in order."""
        message = AssistantMessage.model_validate(ASSISTANT)
        assert "Hi" == message.text
        assert ["find"] == [call.tool_name for call in message.tool_calls]
        assert [
            ReasoningPart("text", "hm", signature="s", format="f"),
            ReasoningPart("redacted", data="d"),
        ] == message.reasoning
        assert "hm" == message.reasoning_text
        assert TokenUsage(3, 2, 1) == message.token_usage

    def test_views_of_nothing(self) -> None:
        """An empty message has empty text and no reasoning text."""
        message = AssistantMessage(content=[])
        assert ("", [], [], None) == (
            message.text,
            message.tool_calls,
            message.reasoning,
            message.reasoning_text,
        )

    def test_reasoning_text_shows_what_may_be_shown(self) -> None:
        """Texts and summaries, parts joined by blank lines; no encrypted data, no empty text."""
        details = [
            ReasoningPart("summary", "a"),
            ReasoningPart("encrypted", data="E"),
            ReasoningPart("text", ""),
            ReasoningPart("text", "b"),
        ]
        message = AssistantMessage(
            content=[ReasoningContent(details=details), ReasoningContent.model_validate({"text": "c"})]
        )
        assert "a\n\nb\n\nc" == message.reasoning_text


class TestToolCallPart:
    """Arguments are the JSON text as it came; `input` is the same as data."""

    def test_input_is_read_from_arguments(self) -> None:
        """The text decides."""
        call = ToolCallPart(tool_call_id="i", tool_name="f", arguments='{"n": 1e2}')
        assert ({"n": 100.0}, '{"n": 1e2}') == (call.input, call.arguments)

    @pytest.mark.parametrize(
        "arguments",
        ["[" * 250 + "]" * 250, '{"half": "\\ud83d"}', '{"n": 1e999}'],
        ids=["deep", "half a surrogate pair", "beyond a double"],
    )
    def test_input_that_is_no_json_for_others_is_left_out(self, arguments: str) -> None:
        """The message stays JSON that any reader takes: the arguments' text says all."""
        message = AssistantMessage(
            content=[ToolCallPart(tool_call_id="i", tool_name="f", arguments=arguments)]
        )
        data = message.to_dict()
        assert "input" not in data["content"][0]
        text = json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
        assert message == AssistantMessage.model_validate_json(text)

    def test_input_in_place_of_arguments(self) -> None:
        """A call given by its input gets the JSON text of it, characters as they are."""
        call = ToolCallPart.model_validate(
            {"toolCallId": "i", "toolName": "f", "input": {"q": "é", "n": None}}
        )
        assert '{"q": "é", "n": null}' == call.arguments

    def test_arguments_win(self) -> None:
        """Where both are given, the text that came from the wire is kept."""
        call = ToolCallPart.model_validate(
            {"tool_call_id": "i", "tool_name": "f", "arguments": '{"a":1}', "input": {"a": 2}}
        )
        assert '{"a":1}' == call.arguments

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), object()], ids=["nan", "inf", "object"])
    def test_input_that_is_not_json(self, value: object) -> None:
        """NaN, infinities and objects are refused when the message is made, not by the provider."""
        with pytest.raises(ValidationError):
            ToolCallPart.model_validate({"tool_call_id": "i", "tool_name": "f", "input": {"n": value}})

    def test_incomplete(self) -> None:
        """A cut call has no input, and says why; its text is quoted short."""
        call = ToolCallPart(tool_call_id="i", tool_name="f", arguments='{"a":"' + "x" * 5000, complete=False)
        assert "input" not in call.to_dict()
        with pytest.raises(
            InvalidDataError, match=r"tool call 'i' \(f\) are not JSON: .*truncated"
        ) as caught:
            call.input  # noqa: B018
        assert len(str(caught.value)) < 500

    def test_claims_to_be_complete(self) -> None:
        """A call from elsewhere that claims to be complete, but is not JSON, can still be shown."""
        call = ToolCallPart(tool_call_id="i", tool_name="f", arguments="{oops")
        assert "{oops" == call.to_dict()["arguments"]


def test_provider_part_takes_raw_json() -> None:
    """A wire's `Raw` block is decoded."""
    assert {"a": None} == ProviderPart(format="f", data=msgspec.Raw(b'{"a":null}')).data  # type: ignore[arg-type]


def test_tool_message() -> None:
    """A tool message has at least one result."""
    assert 6 == len(ToolMessage.model_validate(TOOL).content)
