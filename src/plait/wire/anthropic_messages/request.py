"""Turns and options -> the body of `POST /v1/messages`, also as Vertex AI and Bedrock take it.

Source: https://platform.claude.com/docs/en/api/messages/create and the types of the `anthropic` SDK 2.14
(2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plait.errors import InvalidDataError
from plait.wire import claude
from plait.wire.anthropic_messages import mapping
from plait.wire.anthropic_messages.blocks import Blocks, cache, shortened
from plait.wire.anthropic_messages.tools import NAMES, add_choice, tools
from plait.wire.claude_schemas import fitted
from plait.wire.history import HistoryRules, Turn
from plait.wire.options import OutputSchema, PromptCache
from plait.wire.plan import Notes

if TYPE_CHECKING:
    from plait.wire.requests import Asked

WIRE = "anthropic-messages"

DEFAULT_MAX_TOKENS = 4096
"""`max_tokens` is required. 4,096 is the least limit of output that a Claude 3 or later model has."""

_VERSIONS: Mapping[str | None, str] = {"vertex": "vertex-2023-10-16", "bedrock": "bedrock-2023-05-31"}
"""`anthropic_version` in the body, where the URL names the model; elsewhere it is an HTTP header."""

_API = "https://platform.claude.com/docs/en/api/messages/create"
_CACHE_DOCS = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_OUTPUT_DOCS = "https://platform.claude.com/docs/en/build-with-claude/structured-outputs"
_TTLS = {"5m": "5m", "30m": "1h", "1h": "1h", "24h": "1h"}
_TIERS = {"auto": "auto", "standard_only": "standard_only", "default": "standard_only"}


def rules(dialect: str | None, asked: Asked) -> HistoryRules:
    """What Claude takes of a history."""
    return HistoryRules(
        sends=lambda format_: format_ in (mapping.FORMAT, WIRE),
        late_system="user",
        merge=frozenset({"user", "assistant"}),
        id_pattern=r"[a-zA-Z0-9_-]+",
        unique_ids=True,
        name_pattern=NAMES,
        object_arguments=True,
    )


def build(turns: list[Turn], asked: Asked, dialect: str | None, notes: Notes) -> dict[str, Any]:
    """The JSON body.

    Raises:
        InvalidDataError: content of a kind that is not taken, or no message to answer
    """
    advisor = any("advisor" in str(tool) for tool in _extra_tools(asked))
    blocks = Blocks(
        notes, urls=dialect in (None, "anthropic"), server_tools=dialect != "bedrock", advisor=advisor
    )
    system, messages = blocks.system(turns), blocks.messages(turns)
    if not messages:
        raise InvalidDataError("messages: Claude needs a user message to answer; add one")
    body: dict[str, Any] = {}
    if dialect in _VERSIONS:
        body["anthropic_version"] = _VERSIONS[dialect]
    elif asked.options.model:
        body["model"] = asked.options.model
    else:
        notes.add("will_be_refused", "model", "the body must name the model; pass model=...", _API)
    limit: int | None = asked.take("max_output_tokens")
    thinking = claude.thinking(asked.take("reasoning"), asked.options.model, limit, notes)
    thinking = _fit_history(thinking, messages, notes)
    body["max_tokens"] = limit or DEFAULT_MAX_TOKENS + thinking.budget
    if limit is None:
        notes.add("added", "max_output_tokens", f"a limit is required: {body['max_tokens']}", _API)
    _end(messages, turns[-1].paths[-1], asked.options.model, notes)
    definitions = tools(asked, notes, server_tools=dialect != "bedrock")
    if asked.options.prompt_cache is not None:
        _cache(asked.take("prompt_cache"), [definitions, system, *_latest_first(messages)], notes)
    if system:
        body["system"] = system if len(system) > 1 or "cache_control" in system[0] else system[0]["text"]
    body["messages"] = shortened(messages)
    if definitions:
        body["tools"] = definitions
    add_choice(body, asked, thinking, notes, parallel=dialect != "bedrock")
    if thinking.config:
        body["thinking"] = thinking.config
    output = {"effort": thinking.effort} if thinking.effort else {}
    output |= _format(asked, notes)
    if output:
        body["output_config"] = output
    _sampling(body, asked, thinking, notes)
    _labels(body, asked, notes)
    asked.take("include_usage")  # it always comes
    if asked.options.stream and dialect != "bedrock":
        body["stream"] = True
    return body


def _extra_tools(asked: Asked) -> list[Any]:
    given = asked.options.extra.get("tools")
    return [tool.get("type") for tool in given if isinstance(tool, dict)] if isinstance(given, list) else []


def _latest_first(messages: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [message["content"] for message in reversed(messages)]


# What depends on the history


def _fit_history(thinking: claude.Thinking, messages: list[dict[str, Any]], notes: Notes) -> claude.Thinking:
    answered = any(block["type"] == "tool_result" for block in messages[-1]["content"])
    first = messages[-2]["content"][0]["type"] if len(messages) > 1 else None
    unthought = answered and first not in ("thinking", "redacted_thinking")
    return claude.fit_history(thinking, unthought, notes)


def _end(messages: list[dict[str, Any]], path: str, model: str | None, notes: Notes) -> None:
    """A last assistant text is the beginning of the answer."""
    last = messages[-1]["content"][-1]
    if messages[-1]["role"] != "assistant" or last["type"] != "text":
        return
    if last["text"] != last["text"].rstrip():
        messages[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}
        notes.add("dropped", path, "white space at the end of the last assistant text", _API)
    made = claude.version(model)
    if made is not None and made >= claude.FIRST_WITHOUT_PREFILL:
        why = "this model does not continue an answer: the last message must be the user's"
        notes.add("will_be_refused", path, why, _API)


def _cache(wanted: PromptCache, prefixes: list[list[dict[str, Any]]], notes: Notes) -> None:
    """Breakpoints after the tools, the system text and the last message that can have one."""
    control = {"type": "ephemeral"}
    if wanted.ttl is not None:
        control["ttl"] = _TTLS[wanted.ttl]
        if control["ttl"] != wanted.ttl:
            notes.add("clamped", "prompt_cache.ttl", f"{wanted.ttl} to {control['ttl']}", _CACHE_DOCS)
    if wanted.key is not None:
        notes.add("dropped", "prompt_cache.key", "the cache is found by the prompt alone", _CACHE_DOCS)
    definitions, system, *messages = prefixes
    if definitions:
        definitions[-1] = {**definitions[-1], "cache_control": control}
    cache(system, control)
    any(cache(content, control) for content in messages)


# Options


def _format(asked: Asked, notes: Notes) -> dict[str, Any]:
    wanted: OutputSchema | str | None = asked.options.output
    if wanted == "json":
        asked.drop(
            "output", "there is no JSON mode without a schema; give one, or ask for JSON", _OUTPUT_DOCS
        )
    if not isinstance(wanted, OutputSchema):
        return {}
    asked.take("output")
    schema = fitted(wanted.json_schema, "output", notes)
    if wanted.strict is False:
        notes.add("dropped", "output.strict", "the schema is always kept to", _OUTPUT_DOCS)
    if wanted.description:
        if schema.get("description"):
            notes.add("dropped", "output.description", "the schema has one of its own", _OUTPUT_DOCS)
        else:
            notes.add("moved", "output.description", "into the schema", _OUTPUT_DOCS)
            schema["description"] = wanted.description
    return {"format": {"type": "json_schema", "schema": schema}}


def _sampling(body: dict[str, Any], asked: Asked, thinking: claude.Thinking, notes: Notes) -> None:
    claude.sampling(asked, thinking, notes)
    if "temperature" in asked:
        temperature = asked.take("temperature")
        body["temperature"] = min(temperature, 1.0)
        if temperature > 1:
            notes.add("clamped", "temperature", f"{temperature:g} to 1, the highest there is", _API)
    for name in ("top_p", "top_k"):
        if name in asked:
            body[name] = asked.take(name)
    stop = asked.take("stop") or []
    kept = [text for text in stop if text.strip()]
    if len(kept) < len(stop):
        notes.add("dropped", "stop", "a stop sequence of white space alone is refused", _API)
    if kept:
        body["stop_sequences"] = kept


def _labels(body: dict[str, Any], asked: Asked, notes: Notes) -> None:
    user = asked.take("user")
    tags = dict(asked.take("metadata") or {})
    user = user or tags.pop("user_id", None)
    for name in tags:
        notes.add("dropped", f"metadata.{name}", "only user_id is kept with a request", _API)
    if user:
        body["metadata"] = {"user_id": user}
    tier = asked.options.service_tier
    if tier in _TIERS:
        body["service_tier"] = _TIERS[asked.take("service_tier")]
    elif tier is not None:
        asked.drop("service_tier", f"there is auto and standard_only, not {tier}", _API)
