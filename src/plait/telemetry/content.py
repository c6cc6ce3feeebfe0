"""Messages in the form of the conventions: JSON text for attributes of a span, which hold no objects.

The form is that of `gen-ai-input-messages.json`, `gen-ai-output-messages.json` and
`gen-ai-system-instructions.json` of the conventions; their part types are in opentelemetry-util-genai 1.3b0
(`types.py`, read 2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, assert_never

from plait.errors import InvalidDataError
from plait.messages import (
    AssistantMessage,
    ContentOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    Message,
    ProviderPart,
    ReasoningContent,
    SystemMessage,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UrlSource,
    parse_messages,
)
from plait.telemetry import names
from plait.wire.options import RequestOptions

MAX_BLOB = 64 * 1024
"""Characters of base64 that are still written: a collector refuses a batch with a whole photograph in it."""

_Part: TypeAlias = (
    TextPart | ImagePart | FilePart | ReasoningContent | ToolCallPart | ToolResultPart | ProviderPart
)


def request_content(items: Iterable[Any], options: Mapping[str, Any]) -> dict[str, str]:
    """Attributes that hold what is asked.

    Args:
        items: the conversation: message objects, or their JSON data. The system messages that begin it become
            the system instructions; a later one stays where it is
        options: the request options; of them, the tools
    """
    messages = parse_messages(items)
    start = next((at for at, one in enumerate(messages) if one.role != "system"), len(messages))
    instructions = [
        _text(message.content) for message in messages[:start] if isinstance(message, SystemMessage)
    ]
    found: dict[str, Any] = {
        names.SYSTEM_INSTRUCTIONS: instructions,
        names.INPUT_MESSAGES: [_message(message) for message in messages[start:]],
        names.TOOL_DEFINITIONS: _tools(options),
    }
    return {name: json.dumps(value) for name, value in found.items() if value}


def response_content(message: AssistantMessage, error: BaseException | None) -> dict[str, str]:
    """The attribute that holds the answer, or the part of it that came; none when nothing came."""
    if not message.content:
        return {}
    answer = _message(message)
    if error is not None:
        answer["finish_reason"] = "error"
    elif message.finish_reason is not None:
        answer["finish_reason"] = names.FINISHES.get(message.finish_reason, message.finish_reason)
    return {names.OUTPUT_MESSAGES: json.dumps([answer])}


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message, SystemMessage):
        return {"role": "system", "parts": [_text(message.content)]}
    return {"role": message.role, "parts": [_part(part) for part in message.content]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _part(part: _Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return _text(part.text)
        case ReasoningContent():
            return {"type": "reasoning", "content": part.text or ""}
        case ToolCallPart():
            return {
                "type": "tool_call",
                "id": part.tool_call_id,
                "name": part.tool_name,
                "arguments": _arguments(part),
            }
        case ToolResultPart():
            return {"type": "tool_call_response", "id": part.tool_call_id, "response": _response(part)}
        case ImagePart() | FilePart():
            return _media(part)
        case ProviderPart():
            return {"type": "provider", "format": part.format, "data": part.data}
        case _:
            assert_never(part)


def _arguments(call: ToolCallPart) -> Any:
    """As JSON data where they are JSON; what a cut call has of them stays text."""
    try:
        return call.input if call.complete else call.arguments
    except InvalidDataError:
        return call.arguments


def _response(result: ToolResultPart) -> Any:
    output = result.output
    if isinstance(output, TextOutput | JsonOutput):
        return output.value
    if isinstance(output, ContentOutput):
        return [_part(part) for part in output.value]
    return output.to_dict()


def _media(part: ImagePart | FilePart) -> dict[str, Any]:
    source = part.image if isinstance(part, ImagePart) else part.data
    media_type = part.media_type if isinstance(part, FilePart) else getattr(source, "media_type", None)
    kind = (media_type or "").partition("/")[0]
    facts = {
        "mime_type": media_type,
        "modality": "image" if isinstance(part, ImagePart) else kind if kind in _KINDS else "document",
    }
    if isinstance(source, UrlSource):
        return {"type": "uri", **facts, "uri": source.url}
    if len(source.data) > MAX_BLOB:
        return {"type": "plait.omitted", **facts, "base64_length": len(source.data)}
    return {"type": "blob", **facts, "content": source.data}


_KINDS = frozenset({"image", "audio", "video"})


def _tools(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    asked = RequestOptions.of({"tools": options.get("tools")})
    return [
        {"type": tool.kind, "name": tool.name}
        | ({"description": tool.description} if tool.description else {})
        | ({"parameters": tool.parameters} if tool.kind == "function" else {})
        for tool in asked.tools
    ]
