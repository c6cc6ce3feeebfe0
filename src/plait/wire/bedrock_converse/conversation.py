"""Turns -> Converse's messages. Signed reasoning and blocks of server tools go back as they came.

Source: the service model `bedrock-runtime/2023-09-30` of botocore 1.44, and
https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-call.html (2026-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.messages import (
    ContentOutput,
    ErrorJson,
    FilePart,
    ImagePart,
    JsonOutput,
    ProviderPart,
    ReasoningContent,
    TextPart,
)
from plait.wire.bedrock_converse.content import Contents
from plait.wire.bedrock_converse.families import Family
from plait.wire.bedrock_converse.mapping import SERVER_TOOL
from plait.wire.history import Call, Item, Result, Turn
from plait.wire.plan import Notes
from plait.wire.server_tools import halves

CONVERSE_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html"
_BLOCK_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html"
_RESULT_DOCS = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html"

FILLER = "."
"""Text that says nothing, where a message is needed."""

EMPTY = "(no output)"
"""What an empty tool result says: an empty one is refused."""


class Conversation:
    """The messages of one request."""

    def __init__(self, notes: Notes, family: Family) -> None:
        self._notes = notes
        self._family = family
        self._contents = Contents(notes, family)

    def messages(self, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """The conversation without its system text: roles alternate, and the user begins."""
        turns = [turn for turn in turns if turn.role != "system"]
        dropped = dict(halves(turns, _calls, _answers))
        for path, why in dropped.items():
            self._notes.add("dropped", path, why, CONVERSE_DOCS)
        made: list[dict[str, Any]] = []
        for turn in turns:
            role = "assistant" if turn.role == "assistant" else "user"
            content = [
                block
                for item, path in zip(turn.items, turn.paths, strict=True)
                if path not in dropped
                for block in self._blocks(item, path, role)
            ]
            if content:
                self._add(made, role, content, turn.paths[0])
        if made and made[0]["role"] == "assistant" and self._family.first == "user":
            self._notes.add(
                "added", "messages[0]", "a conversation begins with a user message", CONVERSE_DOCS
            )
            made.insert(0, {"role": "user", "content": [{"text": FILLER}]})
        for message in made:
            self._explain_documents(message)
        return made

    def _add(self, made: list[dict[str, Any]], role: str, content: list[dict[str, Any]], path: str) -> None:
        last = made[-1] if made else None
        if last is None or last["role"] != role:
            made.append({"role": role, "content": content})
        elif self._family.mixed or "toolResult" not in last["content"][0]:
            last["content"] += content
        else:
            why = "this model takes no text beside tool results: an assistant message stands between"
            self._notes.add("added", path, why, CONVERSE_DOCS)
            made.append({"role": "assistant", "content": [{"text": FILLER}]})
            made.append({"role": role, "content": content})

    def _explain_documents(self, message: dict[str, Any]) -> None:
        content = message["content"]
        if any("document" in block for block in content) and not any("text" in block for block in content):
            content.append({"text": FILLER})
            self._notes.add("added", "messages", "a message with a document needs text", _BLOCK_DOCS)

    def _blocks(self, item: Item, path: str, role: str) -> list[dict[str, Any]]:
        match item:
            case TextPart():
                if item.citations and role == "assistant":
                    self._notes.add("dropped", f"{path}.citations", "an answer goes back as plain text")
                return [{"text": item.text}] if item.text.strip() else []
            case ReasoningContent():
                return self._reasoning(item, path)
            case ProviderPart():
                return self._provider(item, path)
            case Call():
                return [{"toolUse": {"toolUseId": item.id, "name": item.name, "input": item.input}}]
            case Result():
                return [self._result(item)]
            case ImagePart() | FilePart():
                if role == "assistant":
                    why = "an assistant message holds no images or files here"
                    self._notes.add("dropped", path, why, _BLOCK_DOCS)
                    return []
                return [self._contents.block(item, path)]

    def _reasoning(self, item: ReasoningContent, path: str) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        for number, detail in enumerate(item.details):
            why = None
            if not self._family.signed:
                why = "this model does not take reasoning back"
            elif detail.data:
                blocks.append({"reasoningContent": {"redactedContent": detail.data}})
            elif detail.signature:
                said = {"text": detail.text or "", "signature": detail.signature}
                blocks.append({"reasoningContent": {"reasoningText": said}})
            else:
                why = "reasoning without a signature is not taken back"
            if why is not None:
                self._notes.add("dropped", f"{path}.details[{number}]", why, CONVERSE_DOCS)
        return blocks

    def _provider(self, part: ProviderPart, path: str) -> list[dict[str, Any]]:
        if not isinstance(part.data, dict):
            self._notes.add("dropped", path, "not a block", _BLOCK_DOCS)
            return []
        return [part.data]

    # Tool results

    def _result(self, result: Result) -> dict[str, Any]:
        content = self._output(result)
        if not content:
            content = [{"text": EMPTY}]
            why = f"an empty result is refused: sent as {EMPTY!r}"
            self._notes.add("added", result.path, why, _RESULT_DOCS)
        made: dict[str, Any] = {"toolUseId": result.call.id, "content": content}
        if result.is_error and self._family.status:
            made["status"] = "error"
        elif result.is_error:
            why = "this model is not told that a result is an error: its text says it"
            self._notes.add("demoted", result.path, why, _RESULT_DOCS)
            content.insert(0, {"text": "The tool failed:"})
        if self._family.results == "json":
            made["content"] = [
                {"json": {"result": block["text"]}} if "text" in block else block for block in content
            ]
        return {"toolResult": made}

    def _output(self, result: Result) -> list[dict[str, Any]]:
        output = result.output
        if isinstance(output, JsonOutput | ErrorJson) and isinstance(output.value, dict):
            return [{"json": output.value}]  # other JSON is refused by some models: it goes as text
        if not isinstance(output, ContentOutput):
            return [{"text": result.text}] if result.text.strip() else []
        return [
            {"text": part.text}
            if isinstance(part, TextPart)
            else self._contents.block(part, f"{result.path}.output.value[{number}]", in_result=True)
            for number, part in enumerate(output.value)
            if not isinstance(part, TextPart) or part.text.strip()
        ]


def _inside(part: ProviderPart, key: str) -> dict[str, Any]:
    block = part.data.get(key) if isinstance(part.data, dict) else None
    return block if isinstance(block, dict) else {}


def _id(block: dict[str, Any]) -> str | None:
    value = block.get("toolUseId")
    return value if isinstance(value, str) else None


def _calls(part: ProviderPart) -> str | None:
    block = _inside(part, "toolUse")
    return _id(block) if block.get("type") == SERVER_TOOL else None


def _answers(part: ProviderPart) -> str | None:
    return _id(_inside(part, "toolResult"))
