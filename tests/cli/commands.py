"""Running `plait` in tests: in a process of its own, as users do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TEXT = ROOT / "cassettes" / "anthropic" / "text.yaml"
TOOL_CALL = ROOT / "cassettes" / "anthropic" / "thinking_tool_call.yaml"
OVERLOADED = ROOT / "cassettes" / "anthropic" / "overloaded.yaml"

STREAM = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","model":"m"}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":""}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"H\xc3\xa9 \xf0\x9f\xaa\xa2"}}\n\n'
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
"""A whole anthropic-messages stream."""

EVENTS: list[dict[str, Any]] = [
    {"type": "response_started", "role": "assistant", "response_id": "msg_1", "model": "m"},
    {"type": "text_delta", "role": "assistant", "content": "Hé 🪢", "index": 0},
    {"type": "text_done", "role": "assistant", "content": "Hé 🪢", "index": 0},
    {
        "type": "finish_reason_done",
        "role": "assistant",
        "finish_reason": "stop",
        "raw_finish_reason": "end_turn",
    },
]
"""What `STREAM` says."""


def environment(**variables: str) -> dict[str, str]:
    """The environment without what steers colours and widths, and with these variables."""
    steering = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "CLICOLOR_FORCE", "PYTHONIOENCODING")
    return {name: value for name, value in os.environ.items() if name not in steering} | variables


def plait(*arguments: str | Path, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    command = [sys.executable, "-m", "plait.cli", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, env=environment(**variables), timeout=60, check=False
    )


def lines(output: bytes) -> list[dict[str, Any]]:
    """The JSON lines of an output."""
    return [json.loads(line) for line in output.splitlines()]
