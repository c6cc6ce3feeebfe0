"""`plait events --format table`: frames beside the events they caused, and a summary."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from commands import OVERLOADED, STREAM, TEXT, TOOL_CALL, environment, plait
from rich.cells import cell_len

from plait.cli.frames import frames

TABLE = ("--format", "table")


def on_a_terminal(*arguments: str, **variables: str) -> bytes:
    """What the command prints when standard output is a terminal."""
    primary, secondary = pty.openpty()
    command = [sys.executable, "-m", "plait.cli", *arguments]
    with subprocess.Popen(command, stdout=secondary, env=environment(TERM="xterm-256color", **variables)):
        os.close(secondary)
        output = b""
        while True:
            try:
                piece = os.read(primary, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not piece:
                break
            output += piece
    os.close(primary)
    return output


def rows(output: bytes) -> list[tuple[str, str]]:
    """Left and right of each row of the table."""
    lines = [line.split("│", 1) for line in output.decode().splitlines() if "│" in line]
    return [(" ".join(left.split()), right.strip()) for left, right in lines]


def test_each_frame_stands_beside_its_events() -> None:
    """Number, byte offset, name and payload on the left; the events on the right."""
    done = plait("events", "-", "--wire", "anthropic-messages", *TABLE, stdin=STREAM, COLUMNS="200")
    offsets = [offset for offset in range(len(STREAM)) if STREAM.startswith(b"event:", offset)]
    head, *body = rows(done.stdout)
    assert head == ("# byte frame", "events")
    assert [row[0].split()[:3] for row in body if row[0]] == [
        ["1", f"{offsets[0]:,}", "message_start"],
        ["2", f"{offsets[1]:,}", "content_block_start"],
        ["3", f"{offsets[2]:,}", "content_block_delta"],
        ["4", f"{offsets[3]:,}", "content_block_stop"],
        ["5", f"{offsets[4]:,}", "message_delta"],
        ["6", f"{offsets[5]:,}", "message_stop"],
    ]
    assert [row[1] for row in body] == [
        'response_started model="m" response_id="msg_1"',
        "",
        'text_delta "Hé 🪢"',
        "",
        "",
        'text_done "Hé 🪢"',
        'finish_reason_done finish_reason="stop" raw_finish_reason="end_turn"',
    ]
    assert done.returncode == 0


def test_it_ends_with_a_summary() -> None:
    """Text, tool calls, usage, finish and what was not understood."""
    output = plait("events", TOOL_CALL, *TABLE).stdout.decode()
    summary = [" ".join(line.split()) for line in output.splitlines() if "│" not in line]
    assert "text Let me look at the sky over Oslo." in summary
    assert 'tool call get_weather {"city": "Oslo", "unit": "celsius"}' in summary
    assert "usage input 668 (cache read 256, cache write 0), output 97 (reasoning 31), total 765" in summary
    assert "finish tool_calls (tool_use)" in summary
    assert "unknown nothing" in summary


def test_what_is_unknown_is_counted_in_the_summary() -> None:
    """So a new event of a provider is seen at once."""
    stream = b'event: strange\ndata: {"type":"strange"}\n\n' + STREAM
    output = plait("events", "-", "--wire", "anthropic-messages", *TABLE, stdin=stream).stdout.decode()
    assert "unknown event:strange (1)" in " ".join(output.split())


def test_a_fault_is_in_the_summary_and_in_the_status() -> None:
    """As with JSON lines, the table exits by how the stream ended."""
    done = plait("events", OVERLOADED, *TABLE)
    assert "error OverloadedError: anthropic: Overloaded" in " ".join(done.stdout.decode().split())
    assert done.returncode == 4


@pytest.mark.parametrize("width", [50, 80, 200])
def test_rows_fit_the_width(width: int) -> None:
    """Wide columns are cut with an ellipsis, by columns and not by characters."""
    output = plait("events", TEXT, *TABLE, COLUMNS=str(width)).stdout.decode()
    table = [line for line in output.splitlines() if "│" in line]
    assert max(map(cell_len, table)) <= width
    assert len({cell_len(line.split("│")[0]) for line in table}) == 1
    assert any("…" in line for line in table)


def test_no_escapes_where_there_is_no_terminal() -> None:
    """A table in a file is plain text."""
    assert b"\x1b" not in plait("events", TEXT, *TABLE).stdout


def test_colours_on_a_terminal_unless_no_color_is_set() -> None:
    """https://no-color.org: no colour, whatever else."""
    green = b"\x1b[32m"
    assert green in on_a_terminal("events", str(TEXT), *TABLE)
    plain = on_a_terminal("events", str(TEXT), *TABLE, NO_COLOR="1")
    assert b"text_done" in plain
    assert not any(f"\x1b[{code}m".encode() in plain for code in range(30, 38))


def test_nothing_a_provider_sends_steers_the_terminal() -> None:
    """Escape sequences and direction marks in texts are shown as escapes."""
    stream = STREAM.replace("Hé".encode(), b"\\u001b[2J\\u202e")
    done = plait("events", "-", "--wire", "anthropic-messages", *TABLE, stdin=stream)
    assert b"\x1b" not in done.stdout
    assert "\u202e" not in done.stdout.decode()
    assert r"\x1b[2J\u202e" in done.stdout.decode()


def test_a_body_that_is_no_stream_is_one_frame() -> None:
    """A whole JSON answer."""
    whole = b'{"type":"message","stop_reason":"end_turn",\n\n"content":[{"type":"text","text":"a"}]}'
    done = plait("events", "-", "--wire", "anthropic-messages", *TABLE, stdin=whole)
    body = rows(done.stdout)[1:]
    assert body[0][0].startswith("1 0 {")
    assert [right.split()[0] for _left, right in body] == ["text_delta", "text_done", "finish_reason_done"]
    assert done.returncode == 0


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_frames_are_the_same_however_the_body_is_cut(size: int) -> None:
    """Line ends of all three kinds, a comment, a last frame without its blank line."""
    body = b": hi\r\n\r\nevent: a\r\ndata: {}\r\n\r\ndata: 2\n\ndata: 3\r\rdata: 4\n"
    found = list(frames(body[start : start + size] for start in range(0, len(body), size)))
    assert [(frame.number, frame.offset, frame.name(), frame.payload()) for frame in found] == [
        (1, 0, "", ": hi"),
        (2, 8, "a", "{}"),
        (3, 30, "", "2"),
        (4, 39, "", "3"),
        (5, 48, "", "4"),
    ]
    assert body == b"".join(frame.raw for frame in found)
