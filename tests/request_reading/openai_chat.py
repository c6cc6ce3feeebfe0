"""A Chat Completions request -> messages and options."""

from __future__ import annotations

import copy
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

_FIELDS = {
    "model": "model",
    "stream": "stream",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop": "stop",
    "seed": "seed",
    "parallel_tool_calls": "parallel_tool_calls",
    "metadata": "metadata",
    "store": "store",
    "service_tier": "service_tier",
    "verbosity": "verbosity",
    "safety_identifier": "user",
}
_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
_DETAILS = {"reasoning.text": "text", "reasoning.summary": "summary", "reasoning.encrypted": "encrypted"}


def read(request: Json, dialect: str | None = None) -> tuple[list[Json], Json]:
    """The messages and options that a request stands for. What no option names is `extra`.

    Raises:
        NotExpressible: the vocabulary has no place for something in the messages or tools
    """
    left = copy.deepcopy(request)
    marked = _marks(left["messages"]) if dialect == "openrouter" else {}
    messages = _messages(left.pop("messages"))
    limits = {name: left.pop(name) for name in ("max_tokens", "max_completion_tokens") if left.get(name)}
    if len(limits) > 1:
        raise NotExpressible("two limits of tokens")
    options = renamed(left, _FIELDS)
    for limit in limits.values():
        options["max_output_tokens"] = limit
    options["include_usage"] = False
    if left.get("stream_options") == {"include_usage": True}:
        del left["stream_options"]
        options["include_usage"] = True
    if "response_format" in left:
        options["output"] = response_format(left.pop("response_format"))
    try:
        options |= _tools(left.get("tools") or [])
        left.pop("tools", None)
    except NotExpressible:  # what only one provider knows: a caller gives all tools as `extra`
        pass
    if left.get("tool_choice") is not None and options.get("tools"):
        options["tool_choice"] = tool_choice(left.pop("tool_choice"))
    _thinking(left, options)
    _search(left, options)
    _cache(left, options, dialect)
    options |= marked
    options["extra"] = {name: value for name, value in left.items() if value is not None and value != []}
    return messages, options


def _thinking(left: Json, options: Json) -> None:
    """Effort and switch, where the server has such."""
    if left.get("reasoning_effort") in _EFFORTS:
        options["reasoning"] = {"effort": left.pop("reasoning_effort")}
    said = left.get("reasoning")
    if said and not (said.keys() - {"effort", "enabled", "max_tokens"}):
        del left["reasoning"]
        budget = {"budget_tokens": said.pop("max_tokens")} if "max_tokens" in said else {}
        options["reasoning"] = {**said, **budget}
    switch = left.get("thinking")
    if switch and switch.get("type") in ("enabled", "disabled"):
        options["reasoning"] = {**options.get("reasoning", {}), "enabled": switch.pop("type") == "enabled"}
        if not switch:
            del left["thinking"]


def _tools(given: list[Json]) -> Json:
    """The tools, and OpenRouter's search among them."""
    options: Json = {"tools": []}
    for tool in given:
        if tool.get("type") == "openrouter:web_search":
            options["web_search"] = _search_tool(tool["parameters"])
        else:
            options["tools"].append(function_tool(tool))
    return options


def _search_tool(said: Json) -> Json:
    only(
        said,
        "search",
        "search_context_size",
        "allowed_domains",
        "excluded_domains",
        "max_uses",
        "user_location",
    )
    names = {
        "search_context_size": "context_size",
        "allowed_domains": "allowed_domains",
        "excluded_domains": "blocked_domains",
        "max_uses": "max_uses",
    }
    search = {names[name]: value for name, value in said.items() if name in names}
    if said.get("user_location"):
        search["user_location"] = {
            name: value for name, value in said["user_location"].items() if name != "type"
        }
    return search


def _search(left: Json, options: Json) -> None:
    if "web_search_options" in left:
        said = left.pop("web_search_options")
        search = {"context_size": said["search_context_size"]} if "search_context_size" in said else {}
        if said.get("user_location"):
            search["user_location"] = said["user_location"]["approximate"]
        options["web_search"] = search
    if "search_settings" in left:
        said = left.pop("search_settings")
        names = {"include_domains": "allowed_domains", "exclude_domains": "blocked_domains"}
        options["web_search"] = {names[name]: value for name, value in said.items()}


