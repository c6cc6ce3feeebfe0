"""`plait plan`: what a target makes of a transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import plait

TRANSCRIPT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather?"},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "details": [{"type": "text", "text": "hm", "format": "somebody-v1"}]},
            {
                "type": "tool-call",
                "toolCallId": "call one!",
                "toolName": "weather",
                "input": {"city": "Oslo"},
            },
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "call one!",
                "toolName": "weather",
                "output": {"type": "text", "value": "rain"},
            }
        ],
    },
]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "transcript.json"
    path.write_text(json.dumps(TRANSCRIPT), "utf-8")
    return path


def test_table(transcript: Path) -> None:
    """What is not sent as it stands is listed with what happens to it, and why."""
    done = plait("plan", str(transcript), "--to", "anthropic/some-model", COLUMNS="200")
    assert done.returncode == 0
    assert "anthropic-messages request" in done.stdout.decode()
    assert "messages[2].content[0].details[0]" in done.stdout.decode()
    assert "messages[2].content[1].call_id" in done.stdout.decode()
    assert "renamed" in done.stdout.decode()


def test_json_and_body(transcript: Path) -> None:
    """`--json` gives body and notes, `--body` the body alone; options change it."""
    whole = json.loads(plait("plan", str(transcript), "--to", "mistral/m", "--json").stdout)
    assert whole["wire"] == "mistral-chat"
    assert {"dropped", "renamed"} <= {note["kind"] for note in whole["notes"]}
    options = json.dumps({"temperature": 0.5})
    body = json.loads(
        plait("plan", str(transcript), "--to", "mistral/m", "--body", "--options", options).stdout
    )
    assert body == {**whole["body"], "temperature": 0.5}


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        pytest.param("PROVIDER/MODEL", ["T", "--to", "anthropic"], id="no model"),
        pytest.param("unknown provider 'nobody'", ["T", "--to", "nobody/m"], id="provider"),
        pytest.param("cannot read", ["missing.json", "--to", "gemini/m"], id="no file"),
        pytest.param(
            "unknown option 'warmth'", ["T", "--to", "gemini/m", "--options", '{"warmth":1}'], id="option"
        ),
        pytest.param("--options", ["T", "--to", "gemini/m", "--options", "[]"], id="options"),
        pytest.param("expected JSON", ["BROKEN", "--to", "gemini/m"], id="not JSON"),
        pytest.param("has no result", ["OPEN", "--to", "gemini/m"], id="unanswered call"),
    ],
)
def test_bad_arguments(expected: str, arguments: list[str], transcript: Path, tmp_path: Path) -> None:
    """Exit status 2, and words on stderr that say what to do."""
    (tmp_path / "broken.json").write_text("{", "utf-8")
    (tmp_path / "open.json").write_text(json.dumps(TRANSCRIPT[:3]), "utf-8")
    places = {
        "T": str(transcript),
        "BROKEN": str(tmp_path / "broken.json"),
        "OPEN": str(tmp_path / "open.json"),
    }
    done = plait("plan", *(places.get(argument, argument) for argument in arguments), COLUMNS="300")
    assert done.returncode == 2
    assert done.stdout == b""
    assert expected in done.stderr.decode()


def test_repair(tmp_path: Path) -> None:
    """`--repair` answers an open call, and says so."""
    path = tmp_path / "open.json"
    path.write_text(json.dumps(TRANSCRIPT[:3]), "utf-8")
    done = plait("plan", str(path), "--to", "gemini/m", "--repair", "--json")
    assert "added" in {note["kind"] for note in json.loads(done.stdout)["notes"]}
