"""Turns of a conversation -> `contents`. Each part goes back as it came, with its own signature."""

from __future__ import annotations

import re
from typing import Any

from plait import inline_data, media_types
from plait.errors import InvalidDataError
from plait.messages import (
    ContentOutput,
    DataSource,
    ErrorJson,
    ErrorText,
    ExecutionDenied,
    FilePart,
    ImagePart,
    JsonOutput,
    ProviderPart,
    ReasoningContent,
    TextPart,
)
from plait.wire.gemini.dialects import Dialect
from plait.wire.gemini.mapping import FORMAT
from plait.wire.gemini.models import Model
from plait.wire.history import Call, Result, Turn
from plait.wire.plan import Notes

WIRE = "gemini"
FORMATS = frozenset({WIRE, FORMAT})
"""Formats of reasoning, kept parts and signatures that go back."""

UNSIGNED = "skip_thought_signature_validator"
"""What stands for the signature of a call that Gemini did not make."""

_SIGNATURES = "https://ai.google.dev/gemini-api/docs/thought-signatures"
_FILES = "https://ai.google.dev/gemini-api/docs/file-input-methods"
_TAKEN = ("image/", "audio/", "video/", "text/", "application/pdf")
_TEXTS = (
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-ipynb+json",
    "application/jsonl",
)
_ESCAPES = ("$ref", "$defs")
_SPECIAL = frozenset({"output", "error"})


