"""Law 8 on recordings: an answer that was read, with its calls answered, as the history of a next request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import plait
from plait.errors import PlaitError
from plait.messages import AssistantMessage
from recordings import Recording, recordings


def read(recording: Recording) -> AssistantMessage:
    """The answer, by Plait.

    Raises:
        PlaitError: the recording is one of an error, or is cut
    """
    if recording.kind == "json":
        return plait.read_response(recording.wire, recording.body())
    parser = plait.parser(recording.wire)
    parser.feed(recording.body())
    parser.close()
    return parser.message


@cache
def answers(wire: str) -> tuple[Recording, ...]:
    """The streams and bodies of a wire format that hold a whole answer."""

    def found() -> Iterator[Recording]:
        for recording in (*recordings(wire), *recordings(wire, "json")):
            try:
                read(recording)
            except PlaitError:
                continue
            yield recording

    return tuple(found())


def asked_again(message: AssistantMessage, wire: str, **options: Any) -> list[dict[str, Any]]:
    """The messages of the next request: a question, the answer, results of its calls, another question."""
    results = [
        {
            "type": "tool-result",
            "tool_call_id": call.tool_call_id,
            "tool_name": call.tool_name,
            "output": {"type": "text", "value": "done"},
        }
        for call in message.tool_calls
    ]
    tool = [{"role": "tool", "content": results}] if results else []
    messages: list[Any] = [
        {"role": "user", "content": "go"}, message, *tool, {"role": "user", "content": "and"}
    ]  # fmt: skip
    body = plait.build_request(wire, messages, **options)
    made: list[dict[str, Any]] = body["messages"]
    return made


def deltas(recording: Recording) -> list[dict[str, Any]]:
    """What the first choice says, piece by piece, read without Plait: a whole body is one piece."""
    if recording.kind == "json":
        documents = [json.loads(recording.body())]
    else:
        lines = recording.body().decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
        texts = (line.partition(":")[2].strip() for line in lines if line.startswith("data:"))
        documents = [json.loads(text) for text in texts if text.startswith("{")]
    choices = [choice for document in documents for choice in document.get("choices") or ()]
    first = choices[0].get("index") or 0 if choices else 0
    return [
        choice.get("delta") or choice.get("message") or {}
        for choice in choices
        if (choice.get("index") or 0) == first
    ]


def calls(pieces: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Id, name and arguments of the calls; a piece with another id begins another call."""
    found: list[dict[str, str]] = []
    open_: dict[Any, dict[str, str]] = {}
    for piece in pieces:
        for entry in piece.get("tool_calls") or ():
            function = entry.get("function") or {}
            index = entry.get("index", entry.get("id"))
            call = open_.get(index)
            id_ = entry.get("id") or ""
            if call is None or (id_ and call["id"] and id_ != call["id"]):
                call = open_[index] = {"id": id_, "name": function.get("name") or "", "arguments": ""}
                found.append(call)
            call["arguments"] += function.get("arguments") or ""
    return found


def is_json(text: str) -> bool:
    """Whether the text is whole JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
