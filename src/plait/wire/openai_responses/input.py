"""Turns of a conversation -> input items, in the very order in which the model made them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from plait import inline_data, media_types
from plait.errors import InvalidDataError
from plait.messages import (
    ContentOutput,
    DataSource,
    ErrorJson,
    ErrorText,
    FilePart,
    ImagePart,
    ProviderPart,
    ReasoningContent,
    TextPart,
    UrlSource,
)
from plait.wire.history import Call, Result, Turn, short_id
from plait.wire.openai_responses.dialects import WIRE, Dialect
from plait.wire.openai_responses.mapping import FORMAT, TEXT_FORMAT, UNFINISHED
from plait.wire.plan import Notes

_PREFIXES = {"reasoning": "rs_", "message": "msg_", "function_call": "fc_", "custom_tool_call": "ctc_"}
_ENDINGS = {
    "application/pdf": "pdf",
    "application/json": "json",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/csv": "csv",
    "text/html": "html",
}
_REPLAY = "https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context"


class InputWriter:
    """Writes the input items of one request.

    Args:
        row: what the server takes
        stored: whether the provider has kept what it made, so that its ids mean something to it
        custom: names of the request's custom tools
        notes: where everything that is not sent as it stands is noted
    """

    def __init__(self, row: Dialect, stored: bool, custom: Collection[str], notes: Notes) -> None:
        self._row = row
        self._all_ids = (stored and row.ids == "stored") or row.ids == "required"
        self._custom = custom
        self._notes = notes

    def items(self, turns: list[Turn]) -> list[dict[str, Any]]:
        """The items of all turns."""
        return [item for turn in turns for item in self._turn(turn)]

    def _turn(self, turn: Turn) -> list[dict[str, Any]]:
        match turn.role:
            case "assistant":
                return self._assistant(turn)
            case "tool":
                return [self._result(item) for item in turn.items if isinstance(item, Result)]
            case "user":
                parts = list(zip(turn.items, turn.paths, strict=True))
                return [{"role": "user", "content": self._content(parts)}]
            case "system":
                return [{"role": "system", "content": system_text(turn)}]

    # What the model made

    def _assistant(self, turn: Turn) -> list[dict[str, Any]]:
        writing = _Answer()
        for item, path in zip(turn.items, turn.paths, strict=True):
            match item:
                case ReasoningContent():
                    self._reasoning(writing, item, path)
                case TextPart():
                    self._text(writing, item, path)
                case Call():
                    writing.add(self._call(item, writing.broken), path)
                case ProviderPart():
                    self._provider(writing, item, path)
                case ImagePart(image=source) | FilePart(data=source):
                    if not writing.made(source):
                        self._notes.add("dropped", path, "an assistant's images and files are not taken here")
        self._check_ends(writing)
        return writing.items

    def _reasoning(self, writing: _Answer, part: ReasoningContent, path: str) -> None:
        details = part.details
        data = [detail.data for detail in details if detail.type in ("encrypted", "redacted") and detail.data]
        content = [detail.text for detail in details if detail.type == "text" and detail.text is not None]
        formats = {detail.format for detail in details if detail.format} - {TEXT_FORMAT}
        foreign = formats - {FORMAT}
        signatures = [detail.signature for detail in details if detail.signature]
        id_ = part.id or next((detail.id for detail in details if detail.id), None)
        if id_ is not None and not self._is_own("reasoning", id_):
            writing.broken = True
            self._notes.add("dropped", path, f"{id_[:64]!r} is no id of OpenAI's: another server made this")
            return
        stored = self._all_ids and self._row.ids == "stored" and id_ is not None
        if not (data or content or stored or foreign):
            writing.broken = True
            self._notes.add(
                "dropped",
                path,
                "reasoning without encrypted content, and without an id that is stored",
                _REPLAY,
            )
            return
        id_ = self._id("reasoning", id_, path) if self._all_ids or self._row.ids == "reasoning" else None
        item: dict[str, Any] = {"type": "reasoning"}
        if id_ is not None:
            item["id"] = id_
        item["summary"] = [
            {"type": "summary_text", "text": detail.text}
            for detail in details
            if detail.type == "summary" and detail.text is not None
        ]
        if content:
            item["content"] = [{"type": "reasoning_text", "text": text} for text in content]
        if data:
            item["encrypted_content"] = data[-1]
        if foreign or (formats and self._row.names_formats):
            item["format"] = min(foreign or formats)
        if signatures:
            item["signature"] = signatures[-1]
        writing.add(item, path)

    def _text(self, writing: _Answer, part: TextPart, path: str) -> None:
        extra = part.extra or {}
        id_ = None
        if self._all_ids and not writing.broken:
            id_ = self._id("message", extra.get("id"), path, make=False)
        phase = extra.get("phase")
        content: dict[str, Any]
        if part.refusal:
            content = {"type": "refusal", "refusal": part.text}
        else:
            annotations = [one.data for one in part.citations or () if one.format == FORMAT and one.data]
            content = {"type": "output_text", "text": part.text, "annotations": annotations}
        last = writing.items[-1] if writing.items else {}
        if id_ is not None and last.get("id") == id_ and last["type"] == "message":
            last["content"].append(content)
            return
        item: dict[str, Any]
        if id_ is None:
            item = {"role": "assistant", "content": part.text}
            if part.refusal:
                self._notes.add("demoted", path, "a refusal is sent as text: it is no item with an id")
            elif content["annotations"]:
                self._notes.add(
                    "dropped", f"{path}.citations", "citations go back only in an item with an id"
                )
        else:
            item = {
                "type": "message",
                "id": id_,
                "role": "assistant",
                "status": "completed",
                "content": [content],
            }
        if phase:
            item["phase"] = phase
        writing.add(item, path)

    def _call(self, call: Call, broken: bool) -> dict[str, Any]:
        kind = "custom_tool_call" if call.kind == "custom" else "function_call"
        item: dict[str, Any] = {"type": kind}
        id_ = None
        if self._all_ids and not broken:
            own = (call.item_id or "").startswith(_PREFIXES[kind])
            id_ = self._id(kind, call.item_id if own else None, call.path)
        if id_ is not None:
            item["id"] = id_
        item |= {"call_id": call.id, "name": call.name}
        item |= {"input": call.input} if call.kind == "custom" else {"arguments": call.arguments}
        return item | {name: value for name, value in call.extra.items() if value is not None}

    def _provider(self, writing: _Answer, part: ProviderPart, path: str) -> None:
        data = part.data
        if part.format not in (WIRE, FORMAT):  # of a block, not of an item: OpenRouter knows it of reasoning
            self._notes.add("dropped", path, f"a block made as {part.format!r} is no item here")
            return
        if not isinstance(data, dict) or data.get("status") in UNFINISHED:
            self._notes.add("dropped", path, "the provider had not finished this item")
            writing.broken = True
        else:
            writing.add(dict(data), path)

    def _id(self, kind: str, given: object, path: str, *, make: bool = True) -> str | None:
        id_ = given if isinstance(given, str) and given else None
        if id_ is not None and not self._is_own(kind, id_):
            self._notes.add("dropped", f"{path}.id", f"{id_[:64]!r} is no id of OpenAI's")
            id_ = None
        if id_ is None and make and self._row.ids == "required":
            id_ = _PREFIXES[kind] + short_id(path, 24)
            self._notes.add("added", f"{path}.id", f"an item needs one: {id_!r}", self._row.source)
        return id_

    def _is_own(self, kind: str, id_: str | None) -> bool:
        """Whether the server can have made this id."""
        return bool(id_) and (not self._row.id_prefixes or str(id_).startswith(_PREFIXES[kind]))

    def _check_ends(self, writing: _Answer) -> None:
        """Reasoning that an id refers to must be followed by what came of it."""
        while writing.items and writing.items[-1].get("type") == "reasoning":
            item, path = writing.items[-1], writing.paths[-1]
            if "id" not in item or self._row.ids != "stored":
                return
            why = "nothing follows this reasoning, so that it cannot be referred to by its id"
            if item.get("encrypted_content") or item.get("content"):
                self._notes.add("dropped", f"{path}.id", why, _REPLAY)
                del item["id"]
                return
            self._notes.add("dropped", path, why, _REPLAY)
            del writing.items[-1], writing.paths[-1]

    # Results of tools

    def _result(self, result: Result) -> dict[str, Any]:
        call = result.call
        custom = call.kind == "custom" or (call.arguments == "{}" and call.name in self._custom)
        output: str | list[dict[str, Any]]
        if isinstance(result.output, ContentOutput):
            output = self._content([(part, result.path) for part in result.parts]) if result.parts else ""
        elif isinstance(result.output, ErrorText | ErrorJson):
            output = f"Error: {result.text}"
        else:
            output = result.text
        kind = "custom_tool_call_output" if custom else "function_call_output"
        return {"type": kind, "call_id": call.id, "output": output}

    # Content

    def _content(self, parts: list[tuple[Any, str]]) -> str | list[dict[str, Any]]:
        if len(parts) == 1 and isinstance(parts[0][0], TextPart):
            return parts[0][0].text
        return list(self._contents(parts))

    def _contents(self, parts: list[tuple[Any, str]]) -> Iterator[dict[str, Any]]:
        for part, path in parts:
            match part:
                case TextPart():
                    yield {"type": "input_text", "text": part.text}
                case ImagePart(image=DataSource() as source):
                    yield self._image(part, _data_url(source, None, path))
                case ImagePart(image=UrlSource(url=url)):
                    yield self._image(part, url)
                case FilePart():
                    yield self._file(part, path)

    def _image(self, part: ImagePart, url: str) -> dict[str, Any]:
        return {"type": "input_image", "image_url": url, "detail": part.detail or "auto"}

    def _file(self, part: FilePart, path: str) -> dict[str, Any]:
        source = part.data
        kind = part.media_type or (source.media_type if isinstance(source, DataSource) else None) or ""
        if kind.startswith(("audio/", "video/")):
            raise InvalidDataError(
                f"{path}: openai-responses takes no {kind}; it takes text, images and documents (PDF, text): "
                "send a transcript, or use a model of another wire format"
            )
        if kind.startswith("image/"):
            url = _data_url(source, kind, path) if isinstance(source, DataSource) else source.url
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        if not isinstance(source, DataSource):
            return {"type": "input_file", "file_url": source.url}
        name = part.filename
        if not name:
            name = f"file.{_ENDINGS.get(kind, 'bin')}"
            self._notes.add("added", f"{path}.filename", f"a file needs a name: {name!r}")
        return {"type": "input_file", "filename": name, "file_data": _data_url(source, kind, path)}


class _Answer:
    """The items of one answer of the model while they are written.

    `broken` says that one was left out, so that the ids of those after it would miss it.
    """

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.broken = False

    def add(self, item: dict[str, Any], path: str) -> None:
        self.items.append(item)
        self.paths.append(path)

    def made(self, source: object) -> bool:
        """Whether an item that generated images holds this one."""
        return isinstance(source, DataSource) and any(
            item.get("result") == source.data for item in self.items
        )


def system_text(turn: Turn) -> str:
    """The text of a system turn."""
    return "\n\n".join(item.text for item in turn.items if isinstance(item, TextPart))


def _data_url(source: DataSource, media_type: str | None, path: str) -> str:
    kind = media_type or source.media_type or media_types.by_content(inline_data.decode(source.data[:64]))
    if not kind:
        raise InvalidDataError(f"{path}: the media type of this data is needed; give `media_type`")
    return f"data:{kind};base64,{source.data}"
