"""Recorded requests of OpenAI's formats, Mistral and Cohere are rebuilt from normalized messages.

A reader of our own (`request_reading`) says what a request means in messages and options; `plan_request`
makes a request of that again. Both must be equal, but for the equivalences listed here.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

import plait
from recordings import Recording, recordings
from request_reading import cohere_chat, mistral_chat, openai_chat, openai_responses
from request_reading.expressible import NotExpressible

Json = dict[str, Any]

READERS: dict[str, Callable[[Json, str | None], tuple[list[Json], Json]]] = {
    "openai-chat": openai_chat.read,
    "openai-responses": openai_responses.read,
    "mistral-chat": mistral_chat.read,
    "cohere-chat": cohere_chat.read,
}

DIALECTS = {
    ("openai-chat", "api.openai.com"): "openai",
    ("openai-chat", "resource.openai.azure.com"): "azure",
    ("openai-chat", "openrouter.ai"): "openrouter",
    ("openai-chat", "api.groq.com"): "groq",
    ("openai-chat", "api.deepseek.com"): "deepseek",
    ("openai-chat", "api.cerebras.ai"): "cerebras",
    ("openai-chat", "router.huggingface.co"): "huggingface",
    ("openai-chat", "ollama.com"): "ollama",
    ("openai-chat", "localhost:11434"): "ollama",
    ("openai-chat", "generativelanguage.googleapis.com"): "google",
    ("openai-chat", "account.snowflakecomputing.com"): "snowflake",
    ("openai-chat", "api.z.ai"): "zai",
    ("openai-responses", "api.openai.com"): "openai",
    ("openai-responses", "resource.openai.azure.com"): "azure",
    ("openai-responses", "openrouter.ai"): "openrouter",
    ("openai-responses", "api.deepseek.com"): "deepseek",
    ("openai-responses", "bedrock-mantle.us-east-1.api.aws"): "bedrock",
}
"""The dialect of a server; of the others, none is named."""


# Equivalences: each is applied to both bodies


def _nothing_said(body: Json) -> None:
    """Null, an empty list and `false` of a field whose default is that say what is said by leaving it out."""
    parts = [part for message in _messages(body) for part in _parts(message)]
    for holder in (body, *body.get("tools", ()), *_messages(body), *parts):
        for name in [name for name, value in holder.items() if value is None or value == []]:
            if name not in ("summary", "annotations"):
                del holder[name]
    if body.get("instructions") == "":
        del body["instructions"]
    for name in ("stream", "prefix"):
        for holder in (body, *_messages(body)):
            if holder.get(name) is False:
                del holder[name]


def _lone_text(body: Json) -> None:
    """Content of one text part is that text; answers are always the text of their parts."""
    for message in _messages(body):
        for name in ("content", "output"):
            parts = message.get(name)
            if isinstance(parts, list) and all(
                part.keys() == {"type", "text"} and part["type"] in ("text", "input_text") for part in parts
            ):
                if len(parts) == 1 or message.get("role") == "assistant":
                    message[name] = "".join(part["text"] for part in parts)


def _automatic_choice(body: Json) -> None:
    """Tools are chosen automatically unless it is said otherwise."""
    if body.get("tool_choice") == "auto":
        del body["tool_choice"]


def _empty_answer(body: Json) -> None:
    """An answer without text and calls says nothing, and neither does empty text beside calls."""
    for message in _messages(body):
        if message.get("role") == "assistant" and message.get("content") in ("", []):
            del message["content"]
    name = "messages" if "messages" in body else "input"
    if isinstance(body[name], list):
        body[name] = [message for message in body[name] if not message.keys() <= {"role", "type"}]


def _limit(body: Json) -> None:
    """`max_tokens` is the former name of `max_completion_tokens`; each server has its own."""
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")


def _instruction_role(body: Json) -> None:
    """A server reads `system` and `developer` alike."""
    for message in _messages(body):
        if message.get("role") == "developer" and "content" in message:
            message["role"] = "system"


def _function(body: Json) -> None:
    """`type` of a tool, of its choice and of a call is `function` unless it is said; a call has no index."""
    calls = [call for message in _messages(body) for call in message.get("tool_calls", ())]
    choice = body.get("tool_choice")
    for call in calls:
        call.pop("index", None)  # of a stream's piece
    for thing in (*body.get("tools", ()), *calls, *([choice] if isinstance(choice, dict) else ())):
        thing.setdefault("type", "function")


def _stop(body: Json) -> None:
    """One stop text may be given without its list."""
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]


def _plain_text_format(body: Json) -> None:
    """Text is what is answered unless another format is asked for."""
    if body.get("response_format") == {"type": "text"}:
        del body["response_format"]
    if body.get("text") == {"format": {"type": "text"}}:
        del body["text"]


def _result_name(body: Json) -> None:
    """A result may name its tool, which its call names already."""
    for message in _messages(body):
        if message.get("role") == "tool":
            message.pop("name", None)


def _instructions(body: Json) -> None:
    """System text at the beginning of the input is what `instructions` are."""
    if isinstance(body["input"], str):
        body["input"] = [{"role": "user", "content": body["input"]}]
    texts = [body.pop("instructions")] if "instructions" in body else []
    items = body["input"]
    while len(items) > 1 and items[0].get("role") == "system" and "content" in items[0]:
        texts.append(items.pop(0)["content"])
    if texts:
        body["instructions"] = "\n\n".join(texts)


def _item_defaults(body: Json) -> None:
    """An item with a role is a message, and one that is sent is completed."""
    for item in body["input"]:
        if item.get("type") == "message" or "role" in item:
            item.setdefault("type", "message")
        if item.get("status") == "completed":
            del item["status"]
        for part in _parts(item):
            if part["type"] == "input_image":
                part.setdefault("detail", "auto")


def _not_strict(body: Json) -> None:
    """A tool that says nothing of `strict` is sent as not strict: the vocabulary's default, not the API's."""
    for tool in body.get("tools", ()):
        if tool["type"] == "function" and not tool.get("strict"):
            tool["strict"] = False


def _search_name(body: Json) -> None:
    """`web_search_preview` is the former name of `web_search`."""
    for tool in body.get("tools", ()):
        if tool["type"] == "web_search_preview":
            tool["type"] = "web_search"


def _unkept_ids(body: Json) -> None:
    """The id of encrypted reasoning refers to nothing where the response is not stored."""
    for item in body["input"]:
        if body.get("store") is False and item.get("encrypted_content"):
            item.pop("id", None)


def _tool_order(body: Json) -> None:
    """The order of tools says nothing; the search is last in ours."""
    if "tools" in body:
        body["tools"].sort(key=lambda tool: tool.get("name") or tool.get("function", {}).get("name") or "")


def _parts(message: Json) -> list[Json]:
    given = message.get("content", message.get("output"))
    return [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []


def _messages(body: Json) -> list[Json]:
    given = body.get("messages", body.get("input"))
    return given if isinstance(given, list) else []


_CHAT = (_nothing_said, _lone_text, _empty_answer, _limit, _instruction_role, _function, _stop, _plain_text_format)
EQUIVALENCES: dict[str, tuple[Callable[[Json], None], ...]] = {
    "openai-chat": (*_CHAT, _automatic_choice, _tool_order),
    "openai-responses": (
        _nothing_said, _lone_text, _empty_answer, _instruction_role, _plain_text_format, _instructions, _item_defaults,
        _not_strict, _search_name, _unkept_ids, _tool_order,
    ),
    "mistral-chat": (*_CHAT, _result_name),
    "cohere-chat": (_nothing_said, _lone_text, _empty_answer),
}  # fmt: skip
"""What may differ, by wire; why it may is in the docstring of each. The order of keys says nothing."""


# The requests


def _entries(wire: str) -> list[Recording]:
    kinds = ("stream", "json", "error")
    return [entry for kind in kinds for entry in recordings(wire, kind) if entry.request is not None]


def _normal(wire: str, body: Json) -> Json:
    made: Json = copy.deepcopy(body)
    for equivalence in EQUIVALENCES[wire]:
        equivalence(made)
    return made


def _difference(wanted: Any, got: Any, path: str = "") -> Iterator[str]:
    """Where two bodies differ, one line each."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name in sorted(wanted.keys() | got.keys()):
            yield from _difference(wanted.get(name, "(absent)"), got.get(name, "(absent)"), f"{path}.{name}")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for at, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from _difference(one, other, f"{path}[{at}]")
    elif wanted != got:
        yield f"{path}: {json.dumps(wanted)[:200]} != {json.dumps(got)[:200]}"


