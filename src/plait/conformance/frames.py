"""A body's frames and where the wire says it is over, decided without a parser.

The laws about endings need a second opinion on where a response ends: if they asked the parser, a parser
that ends too early would always be right. So this reads as little as possible: server-sent events split at
blank lines, or JSON lines at LF, each payload decoded by the standard library, and one small table of what
ends each wire.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from plait.conformance.event_stream import messages

Framing: TypeAlias = Literal["sse", "ndjson", "event-stream", "json"]
"""How a body is cut into frames. `json` is one document: an answer that is not streamed.

To add `json-array`: its name here, and its reader in `_READERS`.
"""

_SPREAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{[ \t\r]*\n")
"""A JSON document that is spread over lines begins so, JSON lines do not."""

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Frame(msgspec.Struct, frozen=True):
    """One frame of a body.

    Attributes:
        start: first byte of the frame
        end: the byte after it, blank line included
        payload_start: first byte of its (first line of) data
        payload_end: the byte after its data; from here on the frame can be decoded
        event: the SSE event's name, or the type of a binary message; else empty
        text: the data as text
        payload: the data as decoded JSON; the text itself where it is not JSON, as `[DONE]` is not
        one_line: whether the payload is exactly the bytes from `payload_start` to `payload_end`
        binary: whether it is a message of an event stream: lengths and a checksum go with its payload, which
            can be decoded only at its end, and a body that is cut inside it is never complete
    """

    start: int
    end: int
    payload_start: int
    payload_end: int
    event: str
    text: str
    payload: Any
    one_line: bool = True
    binary: bool = False


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """What ends a response on one wire.

    Attributes:
        completes: whether this payload, after those before it, makes the response complete
        over: whether everything after this payload is ignored. A payload may complete a response while
            more is still read (openai-chat: usage follows the finish reason)
        fails: whether this payload, of an SSE event with this name, is an error of the provider's
        framing: how a stream of this wire is framed
    """

    completes: Callable[[Any, Sequence[Any]], bool]
    over: Callable[[Any], bool]
    fails: Callable[[Any, str], bool]
    framing: Framing = "sse"


def _type(payload: Any) -> Any:
    return payload.get("type") if isinstance(payload, dict) else None


def _is_done(payload: Any) -> bool:
    return isinstance(payload, str) and payload.startswith("[DONE]")


def is_broken(payload: Any) -> bool:
    """Whether this payload is neither a JSON object, nor `[DONE]`, nor a comment in a data line."""
    if isinstance(payload, str):
        return bool(payload) and not payload.startswith((":", "[DONE]"))
    return not isinstance(payload, dict)


def _has_error(payload: Any, event: str) -> bool:
    return isinstance(payload, dict) and (
        event == "error" or bool(payload.get("error")) or _type(payload) == "error"
    )


def _choices(payload: Any) -> list[dict[str, Any]]:
    choices = payload.get("choices") if isinstance(payload, dict) else None
    found = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return [choice for choice in found if not choice.get("index")]


def _chat_output(payload: Any) -> bool:
    for choice in _choices(payload):
        said = choice.get("delta") or choice.get("message")
        if isinstance(said, dict) and any(
            value for key, value in said.items() if key not in ("role", "provider_specific_fields")
        ):
            return True
    return False


_NO_REASONS = ("null", "None")
"""Written where nothing is meant. Gemini's enumerations have a value for that, too."""


def _chat_completes(payload: Any, before: Sequence[Any]) -> bool:
    if _is_done(payload):
        return any(_chat_output(earlier) for earlier in before)
    reasons = (choice.get("finish_reason") for choice in _choices(payload))
    return any(reason and reason not in _NO_REASONS for reason in reasons)


def _chat_fails(payload: Any, event: str) -> bool:
    return _has_error(payload, event) or any(choice.get("error") for choice in _choices(payload))


def _gemini_completes(payload: Any, _before: Sequence[Any]) -> bool:
    if not isinstance(payload, dict):
        return False
    candidates, feedback = payload.get("candidates"), payload.get("promptFeedback")
    finished = [
        isinstance(candidate, dict) and not candidate.get("index") and _says(candidate.get("finishReason"))
        for candidate in (candidates if isinstance(candidates, list) else ())
    ]
    return any(finished) or (isinstance(feedback, dict) and _says(feedback.get("blockReason")))


