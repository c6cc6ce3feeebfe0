"""Recorded requests of real callers, read into messages and options, are built again to an equal body.

Of Anthropic's Messages, Bedrock's Converse and Gemini. Equal means: equal under EQUIVALENCES.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import pytest

import plait
from plait.errors import InvalidDataError
from recordings import Recording, recordings
from request_reading.expressible import NotExpressible
from request_reading.gemini import camel_keys, json_schema

Body = dict[str, Any]


@dataclass
class Outcomes:
    """What became of the requests of one wire, by the id of the entry."""

    equal: list[str] = field(default_factory=list)
    not_expressible: dict[str, list[str]] = field(default_factory=dict)
    unequal: dict[str, tuple[Body, Body, list[Any]]] = field(default_factory=dict)


_ELIDED = re.compile(r"<base64 elided, (\d+) chars>")


def _whole(request: Any) -> Any:
    """The request with other data where the corpus left long base64 out."""
    text = json.dumps(request)
    return json.loads(_ELIDED.sub(lambda found: b64encode(found[1].encode()).decode(), text))


# Equivalences


def _without_nulls(body: Body) -> Body:
    """A null at the top, and an object with nothing in it there, say what is said by leaving it out."""
    return {key: value for key, value in body.items() if value not in (None, {}, [], False)}


def _texts_as_blocks(body: Body) -> Body:
    """A bare string is one text block: of a message, of the system text, of a tool's result."""
    if isinstance(body.get("system"), str):
        body["system"] = [{"type": "text", "text": body["system"]}]
    for message in body["messages"]:
        message["content"] = _blocks(message["content"])
        for block in message["content"]:
            if block["type"] == "tool_result":
                block["content"] = _blocks(block.get("content") or [])
    return body


def _blocks(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _defaults_left_out(body: Body) -> Body:
    """`is_error: false`, `type: custom`, nulls of a search and the parallel calls of every choice are the
    defaults.
    """
    for message in body["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_result" and block.get("is_error") is False:
                del block["is_error"]
    for tool in body.get("tools", ()):
        if tool.get("type") == "custom":
            del tool["type"]
        for key in [key for key, value in tool.items() if value is None]:
            del tool[key]
    if body.get("tool_choice", {}).get("disable_parallel_tool_use") is False:
        del body["tool_choice"]["disable_parallel_tool_use"]
    return body


def _same_role_merged(body: Body) -> Body:
    """Messages of one role in a row are one: the provider joins them."""
    name, content = ("contents", "parts") if "contents" in body else ("messages", "content")
    merged: list[Body] = []
    for message in body[name]:
        if merged and merged[-1].get("role") == message.get("role"):
            merged[-1][content] += message[content]
        else:
            merged.append(message)
    return {**body, name: merged}


def _success_left_out(body: Body) -> Body:
    """A tool result succeeded unless it says otherwise."""
    for message in body["messages"]:
        for block in message["content"]:
            if block.get("toolResult", {}).get("status") == "success":
                del block["toolResult"]["status"]
    return body


def _schema_text_read(body: Body) -> Body:
    """A schema that is JSON text is compared as JSON."""
    if "outputConfig" in body:
        schema = body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
        schema["schema"] = json.loads(schema["schema"])
    return body


def _system_without_role(body: Body) -> Body:
    """The role of a system instruction is not read."""
    body.get("systemInstruction", {}).pop("role", None)
    return body


def _tools_listed(body: Body) -> Body:
    """One object stands for a list of one: protobuf's JSON is read so. Functions and the provider's own
    tools may stand in any order.
    """
    if isinstance(body.get("tools"), dict):
        body["tools"] = [body["tools"]]
    body.get("tools", []).sort(key=lambda tool: sorted(tool))
    return body


def _no_thoughts_left_out(body: Body) -> Body:
    """`includeThoughts: false` is the default."""
    config = body.get("generationConfig", {})
    if config.get("thinkingConfig", {}).get("includeThoughts") is False:
        del config["thinkingConfig"]["includeThoughts"]
    if config.get("thinkingConfig") == {}:
        del config["thinkingConfig"]
    return body


def _schemas_in_one_field(body: Body) -> Body:
    """A function's schema goes in either of two fields; their types are in capitals in the older one.
    A function without parameters needs none.
    """
    for tool in body.get("tools", ()):
        for function in tool.get("functionDeclarations", ()):
            if function.get("description") is None:
                function.pop("description", None)
            older = function.pop("parameters", None)
            schema = function.pop("parametersJsonSchema", None) or json_schema(older)
            if schema and schema.get("properties"):
                function["parametersJsonSchema"] = schema
    config = body.get("generationConfig", {})
    if "responseSchema" in config:
        config["responseJsonSchema"] = json_schema(config.pop("responseSchema"))
    return body


def _camel_case(body: Body) -> Body:
    """Names of fields may be in snake_case: the server reads both."""
    made: Body = camel_keys(body)
    return made


EQUIVALENCES: Mapping[str, tuple[Callable[[Body], Body], ...]] = {
    "anthropic-messages": (_without_nulls, _texts_as_blocks, _defaults_left_out, _same_role_merged),
    "bedrock-converse": (_without_nulls, _success_left_out, _schema_text_read, _same_role_merged),
    "gemini": (
        _camel_case,
        _tools_listed,
        _system_without_role,
        _schemas_in_one_field,
        _no_thoughts_left_out,
        _without_nulls,
        _same_role_merged,
    ),
}
"""What is made equal before two bodies are compared, and in each docstring why. The order of keys says nothing."""


def _normal(wire: str, body: Body) -> Body:
    made: Body = json.loads(json.dumps(body))
    for equivalence in EQUIVALENCES[wire]:
        made = equivalence(made)
    return made


@cache
def outcomes(wire: str) -> Outcomes:
    """Reads and rebuilds every request of a wire."""
    read = import_module(f"request_reading.{wire.replace('-', '_')}").read
    made = Outcomes()
    for entry in (entry for kind in ("stream", "json", "error") for entry in recordings(wire, kind)):
        if not isinstance(entry.request, dict):
            continue
        try:
            request = _whole(entry.request)
            messages, options = read(request, entry.url)
            plan = plait.plan_request(wire, messages, **options)
        except NotExpressible as reason:
            made.not_expressible.setdefault(str(reason), []).append(entry.id)
        except InvalidDataError as error:
            made.unequal[entry.id] = ({}, {"refused": str(error)}, [])
        else:
            want, got = _normal(wire, request), _normal(wire, plan.body)
            if want == got:
                made.equal.append(entry.id)
            else:
                made.unequal[entry.id] = (want, got, plan.notes)
    return made
