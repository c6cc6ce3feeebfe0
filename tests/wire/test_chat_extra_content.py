"""What openai-chat keeps beside the answer, when there is nothing to keep it with."""

from __future__ import annotations

import json

import plait


def test_signature_beside_a_call_that_never_starts() -> None:
    """A message's `extra_content` beside a call without function once looked for that call's part."""
    message = {
        "content": None,
        "extra_content": {"google": {"thought_signature": "c2ln"}},
        "tool_calls": [{"type": "function", "function": 7}],
    }
    body = {"id": "c1", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    read = plait.read_response("openai-chat", json.dumps(body))
    assert read.content == []
    assert read.finish_reason == "tool_calls"
