"""What two requests of OpenAI's formats, Mistral or Cohere may differ in and say the same.

Each equivalence changes a body in place, and is applied to both that are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

_TEXTS = ("text", "input_text")


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
            if not isinstance(parts, list) or (len(parts) > 1 and message.get("role") != "assistant"):
                continue
            if all(part.keys() == {"type", "text"} and part["type"] in _TEXTS for part in parts):
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


def _parts(message: Json) -> list[Json]:
    given = message.get("content", message.get("output"))
    return [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []


def _messages(body: Json) -> list[Json]:
    given = body.get("messages", body.get("input"))
    return given if isinstance(given, list) else []


_CHAT = (
    _nothing_said,
    _lone_text,
    _empty_answer,
    _limit,
    _instruction_role,
    _function,
    _stop,
    _plain_text_format,
)
EQUIVALENCES: dict[str, tuple[Callable[[Json], None], ...]] = {
    "openai-chat": (*_CHAT, _automatic_choice),
    "openai-responses": (
        _nothing_said, _lone_text, _empty_answer, _instruction_role, _instructions, _not_strict,
        _search_name, _unkept_ids,
    ),
    "mistral-chat": (_nothing_said, _lone_text, _empty_answer, _function, _result_name),
    "cohere-chat": (_nothing_said, _lone_text),
}  # fmt: skip
"""What may differ, by wire; why it may is in the docstring of each. The order of keys says nothing."""
