"""A request to the Responses API -> messages and options."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from request_reading.chat_parts import Conversation, Json, content, file, image, renamed
from request_reading.expressible import NotExpressible, only

_FORMAT = "openai-responses-v1"
_TEXT_FORMAT = "openai-responses-text-v1"
_FIELDS = {
    "model": "model",
    "stream": "stream",
    "max_output_tokens": "max_output_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "parallel_tool_calls": "parallel_tool_calls",
    "metadata": "metadata",
    "previous_response_id": "previous_response_id",
    "service_tier": "service_tier",
    "store": "store",
    "safety_identifier": "user",
}
_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
_SUMMARIES = frozenset({"auto", "concise", "detailed"})


def read(request: Json, dialect: str | None = None) -> tuple[list[Json], Json]:
    """The messages and options that a request stands for. What no option names is `extra`.

    Raises:
        NotExpressible: the vocabulary has no place for something in the input or tools
    """
    left = copy.deepcopy(request)
    messages = _Input().read(left.pop("instructions", None), left.pop("input"))
    options = renamed(left, _FIELDS)
    try:
        options |= _tools(left.get("tools") or [])
        left.pop("tools", None)
    except NotExpressible:  # what only one provider knows: a caller gives all tools as `extra`
        pass
    choice = left.get("tool_choice")
    if isinstance(choice, str) or (choice and choice["type"] == "function"):
        options["tool_choice"] = left.pop("tool_choice") if isinstance(choice, str) else {}
        if not isinstance(choice, str):
            options["tool_choice"] = {"name": left.pop("tool_choice")["name"]}
    _text(left, options)
    said = left.get("reasoning") or {}
    asked = {name: said.pop(name) for name in ("effort",) if said.get(name) in _EFFORTS}
    asked |= {name: said.pop(name) for name in ("summary",) if said.get(name) in _SUMMARIES}
    if asked:
        options["reasoning"] = asked
    if left.get("prompt_cache_key") is not None:
        options["prompt_cache"] = {"key": left.pop("prompt_cache_key")}
    options["extra"] = {name: value for name, value in left.items() if value not in (None, [], {})}
    return messages, options


def _text(left: Json, options: Json) -> None:
    text = left.get("text") or {}
    wanted = text.get("format", {}).get("type")
    if wanted == "json_object":
        options["output"] = "json"
        del text["format"]
    elif wanted == "json_schema":
        said = text.pop("format")
        only(said, "text.format", "type", "name", "description", "schema", "strict")
        options["output"] = {
            "json_schema": said["schema"],
            **{name: said[name] for name in ("name", "description", "strict") if said.get(name) is not None},
        }
    if text.get("verbosity") is not None:
        options["verbosity"] = text.pop("verbosity")


def _tools(given: list[Json]) -> Json:
    """The tools, and the search among them."""
    options: Json = {"tools": []}
    for tool in given:
        named = {name: value for name, value in tool.items() if name != "type" and value is not None}
        match tool["type"]:
            case "function":
                only(tool, "tool", "type", "name", "description", "parameters", "strict")
                options["tools"].append(named)
            case "custom":
                only(tool, "tool", "type", "name", "description", "format")
                options["tools"].append({**named, "kind": "custom"})
            case "web_search" | "web_search_preview":
                only(tool, "web_search", "type", "search_context_size", "user_location", "filters")
                search: Json = {}
                if tool.get("search_context_size") is not None:
                    search["context_size"] = tool["search_context_size"]
                if tool.get("user_location"):
                    place = tool["user_location"]
                    search["user_location"] = {name: place[name] for name in place if name != "type"}
                search |= tool.get("filters") or {}
                options["web_search"] = search or True
            case kind:
                raise NotExpressible(f"tool {kind}")
    return options


class _Input:
    """Items as messages: what the model made, one after another, is one message."""

    def __init__(self) -> None:
        self._talk = Conversation()
        self._provided: set[str] = set()

    def read(self, instructions: str | None, given: str | list[Json]) -> list[Json]:
        """The messages."""
        if instructions is not None:
            self._talk.say("system", instructions)
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
            self._item(item)
        return self._talk.messages

    def _item(self, item: Json) -> None:
        match item.get("type", "message"):
            case "message" if item["role"] in ("system", "developer"):
                only(item, "system item", "type", "role", "content")
                if not isinstance(item["content"], str):
                    raise NotExpressible("system item of parts")
                self._talk.say("system", item["content"])
            case "message" if item["role"] == "user":
                only(item, "user item", "type", "role", "content")
                self._talk.say("user", content(item["content"], _part))
            case "message":
                self._made(*_answer(item))
            case "function_call_output" if item["call_id"] in self._provided:
                self._made({"type": "provider", "format": _FORMAT, "data": item})
            case "function_call_output" | "custom_tool_call_output":
                only(item, "output item", "type", "call_id", "output")
                self._talk.result(item["call_id"], item["output"], _part)
            case "function_call":
                only(item, "call item", "type", "id", "call_id", "name", "arguments", "namespace", "status")
                self._made(self._call(item))
            case "reasoning":
                self._made(_reasoning(item))
            case _:
                self._provided.add(item.get("call_id", ""))
                self._made({"type": "provider", "format": _FORMAT, "data": item})

    def _made(self, *parts: Json) -> None:
        messages = self._talk.messages
        if not messages or messages[-1]["role"] != "assistant":
            self._talk.say("assistant", [])
        messages[-1]["content"] += parts

    def _call(self, item: Json) -> Json:
        part = self._talk.called(item["call_id"], item["name"], item["arguments"])
        if item.get("id") is not None:
            self._talk.known_as(item["call_id"], item["id"])
            part["tool_call_id"] = item["id"]
        if "namespace" in item:
            part |= {"extra": {"namespace": item["namespace"]}, "format": _FORMAT}
        return part


def _answer(item: Json) -> Iterator[Json]:
    only(item, "assistant item", "type", "role", "content", "id", "status", "phase")
    extra = {name: item[name] for name in ("id", "phase") if item.get(name) is not None}
    marked = {"extra": extra, "format": _FORMAT} if extra else {}
    said: Any = item["content"]
    if isinstance(said, str):
        said = [{"type": "output_text", "text": said}]
    for part in said:
        if part["type"] == "refusal":
            yield {"type": "text", "text": part["refusal"], "refusal": True, **marked}
            continue
        only(part, part["type"], "type", "text", "annotations")
        notes = [
            {"url": one.get("url"), "format": _FORMAT, "data": one} for one in part.get("annotations", ())
        ]
        yield {"type": "text", "text": part["text"], **marked, **({"citations": notes} if notes else {})}


def _reasoning(item: Json) -> Json:
    only(item, "reasoning item", "type", "id", "summary", "content", "encrypted_content", "format")
    made = item.get("format", _FORMAT)
    details: list[Json] = [
        {"type": "summary", "text": one["text"], "format": made} for one in item.get("summary", ())
    ]
    for one in item.get("content") or ():
        details.append({"type": "text", "text": one["text"], "format": item.get("format", _TEXT_FORMAT)})
    if item.get("encrypted_content") is not None:
        details.append({"type": "encrypted", "data": item["encrypted_content"], "format": made})
    return {"type": "reasoning", "id": item.get("id"), "details": details}


def _part(part: Json) -> Json:
    kind: Any = part["type"]
    match kind:
        case "input_text":
            only(part, "input_text", "type", "text")
            return {"type": "text", "text": part["text"]}
        case "input_image" if "image_url" in part:
            only(part, "input_image", "type", "image_url", "detail")
            return image(part["image_url"], part.get("detail"))
        case "input_file" if "file_data" in part:
            only(part, "input_file", "type", "file_data", "filename")
            return file(part["file_data"], filename=part.get("filename"))
        case "input_file" if "file_url" in part:
            only(part, "input_file", "type", "file_url", "filename")
            return file(part["file_url"])
    raise NotExpressible(f"{kind} by the provider's id")
