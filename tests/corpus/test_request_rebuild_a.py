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
from typing import Any, TypeAlias

import pytest

import plait
from plait.errors import InvalidDataError
from recordings import recordings
from request_reading.expressible import NotExpressible
from request_reading.gemini import camel_keys, json_schema

Body: TypeAlias = dict[str, Any]
Equivalence: TypeAlias = Callable[[Body], Body]


@dataclass
class Outcomes:
    """What became of the requests of one wire, by the id of the entry."""

    equal: dict[str, tuple[Body, Body]] = field(default_factory=dict)
    raw_tools: list[str] = field(default_factory=list)
    not_expressible: dict[str, list[str]] = field(default_factory=dict)
    unequal: dict[str, tuple[Body, Body, list[Any]]] = field(default_factory=dict)


_ELIDED = re.compile(r"<base64 elided, (\d+) chars>")


def _whole(request: Any) -> Any:
    """The request with other data where the corpus left long base64 out."""
    text = json.dumps(request)
    return json.loads(_ELIDED.sub(lambda found: b64encode(found[1].encode()).decode(), text))


# Equivalences


def _without_nulls(body: Body) -> Body:
    """A null at the top, `stream: false`, and an object or list with nothing in it say nothing."""
    return {
        key: value
        for key, value in body.items()
        if value is not None and value is not False and value not in ({}, [])
    }


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


EQUIVALENCES: Mapping[str, tuple[Equivalence, ...]] = {
    "anthropic-messages": (_without_nulls, _texts_as_blocks, _defaults_left_out, _same_role_merged),
    "bedrock-converse": (_without_nulls, _success_left_out, _schema_text_read),
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
"""What is made equal before two bodies are compared; each docstring says why. The order of keys is free."""


def _normal(wire: str, body: Body, without: Equivalence | None = None) -> Body:
    made: Body = json.loads(json.dumps(body))
    for equivalence in EQUIVALENCES[wire]:
        made = made if equivalence is without else equivalence(made)
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
            if "tools" in options.get("extra", {}):
                made.raw_tools.append(entry.id)
            want, got = _normal(wire, request), _normal(wire, plan.body)
            if want == got:
                made.equal[entry.id] = (request, plan.body)
            else:
                made.unequal[entry.id] = (want, got, plan.notes)
    return made


_PEERS_SAY = (
    "Mistral's rules are as peers report them; this model (Pixtral) took ids and text of the usual form"
)
_SCHEMA = "Claude's schemas are cut to what its documentation lists"

UNEQUAL: Mapping[str, Mapping[str, str]] = {
    "anthropic-messages": {},
    "bedrock-converse": {
        "pydantic-ai/bedrock-converse/test_native_output--"
        "test_bedrock_native_output_numerical_constraints.0": f"{_SCHEMA}: no type beside an enum",
        "pydantic-ai/bedrock-converse/test_native_output--"
        "test_bedrock_native_output_profile_default.0": f"{_SCHEMA}: minLength goes into the description",
        "pydantic-ai/bedrock-converse/test_bedrock--"
        "test_bedrock_media_kind_delivered_in_tool_result-mistral_document.1": _PEERS_SAY,
        "pydantic-ai/bedrock-converse/test_bedrock--"
        "test_bedrock_mistral_tool_return_image_accepted.0": _PEERS_SAY,
        "pydantic-ai/bedrock-converse/test_bedrock--"
        "test_bedrock_mistral_two_tool_returns_images_accepted.0": _PEERS_SAY,
        "pydantic-ai/bedrock-converse/test_bedrock--"
        "test_video_url_input.1": "the caller's format, video/mp4, is none of the service's",
    },
    "gemini": {},
}
"""What is rebuilt otherwise, by entry, and why."""

NOT_EXPRESSIBLE: Mapping[str, Mapping[str, int]] = {
    "anthropic-messages": {
        "a tool_reference block among the user's": 33,
        "cache breakpoints of the caller's own choice": 18,
        "a message of the role system (beta): late system text goes as the user's": 17,
        "a container_upload block among the user's": 7,
        "a file source: a file kept by the provider": 4,
        "a tool result without its call": 1,
    },
    "bedrock-converse": {
        "cache points of the caller's own choice": 18,
        "a tool that the provider runs, other than web search": 3,
    },
    "gemini": {
        "a user's text of nothing: none is sent": 3,
        "an assistant's text of nothing: none is sent": 3,
        "a user part: videoMetadata": 2,
        "media beside a response that is JSON": 2,
        "a user part of videoMetadata": 1,
    },
}
"""What the vocabulary has no place for, and how many entries at most say it."""

MOST_RAW_TOOLS = {"anthropic-messages": 60, "bedrock-converse": 0, "gemini": 20}

LEAST_EQUAL = {"anthropic-messages": 358, "bedrock-converse": 242, "gemini": 552}


@pytest.mark.parametrize("wire", EQUIVALENCES)
def test_requests_are_rebuilt(wire: str) -> None:
    """Every request that can be expressed is built again, but for those listed with a reason."""
    found = outcomes(wire)
    assert {name: UNEQUAL[wire].get(name, "not listed") for name in found.unequal} == UNEQUAL[wire]
    assert len(found.equal) >= LEAST_EQUAL[wire]


@pytest.mark.parametrize("wire", EQUIVALENCES)
def test_what_cannot_be_expressed_is_known(wire: str) -> None:
    """No reason but those listed, and none more often: else a reader gave up where it need not."""
    known = NOT_EXPRESSIBLE[wire]
    more = {
        reason: ids
        for reason, ids in outcomes(wire).not_expressible.items()
        if len(ids) > known.get(reason, 0)
    }
    assert more == {}


@pytest.mark.parametrize("wire", EQUIVALENCES)
def test_few_tools_are_given_as_they_are(wire: str) -> None:
    """Tools given through `extra` are equal without being built: they must stay the few."""
    found = outcomes(wire)
    assert len(found.raw_tools) <= MOST_RAW_TOOLS[wire]


@pytest.mark.parametrize(
    ("wire", "equivalence"),
    [
        pytest.param(wire, one, id=f"{wire}-{one.__name__.strip('_')}")
        for wire, equivalences in EQUIVALENCES.items()
        for one in equivalences
        if one is not _texts_as_blocks and one is not _camel_case  # those after them read what they make
    ],
)
def test_each_equivalence_is_needed(wire: str, equivalence: Equivalence) -> None:
    """Without it some request is not equal: the table holds nothing that hides a fault for no reason."""
    pairs = outcomes(wire).equal.values()
    assert any(_normal(wire, a, equivalence) != _normal(wire, b, equivalence) for a, b in pairs)