_ELIDED = re.compile(r"<base64 elided, \d+ chars>")
_KINDS = {"video_url": "video/mp4", "image_url": "image/png"}


def _filled(value: Any, key: str = "", name: str = "") -> Any:
    """The request with data again where the recording has a note in its place."""
    if isinstance(value, dict):
        name = value.get("filename", "")
        inside = {one: key if one == "url" else one for one in value}
        return {one: _filled(two, inside[one], name) for one, two in value.items()}
    if isinstance(value, list):
        return [_filled(one, key) for one in value]
    if not isinstance(value, str) or not _ELIDED.fullmatch(value):
        return value
    if key in ("data", "encrypted_content"):
        return "AAAA"
    kind = "audio/mpeg" if name.endswith(".mp3") else _KINDS.get(key, "application/pdf")
    return f"data:{kind};base64,AAAA"


class Outcomes:
    """What became of the requests of a wire."""

    def __init__(self) -> None:
        self.equal: list[str] = []
        self.unequal: dict[str, str] = {}
        self.not_expressible: Counter[str] = Counter()


@cache
def outcomes(wire: str) -> Outcomes:
    """Reads and rebuilds every request of a wire once."""
    made = Outcomes()
    for entry in _entries(wire):
        request = _filled(entry.request)
        dialect = DIALECTS.get((wire, urlsplit(entry.url).netloc))
        try:
            messages, options = READERS[wire](request, dialect)
        except NotExpressible as reason:
            made.not_expressible[str(reason)] += 1
            continue
        try:
            plan = plait.plan_request(wire, messages, dialect=dialect, **options)
        except plait.PlaitError as error:
            made.unequal[entry.id] = f"refused: {error}"
            continue
        wanted, got = _normal(wire, request), _normal(wire, plan.body)
        if wanted == got:
            made.equal.append(entry.id)
        else:
            made.unequal[entry.id] = "; ".join(_difference(wanted, got))
    return made