def _cache(left: Json, options: Json, dialect: str | None) -> None:
    """A key alone is `extra` where asking for a cache would mark parts, too."""
    cache: Json = {}
    if left.get("prompt_cache_key") is not None and dialect != "openrouter":
        cache["key"] = left.pop("prompt_cache_key")
    if left.get("prompt_cache_options", {}).get("ttl") == "30m":
        cache["ttl"] = left["prompt_cache_options"].pop("ttl")
    if cache:
        options["prompt_cache"] = cache


def _marks(messages: list[Json]) -> Json:
    """The cache that is asked for by marks, taken out where they stand as asking for one puts them: at the
    end of the system text and of the history.
    """
    last = {id(messages[-1]), *[id(message) for message in messages if message["role"] == "system"][-1:]}
    ends = [message["content"][-1] for message in messages if id(message) in last and _is_parts(message)]
    parts = [part for message in messages if _is_parts(message) for part in message["content"]]
    marked = [part for part in parts if "cache_control" in part]
    marks = [part["cache_control"] for part in marked]
    if len(ends) != len(last) or [*map(id, marked)] != [*map(id, ends)] or marks != marks[:1] * len(marks):
        return {}
    for part in marked:
        del part["cache_control"]
    return {"prompt_cache": {name: value for name, value in marks[0].items() if name == "ttl"}}


def _is_parts(message: Json) -> bool:
    return isinstance(message.get("content"), list)


# Messages


def _messages(given: list[Json]) -> list[Json]:
    talk = Conversation()
    for message in given:
        known = {
            "assistant": ("tool_calls", "reasoning", "reasoning_content", "reasoning_details", "refusal"),
            "tool": ("tool_call_id",),
        }
        only(message, f"{message['role']} message", "role", "content", *known.get(message["role"], ()))
        match message["role"]:
            case "system" | "developer":
                talk.say("system", system_text(message["content"]))
            case "user":
                talk.say("user", content(message["content"], _part))
            case "tool":
                talk.result(message["tool_call_id"], message["content"], _part)
            case "assistant":
                talk.say("assistant", list(_answer(message, talk)))
    return talk.messages


def _answer(message: Json, talk: Conversation) -> Any:
    for name in ("reasoning_content", "reasoning"):
        if message.get(name) is not None:
            yield {"type": "reasoning", "details": [{"type": "text", "text": message[name], "format": name}]}
    if message.get("reasoning_details"):
        yield {"type": "reasoning", "details": [_detail(entry) for entry in message["reasoning_details"]]}
    yield from content(message.get("content"), _part)
    if message.get("refusal"):
        yield {"type": "text", "text": message["refusal"], "refusal": True}
    for call in message.get("tool_calls") or ():
        yield talk.call(call)


def _detail(entry: Json) -> Json:
    only(entry, "reasoning_detail", "type", "text", "summary", "data", "signature", "id", "format", "index")
    index = "" if entry.get("index") is None else entry["index"]
    return {
        "type": _DETAILS[entry["type"]],
        "text": entry.get("summary", entry.get("text")),
        "data": entry.get("data"),
        "signature": entry.get("signature"),
        "id": entry.get("id"),
        "format": f"openrouter:{entry.get('format') or ''}#{index}",
    }


def _part(part: Json) -> Json:
    kind = part["type"]
    only(part, f"{kind} part", "type", kind)
    said = part[kind]
    match kind:
        case "text":
            return {"type": "text", "text": said}
        case "image_url":
            only(said, "image_url", "url", "detail")
            return image(said["url"], said.get("detail"))
        case "video_url":
            return file(said["url"], media_type="video/mp4")
        case "input_audio":
            if said["data"].startswith(("http", "data:")):
                raise NotExpressible("sound by URL")
            sound = _SOUNDS[said["format"]]
            return {
                "type": "file",
                "data": {"type": "data", "data": said["data"], "media_type": sound},
                "media_type": sound,
            }
        case "file" if "file_data" in said:
            only(said, "file", "file_data", "filename")
            return file(said["file_data"], filename=said.get("filename"))
    raise NotExpressible(f"{kind} part by the provider's id")
