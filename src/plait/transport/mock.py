"""An answer without a server: what `mock/any` says, in the shape of OpenAI's Chat Completions.

It repeats the last user message, word for word. When that names one of the request's tools, the tool is
called, with an empty object as its arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx

_PIECES = re.compile(r"\s*\S+|\s+\Z")


class _Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Frames one by one, each a chunk."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = frames

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._frames)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for frame in self._frames:
            yield frame


class MockTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers Chat Completions requests in this process."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request whose body was read."""
        asked = json.loads(request.content)
        answer = _answer(asked)
        if asked.get("stream"):
            headers = {"content-type": "text/event-stream", "x-request-id": "req_mock"}
            return httpx.Response(200, headers=headers, stream=_Body(list(_stream(asked, answer))))
        return httpx.Response(200, headers={"x-request-id": "req_mock"}, json=_whole(asked, answer))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As `handle_request`."""
        return self.handle_request(request)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    """The message: `content`, or `tool_calls`."""
    messages = asked.get("messages", [])
    said = next((_text(item) for item in reversed(messages) if item.get("role") == "user"), "")
    answered = bool(messages) and messages[-1].get("role") == "tool"
    for tool in asked.get("tools", []) if not answered else []:
        name = tool.get("function", {}).get("name")
        if name and name in said:
            call = {"id": "call_mock", "type": "function", "function": {"name": name, "arguments": "{}"}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": said or "Hello!"}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if part.get("type") == "text")
    return content or ""


def _usage(asked: dict[str, Any], answer: dict[str, Any]) -> dict[str, int]:
    read = len(_PIECES.findall(json.dumps(asked.get("messages", []))))
    written = len(_PIECES.findall(answer["content"] or "{}"))
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _finish(answer: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in answer else "stop"


def _whole(asked: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-mock",
        "object": "chat.completion",
        "model": asked.get("model"),
        "choices": [{"index": 0, "message": answer, "finish_reason": _finish(answer)}],
        "usage": _usage(asked, answer),
    }


def _stream(asked: dict[str, Any], answer: dict[str, Any]) -> Iterator[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if "tool_calls" in answer:
        deltas += [{"tool_calls": [{"index": 0, **answer["tool_calls"][0]}]}]
    else:
        deltas += [{"content": piece} for piece in _PIECES.findall(answer["content"])]
    base = {"id": "chatcmpl-mock", "object": "chat.completion.chunk", "model": asked.get("model")}
    for delta in deltas:
        yield _frame({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _frame({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]})
    yield _frame({**base, "choices": [], "usage": _usage(asked, answer)})
    yield b"data: [DONE]\n\n"


def _frame(document: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode()
