"""Law 8 on every recording of Mistral's: thinking, ids and arguments go back byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from replays import answers, asked_again, calls, deltas, is_json, read

from recordings import Recording

EVERY = answers("mistral-chat")


def thoughts(content: Any) -> list[tuple[str, Any]]:
    """Each run of thinking: its joined text and its signature; other parts end a run."""
    found: list[tuple[str, Any]] = []
    before = None
    for part in content if isinstance(content, list) else []:
        if part["type"] == "thinking":
            text = "".join(item.get("text", "") for item in part["thinking"])
            if before == "thinking":
                text, signature = found[-1][0] + text, found[-1][1] or part.get("signature")
                found[-1] = (text, signature)
            else:
                found.append((text, part.get("signature")))
        before = part["type"]
    return found


def whole(pieces: list[dict[str, Any]]) -> list[Any]:
    """The content of all pieces as one list of parts."""
    parts: list[Any] = []
    for piece in pieces:
        content = piece.get("content")
        if isinstance(content, str):
            parts += [{"type": "text", "text": content}] if content else []
        else:
            parts += content or []
    return parts


@pytest.mark.parametrize("recording", EVERY, ids=lambda recording: recording.id)
def test_replay(recording: Recording) -> None:
    """What came from Mistral goes back to it as it was."""
    pieces = deltas(recording)
    made = asked_again(read(recording), "mistral-chat")[1]
    if made["role"] != "assistant":
        assert not whole(pieces)
        return
    assert thoughts(whole(pieces)) == thoughts(made["content"])
    expected = calls(pieces)
    assert len(expected) == len(made.get("tool_calls", ()))
    for call, sent in zip(expected, made.get("tool_calls", ()), strict=True):
        assert (call["id"], call["name"]) == (sent["id"], sent["function"]["name"])
        if is_json(call["arguments"] or "{}"):
            assert (call["arguments"] or "{}") == sent["function"]["arguments"]
