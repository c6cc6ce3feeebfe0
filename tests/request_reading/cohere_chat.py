"""A request to Cohere's `/v2/chat` -> messages and options."""

from __future__ import annotations

import copy
from typing import Any

from request_reading.chat_parts import (
    Conversation,
    Json,
    content,
    function_tool,
    image,
    renamed,
    system_text,
    tool_choice,
)
from request_reading.expressible import NotExpressible, only

_FORMAT = "cohere-chat-v2"
_PLAN = "cohere-tool-plan"
_FIELDS = {
    "model": "model",
    "stream": "stream",
    "max_tokens": "max_output_tokens",
    "temperature": "temperature",
    "p": "top_p",
    "k": "top_k",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop_sequences": "stop",
    "seed": "seed",
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
        strict = {"strict": True} if left.pop("strict_tools", False) else {}
        options["tools"] = [{**function_tool(tool), **strict} for tool in left.pop("tools")]
    if left.get("tool_choice") is not None:
        options["tool_choice"] = tool_choice(left.pop("tool_choice").lower())
    if left.get("response_format"):
        wanted = left.pop("response_format")
        options["output"] = {"json_schema": wanted["json_schema"]} if "json_schema" in wanted else "json"
    if left.get("thinking"):
        said = left.pop("thinking")
        options["reasoning"] = {
            "enabled": said["type"] == "enabled",
            "budget_tokens": said.get("token_budget"),
        }
    options["extra"] = {name: value for name, value in left.items() if value is not None and value != []}
    return messages, options


def _messages(given: list[Json]) -> list[Json]:
    talk = Conversation()
    for message in given:
        role = message["role"]
        known = {"assistant": ("tool_calls", "tool_plan"), "tool": ("tool_call_id",)}
        only(message, f"{role} message", "role", "content", *known.get(role, ()))
        match role:
            case "system":
                talk.say("system", system_text(message["content"]))
            case "user":
                talk.say("user", content(message["content"], _part))
            case "tool":
                talk.result(message["tool_call_id"], message["content"], _part)
            case "assistant":
                said: list[Any] = []
                if message.get("tool_plan"):
                    said.append(_reasoning(message["tool_plan"], _PLAN))
                said += content(message.get("content"), _part)
                said += [talk.call(call) for call in message.get("tool_calls") or ()]
                talk.say("assistant", said)
    return talk.messages


def _reasoning(text: str, made: str) -> Json:
    return {"type": "reasoning", "details": [{"type": "text", "text": text, "format": made}]}


def _part(part: Json) -> Json:
    kind = part["type"]
    only(part, f"{kind} part", "type", kind)
    match kind:
        case "text":
            return {"type": "text", "text": part["text"]}
        case "thinking":
            return _reasoning(part["thinking"], _FORMAT)
        case "image_url":
            return image(part["image_url"]["url"], part["image_url"].get("detail"))
    raise NotExpressible(f"{kind} part")