class ContentsWriter:
    """Writes the contents of one request.

    Args:
        row: what the server takes
        model: what the model takes
        server_tools: whether tools that the provider runs are asked for
        notes: where everything that is not sent as it stands is noted
    """

    def __init__(self, row: Dialect, model: Model, server_tools: bool, notes: Notes) -> None:
        self._row = row
        self._model = model
        self._server_tools = server_tools
        self._notes = notes

    def contents(self, turns: list[Turn]) -> list[dict[str, Any]]:
        """The contents of all turns; the first one is the user's."""
        contents: list[dict[str, Any]] = []
        for turn in turns:
            parts = self._model_parts(turn) if turn.role == "assistant" else self._user_parts(turn)
            if parts:
                contents.append({"role": "model" if turn.role == "assistant" else "user", "parts": parts})
        if not contents or contents[0]["role"] == "model":
            self._notes.add(
                "added", "messages", "a conversation begins with the user: an empty text is put first"
            )
            contents.insert(0, {"role": "user", "parts": [{"text": ""}]})
        return contents

    # What the model made

    def _model_parts(self, turn: Turn) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case TextPart():
                    parts.append(_signed({"text": item.text}, item.signature))
                case ReasoningContent():
                    parts += self._thoughts(item, path)
                case Call():
                    parts.append(_signed({"functionCall": self._call(item)}, item.signature))
                case ProviderPart():
                    parts += self._provider(item, path)
                case ImagePart() | FilePart():
                    own = item.format in FORMATS
                    parts.append(_signed(self._media(item, path), item.signature if own else None))
        self._sign(parts, turn)
        return parts

    def _thoughts(self, part: ReasoningContent, path: str) -> list[dict[str, Any]]:
        parts = []
        for number, detail in enumerate(part.details):
            if detail.type in ("text", "summary") and (detail.text or detail.signature):
                parts.append(_signed({"text": detail.text or "", "thought": True}, detail.signature))
            else:
                why = "of Gemini's, only thoughts and signatures go back here"
                self._notes.add("dropped", f"{path}.details[{number}]", why, _SIGNATURES)
        return parts

    def _call(self, call: Call) -> dict[str, Any]:
        return self._identified(call, {"name": call.name, "args": call.input})

    def _identified(self, call: Call, data: dict[str, Any]) -> dict[str, Any]:
        takes = self._row.ids or self._model.ids
        return {"id": call.native_id, **data} if takes and call.native_id else data

    def _provider(self, part: ProviderPart, path: str) -> list[dict[str, Any]]:
        data = part.data
        if not isinstance(data, dict) or not data:
            self._notes.add("dropped", path, "a part must be an object")
            return []
        if not self._server_tools and ("toolCall" in data or "toolResponse" in data):
            why = "the tool that this part is of is not among the request's tools"
            self._notes.add("will_be_refused", path, why, _SIGNATURES)
        return [dict(data)]

    def _sign(self, parts: list[dict[str, Any]], turn: Turn) -> None:
        first = next((part for part in parts if "functionCall" in part), None)
        if self._model.signs and first is not None and "thoughtSignature" not in first:
            path = next(item.path for item in turn.items if isinstance(item, Call))
            first["thoughtSignature"] = UNSIGNED
            why = f"the first call of a step must be signed: {UNSIGNED!r} stands for a signature"
            self._notes.add("added", f"{path}.signature", why, _SIGNATURES)

    # What the user and the user's tools say

    def _user_parts(self, turn: Turn) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = []
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case TextPart():
                    parts.append({"text": item.text})
                case ImagePart() | FilePart():
                    parts.append(self._media(item, path))
                case Result():
                    parts.append({"functionResponse": self._response(item)})
        return parts

    def _response(self, result: Result) -> dict[str, Any]:
        data = self._identified(result.call, {"name": result.call.name, "response": self._output(result)})
        output = result.output
        if isinstance(output, ContentOutput):
            media = [part for part in output.value if not isinstance(part, TextPart)]
            if media:
                if not result.text:
                    data["response"] = {}  # an empty text would be said to be what the function gave
                data["parts"] = [self._media(part, result.path) for part in media]
        return data

    def _output(self, result: Result) -> dict[str, Any]:
        """The response as an object: `output` and `error` are the names that are known to the model."""
        match result.output:
            case ErrorText() | ExecutionDenied():
                return {"error": result.text}
            case ErrorJson(value=data):
                return {"error": self._plain(data, result)}
            case JsonOutput(value=data):
                plain = self._plain(data, result)
                return plain if isinstance(plain, dict) and not plain.keys() & _SPECIAL else {"output": plain}
        return {"output": result.text}

    def _plain(self, data: Any, result: Result) -> Any:
        """JSON with references is sent as text: Gemini resolves them."""
        if not _has_references(data):
            return data
        self._notes.add(
            "demoted", result.path, "JSON with $ref or $defs is sent as text: it would be resolved"
        )
        return result.text

    # Media

    def _media(self, part: ImagePart | FilePart, path: str) -> dict[str, Any]:
        source = part.image if isinstance(part, ImagePart) else part.data
        kind = part.media_type if isinstance(part, FilePart) else None
        if isinstance(part, FilePart) and part.filename:
            self._notes.add("dropped", f"{path}.filename", "a file has no name here", self._row.source)
        if isinstance(part, ImagePart) and part.detail not in (None, "auto"):
            self._notes.add(
                "dropped", f"{path}.detail", "the resolution is set for the whole request", _FILES
            )
        if isinstance(source, DataSource):
            kind = kind or source.media_type or media_types.by_content(inline_data.decode(source.data[:64]))
            return {"inlineData": {"mimeType": self._kind(kind, path), "data": source.data}}
        if not re.fullmatch(self._row.urls, source.url):
            raise InvalidDataError(
                f"{path}: gemini takes data, and the addresses of its own files, of YouTube and gs://; it "
                "fetches no other URL: fetch it with `part.resolve()` or pass `resolve=`"
            )
        kind = kind or media_types.by_name(source.url.partition("?")[0])
        return {"fileData": {**({"mimeType": self._kind(kind, path)} if kind else {}), "fileUri": source.url}}

    def _kind(self, kind: str | None, path: str) -> str:
        if not kind:
            raise InvalidDataError(f"{path}: the media type of this data is needed; give `media_type`")
        if kind in _TEXTS:
            self._notes.add("renamed", f"{path}.media_type", f"{kind} is sent as text/plain", _FILES)
            return "text/plain"
        if not kind.startswith(_TAKEN):
            raise InvalidDataError(
                f"{path}: gemini takes no {kind}; it takes images, audio, video, text and application/pdf: "
                "send the file as one of those"
            )
        return kind


def _signed(part: dict[str, Any], signature: str | None) -> dict[str, Any]:
    return {**part, "thoughtSignature": signature} if signature else part


def _has_references(data: Any) -> bool:
    if isinstance(data, dict):
        return any(key in _ESCAPES or _has_references(value) for key, value in data.items())
    return isinstance(data, list) and any(_has_references(value) for value in data)
