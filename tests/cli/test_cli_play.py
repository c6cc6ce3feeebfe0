"""`plait play`: a recording as it looked live."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from commands import OVERLOADED, ROOT, STREAM, TEXT, TOOL_CALL, plait

from plait.cassettes import Cassette, Interaction, Request, Response, load, save
from plait.cli.play import prompt


def test_it_shows_what_was_asked_and_answered() -> None:
    """Prompt, model, reasoning, text, tool call, then finish reason, usage and time."""
    done = plait("play", TOOL_CALL, "--no-delay")
    shown = [line for line in done.stdout.decode().splitlines() if line]
    assert shown[0].endswith("thinking_tool_call.yaml · anthropic-messages · synthesized")
    assert shown[1:6] == [
        "> Do I need an umbrella in Oslo this afternoon?",
        "claude-example-1",
        "The user wants the weather in Oslo before a walk. I have a tool for that; "
        "Celsius is what people use there.",
        "Let me look at the sky over Oslo.",
        '→ get_weather {"city": "Oslo", "unit": "celsius"}',
    ]
    assert shown[6].startswith("tool_calls (tool_use) · input 668 ")
    assert done.returncode == 0


def test_searches_and_their_sources_are_shown() -> None:
    """The query, the pages found, and the pages cited."""
    output = plait("play", ROOT / "cassettes/anthropic/web_search.yaml", "--no-delay").stdout.decode()
    assert "⌕ searching Example Harbour high water today\n" in output
    assert "  Moon and tides https://almanac.example/moon\n" in output
    assert "[1] Tide tables of Example Harbour https://harbour.example/tides\n" in output


def test_a_cut_tool_call_is_marked() -> None:
    """Nobody takes it for one that may be run."""
    output = plait(
        "play", ROOT / "cassettes/anthropic/max_tokens_tool_call.yaml", "--no-delay"
    ).stdout.decode()
    assert "append_log was cut: not to be run" in output


def test_an_error_is_shown_and_is_the_status() -> None:
    """What came before it is shown first."""
    done = plait("play", OVERLOADED, "--no-delay")
    output = done.stdout.decode()
    assert output.index("One, two, three, four,") < output.index("✗ OverloadedError: ")
    assert done.returncode == 4


def test_it_takes_the_time_it_took() -> None:
    """`--speed` divides the recorded time; `--no-delay` does not wait."""

    def seconds(*options: str) -> float:
        start = time.monotonic()
        assert plait("play", TEXT, *options).returncode == 0
        return time.monotonic() - start

    recorded = load(TEXT).interactions[0].chunks[-1][0] / 1000
    at_once = seconds("--no-delay")
    assert recorded <= seconds()
    assert recorded / 2 <= seconds("--speed", "2")
    assert at_once < recorded


def test_a_recording_without_timing_says_so(tmp_path: Path) -> None:
    """It is shown at once, and no timing is invented."""
    path = tmp_path / "recording.yaml"
    request = Request("POST", "https://llm.example/v1/messages")
    save(Cassette([Interaction(request, Response(200, STREAM))]), path)
    output = plait("play", path).stdout.decode()
    assert "· no timing recorded\n" in output
    assert "Hé 🪢" in output


def test_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Line ends stay line ends; other controls are shown as escapes."""
    path = tmp_path / "recording.yaml"
    body = STREAM.replace("Hé".encode(), b"a\\nb\\u001b[2J")
    request = Request("POST", "https://llm.example/v1/messages")
    save(Cassette([Interaction(request, Response(200, body))]), path)
    output = plait("play", path).stdout
    assert b"a\nb\\x1b[2J" in output
    assert b"\x1b" not in output


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b'{"messages": [{"role": "user", "content": "a\\n b"}]}', "a b", id="text"),
        pytest.param(
            b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}, {"role": "tool"}]}',
            "a",
            id="parts, then a tool result",
        ),
        pytest.param(b'{"input": "a"}', "a", id="responses text"),
        pytest.param(b'{"input": [{"role": "user", "content": "a"}]}', "a", id="responses items"),
        pytest.param(b'{"contents": [{"parts": [{"text": "a"}]}]}', "a", id="gemini"),
        pytest.param(b'{"messages": [{"role": "assistant", "content": "a"}]}', None, id="no user"),
        pytest.param(b'{"messages": 1}', None, id="odd"),
        pytest.param(b"[]", None, id="no object"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_the_prompt_of_a_request(body: bytes, expected: str | None) -> None:
    """The user's last text, in any wire's request; odd bodies have none."""
    assert expected == prompt(body)
