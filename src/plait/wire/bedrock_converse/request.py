"""Turns and options -> the body of Converse and ConverseStream. The URL names the model and the stream.

Source: the service model `bedrock-runtime/2023-09-30` of botocore 1.44, and
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (2026-11).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from plait.errors import InvalidDataError
from plait.messages import TextPart
from plait.wire.bedrock_converse import mapping
from plait.wire.bedrock_converse.conversation import CONVERSE_DOCS, Conversation
from plait.wire.bedrock_converse.families import Family, family, takes_system
from plait.wire.bedrock_converse.model_fields import Extras, model_fields
from plait.wire.bedrock_converse.tools import NAMES, tool_config
from plait.wire.claude_schemas import fitted
from plait.wire.history import HistoryRules, Turn
from plait.wire.options import OutputSchema, PromptCache
from plait.wire.plan import Notes

if TYPE_CHECKING:
    from plait.wire.requests import Asked

WIRE = "bedrock-converse"

_INFERENCE_DOCS = (
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InferenceConfiguration.html"
)
_CACHE_DOCS = "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html"
_OUTPUT_DOCS = "https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html"
_TTLS = {"5m": "5m", "30m": "1h", "1h": "1h", "24h": "1h"}
_TIERS = ("priority", "default", "flex", "reserved")
_MAX_STOPS, _MAX_TAGS = 2500, 16
_CACHED = ("text", "image", "document", "video", "toolUse", "toolResult")


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What Converse takes of a history, by the model's family."""
    kind = family(asked.options.model)
    return HistoryRules(
        sends=lambda format_: format_ in (mapping.FORMAT, WIRE),
        late_system="user",
        merge=frozenset({"user", "assistant"}),
        id_pattern=kind.ids,
        id_length=kind.id_length,
        unique_ids=True,
        name_pattern=NAMES,
        object_arguments=True,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The JSON body.

    Raises:
        InvalidDataError: content of a kind that is not taken, or no message to answer
    """
    model = asked.options.model
    kind = family(model)
    messages = Conversation(notes, kind).messages(turns)
    if not messages:
        raise InvalidDataError("messages: Converse needs a user message to answer; add one")
    system = [
        {"text": item.text}
        for turn in turns
        if turn.role == "system"
        for item in turn.items
        if isinstance(item, TextPart)
    ]
    if system and not takes_system(model):
        _lead(messages, system, notes)
        system = []
    _end(messages, turns[-1].paths[-1], kind, notes)
    fields = model_fields(asked, kind, messages, notes)
    tools = tool_config(asked, kind, messages, fields.thinks, notes)
    if asked.options.prompt_cache is not None:
        _cache(asked.take("prompt_cache"), kind, tools.get("tools", []), system, messages, notes)
    body: dict[str, Any] = {
        "messages": messages,
        "system": system,
        "inferenceConfig": _inference(asked, fields, notes),
        "toolConfig": tools,
        "outputConfig": _output(asked, notes),
        "additionalModelRequestFields": fields.values,
        "requestMetadata": _tags(asked, notes),
        "serviceTier": _tier(asked, notes),
    }
    asked.take("include_usage")  # it always comes
    return {name: value for name, value in body.items() if value}


# What depends on the history


def _lead(messages: list[dict[str, Any]], system: list[dict[str, Any]], notes: Notes) -> None:
    if messages[0]["role"] == "user" and "toolResult" not in messages[0]["content"][0]:
        messages[0]["content"] = [*system, *messages[0]["content"]]
    else:
        messages.insert(0, {"role": "user", "content": system})
    notes.add("moved", "system", "this model takes no system text: sent as the user's", CONVERSE_DOCS)


def _end(messages: list[dict[str, Any]], path: str, kind: Family, notes: Notes) -> None:
    """A last assistant text is the beginning of the answer."""
    last = messages[-1]
    if last["role"] != "assistant" or "text" not in last["content"][-1]:
        return
    text = last["content"][-1]["text"]
    if text != text.rstrip():
        last["content"][-1] = {"text": text.rstrip()}
        notes.add("dropped", path, "white space at the end of the last assistant text", CONVERSE_DOCS)
    if kind.name not in (None, "anthropic"):
        why = "this model does not continue an answer: the last message must be the user's"
        notes.add("will_be_refused", path, why, CONVERSE_DOCS)


def _cache(
    wanted: PromptCache,
    kind: Family,
    tools: list[dict[str, Any]],
    system: list[dict[str, Any]],
    messages: list[dict[str, Any]],
    notes: Notes,
) -> None:
    """Cache points after the tools, the system text and the last content that one may follow."""
    point = {"cachePoint": {"type": "default"}}
    if not kind.cache:
        notes.add("dropped", "prompt_cache", "this model's prompts are not cached", _CACHE_DOCS)
        return
    if wanted.ttl is not None:
        point["cachePoint"]["ttl"] = _TTLS[wanted.ttl]
        if _TTLS[wanted.ttl] != wanted.ttl:
            notes.add("clamped", "prompt_cache.ttl", f"{wanted.ttl} to {_TTLS[wanted.ttl]}", _CACHE_DOCS)
    if wanted.key is not None:
        notes.add("dropped", "prompt_cache.key", "the cache is found by the prompt alone", _CACHE_DOCS)
    if tools and "tools" in kind.cache:
        tools.append(point)
    if system:
        system.append(point)
    for message in reversed(messages):
        ends = [at for at, block in enumerate(message["content"]) if any(key in block for key in _CACHED)]
        if ends:
            message["content"].insert(ends[-1] + 1, point)
            return


# Options


def _inference(asked: Asked, fields: Extras, notes: Notes) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if fields.max_tokens is not None:
        made["maxTokens"] = fields.max_tokens
    if "temperature" in asked:
        temperature = asked.take("temperature")
        made["temperature"] = min(temperature, 1.0)
        if temperature > 1:
            notes.add(
                "clamped", "temperature", f"{temperature:g} to 1, the highest there is", _INFERENCE_DOCS
            )
    if "top_p" in asked:
        made["topP"] = asked.take("top_p")
    stop = asked.take("stop") or []
    kept = [text for text in stop if text][:_MAX_STOPS]
    if len(kept) < len(stop):
        notes.add("dropped", "stop", f"at most {_MAX_STOPS:,} texts, none of them empty", _INFERENCE_DOCS)
    if kept:
        made["stopSequences"] = kept
    return made


def _output(asked: Asked, notes: Notes) -> dict[str, Any]:
    wanted: OutputSchema | str | None = asked.options.output
    if wanted == "json":
        asked.drop(
            "output", "there is no JSON mode without a schema; give one, or ask for JSON", _OUTPUT_DOCS
        )
    if not isinstance(wanted, OutputSchema):
        return {}
    asked.take("output")
    if wanted.strict is False:
        notes.add("dropped", "output.strict", "the schema is always kept to", _OUTPUT_DOCS)
    schema = {
        "schema": json.dumps(fitted(wanted.json_schema, "output", notes), ensure_ascii=False),
        "name": wanted.name,
    }
    if wanted.description:
        schema["description"] = wanted.description
    return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}


def _tags(asked: Asked, notes: Notes) -> dict[str, str]:
    tags = dict(asked.take("metadata") or {})
    for name in list(tags)[_MAX_TAGS:]:
        del tags[name]
        notes.add("dropped", f"metadata.{name}", f"at most {_MAX_TAGS} tags are taken", CONVERSE_DOCS)
    return tags


def _tier(asked: Asked, notes: Notes) -> dict[str, str]:
    tier = asked.options.service_tier
    if tier in _TIERS:
        return {"type": asked.take("service_tier")}
    if tier is not None:
        asked.drop("service_tier", f"there is {', '.join(_TIERS)}, not {tier}", CONVERSE_DOCS)
    return {}
