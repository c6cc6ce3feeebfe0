"""Bad arguments exit with 2 and say on stderr what was expected, what came and what to do."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from commands import STREAM, TEXT, plait

import plait as library
import plait.cli as cli


def words(output: bytes) -> str:
    """The output without the frames and line ends that a terminal's width gives it."""
    return re.sub(r"[\s│]+", " ", output.decode())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ["events", "BODY", "--wire", "anthropic_messages"], "did you mean anthropic-messages?", id="wire"
        ),
        pytest.param(["events", "BODY", "--wire", "x"], "expected one of openai-chat, ", id="unknown wire"),
        pytest.param(["events", "BODY"], "looks like --wire anthropic-messages", id="no wire for a body"),
        pytest.param(["events", "EMPTY"], "expected --wire", id="no wire for an empty body"),
        pytest.param(["events", "-"], "standard input is a raw body", id="no wire for standard input"),
        pytest.param(
            ["events", "BODY", "--wire", "anthropic-messages", "--dialect", "x"],
            "anthropic-messages has no dialect 'x'",
            id="dialect",
        ),
        pytest.param(["events", "BODY", "--chunk", "0"], "--chunk", id="chunk of 0"),
        pytest.param(["events", "BODY", "--chunk", "x"], "--chunk", id="chunk that is no number"),
        pytest.param(["events", "BODY", "--format", "xml"], "'jsonl'", id="format"),
        pytest.param(
            ["events", "nowhere/none.sse"], "cannot read 'nowhere/none.sse': No such file", id="file"
        ),
        pytest.param(["events", "nowhere/none.yaml"], "or - for standard input", id="cassette"),
        pytest.param(["events", "FOLDER"], "is a directory; expected the file", id="directory"),
        pytest.param(["events", "BROKEN"], "expected a cassette, a YAML mapping", id="not a cassette"),
        pytest.param(["events", "OTHER"], "https://llm.example/v1/models; say --wire", id="no wire in it"),
        pytest.param(["events", "TEXT", "--interaction", "2"], "expected 1 to 1", id="interaction"),
        pytest.param(
            ["events", "BODY", "--wire", "anthropic-messages", "--interaction", "1"],
            "is a raw body: leave it out",
            id="interaction of a body",
        ),
        pytest.param(["events"], "Missing argument", id="no file"),
        pytest.param(["play", "BODY"], "expected a cassette", id="play a body"),
        pytest.param(["play", "OTHER"], "got none", id="play nothing that can be read"),
        pytest.param(["play", "TEXT", "--speed", "0"], "expected a number above 0", id="speed of 0"),
        pytest.param(["play", "TEXT", "--speed", "nan"], "expected a number above 0", id="speed of nan"),
        pytest.param(["fly"], "No such command", id="command"),
    ],
)
def test_bad_arguments(arguments: list[str], expected: str, tmp_path: Path) -> None:
    """Nothing is printed on stdout, and no traceback anywhere."""
    files = {
        "BODY": ("body.sse", STREAM),
        "EMPTY": ("empty.sse", b""),
        "BROKEN": ("broken.yaml", b"- 1\n"),
        "OTHER": (
            "other.yaml",
            b"interactions: [{request: {method: GET, uri: 'https://llm.example/v1/models'}, "
            b"response: {status: {code: 200, message: OK}, body: {string: '{}'}}}]",
        ),
    }
    places = {"FOLDER": str(tmp_path), "TEXT": str(TEXT)}
    for key, (name, data) in files.items():
        (tmp_path / name).write_bytes(data)
        places[key] = str(tmp_path / name)
    done = plait(*(places.get(argument, argument) for argument in arguments), COLUMNS="300")
    assert done.returncode == 2
    assert done.stdout == b""
    assert expected in words(done.stderr)
    assert b"Traceback" not in done.stderr


def test_version() -> None:
    """The version of the library."""
    done = plait("--version")
    assert (done.returncode, done.stdout.decode().strip()) == (0, f"plait {library.__version__}")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["--help"], ["events", "play", "--version", "Example: plait events"], id="plait"),
        pytest.param(["events", "-h"], ["--wire", "--chunk", *library.WIRES, "3 the stream is"], id="events"),
        pytest.param(["play", "--help"], ["--speed", "--no-delay", "Exit status"], id="play"),
    ],
)
def test_help(arguments: list[str], expected: list[str]) -> None:
    """Options, wire formats and exit statuses are told."""
    done = plait(*arguments, COLUMNS="200")
    assert done.returncode == 0
    assert [item for item in expected if item not in words(done.stdout)] == []


@pytest.mark.parametrize("missing", cli.NEEDED)
def test_without_the_extra_it_says_what_to_install(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on stderr."""
    for module in [name for name in sys.modules if name.startswith(("plait.cli.", f"{missing}."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    assert cli.main(["play", str(TEXT), "--no-delay"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        f"plait: the command line needs {missing}, which is not installed: pip install 'plait[cli]'\n"
    )
