"""`plait events`: the lines it prints and how it exits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import EVENTS, OVERLOADED, STREAM, TEXT, environment, lines, plait

import plait as library
from plait.cassettes import Cassette, Interaction, Request, Response, save

WIRE = ("--wire", "anthropic-messages")


@pytest.fixture
def body(tmp_path: Path) -> Path:
    """A file with the raw body of a stream."""
    path = tmp_path / "body.sse"
    path.write_bytes(STREAM)
    return path


def test_a_complete_stream_exits_0(body: Path) -> None:
    """One JSON object a line: the type, then what the event's to_dict gives."""
    done = plait("events", body, *WIRE)
    assert lines(done.stdout) == EVENTS
    assert (done.returncode, done.stderr) == (0, b"")


def test_lines_are_read_back_as_the_events(body: Path) -> None:
    """`event_from_dict` takes a line."""
    expected = list(library.parse([STREAM], "anthropic-messages"))
    assert expected == [library.event_from_dict(line) for line in lines(plait("events", body, *WIRE).stdout)]


@pytest.mark.parametrize("size", [1, 3, 7, 100, 10**9])
def test_chunk_sizes_do_not_matter(size: int) -> None:
    """`--chunk N` changes how the bytes are fed, and no line."""
    assert plait("events", TEXT).stdout == plait("events", TEXT, "--chunk", str(size)).stdout


def test_an_incomplete_stream_exits_3(body: Path) -> None:
    """The events that came, then a line that says what is wrong."""
    body.write_bytes(STREAM[: STREAM.index(b"event: message_stop")])
    done = plait("events", body, *WIRE)
    *events, last = lines(done.stdout)
    assert events == EVENTS[:2]
    assert last["type"] == "error"
    assert last["error"] == "IncompleteStreamError"
    assert "message_stop" in last["message"]
    assert set(last) == {"type", "error", "message"}
    assert done.returncode == 3


def test_a_provider_error_in_the_stream_exits_4() -> None:
    """The class of the error is in the last line."""
    done = plait("events", OVERLOADED)
    *events, last = lines(done.stdout)
    assert [event["type"] for event in events][:2] == ["response_started", "text_delta"]
    assert (last["type"], last["error"]) == ("error", "OverloadedError")
    assert "Overloaded" in last["message"]
    assert done.returncode == 4


def test_a_provider_error_as_body_exits_4() -> None:
    """An error body in place of a stream."""
    error = b'{"type":"error","error":{"type":"not_found_error","message":"model: m"}}'
    done = plait("events", "-", *WIRE, stdin=error)
    assert [line["error"] for line in lines(done.stdout)] == ["NotFoundError"]
    assert done.returncode == 4


def test_bytes_that_are_not_the_wire_exit_5() -> None:
    """An HTML page from something in between."""
    done = plait("events", "-", *WIRE, stdin=b"<!doctype html><title>Bad gateway</title>" + b" " * 300)
    assert [line["error"] for line in lines(done.stdout)] == ["ProtocolError"]
    assert done.returncode == 5


def test_a_whole_json_body_gives_events_too() -> None:
    """The answer to a request that did not stream."""
    whole = (
        b'{"id":"msg_1","type":"message","model":"m","role":"assistant","stop_reason":"end_turn",'
        b'"content":[{"type":"text","text":"H\xc3\xa9 \xf0\x9f\xaa\xa2"}]}'
    )
    done = plait("events", "-", *WIRE, stdin=whole)
    assert lines(done.stdout) == EVENTS
    assert done.returncode == 0


def test_standard_input_holds_a_body_or_a_cassette() -> None:
    """`-` reads either; the content tells them apart."""
    assert lines(plait("events", "-", *WIRE, stdin=STREAM).stdout) == EVENTS
    assert plait("events", TEXT).stdout == plait("events", "-", stdin=TEXT.read_bytes()).stdout


def test_a_cassette_is_known_by_its_content(tmp_path: Path) -> None:
    """The name of the file does not matter."""
    path = tmp_path / "recording"
    path.write_bytes(TEXT.read_bytes())
    assert plait("events", TEXT).stdout == plait("events", path).stdout


def test_the_wire_of_a_plain_vcr_cassette_is_guessed(tmp_path: Path) -> None:
    """The URL says it."""
    path = tmp_path / "recording.yaml"
    request = Request("POST", "https://llm.example/v1/messages")
    save(Cassette([Interaction(request, Response(200, STREAM))]), path)
    assert "plait:" not in path.read_text("utf-8")
    assert lines(plait("events", path).stdout) == EVENTS


def test_several_responses_come_one_after_the_other(tmp_path: Path) -> None:
    """The first that is not complete decides how it exits; `--interaction` picks one; others are left out."""
    path = tmp_path / "recording.yaml"
    request = Request("POST", "https://llm.example/v1/messages")
    cut, whole = Response(200, STREAM[:300]), Response(200, STREAM)
    models = Interaction(Request("GET", "https://llm.example/v1/models"), Response(200, b"{}"))
    save(Cassette([models, Interaction(request, cut), Interaction(request, whole)]), path)
    both = plait("events", path)
    assert lines(both.stdout)[-4:] == EVENTS
    assert lines(both.stdout)[-5]["error"] == "IncompleteStreamError"
    assert both.returncode == 3
    third = plait("events", path, "--interaction", "3")
    assert (lines(third.stdout), third.returncode) == (EVENTS, 0)


def test_events_are_printed_while_the_body_is_still_coming() -> None:
    """A body that is piped in is not waited for."""
    command = [sys.executable, "-m", "plait.cli", "events", "-", *WIRE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(STREAM[:400])
        process.stdin.flush()
        assert EVENTS[:2] == [lines(process.stdout.readline())[0] for _ in range(2)]
        process.stdin.write(STREAM[400:])
        process.stdin.close()
        assert EVENTS[2:] == lines(process.stdout.read())
    assert process.returncode == 0


@pytest.mark.parametrize("arguments", [["events"], ["events", "--format", "table"], ["play", "--no-delay"]])
def test_a_closed_pipe_ends_it_quietly(arguments: list[str]) -> None:
    """As in `plait events F | head -1`: no traceback, and the status of a program that SIGPIPE ended."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "plait.cli", *arguments, str(TEXT)]
    done = subprocess.run(
        command, stdout=write_end, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, b"")