def _says(reason: Any) -> bool:
    return bool(reason) and not str(reason).endswith("REASON_UNSPECIFIED")


def _cohere_fails(payload: Any, event: str) -> bool:
    if not isinstance(payload, dict) or _has_error(payload, event):
        return isinstance(payload, dict)
    delta = payload.get("delta")
    if _type(payload) == "message-end" and isinstance(delta, dict) and delta.get("error"):
        return True
    flat = not isinstance(_type(payload), str) and "finish_reason" not in payload
    return flat and isinstance(payload.get("message"), str)


def _mistral_fails(payload: Any, event: str) -> bool:
    return _has_error(payload, event) or (
        isinstance(payload, dict)
        and not payload.get("choices")
        and bool(payload.get("message") or payload.get("detail"))
    )


def _ollama_fails(payload: Any, event: str) -> bool:
    return _has_error(payload, event) or (
        isinstance(payload, dict)
        and payload.get("model") is payload.get("done") is None
        and (isinstance(payload.get("message"), str) or bool(payload.get("detail")))
    )


def _ollama_completes(payload: Any, _before: Sequence[Any]) -> bool:
    return _is_ollama_done(payload) or (isinstance(payload, dict) and bool(payload.get("done_reason")))


def _is_ollama_done(payload: Any) -> bool:
    return isinstance(payload, dict) and payload.get("done") is True


def _bedrock_fails(payload: Any, event: str) -> bool:
    return event.endswith("Exception") or _has_error(payload, event)


def _has_usage(payload: Any) -> bool:
    return isinstance(payload, dict) and isinstance(payload.get("usage"), dict)


_RESPONSES_END = ("response.completed", "response.incomplete")

TERMINALS: dict[str, Terminal] = {
    "openai-chat": Terminal(completes=_chat_completes, over=_is_done, fails=_chat_fails),
    "openai-responses": Terminal(
        completes=lambda payload, _before: _type(payload) in _RESPONSES_END,
        over=lambda payload: _type(payload) in _RESPONSES_END,
        fails=lambda payload, event: (
            _type(payload) in ("response.failed", "error") or _has_error(payload, event)
        ),
    ),
    "anthropic-messages": Terminal(
        completes=lambda payload, _before: _type(payload) == "message_stop",
        over=lambda payload: _type(payload) == "message_stop",
        fails=_has_error,
    ),
    "bedrock-converse": Terminal(
        completes=lambda payload, _before: isinstance(payload, dict) and "stopReason" in payload,
        over=_has_usage,
        fails=_bedrock_fails,
        framing="event-stream",
    ),
    "gemini": Terminal(completes=_gemini_completes, over=lambda _payload: False, fails=_has_error),
    "cohere-chat": Terminal(
        completes=lambda payload, _before: _type(payload) == "message-end",
        over=lambda payload: _type(payload) == "message-end",
        fails=_cohere_fails,
    ),
    "mistral-chat": Terminal(completes=_chat_completes, over=_is_done, fails=_mistral_fails),
    "ollama-chat": Terminal(
        completes=_ollama_completes,
        over=_is_ollama_done,
        fails=_ollama_fails,
        framing="ndjson",
    ),
}
"""What ends each wire, from DESIGN.md's "Terminal events". To check a wire of your own, add a row."""


class Ending(msgspec.Struct, frozen=True):
    """Byte offsets in a body; None where it does not come to that.

    Attributes:
        complete: from here on the response is complete
        over: from here on nothing is read any more
        failed: from here on the provider has failed
        broken: from here on the body is not the wire format: a payload that is no JSON object
        edges: the ends of all messages of a binary stream
    """

    complete: int | None = None
    over: int | None = None
    failed: int | None = None
    broken: int | None = None
    edges: frozenset[int] | None = None

    def may_end(self, cut: int) -> bool:
        """Whether a complete response may stop here: anywhere, but not inside a binary message."""
        return self.edges is None or cut in self.edges or (self.over is not None and cut >= self.over)


