"""A request to Mistral's chat API -> messages and options."""

from __future__ import annotations

import copy
import json
from typing import Any

from request_reading.chat_parts import (
    Conversation,
    Json,
    content,
    file,
    function_tool,
    image,
    renamed,
    response_format,
    system_text,
    tool_choice,
)
from request_reading.expressible import NotExpressible, only

_FORMAT = "mistral-chat-v1"
_FIELDS = {
    "model": "model",
    "stream": "stream",
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop": "stop",
    "random_seed": "seed",
    "parallel_tool_calls": "parallel_tool_calls",
    "metadata": "metadata",
    "service_tier": "service_tier",
}


def read(request: Json, dialect: str | None = None) -> tuple[list[Json], Json]:
    """The messages and options that a request stands for. What no option names is `extra`.

    Raises:
        NotExpressible: the vocabulary has no place for something in the messages or tools
    """
    left = copy.deepcopy(request)
    messages = _messages(left.pop("messages"))
    options = renamed(left, _FIELDS)
    if left.get("tools"):
        options["tools"] = [function_tool(tool) for tool in left.pop("tools")]
    if left.get("tool_choice") is not None:
        options["tool_choice"] = tool_choice(left.pop("tool_choice"), required="any")
    if "response_format" in left:
        options["output"] = response_format(left.pop("response_format"))
    if left.get("reasoning_effort") is not None:
        options["reasoning"] = {"effort": left.pop("reasoning_effort")}
    if left.get("prompt_cache_key") is not None:
        options["prompt_cache"] = {"key": left.pop("prompt_cache_key")}
    options["extra"] = {name: value for name, value in left.items() if value is not None and value != []}
    return messages, options


def _messages(given: list[Json]) -> list[Json]:
    talk = Conversation()
    for at, message in enumerate(given):
        role = message["role"]
        known = {"assistant": ("tool_calls", "prefix"), "tool": ("tool_call_id", "name")}
        only(message, f"{role} message", "role", "content", *known.get(role, ()))
        match role:
            case "system":
                talk.say("system", system_text(message["content"]))
            case "user":
                talk.say("user", content(message["content"], _part))
            case "tool":
                talk.result(message["tool_call_id"], message["content"], _part)
            case "assistant":
                if message.get("prefix") and at < len(given) - 1:
                    raise NotExpressible("prefix of a message that is not the last")
                said: list[Any] = content(message.get("content"), _said)
                said += [talk.call(call) for call in message.get("tool_calls") or ()]
                talk.say("assistant", said)
    return talk.messages


def _said(part: Json) -> Json:
    """A part of the model's: text or thinking; a list of thoughts with references is kept whole."""
    if part["type"] != "thinking":
        return _part(part)
    only(part, "thinking", "type", "thinking", "signature")
    thoughts = part["thinking"]
    plain = [thought["text"] for thought in thoughts if thought["type"] == "text"]
    detail: Json = {"type": "text", "text": "".join(plain), "format": _FORMAT}
    if len(thoughts) != 1 or not plain:
        detail["data"] = json.dumps(thoughts)
    if part.get("signature") is not None:
        detail["signature"] = part["signature"]
    return {"type": "reasoning", "details": [detail]}


def _part(part: Json) -> Json:
    match part["type"]:
        case "text":
            only(part, "text part", "type", "text")
            return {"type": "text", "text": part["text"]}
        case "image_url":
            only(part, "image part", "type", "image_url")
            said = part["image_url"] if isinstance(part["image_url"], dict) else {"url": part["image_url"]}
            only(said, "image part", "url", "detail")
            return image(said["url"], said.get("detail"))
        case "document_url":
            only(part, "document part", "type", "document_url", "document_name")
            return file(part["document_url"], filename=part.get("document_name"))
    raise NotExpressible(f"{part['type']} part")
