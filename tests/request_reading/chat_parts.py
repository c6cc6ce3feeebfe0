"""What requests of the chat formats (Chat Completions, Mistral, Cohere) have in common.

These readers take nothing from `src/`: they are an independent account of what a request says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from request_reading.expressible import NotExpressible, only

Json = dict[str, Any]


def renamed(request: Json, fields: Mapping[str, str]) -> Json:
    """The plain options, by the field of each; the fields are taken out of the request."""
    taken = {option: request.pop(field, None) for field, option in fields.items()}
    return {option: value for option, value in taken.items() if value is not None}


def function_tool(tool: Json) -> Json:
    """A tool as `{"type": "function", "function": ...}`; Mistral's clients leave the type out."""
    if tool.get("type", "function") != "function":
        raise NotExpressible(f"tool {tool['type'].partition(':')[2] or tool['type']}")
    only(tool, "tool", "type", "function")
    only(tool["function"], "tool", "name", "description", "parameters", "strict")
    return {name: value for name, value in tool["function"].items() if value is not None}


def tool_choice(choice: Any, required: str = "required") -> Any:
    """A choice of tools: a word, or the name of one."""
    if isinstance(choice, Mapping):
        if "function" not in choice:
            raise NotExpressible(f"tool_choice {choice.get('type')}")
        return {"name": choice["function"]["name"]}
    return "required" if choice == required else choice


def response_format(wanted: Json) -> Any:
    """The form of the answer; None for text."""
    if wanted["type"] == "json_schema":
        said = wanted["json_schema"]
        only(said, "response_format", "name", "description", "schema", "strict")
        described = {"description": said["description"]} if said.get("description") is not None else {}
        return {
            "json_schema": said["schema"],
            "name": said["name"],
            "strict": said.get("strict"),
            **described,
        }
    return {"json_object": "json", "text": None}[wanted["type"]]


def image(url: str, detail: str | None = None) -> Json:
    """An image by URL, or as a `data:` URL."""
    closely = {"detail": detail} if detail is not None else {}
    return {"type": "image", "image": {"type": "url", "url": url}, **closely}


def file(url: str, **known: Any) -> Json:
    """A file by URL, or as a `data:` URL."""
    given = {name: value for name, value in known.items() if value is not None}
    return {"type": "file", "data": {"type": "url", "url": url}, **given}


def content(given: Any, part: Callable[[Json], Json]) -> list[Json]:
    """Content as parts: a string is one text."""
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "text", "text": given}]
    return [part(one) for one in given]


def system_text(given: Any) -> str:
    """The text of a system message; several parts cannot be told apart in one."""
    if isinstance(given, str):
        return given
    if len(given) != 1 or given[0].keys() != {"type", "text"}:
        raise NotExpressible("system content of several or marked parts")
    text: str = given[0]["text"]
    return text


class Conversation:
    """Messages as they are put together: results of calls belong into one message after these."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self._names: dict[str, str] = {}
        self._ids: dict[str, str] = {}

    def say(self, role: str, content: Any) -> None:
        """A message of its own."""
        self.messages.append({"role": role, "content": content})

    def call(self, call: Json) -> Json:
        """The part for a tool call of `{"id", "function"}`."""
        only(call, "tool call", "id", "type", "function", "index")
        if call.get("type", "function") != "function":
            raise NotExpressible(f"tool call {call['type']}")
        said = call["function"]
        only(said, "tool call", "name", "arguments")
        return self.called(call["id"], said["name"], said["arguments"])

    def called(self, id: str, name: str, arguments: str, **more: Any) -> Json:
        """The part for a tool call."""
        self._names[id] = name
        part = {"type": "tool-call", "tool_call_id": id, "call_id": id, "tool_name": name}
        return {**part, "arguments": arguments, **more}

    def known_as(self, call_id: str, id: str) -> None:
        """The item that is the call has an id of its own."""
        self._ids[call_id] = id

    def result(self, id: str, output: Any, part: Callable[[Json], Json]) -> None:
        """What a tool gave: a string, or parts."""
        parts = content(output, part)
        said = {"type": "content", "value": parts}
        if output is None or isinstance(output, str):
            said = {"type": "text", "value": output or ""}
        if not self.messages or self.messages[-1]["role"] != "tool":
            self.say("tool", [])
        self.messages[-1]["content"].append(
            {
                "type": "tool-result",
                "tool_call_id": self._ids.get(id, id),
                "call_id": id,
                "tool_name": self._names.get(id, "unknown"),
                "output": said,
            }
        )
