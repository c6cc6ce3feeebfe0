"""A body of `POST /v1/messages` -> messages and options in the normalized form."""

from __future__ import annotations

import base64
import json
import re
from typing import Any
from urllib.parse import unquote

from request_reading.expressible import NotExpressible, data_source, media_part, only

FORMAT = "anthropic-claude-v1"
_OPTIONS = {
    "max_tokens": "max_output_tokens",
    "stop_sequences": "stop",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stream": "stream",
    "service_tier": "service_tier",
}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_CACHED = ("text", "image", "document", "tool_use", "tool_result")


def read(request: dict[str, Any], url: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The messages and the options (with `dialect`) of a request.

    Raises:
        NotExpressible: the vocabulary has no place for something in it
    """
    rest = json.loads(json.dumps(request))
    options = _target(rest, url)
    for name, option in _OPTIONS.items():
        if rest.get(name) is not None:
            options[option] = rest.pop(name)
    rest.pop("stream", None)
    system = rest.pop("system", None) or []
    if isinstance(system, str):
        system = [{"type": "text", "text": system}]
    turns = [(turn["role"], _blocks(turn["content"])) for turn in rest.pop("messages")]
    tools = rest.pop("tools", None) or []
    control = _cache(tools, system, [content for _, content in turns])
    if control is not None:
        options["prompt_cache"] = {"ttl": control["ttl"]} if "ttl" in control else True
    messages = [{"role": "system", "content": _plain_text(block, "a system block")} for block in system]
    messages += _Turns().read(turns)
    _tools(tools, options)
    _choice(rest.pop("tool_choice", None), options)
    _reasoning(rest, options)
    if (rest.get("metadata") or {}).keys() == {"user_id"}:
        options["user"] = rest.pop("metadata")["user_id"]
    options.setdefault("extra", {}).update(rest)
    return messages, options


def _target(rest: dict[str, Any], url: str) -> dict[str, Any]:
    version = rest.pop("anthropic_version", "")
    if version.startswith(("vertex", "bedrock")):
        found = re.search(r"/models?/([^/:]+(?::\d+)?)", unquote(url))
        assert found, url
        return {"dialect": version.partition("-")[0], "model": found[1]}
    return {"model": rest.pop("model")}


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _cache(
    tools: list[dict[str, Any]], system: list[dict[str, Any]], contents: list[list[dict[str, Any]]]
) -> dict[str, Any] | None:
    """Take the cache breakpoints out, where they stand as the option `prompt_cache` puts them."""
    ends = [tools[-1:], system[-1:]]
    ends.append(next((content[-1:] for content in reversed(contents) if content[-1]["type"] in _CACHED), []))
    due = [block for end in ends for block in end]
    every = [*tools, *system, *(block for content in contents for block in content)]
    marks = [block["cache_control"] for block in every if block.get("cache_control")]
    placed = [block["cache_control"] for block in due if block.get("cache_control")]
    if not marks:
        return None
    if not len(marks) == len(placed) == len(due) or any(mark != marks[0] for mark in marks):
        raise NotExpressible("cache breakpoints of the caller's own choice")
    for block in due:
        del block["cache_control"]
    control: dict[str, Any] = marks[0]
    return control


def _plain_text(block: dict[str, Any], what: str) -> str:
    only(block, what, "type", "text")
    text: str = block["text"]
    return text


class _Turns:
    """Reads the conversation; remembers the names of the tools that were called."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def read(self, turns: list[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for role, content in turns:
            if role == "assistant":
                messages.append({"role": role, "content": [self._made(block) for block in content]})
                continue
            if role == "system":
                raise NotExpressible(
                    "a message of the role system (beta): late system text goes as the user's"
                )
            for block in content:
                is_result = block["type"] == "tool_result"
                kind, part = ("tool", self._result(block)) if is_result else ("user", _said(block))
                if not messages or messages[-1]["role"] != kind:
                    messages.append({"role": kind, "content": []})
                messages[-1]["content"].append(part)
        return messages

    def _made(self, block: dict[str, Any]) -> dict[str, Any]:
        match block["type"]:
            case "text":
                only(block, "an assistant text", "type", "text", "citations")
                cited = [{"format": FORMAT, "data": one} for one in block.get("citations") or ()]
                return {"type": "text", "text": block["text"], **({"citations": cited} if cited else {})}
            case "thinking":
                only(block, "thinking", "type", "thinking", "signature")
                said = {"text": block["thinking"], "signature": block["signature"]}
                return {"type": "reasoning", "details": [{"type": "text", "format": FORMAT, **said}]}
            case "redacted_thinking":
                only(block, "redacted thinking", "type", "data")
                detail = {"type": "redacted", "format": FORMAT, "data": block["data"]}
                return {"type": "reasoning", "details": [detail]}
            case "tool_use":
                self._names[block["id"]] = block["name"]
                extra = {key: block[key] for key in block.keys() - {"type", "id", "name", "input"}}
                ids = {"tool_call_id": block["id"], "call_id": block["id"], "tool_name": block["name"]}
                call = {"type": "tool-call", **ids, "arguments": json.dumps(block["input"])}
                return {**call, "extra": extra, "format": FORMAT} if extra else call
            case "image" | "document":
                raise NotExpressible("an image or file of the assistant's")
        return {"type": "provider", "format": FORMAT, "data": block}

    def _result(self, block: dict[str, Any]) -> dict[str, Any]:
        only(block, "a tool result", "type", "tool_use_id", "content", "is_error")
        given = block["tool_use_id"]
        if given not in self._names:
            raise NotExpressible("a tool result without its call")
        parts = [_said(part) for part in _blocks(block.get("content") or [])]
        plain = len(parts) < 2 and all(part["type"] == "text" for part in parts)
        text = parts[0]["text"] if parts and plain else ""
        output = {"type": "text", "value": text} if plain else {"type": "content", "value": parts}
        if block.get("is_error"):
            if not plain:
                raise NotExpressible("a failed tool's result of several parts")
            output["type"] = "error-text"
        ids = {"tool_call_id": given, "call_id": given, "tool_name": self._names[given]}
        return {"type": "tool-result", **ids, "output": output}


def _said(block: dict[str, Any]) -> dict[str, Any]:
    kind = block["type"]
    if kind == "text":
        return {"type": "text", "text": _plain_text(block, "a user text")}
    if kind not in ("image", "document"):
        raise NotExpressible(f"a {kind} block among the user's")
    only(block, f"a user {kind}", "type", "source", "title")
    source = block["source"]
    match source["type"]:
        case "base64":
            made = data_source(source["data"], source["media_type"])
        case "text":
            made = data_source(base64.b64encode(source["data"].encode()).decode(), source["media_type"])
        case "url" if kind == "image":
            return {"type": "image", "image": {"type": "url", "url": source["url"]}}
        case "url":
            made = {"type": "url", "url": source["url"]}
        case other:
            raise NotExpressible(f"a {other} source: a file kept by the provider")
    media_type = source.get("media_type") or "application/pdf"
    return media_part(made, media_type, block.get("title"))


def _tools(tools: list[dict[str, Any]], options: dict[str, Any]) -> None:
    search = [tool for tool in tools if tool.get("type") == "web_search_20250305"]
    own = [tool for tool in tools if tool.get("type") in (None, "custom")]
    known = {"type", "name", "description", "input_schema", "strict"}
    if len(own) + len(search) < len(tools) or any(tool.keys() - known for tool in own):
        options["extra"] = {"tools": tools}  # what only this provider knows is given to it as it is
        return
    options["tools"] = [
        {
            "name": tool["name"],
            "parameters": tool["input_schema"],
            **{key: tool[key] for key in ("description", "strict") if tool.get(key) is not None},
        }
        for tool in own
    ]
    for tool in search:
        said = {key: value for key, value in tool.items() if value is not None}
        place = said.get("user_location")
        if place is not None:
            said["user_location"] = {key: value for key, value in place.items() if key != "type"}
        only(
            said,
            "web search",
            "type",
            "name",
            "max_uses",
            "allowed_domains",
            "blocked_domains",
            "user_location",
        )
        options["web_search"] = {key: said[key] for key in said.keys() - {"type", "name"}}


def _choice(choice: dict[str, Any] | None, options: dict[str, Any]) -> None:
    if choice is None:
        return
    kind = choice["type"]
    options["tool_choice"] = {"name": choice["name"]} if kind == "tool" else _CHOICES[kind]
    if choice.get("disable_parallel_tool_use"):
        options["parallel_tool_calls"] = False


def _reasoning(rest: dict[str, Any], options: dict[str, Any]) -> None:
    thinking = rest.pop("thinking", None)
    made: dict[str, Any] = {}
    if thinking is not None:
        made["enabled"] = thinking["type"] != "disabled"
        if "budget_tokens" in thinking:
            made["budget_tokens"] = thinking["budget_tokens"]
        if thinking.get("display"):
            made["summary"] = {"summarized": "auto", "omitted": "none"}[thinking["display"]]
    output = rest.get("output_config") or {}
    if made and output.get("effort"):  # alone, it says nothing of thinking: left to `extra`
        made["effort"] = output.pop("effort")
    if made:
        options["reasoning"] = made
    if (output.get("format") or {}).get("type") == "json_schema":
        options["output"] = {"json_schema": output.pop("format")["schema"]}
    if not output:
        rest.pop("output_config", None)
