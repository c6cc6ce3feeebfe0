"""A body of Converse or ConverseStream -> messages and options in the normalized form."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

from request_reading.expressible import NotExpressible, data_source, media_part, only

FORMAT = "bedrock-converse-v1"
_OPTIONS = {
    "maxTokens": "max_output_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "stopSequences": "stop",
}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_TYPES = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": f"{_OFFICE}.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "flv": "video/x-flv",
    "mpg": "video/mpeg",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
}
"""Media types of formats; of the others it is `image/<format>` or `video/<format>`."""

_CACHED = ("text", "image", "document", "video", "toolUse", "toolResult")


def read(request: dict[str, Any], url: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The messages and the options of a request.

    Raises:
        NotExpressible: the vocabulary has no place for something in it
    """
    rest = json.loads(json.dumps(request))
    found = re.search(r"/model/([^/]+)/converse", url)
    assert found, url
    options: dict[str, Any] = {"model": unquote(found[1])}
    config = rest.pop("inferenceConfig", None) or {}
    only(config, "inferenceConfig", *_OPTIONS)
    options |= {_OPTIONS[name]: value for name, value in config.items() if value is not None}
    system = rest.pop("system", None) or []
    turns = rest.pop("messages")
    tool_config = rest.pop("toolConfig", None) or {}
    tools = tool_config.get("tools") or []
    if _cache(tools, system, [turn["content"] for turn in turns]):
        options["prompt_cache"] = True
    messages = [{"role": "system", "content": _text(block, "a system block")} for block in system]
    messages += _Turns().read(turns)
    _tools(tools, tool_config.get("toolChoice"), options)
    _fields(rest, options)
    if "outputConfig" in rest:
        schema = rest.pop("outputConfig")["textFormat"]["structure"]["jsonSchema"]
        options["output"] = {**schema, "json_schema": json.loads(schema["schema"])}
        del options["output"]["schema"]
    if "requestMetadata" in rest:
        options["metadata"] = rest.pop("requestMetadata")
    if "serviceTier" in rest:
        options["service_tier"] = rest.pop("serviceTier")["type"]
    options["extra"] = rest
    return messages, options


def _cache(tools: list[Any], system: list[Any], contents: list[list[Any]]) -> bool:
    """Take the cache points out, where they stand as the option `prompt_cache` puts them."""
    lists = [tools, system, *contents]
    if not any("cachePoint" in block for blocks in lists for block in blocks):
        return False
    last: list[Any] = next(
        (
            content
            for content in reversed(contents)
            if any(key in block for block in content for key in _CACHED)
        ),
        [],
    )
    due = [blocks for blocks in (tools, system, last) if blocks]
    for blocks in lists:
        points = [at for at, block in enumerate(blocks) if "cachePoint" in block]
        if points != ([len(blocks) - 1] if any(blocks is one for one in due) else []):
            raise NotExpressible("cache points of the caller's own choice")
    for blocks in due:
        if blocks.pop() != {"cachePoint": {"type": "default"}}:
            raise NotExpressible("cache points of another type")
    return True


def _text(block: dict[str, Any], what: str) -> str:
    only(block, what, "text")
    text: str = block["text"]
    return text


