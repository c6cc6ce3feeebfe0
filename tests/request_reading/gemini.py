"""A body of generateContent or streamGenerateContent -> messages and options in the normalized form."""

from __future__ import annotations

import json
import re
from typing import Any

from request_reading.expressible import NotExpressible, data_source, media_part, only

FORMAT = "google-gemini-v1"
_OPTIONS = {
    "maxOutputTokens": "max_output_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "seed": "seed",
    "stopSequences": "stop",
}
_CHOICES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_DATA = frozenset({"args", "response", "parameters", "parametersJsonSchema", "responseSchema"})
_DATA |= {"responseJsonSchema", "labels"}


def camel_keys(value: Any) -> Any:
    """The fields' names in camelCase: the server reads both. JSON of the caller's own stays as it is."""
    if isinstance(value, list):
        return [camel_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, item in value.items():
        name = re.sub(r"_([a-z])", lambda found: found[1].upper(), key)
        made[name] = item if name in _DATA else camel_keys(item)
    return made


def json_schema(schema: Any) -> Any:
    """A schema of the older fields as JSON schema: names in camelCase, types in small letters."""
    if isinstance(schema, list):
        return [json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: json_schema(one) for name, one in value.items()}
        elif key == "type" and isinstance(value, str):
            made[key] = value.lower()
        else:
            made[re.sub(r"_([a-z])", lambda found: found[1].upper(), key)] = json_schema(value)
    return made


def read(request: dict[str, Any], url: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The messages and the options (with `dialect`) of a request.

    Raises:
        NotExpressible: the vocabulary has no place for something in it
    """
    rest = camel_keys(json.loads(json.dumps(request)))
    found = re.search(r"/models/([^/:?]+):", url)
    assert found, url
    options: dict[str, Any] = {"model": found[1]}
    options["dialect"] = "vertex" if "aiplatform" in url else "google"
    system = rest.pop("systemInstruction", None) or {"parts": []}
    only(system, "systemInstruction", "parts", "role")
    messages: list[dict[str, Any]] = []
    for part in system["parts"]:
        only(part, "a system part", "text")
        messages.append({"role": "system", "content": part["text"]})
    messages += _Contents().read(rest.pop("contents"))
    _config(rest, options)
    _tools(rest, options)
    for name, option in {"labels": "metadata", "store": "store", "serviceTier": "service_tier"}.items():
        if name in rest:
            options[option] = rest.pop(name)
    options.setdefault("extra", {}).update(rest)
    return messages, options


class _Contents:
    """Reads the conversation; remembers the calls that are not answered yet."""

    def __init__(self) -> None:
        self._open: list[dict[str, Any]] = []
        self._count = 0

    def read(self, contents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        if contents[0] == {"role": "user", "parts": [{"text": ""}]} and len(contents) > 1:
            contents = contents[1:]  # no turn: the conversation begins with the model's
        for content in contents:
            parts = content.get("parts") or []
            if content.get("role") == "model":
                if not messages or messages[-1]["role"] != "assistant":  # two in a row are one turn
                    messages.append({"role": "assistant", "content": []})
                messages[-1]["content"] += [self._made(part) for part in parts]
                continue
            for part in parts:
                is_result = "functionResponse" in part
                kind, said = ("tool", self._result(part)) if is_result else ("user", _said(part))
                if not messages or messages[-1]["role"] != kind:
                    messages.append({"role": kind, "content": []})
                messages[-1]["content"].append(said)
        return messages

    def _made(self, part: dict[str, Any]) -> dict[str, Any]:
        signature = part.get("thoughtSignature")
        signed = {"signature": signature, "format": FORMAT} if signature else {}
        bare = {key: value for key, value in part.items() if key != "thoughtSignature"}
        if bare.keys() == {"text", "thought"}:
            detail = {"type": "text", "text": part["text"], "format": FORMAT, **signed}
            return {"type": "reasoning", "details": [detail]}
        if bare.keys() == {"text"}:
            if not part["text"].strip() and not signature:
                raise NotExpressible("an assistant's text of nothing: none is sent")
            return {"type": "text", "text": part["text"], **signed}
        if bare.keys() == {"functionCall"}:
            return {**self._call(part["functionCall"]), **signed}
        if bare.keys() == {"inlineData"}:
            return {**_said(bare), **signed}
        return {"type": "provider", "format": FORMAT, "data": part}

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        only(call, "a function call", "id", "name", "args")
        self._count += 1
        made = {"tool_call_id": call.get("id") or f"call {self._count}", "tool_name": call["name"]}
        if call.get("id"):
            made["call_id"] = call["id"]
        self._open.append(made)
        return {"type": "tool-call", **made, "arguments": json.dumps(call.get("args") or {})}

    def _result(self, part: dict[str, Any]) -> dict[str, Any]:
        only(part, "a function's response", "functionResponse")
        given = part["functionResponse"]
        only(given, "a function's response", "id", "name", "response", "parts")
        for call in self._open:
            if (call.get("call_id") == given.get("id")) and call["tool_name"] == given["name"]:
                self._open.remove(call)
                return {"type": "tool-result", **call, "output": _output(given)}
        raise NotExpressible("a function's response without its call")


def _output(given: dict[str, Any]) -> dict[str, Any]:
    response, media = given["response"], given.get("parts") or []
    said = next(iter(response.values())) if len(response) == 1 else None
    if media:
        if response and not (response.keys() == {"output"} and isinstance(said, str)):
            raise NotExpressible("media beside a response that is JSON")
        text = [{"type": "text", "text": said}] if said else []
        return {"type": "content", "value": [*text, *(_said(part) for part in media)]}
    if response.keys() == {"output"}:
        return {"type": "text" if isinstance(said, str) else "json", "value": said}
    if response.keys() == {"error"}:
        return {"type": "error-text" if isinstance(said, str) else "error-json", "value": said}
    return {"type": "json", "value": response}


def _said(part: dict[str, Any]) -> dict[str, Any]:
    match part:
        case {"text": text}:
            only(part, "a user part", "text")
            if not text.strip():
                raise NotExpressible("a user's text of nothing: none is sent")
            return {"type": "text", "text": text}
        case {"inlineData": data}:
            only(part, "a user part", "inlineData")
            only(data, "inlineData", "data", "mimeType")
            return media_part(data_source(data["data"], data["mimeType"]), data["mimeType"])
        case {"fileData": data}:
            only(part, "a user part", "fileData")
            only(data, "fileData", "fileUri", "mimeType")
            return media_part({"type": "url", "url": data["fileUri"]}, data["mimeType"])
    raise NotExpressible(f"a user part of {', '.join(sorted(part))}")


def _config(rest: dict[str, Any], options: dict[str, Any]) -> None:
    config = rest.get("generationConfig") or {}
    for name, option in _OPTIONS.items():
        if config.get(name) is not None:
            options[option] = config.pop(name)
    schema = config.pop("responseJsonSchema", None) or json_schema(config.pop("responseSchema", None))
    if config.get("responseMimeType") == "application/json":
        del config["responseMimeType"]
        options["output"] = "json" if schema is None else {"json_schema": schema}
    elif schema is not None:
        raise NotExpressible("a schema without its media type")
    thinking = config.pop("thinkingConfig", None)
    if thinking:
        only(thinking, "thinkingConfig", "includeThoughts", "thinkingBudget", "thinkingLevel")
        made: dict[str, Any] = {}
        if thinking.get("includeThoughts"):
            made["summary"] = "auto"
        if "thinkingLevel" in thinking:
            made["effort"] = thinking["thinkingLevel"].lower()
        if thinking.get("thinkingBudget") == -1:
            made |= {"enabled": True, "summary": made.get("summary", "none")}
        elif "thinkingBudget" in thinking:
            made["budget_tokens"] = thinking["thinkingBudget"]
        options["reasoning"] = made
    if not config:
        rest.pop("generationConfig", None)


def _tools(rest: dict[str, Any], options: dict[str, Any]) -> None:
    tools = rest.pop("tools", None) or []
    tools = [tools] if isinstance(tools, dict) else tools
    made: list[dict[str, Any]] = []
    for tool in tools:
        if tool == {"googleSearch": {}}:
            options["web_search"] = True
        elif tool.keys() == {"functionDeclarations"}:
            made += [_declared(one) for one in tool["functionDeclarations"]]
        else:  # what only this provider knows is given to it as it is
            options.pop("web_search", None)
            options["extra"] = {"tools": tools}
            made = []
            break
    if made:
        options["tools"] = made
    config = rest.get("toolConfig") or {}
    calling = config.pop("functionCallingConfig", None)
    if calling is not None:
        mode, names = calling["mode"], calling.get("allowedFunctionNames")
        if names is None and mode in _CHOICES:
            options["tool_choice"] = _CHOICES[mode]
        elif names is not None and len(names) == 1 and mode == "ANY":
            options["tool_choice"] = {"name": names[0]}
        else:  # a choice that only this provider has
            config["functionCallingConfig"] = calling
    if not config:
        rest.pop("toolConfig", None)


def _declared(given: dict[str, Any]) -> dict[str, Any]:
    only(given, "a function", "name", "description", "parameters", "parametersJsonSchema")
    schema = given.get("parametersJsonSchema") or json_schema(given.get("parameters"))
    made = {key: given[key] for key in ("name", "description") if given.get(key) is not None}
    return {**made, "parameters": schema} if schema else made