def ending(wire: str, body: bytes) -> Ending:
    """Where the wire says that this body ends.

    Raises:
        KeyError: the wire is not in `TERMINALS`
    """
    terminal = TERMINALS[wire]
    complete: int | None = None
    before: list[Any] = []
    found = frames(wire, body)
    edges = frozenset(frame.end for frame in found) if framing(wire, body) == "event-stream" else None
    for frame in found:
        if terminal.fails(frame.payload, frame.event):
            return Ending(complete, failed=frame.payload_end, edges=edges)
        if is_broken(frame.payload):
            return Ending(complete, broken=frame.end, edges=edges)
        if complete is None and terminal.completes(frame.payload, before):
            complete = frame.payload_end
        if complete is not None and terminal.over(frame.payload):
            return Ending(complete, over=frame.payload_end, edges=edges)
        before.append(frame.payload)
    return Ending(complete, edges=edges)


def framing(wire: str, body: bytes) -> Framing:
    """The framing of this body: the wire's, or `json` where a whole document came instead of a stream."""
    start = body[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start in (b"\x00", b"\x01"):  # the first byte of a length
        return "event-stream"
    usual: Framing = TERMINALS[wire].framing if wire in TERMINALS else "sse"
    if usual == "ndjson":
        return "json" if start == b"[" or _SPREAD.match(body) else usual
    return "json" if usual in ("sse", "event-stream") and start in (b"{", b"[") else usual


def frames(wire: str, body: bytes) -> list[Frame]:
    """The frames of a body, in order; those without a payload (comments, bare event names) are left out."""
    return list(_READERS[framing(wire, body)](body))


def _sse_frames(body: bytes) -> Iterator[Frame]:
    event = ""
    data: list[tuple[int, int]] = []
    start = position = len(body) - len(body.removeprefix(b"\xef\xbb\xbf"))
    while position < len(body):
        line = _LINE.match(body, position)
        assert line is not None
        name, _, value = line[1].partition(b":")
        here, position = position, line.end()
        if line[1].startswith(b"{"):  # bare JSON, as gateways write it into a stream
            data.append((here, line.end(1)))
        elif name == b"data":
            first = here + len(name) + 1 + value.startswith(b" ")
            data.append((min(first, line.end(1)), line.end(1)))
        elif name == b"event":
            event = value.strip().decode("utf-8", "replace")
        if not line[1] or position >= len(body):
            if data:
                yield _frame(body, start, position, event, data)
            start, event, data = position, "", []


def _frame(body: bytes, start: int, end: int, event: str, data: list[tuple[int, int]]) -> Frame:
    raw = b"\n".join(body[first:last] for first, last in data)
    text = raw.decode("utf-8", "replace")
    payload = _decoded(text) if "\ufffd" not in text or text.encode() == raw else text
    payload_end = data[-1][0] + len(body[slice(*data[-1])].rstrip())
    return Frame(start, end, data[0][0], payload_end, event, text.strip(), payload, len(data) == 1)


def _json_lines(body: bytes) -> Iterator[Frame]:
    position = 0
    for line in body.split(b"\n"):
        here, position = position, position + len(line) + 1
        if not here and line.startswith(b"\xef\xbb\xbf"):
            here, line = 3, line[3:]
        raw = line.strip(b" \t\r")
        if raw:
            first = here + line.index(raw)
            text = raw.decode("utf-8", "replace")
            yield Frame(here, min(position, len(body)), first, first + len(raw), "", text, _decoded(text))


def _binary_frames(body: bytes) -> Iterator[Frame]:
    for start, end, name, text, payload, inner in messages(body):
        yield Frame(start, end, start, end, name, text, payload, one_line=not inner, binary=True)


def _document(body: bytes) -> Iterator[Frame]:
    text = body.decode("utf-8-sig", "replace").strip()
    start = len(body) - len(body.removeprefix(b"\xef\xbb\xbf").lstrip())
    yield Frame(0, len(body), start, len(body.rstrip()), "", text, _decoded(text))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError):
        return text.strip()


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= 4300 else float(digits)  # more, `int` refuses to read


_READERS: dict[Framing, Callable[[bytes], Iterator[Frame]]] = {
    "sse": _sse_frames, "ndjson": _json_lines, "event-stream": _binary_frames, "json": _document,
}  # fmt: skip
