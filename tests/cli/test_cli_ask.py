"""`plait ask`: a live call."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from commands import ROOT, environment, lines, plait

from local_server import HOLD, RESET, Answer, LocalServer, steps
from plait.cassettes import load


def frames(*contents: str) -> list[bytes]:
    chunk = '{"id":"c1","model":"m-1","choices":[{"index":0,"delta":{"content":"%s"}}]}'
    return [f"data: {chunk % content}\n\n".encode() for content in contents]


END = [
    b'data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
]


def ask(server: LocalServer, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return plait("ask", "openai-compatible/m", "Hi", "--base-url", server.url, *arguments)


def test_the_mock_answers_without_a_key() -> None:
    """Text, finish reason, usage and time."""
    done = plait("ask", "mock/any", "Good day")
    assert (0, b"") == (done.returncode, done.stderr)
    shown = [line for line in done.stdout.decode().splitlines() if line]
    assert ["any", "Good day"] == shown[:2]
    assert shown[2].startswith("stop · input 5, output 2, total 7 · ")


def test_events_as_json_lines() -> None:
    """One object a line, as `plait events` prints them."""
    done = plait("ask", "mock/any", "Good day", "--json")
    assert 0 == done.returncode
    types = [line["type"] for line in lines(done.stdout)]
    assert ["response_started", "text_delta", "text_delta", "text_done"] == types[:4]
    assert ["token_usage_done", "finish_reason_done"] == types[4:]


def test_standard_input_and_a_system_message() -> None:
    """`-` reads the question; the request holds both messages and the options."""
    with LocalServer(Answer(steps(frames("Yes"), END))) as server:
        done = plait(
            "ask", "openai-compatible/m", "-", "--base-url", server.url, "--system", "Be brief",
            "--options", '{"temperature": 0}', stdin="Really — 🪢?".encode(),
        )  # fmt: skip
        assert 0 == done.returncode, done.stderr
        body = server.requests[0].body.decode()
    assert '{"role":"system","content":"Be brief"},{"role":"user","content":"Really — 🪢?"}' in body
    assert '"temperature":0' in body


def test_everything_an_answer_has_is_shown() -> None:
    """Reasoning, tool calls and searches of recorded answers, as `plait play` shows them."""
    for name, folder, shown in (
        ("thinking_tool_call", "anthropic", '→ get_weather {"city": "Oslo", "unit": "celsius"}'),
        ("web_search", "anthropic", "⌕ searching Example Harbour high water today"),
    ):
        (found,) = load(ROOT / "cassettes" / folder / f"{name}.yaml").interactions
        with LocalServer(Answer(tuple(found.body_chunks()))) as server:
            done = plait(
                "ask", "anthropic/m", "Hi", "--base-url", server.url, ANTHROPIC_API_KEY="k-for-tests"
            )
        assert 0 == done.returncode
        assert shown in done.stdout.decode()


def test_pieces_are_shown_as_they_come() -> None:
    """The first is there while the server still holds the others back."""
    with LocalServer(Answer(steps(frames("First "), HOLD))) as server:
        command = [
            sys.executable,
            "-m",
            "plait.cli",
            "ask",
            "openai-compatible/m",
            "Hi",
            "--base-url",
            server.url,
        ]
        process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, env=environment())
        assert process.stdout is not None
        first = [process.stdout.readline(), process.stdout.readline()]
        assert ["response_started", "text_delta"] == [line["type"] for line in lines(b"".join(first))]
        assert None is process.poll()
        process.terminate()
        process.communicate(timeout=10)


FAILURES = {
    "cut": (Answer(tuple(frames("Half"))), 3, "IncompleteStreamError"),
    "reset": (Answer(steps(frames("Half"), 0.05, RESET)), 3, "IncompleteStreamError"),
    "refused": (Answer((b'{"error":{"message":"No such key"}}',), status=401), 4, "AuthenticationError"),
    "not the wire": (Answer((b"<html>hello</html>",)), 5, "ProtocolError"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_how_it_ended(name: str) -> None:
    """What came is printed, then the error; the exit status is that of `plait events`."""
    answer, status, error = FAILURES[name]
    with LocalServer(answer) as server:
        done = ask(server, "--json")
        assert status == done.returncode, done.stderr
        assert ("error", error) == (lines(done.stdout)[-1]["type"], lines(done.stdout)[-1]["error"])
        shown = ask(server).stdout.decode()
    assert f"✗ {error}: " in shown
    assert ("Half" in shown) is (status == 3)


def test_retries_are_told() -> None:
    """On the terminal in the answer's place, with --json on standard error."""
    with LocalServer(
        Answer((b"{}",), status=503, headers={"retry-after-ms": "10"}), Answer(steps(frames("Now"), END))
    ) as server:
        done = ask(server, "--json")
        assert 0 == done.returncode
        assert "plait: attempt 1 failed (openai-compatible: " in done.stderr.decode()
        assert "the next in 0.0 s" in done.stderr.decode()


def test_no_answer() -> None:
    """Nobody listens: status 1."""
    done = plait("ask", "openai-compatible/m", "Hi", "--base-url", "http://127.0.0.1:9", "--timeout", "0.3")
    assert 1 == done.returncode
    assert "✗ TransportError: " in done.stdout.decode()


def test_a_time_limit() -> None:
    """--timeout ends a call that goes on."""
    with LocalServer(Answer(steps(frames("First "), HOLD))) as server:
        start = time.monotonic()
        done = ask(server, "--timeout", "0.5")
        assert 3 == done.returncode
        assert time.monotonic() - start < 5
    assert "✗ StreamTimeoutError: openai-chat: the call took longer than 0.5 s" in done.stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody/m", "Hi"], "unknown provider 'nobody'"),
        (["gpt-5", "Hi"], "expected PROVIDER/MODEL"),
        (["groq/m", "Hi"], "set GROQ_API_KEY"),
        (["mock/any", "Hi", "--options", "{"], "--options: expected a JSON object"),
        (["mock/any", "Hi", "--options", '{"temprature": 1}'], "unknown option 'temprature'"),
        (["mock/any", "Hi", "--timeout", "0"], "--timeout: expected seconds above 0"),
        (["mock/any", "Hi", "--set", "region"], "--set: expected NAME=VALUE"),
        (["mock/any", "Hi", "--set", "region=x"], "mock has no setting 'region'"),
        (["mock/any", "Hi", "--wire", "smoke"], "unknown wire format 'smoke'"),
        (["mock/any", ""], "message"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_bad_arguments(arguments: list[str], words: str) -> None:
    """Status 2 and one line that says what to do."""
    done = plait("ask", *arguments, GROQ_API_KEY="")
    assert 2 == done.returncode
    assert words in done.stderr.decode()
    assert 1 == len(done.stderr.decode().strip().splitlines())


def test_no_key_is_shown() -> None:
    """Not even where the server repeats it."""
    key = "zq-secret-0123456789"
    with LocalServer(
        Answer((b'{"error":{"message":"bad key ' + key.encode() + b'"}}',), status=401)
    ) as server:
        done = plait(
            "ask", "openai/m", "Hi", "--wire", "openai-chat", "--base-url", server.url, OPENAI_API_KEY=key
        )
        assert f"Bearer {key}" == server.requests[0].headers["authorization"]
    assert 4 == done.returncode
    assert key not in (done.stdout + done.stderr).decode()
