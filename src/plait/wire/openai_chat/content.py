"""Parts of a user message or tool result -> the content parts of Chat Completions."""

from __future__ import annotations

from typing import Any, Literal

from plait.errors import InvalidDataError
from plait.messages import FilePart, ImagePart, TextPart
from plait.wire import media
from plait.wire.media import Media
from plait.wire.openai_chat.dialects import Dialect
from plait.wire.plan import Notes

SOUNDS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/aiff": "aiff",
    "audio/x-aiff": "aiff",
    "audio/aac": "aac",
    "audio/ogg": "ogg",
    "audio/flac": "flac",
    "audio/x-flac": "flac",
    "audio/mp4": "m4a",
    "audio/m4a": "m4a",
    "audio/x-m4a": "m4a",
}
"""`input_audio.format` of a media type."""

_TAKES = {
    "image": "images",
    "image-data": "images as data",
    "audio": "sound",
    "file": "files as data",
    "file-url": "files by URL",
    "file_url": "files",
    "video": "video",
}

Kind = Literal["image", "sound", "video", "file"]


def kind(item: ImagePart | FilePart, found: Media) -> Kind:
    """What a part is shown as."""
    type_ = found.media_type or ""
    if isinstance(item, ImagePart) or type_.startswith("image/"):
        return "image"
    return "sound" if type_.startswith("audio/") else "video" if type_.startswith("video/") else "file"


def file_text(found: Media, notes: Notes) -> str | None:
    """A text file as text, under its name; None when it is no text, or not here."""
    if found.data is None or not found.is_text:
        return None
    text = found.text()
    notes.add("demoted", found.path, "a text file is sent as text, which every model takes")
    return f"{found.filename}:\n{text}" if found.filename else text


def any_url(found: Media) -> str:
    """The URL, or the data as a `data:` URL.

    Raises:
        InvalidDataError: nothing says what the data is
    """
    if found.url is not None:
        return found.url
    if found.media_type is None:
        raise InvalidDataError(
            f"{found.path}: neither its name nor its bytes say what it is; give `media_type`"
        )
    return f"data:{found.media_type};base64,{found.data}"


class UserContent:
    """Writes parts as one server takes them."""

    def __init__(self, row: Dialect, notes: Notes) -> None:
        self._row = row
        self._notes = notes

    def parts(self, items: list[TextPart | ImagePart | FilePart], paths: list[str]) -> Any:
        """The `content`: a lone text as a bare string, as servers of text alone take nothing else.

        Raises:
            InvalidDataError: a kind of part, or a source, that the server does not take
        """
        made = [self._part(item, path) for item, path in zip(items, paths, strict=True)]
        if all(part["type"] == "text" for part in made) and (len(made) == 1 or not self._row.media):
            return "\n\n".join(part["text"] for part in made)
        return made

    def _part(self, item: TextPart | ImagePart | FilePart, path: str) -> dict[str, Any]:
        if isinstance(item, TextPart):
            return {"type": "text", "text": item.text}
        found = media.media(item, path)
        match kind(item, found):
            case "image":
                detail = {"detail": item.detail} if isinstance(item, ImagePart) and item.detail else {}
                return self._image(found, detail)
            case "sound":
                return self._sound(found)
            case "video":
                if "video" not in self._row.media:
                    raise self._refused(found)
                return {"type": "video_url", "video_url": {"url": any_url(found)}}
        text = file_text(found, self._notes)
        return {"type": "text", "text": text} if text is not None else self._file(found)

    def _image(self, found: Media, detail: dict[str, Any]) -> dict[str, Any]:
        if "image" not in self._row.media and ("image-data" not in self._row.media or found.url is not None):
            raise self._refused(found)
        return {"type": "image_url", "image_url": {"url": any_url(found), **detail}}

    def _sound(self, found: Media) -> dict[str, Any]:
        format_ = SOUNDS.get(found.media_type or "")
        if "audio" not in self._row.media or found.data is None or format_ not in self._row.audio:
            raise self._refused(found)
        return {"type": "input_audio", "input_audio": {"data": found.data, "format": format_}}

    def _file(self, found: Media) -> dict[str, Any]:
        takes = self._row.media
        if "file_url" in takes:  # base64 stands there bare
            name = {"file_name": found.filename} if found.filename else {}
            return {"type": "file_url", "file_url": {"url": found.url or found.data}, **name}
        if "file" not in takes or (found.url is not None and "file-url" not in takes):
            raise self._refused(found)
        name = {"filename": found.filename} if found.filename else {}
        if found.url is None and not name:  # OpenAI refuses data without one
            name = {"filename": f"file.{(found.media_type or '').rpartition('/')[2]}"}
        return {"type": "file", "file": {**name, "file_data": any_url(found)}}

    def _refused(self, found: Media) -> InvalidDataError:
        sound = f" ({', '.join(self._row.audio)}, as data)"
        taken = [_TAKES[one] + (sound if one == "audio" else "") for one in _TAKES if one in self._row.media]
        remedy = "leave it out, or say in text what it holds"
        if found.url is not None:
            remedy = "fetch it with `part.resolve()` where data is taken, or leave it out"
        return found.refused(", ".join(["text", *taken]), remedy)
