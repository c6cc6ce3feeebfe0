"""Bodies of requests as the SDKs' own types see them, and short histories to build them from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from mistralai.client.models import ChatCompletionRequest
from openai.types.chat import CompletionCreateParams
from pydantic import TypeAdapter

import plait
from plait.wire.plan import Note

PNG = "iVBORw0KGgo="
"""The first bytes of a PNG."""


@cache
def _types() -> TypeAdapter[Any]:
    return TypeAdapter(CompletionCreateParams)


def as_openai_sees(body: dict[str, Any]) -> Any:
    """The body through the SDK's request types: without the fields that they do not have.

    Raises:
        pydantic.ValidationError: not a request
    """
    return _read(_types().validate_python(body))


def _read(value: Any) -> Any:
    """Iterables of a validated body are checked only while they are read."""
    if isinstance(value, dict):
        return {name: _read(one) for name, one in value.items()}
    if isinstance(value, Iterable | Iterator) and not isinstance(value, str | bytes):
        return [_read(one) for one in value]
    return value


def as_mistral_sees(body: dict[str, Any]) -> Any:
    """As above, for Mistral."""
    return ChatCompletionRequest.model_validate(body).model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )


def chat(messages: list[Any], dialect: str | None = None, **options: Any) -> dict[str, Any]:
    """The body of a chat request, checked by the SDK's types; without a model, one is put for those."""
    body = plait.build_request("openai-chat", messages, dialect=dialect, **options)
    whole = {"model": "m", **body}
    if dialect in ("openai", "azure"):
        assert as_openai_sees(whole) == whole
    else:  # tools that a server runs itself have types of its own
        tools = [tool for tool in body.get("tools", []) if tool["type"] in ("function", "custom")]
        as_openai_sees({**whole, "tools": tools})
    return body


def mistral(messages: list[Any], **options: Any) -> dict[str, Any]:
    """The body of a request to Mistral; the SDK's types know all of it."""
    body = plait.build_request("mistral-chat", messages, **options)
    assert as_mistral_sees({"model": "m", **body}).keys() == {"model": "m", **body}.keys()
    return body


def notes(wire: str, messages: list[Any], **options: Any) -> list[tuple[str, str]]:
    """Kind and thing of each note."""
    found: list[Note] = plait.plan_request(wire, messages, **options).notes
    return [(note.kind, note.what) for note in found]


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if len(content) == 1 else list(content)}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def assistant(*content: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": one} if isinstance(one, str) else one for one in content],
    }


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": content, **more}


def image(url: str | None = None, **more: Any) -> dict[str, Any]:
    source = {"type": "url", "url": url} if url else {"type": "data", "data": PNG}
    return {"type": "image", "image": source, **more}


def file(data: str, media_type: str, **more: Any) -> dict[str, Any]:
    kind = "url" if "://" in data else "data"
    return {"type": "file", "data": {"type": kind, kind: data}, "media_type": media_type, **more}


def call(
    id: str = "call_1", name: str = "look", arguments: str = '{"at":  1}', **more: Any
) -> dict[str, Any]:
    return {"type": "tool-call", "tool_call_id": id, "tool_name": name, "arguments": arguments, **more}


def result(output: Any = "done", id: str = "call_1", name: str = "look") -> dict[str, Any]:
    output = {"type": "text", "value": output} if isinstance(output, str) else output
    part = {"type": "tool-result", "tool_call_id": id, "tool_name": name, "output": output}
    return {"role": "tool", "content": [part]}


def reasoning(text: str | None, format: str | None, type: str = "text", **more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "details": [{"type": type, "text": text, "format": format, **more}]}