class _Turns:
    """Reads the conversation; remembers the names of the tools that were called."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def read(self, turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for turn in turns:
            if turn["role"] == "assistant":
                messages.append(
                    {"role": "assistant", "content": [self._made(block) for block in turn["content"]]}
                )
                continue
            for block in turn["content"]:
                is_result = "toolResult" in block
                kind, part = (
                    ("tool", self._result(block["toolResult"])) if is_result else ("user", _said(block))
                )
                if not messages or messages[-1]["role"] != kind:
                    messages.append({"role": kind, "content": []})
                messages[-1]["content"].append(part)
        return messages

    def _made(self, block: dict[str, Any]) -> dict[str, Any]:
        if "text" in block:
            return {"type": "text", "text": _text(block, "an assistant text")}
        if "reasoningContent" in block:
            said = block["reasoningContent"]
            detail = {"type": "redacted", "data": said.get("redactedContent")}
            if "reasoningText" in said:
                detail = {"type": "text", **said["reasoningText"]}
            return {"type": "reasoning", "details": [{**detail, "format": FORMAT}]}
        call = block.get("toolUse", {"type": "no call"})
        if "type" in call:
            return {"type": "provider", "format": FORMAT, "data": block}
        self._names[call["toolUseId"]] = call["name"]
        ids = {"tool_call_id": call["toolUseId"], "call_id": call["toolUseId"], "tool_name": call["name"]}
        return {"type": "tool-call", **ids, "arguments": json.dumps(call["input"])}

    def _result(self, block: dict[str, Any]) -> dict[str, Any]:
        only(block, "a tool result", "toolUseId", "content", "status")
        given, content = block["toolUseId"], block["content"]
        if given not in self._names:
            raise NotExpressible("a tool result without its call")
        output: dict[str, Any]
        if len(content) == 1 and "text" in content[0]:
            output = {"type": "text", "value": content[0]["text"]}
        elif len(content) == 1 and "json" in content[0]:
            output = {"type": "json", "value": content[0]["json"]}
        else:
            output = {"type": "content", "value": [_said(part) for part in content]}
        if block.get("status") == "error":
            if output["type"] == "content":
                raise NotExpressible("a failed tool's result of several parts")
            output["type"] = f"error-{output['type']}"
        ids = {"tool_call_id": given, "call_id": given, "tool_name": self._names[given]}
        return {"type": "tool-result", **ids, "output": output}


def _said(block: dict[str, Any]) -> dict[str, Any]:
    kind, content = next(iter(block.items()))
    if kind == "text":
        return {"type": "text", "text": _text(block, "a user text")}
    if kind not in ("image", "document", "video"):
        raise NotExpressible(f"a {kind} block among the user's")
    only(content, f"a user {kind}", "format", "source", "name")
    media_type = _TYPES.get(content["format"]) or f"{kind}/{content['format']}"
    name = f"{content['name']}.{content['format']}" if "name" in content else None
    source = content["source"]
    if "bytes" in source:
        return media_part(data_source(source["bytes"], media_type), media_type, name)
    only(source["s3Location"], "an S3 location", "uri")
    return media_part({"type": "url", "url": source["s3Location"]["uri"]}, media_type, name)


def _tools(tools: list[dict[str, Any]], choice: dict[str, Any] | None, options: dict[str, Any]) -> None:
    made = []
    for tool in tools:
        if tool.get("systemTool") == {"name": "nova_grounding"}:
            options["web_search"] = True
            continue
        if "toolSpec" not in tool:
            raise NotExpressible("a tool that the provider runs, other than web search")
        spec = tool["toolSpec"]
        only(spec, "a tool", "name", "description", "inputSchema", "strict")
        said = {key: spec[key] for key in ("name", "description", "strict") if key in spec}
        made.append({**said, "parameters": spec["inputSchema"]["json"]})
    if made:
        options["tools"] = made
    if choice is not None:
        kind, value = next(iter(choice.items()))
        options["tool_choice"] = {"auto": "auto", "any": "required", "tool": {"name": value.get("name")}}[
            kind
        ]


def _fields(rest: dict[str, Any], options: dict[str, Any]) -> None:
    """Reasoning and `top_k` of the family's own fields; the others are left to `extra`."""
    fields = rest.get("additionalModelRequestFields") or {}
    reasoning: dict[str, Any] = {}
    if "thinking" in fields:
        thinking = fields.pop("thinking")
        only(thinking, "thinking", "type", "budget_tokens")
        reasoning = {"enabled": thinking["type"] != "disabled"}
        reasoning |= {key: thinking[key] for key in ("budget_tokens",) if key in thinking}
    if (fields.get("output_config") or {}).keys() == {"effort"}:
        reasoning["effort"] = fields.pop("output_config")["effort"]
    if "reasoning_effort" in fields:
        reasoning["effort"] = fields.pop("reasoning_effort")
    if reasoning:
        options["reasoning"] = reasoning
    if (fields.get("inferenceConfig") or {}).keys() == {"topK"}:
        options["top_k"] = fields.pop("inferenceConfig")["topK"]
    if "top_k" in fields:
        options["top_k"] = fields.pop("top_k")
    if not fields:
        rest.pop("additionalModelRequestFields", None)
