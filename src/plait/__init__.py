"""Plait turns every LLM provider's wire format into one event vocabulary.

import plait

parser = plait.parser("anthropic-messages")
for chunk in chunks:
    for event in parser.feed(chunk):
        ...
for event in parser.close():
    ...
parser.message
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plait.errors import (
    AuthenticationError,
    BadRequestError,
    CassetteError,
    ConfigurationError,
    ContentFilterError,
    ContextWindowExceededError,
    FetchError,
    IncompleteStreamError,
    InvalidDataError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    PlaitError,
    ProtocolError,
    ProviderError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    StreamTimeoutError,
    TransportError,
    UnknownWireError,
)
from plait.events import (
    Citation,
    Event,
    FileDone,
    FinishReason,
    FinishReasonDone,
    GuardrailModification,
    GuardrailTripwire,
    Interrupt,
    ReasoningDelta,
    ReasoningDone,
    ReasoningPart,
    ResponseStarted,
    ServerToolCall,
    ServerToolResult,
    SkillActivation,
    TextDelta,
    TextDone,
    TokenUsage,
    TokenUsageDone,
    ToolCallDelta,
    ToolCallDone,
    WebSearchDone,
    WebSearchStatus,
    event_from_dict,
    event_json_schema,
)
from plait.wire import WIRES
from plait.wire.parser import Parser

if TYPE_CHECKING:
    from plait.framing import BytesLike
    from plait.messages import (
        AssistantMessage,
        ContentOutput,
        DataSource,
        ErrorJson,
        ErrorText,
        ExecutionDenied,
        FilePart,
        ImagePart,
        JsonOutput,
        Message,
        Problem,
        ProviderPart,
        ReasoningContent,
        SystemMessage,
        TextOutput,
        TextPart,
        ToolCallPart,
        ToolMessage,
        ToolResultPart,
        UrlSource,
        UserMessage,
        check_transcript,
        create_message_schema,
        is_message,
        parse_message,
        parse_messages,
    )
    from plait.providers import Endpoint, Provider, Setting, register_provider
    from plait.transport import AsyncStream, Model, Retries, Retry, Stream, Timeouts
    from plait.wire.plan import RequestPlan

__version__ = "0.1.0.dev0"

_MESSAGES = (
    "AssistantMessage",
    "ContentOutput",
    "DataSource",
    "ErrorJson",
    "ErrorText",
    "ExecutionDenied",
    "FilePart",
    "ImagePart",
    "JsonOutput",
    "Message",
    "Problem",
    "ProviderPart",
    "ReasoningContent",
    "SystemMessage",
    "TextOutput",
    "TextPart",
    "ToolCallPart",
    "ToolMessage",
    "ToolResultPart",
    "UrlSource",
    "UserMessage",
    "check_transcript",
    "create_message_schema",
    "is_message",
    "parse_message",
    "parse_messages",
)

_LAYERS = {
    **dict.fromkeys(_MESSAGES, "plait.messages"),
    **dict.fromkeys(("Endpoint", "Provider", "Setting", "register_provider"), "plait.providers"),
    **dict.fromkeys(("AsyncStream", "Model", "Retries", "Retry", "Stream", "Timeouts"), "plait.transport"),
}
"""Where the names are that are loaded on first use."""

__all__ = [
    "WIRES",
    "AssistantMessage",
    "AsyncStream",
    "AuthenticationError",
    "BadRequestError",
    "CassetteError",
    "Citation",
    "ConfigurationError",
    "ContentFilterError",
    "ContentOutput",
    "ContextWindowExceededError",
    "DataSource",
    "Endpoint",
    "ErrorJson",
    "ErrorText",
    "Event",
    "ExecutionDenied",
    "FetchError",
    "FileDone",
    "FilePart",
    "FinishReason",
    "FinishReasonDone",
    "GuardrailModification",
    "GuardrailTripwire",
    "ImagePart",
    "IncompleteStreamError",
    "Interrupt",
    "InvalidDataError",
    "JsonOutput",
    "Message",
    "Model",
    "NotFoundError",
    "OverloadedError",
    "Parser",
    "PermissionDeniedError",
    "PlaitError",
    "Problem",
    "ProtocolError",
    "Provider",
    "ProviderError",
    "ProviderPart",
    "RateLimitError",
    "ReasoningContent",
    "ReasoningDelta",
    "ReasoningDone",
    "ReasoningPart",
    "RequestTimeoutError",
    "ResponseStarted",
    "Retries",
    "Retry",
    "ServerError",
    "ServerToolCall",
    "ServerToolResult",
    "Setting",
    "SkillActivation",
    "Stream",
    "StreamTimeoutError",
    "SystemMessage",
    "TextDelta",
    "TextDone",
    "TextOutput",
    "TextPart",
    "Timeouts",
    "TokenUsage",
    "TokenUsageDone",
    "ToolCallDelta",
    "ToolCallDone",
    "ToolCallPart",
    "ToolMessage",
    "ToolResultPart",
    "TransportError",
    "UnknownWireError",
    "UrlSource",
    "UserMessage",
    "WebSearchDone",
    "WebSearchStatus",
    "aparse",
    "build_request",
    "check_transcript",
    "create_message_schema",
    "event_from_dict",
    "event_json_schema",
    "is_message",
    "parse",
    "parse_message",
    "parse_messages",
    "parser",
    "plan_request",
    "read_error",
    "read_response",
    "register_provider",
]


def parser(wire: str, *, dialect: str | None = None, count_fields: bool = False, **options: Any) -> Parser:
    """A parser for one response: bytes in, events out, no I/O.

    Args:
        wire: the wire format, one of `plait.WIRES`
        dialect: the server's dialect of it, where shapes conflict; None reads nearly all servers
        count_fields: also count, in `unknown`, every field that is not read (slower)
        options: the format's own reading options, such as `think_tags` of openai-chat

    Raises:
        UnknownWireError: no such wire format, dialect or option; the message lists those there are
    """
    from plait import wire as wires

    return wires.parser(wire, dialect=dialect, count_fields=count_fields, **options)


def parse(
    chunks: Iterable[bytes] | BytesLike, wire: str, *, dialect: str | None = None, **options: Any
) -> Iterator[Event]:
    """The events of one response's body. What came before a fault is delivered, then the fault is raised.

    Args:
        chunks: the body's bytes, cut anywhere; one `bytes` object is taken as one chunk
        wire: the wire format, one of `plait.WIRES`
        dialect, options: as for `plait.parser`

    Raises:
        IncompleteStreamError: the bytes ended before the wire's terminal event
        ProviderError: the provider reported an error
        ProtocolError: the bytes are not this wire format
        UnknownWireError: no such wire format, dialect or option
    """
    from plait.wire.parser import parse as parse_chunks

    source = [bytes(chunks)] if isinstance(chunks, bytes | bytearray | memoryview) else chunks
    return parse_chunks(parser(wire, dialect=dialect, **options), source)


def aparse(
    chunks: AsyncIterable[bytes], wire: str, *, dialect: str | None = None, **options: Any
) -> AsyncIterator[Event]:
    """As `parse`, over an asynchronous source of chunks."""
    from plait.wire.parser import aparse as aparse_chunks

    return aparse_chunks(parser(wire, dialect=dialect, **options), chunks)


def read_response(
    wire: str, body: bytes | str | Mapping[str, Any], *, dialect: str | None = None, **options: Any
) -> AssistantMessage:
    """The message in the JSON body of a non-streaming response.

    Its `finish_reason` is None when the body says that the response goes on in the background.

    Raises:
        ProviderError: the body is an error, whatever the HTTP status was
        ProtocolError: the body is not a JSON object
        UnknownWireError: no such wire format, dialect or option
    """
    from plait import wire as wires

    return wires.read_response(wire, body, dialect=dialect, **options)


def plan_request(
    wire: str,
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    dialect: str | None = None,
    repair: bool = False,
    **options: Any,
) -> RequestPlan:
    """The JSON body of a request, and notes on what of the conversation and options it does not say as asked.

    Args:
        wire: the wire format, one of `plait.WIRES`
        messages: the conversation: message objects, or their JSON data
        dialect: the server's dialect, where it takes something else than the wire's own provider
        repair: mend what the provider would refuse (a call without result, an empty message), with a note
        options: see `plait.wire.options.RequestOptions`: model, tools, tool_choice, output, reasoning, ...

    Raises:
        InvalidDataError: an unknown option, or a history the provider would refuse; the message names the
            option, or the message by index, and says what to do
        UnknownWireError: no such wire format or dialect
    """
    from plait.wire.requests import plan_request as plan

    return plan(wire, messages, dialect=dialect, repair=repair, **options)


def build_request(
    wire: str,
    messages: Iterable[Message | Mapping[str, Any]],
    *,
    dialect: str | None = None,
    repair: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """The JSON body of a request: `plan_request` without the notes."""
    return plan_request(wire, messages, dialect=dialect, repair=repair, **options).body


def read_error(
    wire: str, status: int, headers: Mapping[str, str], body: bytes | str, *, provider: str | None = None
) -> ProviderError:
    """The typed error of an HTTP error response: a value to raise, with the facts as attributes.

    Args:
        wire: the wire format that was asked, one of `plait.WIRES`
        status: the HTTP status, 400 or more
        headers: the response's headers; the request id and the time to wait are read from them
        body: JSON of any shape, whatever the content type says, or text, or an HTML page
        provider: the provider's name for the message; the wire's by default

    Raises:
        UnknownWireError: no such wire format
    """
    from plait import wire as wires

    return wires.read_error(wire, status, headers, body, provider=provider)


def __getattr__(name: str) -> Any:
    # A program that only parses bytes pays for importing neither pydantic (messages) nor httpx (transport).
    if name in _LAYERS:
        return getattr(import_module(_LAYERS[name]), name)
    raise AttributeError(f"module 'plait' has no attribute {name!r}")
