"""Whether a body is what the provider's own SDK takes: its request types, read as a validator."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, get_type_hints

import anthropic.types.beta
import botocore.session
import ollama
import openai.types.responses.response_create_params
from botocore.validate import ParamValidator
from cohere.v2.client import V2Client
from google.genai import types as genai
from ollama._types import ChatRequest
from pydantic import BaseModel, TypeAdapter, ValidationError


def check_anthropic(body: Mapping[str, Any], *, known: bool = True) -> None:
    """Fail unless the SDK's `MessageCreateParams`, or the beta's, take the body and know every key in it.

    `known=False` is for bodies with blocks that the provider itself wrote: they may be newer than the SDK.
    A body without `model` is Vertex AI's or Bedrock's: the SDK moves it into the URL, and its types want it.
    """
    given = {"model": "in-the-url", **body}
    given.pop("anthropic_version", None)
    for name in _UNTYPED:
        given.pop(name, None)
    try:
        taken = _materialized(_anthropic().validate_python(given))
    except ValidationError:
        taken = _materialized(_anthropic_beta().validate_python(given))
    assert not known or given == taken


_UNTYPED = ("temperature", "top_p", "top_k")
"""What the API of 2023-06-01 takes and the types of the API of 2026-10-21 no longer have."""


@cache
def _anthropic() -> TypeAdapter[Any]:
    params = anthropic.types.message_create_params
    return TypeAdapter(params.MessageCreateParamsNonStreaming | params.MessageCreateParamsStreaming)


@cache
def _anthropic_beta() -> TypeAdapter[Any]:
    params = anthropic.types.beta.message_create_params
    return TypeAdapter(params.MessageCreateParamsNonStreaming | params.MessageCreateParamsStreaming)


def check_responses(body: Mapping[str, Any], *, known: bool = True) -> None:
    """Fail unless the SDK's `ResponseCreateParams` take the body and know every key in it.

    They demand the id of a reasoning item, which the API does not where nothing is stored: it is put in.
    `known=False` is for bodies with items that the provider itself wrote, and for other servers' options.
    """
    items = [{"id": "rs_0", **item} if item.get("type") == "reasoning" else item for item in body["input"]]
    given = {**body, "input": items}
    taken = _materialized(_responses().validate_python(given))
    assert not known or given == taken


@cache
def _responses() -> TypeAdapter[Any]:
    params = openai.types.responses.response_create_params
    return TypeAdapter(params.ResponseCreateParamsStreaming | params.ResponseCreateParamsNonStreaming)


def check_gemini(body: Mapping[str, Any]) -> None:
    """Fail unless the SDK's types of each field of the body take it; they know every key, or refuse it."""
    for name, value in body.items():
        _GEMINI[name].validate_python(value)


_GEMINI: Mapping[str, TypeAdapter[Any]] = {
    "contents": TypeAdapter(list[genai.Content]),
    "systemInstruction": TypeAdapter(genai.Content),
    "generationConfig": TypeAdapter(genai.GenerationConfig),
    "tools": TypeAdapter(list[genai.Tool]),
    "toolConfig": TypeAdapter(genai.ToolConfig),
    "safetySettings": TypeAdapter(list[genai.SafetySetting]),
    "cachedContent": TypeAdapter(str),
    "labels": TypeAdapter(dict[str, str]),
    "serviceTier": TypeAdapter(str),
    "store": TypeAdapter(bool),
}
"""The fields of the body, by https://ai.google.dev/api/generate-content."""


def _materialized(value: Any) -> Any:
    """pydantic reads an `Iterable` field lazily: read it all, so that it is validated all."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _materialized(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_materialized(item) for item in value]
    return value


def check_converse(body: Mapping[str, Any]) -> None:
    """Fail unless botocore's model of `Converse` takes the body; its blobs are bytes, ours base64."""
    shape = _converse()
    report = ParamValidator().validate({"modelId": "model", **_with_bytes(body, shape)}, shape)
    assert not report.has_errors(), report.generate_report()


@cache
def _converse() -> Any:
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    return model.operation_model("Converse").input_shape


def _with_bytes(value: Any, shape: Any) -> Any:
    match shape.type_name:
        case "structure" if not getattr(shape, "is_document_type", False):
            return {
                key: _with_bytes(item, shape.members[key]) if key in shape.members else item
                for key, item in value.items()
            }
        case "list":
            return [_with_bytes(item, shape.member) for item in value]
        case "blob":
            return b64decode(value, validate=True)
    return value


def check_cohere(body: Mapping[str, Any]) -> None:
    """Fail unless the parameters of the SDK's `chat` take the body and know every key in it."""
    types = _cohere()
    for name, value in body.items():
        if name == "stream":  # another method
            assert isinstance(value, bool)
            continue
        _assert_known(types[name].validate_python(value))


@cache
def _cohere() -> Mapping[str, TypeAdapter[Any]]:
    hints = get_type_hints(V2Client.chat, include_extras=True)
    return {name: TypeAdapter(hint) for name, hint in hints.items() if name not in _NO_FIELDS}


_NO_FIELDS = ("return", "request_options")


def _assert_known(value: Any) -> None:
    """The SDK's models keep the keys that they do not know apart."""
    if isinstance(value, BaseModel):
        assert not value.model_extra
        for name in type(value).model_fields:
            _assert_known(getattr(value, name))
    elif isinstance(value, list | tuple):
        for item in value:
            _assert_known(item)


def check_ollama(body: Mapping[str, Any]) -> None:
    """Fail unless the SDK's `ChatRequest` takes the body and knows every key of it and of its messages."""
    assert body.keys() <= ChatRequest.model_fields.keys()
    assert body.get("options", {}).keys() <= ollama.Options.model_fields.keys()
    ChatRequest.model_validate({"model": "m", **body})
    for message in body["messages"]:
        assert isinstance(message["content"], str)
        images = [ollama.Image(value=data).model_dump() for data in message.get("images", ())]
        assert images == message.get("images", [])
        known = ollama.Message.model_validate({**message, "images": [{"value": one} for one in images]})
        assert message.keys() - {"tool_call_id"} <= known.model_fields_set  # newer than the SDK
