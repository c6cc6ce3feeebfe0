"""`plait check`: the laws on files and folders, its tables, reports and exit statuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import STREAM, TEXT, environment, plait

from plait.cassettes import Cassette, Interaction, Request, Response, save

MESSAGES = Request("POST", "https://llm.example/v1/messages")
ERROR = b'{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}'
LIAR = b'{"id": "c1", "choices": [{"index": 0, "message": {"content": "Oui"}, "finish_reason": "stop"}]}'
"""A whole answer that comes with the status of an error."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cassette with a stream, an error and a request that is none, and a body."""
    models = Interaction(Request("GET", "https://llm.example/v1/models"), Response(200, b"{}"))
    stream, error = Interaction(MESSAGES, Response(200, STREAM)), Interaction(MESSAGES, Response(529, ERROR))
    save(Cassette([models, stream, error]), tmp_path / "a.yaml")
    (tmp_path / "b.json").write_bytes(LIAR.replace(b'"c1"', b'"c1", "object": "chat.completion"'))
    return tmp_path


@pytest.fixture
def broken(folder: Path) -> Path:
    """The same, and an error that is read as an answer."""
    request = Request("POST", "https://llm.example/v1/chat/completions")
    save(Cassette([Interaction(request, Response(500, LIAR))]), folder / "c.yaml")
    return folder


def test_all_hold(folder: Path) -> None:
    """A row for each wire format, what was skipped and why, and status 0."""
    done = plait("check", folder)
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert rows[:4] == [
        ["wire", "streams", "bodies", "errors", "breaches"],
        ["anthropic-messages", "1", "0", "1", "0"],
        ["openai-chat", "0", "1", "0", "0"],
        ["all", "1", "1", "1", "0"],
    ]
    assert "skipped: 1" in done.stdout.decode()
    assert f"1: neither URL nor body says a wire format ({folder / 'a.yaml'})" in done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")


def test_breach(broken: Path) -> None:
    """What is broken is said in words, with file and interaction, and the status is 1."""
    done = plait("check", broken)
    assert [
        f"{broken / 'c.yaml'}, interaction 1 (openai-chat error)",
        "  error: the body of HTTP 500 is read as an answer",
    ] == done.stdout.decode().splitlines()[:2]
    assert (done.returncode, done.stderr) == (1, b"")


def test_json_report(broken: Path, tmp_path: Path) -> None:
    """The same for machines: counts, breaches, and all that was skipped."""
    expected = {
        "wires": {
            "anthropic-messages": {"streams": 1, "bodies": 0, "errors": 1, "breaches": 0},
            "openai-chat": {"streams": 0, "bodies": 1, "errors": 1, "breaches": 1},
        },
        "breaches": [
            {
                "file": str(broken / "c.yaml"),
                "interaction": 1,
                "wire": "openai-chat",
                "kind": "error",
                "law": "error",
                "message": "the body of HTTP 500 is read as an answer",
            }
        ],
        "skipped": [
            {
                "file": str(broken / "a.yaml"),
                "reason": "neither URL nor body says a wire format",
                "interaction": 1,
            }
        ],
    }
    printed = plait("check", broken, "--json", "-")
    assert expected == json.loads(printed.stdout)
    assert printed.returncode == 1
    target = tmp_path / "report"
    written = plait("check", broken / "a.yaml", broken / "b.json", broken / "c.yaml", "--json", target)
    assert expected == json.loads(target.read_bytes())
    assert b"breaches" in written.stdout


def test_processes_find_the_same(broken: Path) -> None:
    """However many processes read, the report is the same, in the order of the files."""
    for number in range(8):
        (broken / f"d{number}.sse").write_bytes(STREAM + b": " + b"-" * 150_000)
    alone = plait("check", broken, "--law", "text", "--law", "error", "--json", "-", "--jobs", "1")
    shared = plait("check", broken, "--law", "text", "--law", "error", "--json", "-", "--jobs", "3")
    assert (alone.stdout, alone.returncode) == (shared.stdout, shared.returncode)
    assert (shared.returncode, shared.stderr) == (1, b"")


def test_only_some_laws(broken: Path) -> None:
    """With `--law` nothing else is checked: the error is not."""
    assert plait("check", broken, "--law", "ending").returncode == 0
    assert plait("check", broken, "--law", "ending", "--law", "error").returncode == 1


def test_fail_fast(broken: Path) -> None:
    """The first breach ends it: what comes later is not read."""
    (broken / "d.sse").write_bytes(STREAM)
    done = plait("check", broken, "--fail-fast", "--json", "-")
    report = json.loads(done.stdout)
    assert 1 == len(report["breaches"])
    assert 1 == report["wires"]["anthropic-messages"]["streams"]
    assert done.returncode == 1


def test_wire(folder: Path) -> None:
    """`--wire` picks the recordings of one wire format."""
    report = json.loads(plait("check", folder, "--wire", "openai-chat", "--json", "-").stdout)
    assert ["openai-chat"] == list(report["wires"])
    assert ["anthropic-messages, not openai-chat"] * 2 == [item["reason"] for item in report["skipped"][1:]]


def test_shipped_cassette() -> None:
    """A single file can be named."""
    done = plait("check", TEXT)
    assert done.returncode == 0
    assert b"anthropic-messages" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["nowhere"], "cannot read 'nowhere': no such file or folder", id="no such path"),
        pytest.param(["."], "no files in .", id="empty folder"),
        pytest.param(["README.txt"], "no recorded response in README.txt", id="nothing found"),
        pytest.param([".", "--wire", "openai_chat"], "did you mean openai-chat?", id="wire"),
        pytest.param([".", "--law", "tool-calls"], "did you mean tool_calls?", id="law"),
        pytest.param([], "PATH", id="no path"),
        pytest.param([".", "--jobs", "0"], "--jobs", id="jobs"),
    ],
)
def test_bad_arguments(tmp_path: Path, arguments: list[str], words: str) -> None:
    """Status 2, and words on what was expected."""
    if arguments[:1] == ["README.txt"]:
        (tmp_path / "README.txt").write_text("hello", "utf-8")
    command = [sys.executable, "-m", "plait.cli", "check", *arguments]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, env=environment(), timeout=60, check=False
    )
    assert words in done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")


def test_report_that_cannot_be_written(folder: Path) -> None:
    """So is a report whose folder is not there."""
    done = plait("check", folder, "--json", folder / "nowhere" / "report")
    assert b"--json: cannot write" in done.stderr
    assert done.returncode == 2


def test_interrupted(tmp_path: Path) -> None:
    """Ctrl-C ends all processes at once and quietly."""
    for number in range(120):
        (tmp_path / f"{number}.sse").write_bytes(STREAM + b": " + b"-" * 100_000)
    command = [sys.executable, "-m", "plait.cli", "check", str(tmp_path), "--jobs", "2", "--law", "cost"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True
    ) as process:
        time.sleep(3)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout, stderr) == (130, b"", b"")
