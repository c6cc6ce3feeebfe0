"""`plait drift`: what nobody reads, as tables and JSON, and against a baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import STREAM, plait

PULSE = b'event: pulse\ndata: {"type":"pulse","rate":60}\n\n'
NEW = STREAM.replace(b'"model":"m"', b'"model":"m","mood":"calm","note":"for Jo only"')
CHAT = (
    b'{"id":"c1","object":"chat.completion",'
    b'"choices":[{"message":{"content":"Oui"},"finish_reason":"tired"}]}'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two recordings with something new in them."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "a.sse").write_bytes(
        NEW.replace(b"event: content_block_start", PULSE + b"event: content_block_start")
    )
    (folder / "b.json").write_bytes(CHAT)
    (folder / "c.md").write_bytes(b"# notes")
    return folder


FOUND = {
    "recordings": {"anthropic-messages": 1, "openai-chat": 1},
    "skipped": 1,
    "drift": {
        "anthropic-messages": [
            {"kind": "event", "key": "event:pulse", "count": 1, "example": "{type, rate}"},
            {"kind": "field", "key": "field:message.mood", "count": 1, "example": '"calm"'},
            {"kind": "field", "key": "field:message.note", "count": 1, "example": "text of 11 characters"},
        ],
        "openai-chat": [
            {"kind": "value", "key": "finish_reason:tired", "count": 1, "example": None},
            {"kind": "field", "key": "field:object", "count": 1, "example": '"chat.completion"'},
        ],
    },
}


def test_tables(folder: Path) -> None:
    """A table for each wire format; the status is 0, whatever there is."""
    done = plait("drift", folder)
    words = [line.split() for line in done.stdout.decode().splitlines()]
    assert ["anthropic-messages"] in words
    assert ["event", "pulse", "1", "{type,", "rate}"] in words
    assert ["field", "message.mood", "1", '"calm"'] in words
    assert ["value", "tired", "1"] in words
    assert "5 not read, in 2 recordings of 2 wire formats; 1 skipped" in done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")


def test_text_is_not_shown(folder: Path) -> None:
    """No word of what somebody wrote is in any output."""
    for arguments in ([], ["--json", "-"], ["--write-baseline", "-"]):
        assert b"Jo" not in plait("drift", folder, *arguments).stdout


def test_json(folder: Path, tmp_path: Path) -> None:
    """The same for machines, printed or written."""
    assert FOUND == json.loads(plait("drift", folder, "--json", "-").stdout)
    plait("drift", folder, "--json", tmp_path / "found")
    assert FOUND == json.loads((tmp_path / "found").read_bytes())


def test_processes_find_the_same(folder: Path) -> None:
    """However many processes read."""
    for number in range(4):
        (folder / f"d{number}.sse").write_bytes(NEW + b": " + b"-" * 250_000)
    alone, shared = (plait("drift", folder, "--json", "-", "--jobs", str(jobs)) for jobs in (1, 2))
    assert json.loads(alone.stdout) == json.loads(shared.stdout)


def test_since(folder: Path, tmp_path: Path) -> None:
    """Against a baseline only what is new is shown, and the status says whether there is any."""
    baseline = tmp_path / "baseline.json"
    assert plait("drift", folder / "b.json", "--write-baseline", baseline).returncode == 0
    assert {"openai-chat": {"finish_reason:tired": "", "field:object": ""}} == json.loads(
        baseline.read_bytes()
    )
    known = plait("drift", folder / "b.json", "--since", baseline)
    assert f"0 not in {baseline}, in 1 recordings of 1 wire formats" in known.stdout.decode()
    assert known.returncode == 0
    new = plait("drift", folder, "--since", baseline, "--json", "-")
    assert {"anthropic-messages"} == json.loads(new.stdout)["drift"].keys()
    assert new.returncode == 1


def test_reasons_are_kept(folder: Path, tmp_path: Path) -> None:
    """A baseline that is written again keeps its reasons, and loses what no longer occurs."""
    baseline = tmp_path / "baseline.json"
    old = {"openai-chat": {"finish_reason:tired": "a joke", "event:gone": "old"}}
    baseline.write_text(json.dumps(old), "utf-8")
    plait("drift", folder / "b.json", "--write-baseline", baseline)
    assert {"openai-chat": {"finish_reason:tired": "a joke", "field:object": ""}} == json.loads(
        baseline.read_bytes()
    )


def test_controls_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """A field's name is the provider's, and may hold anything."""
    (tmp_path / "a.json").write_bytes(CHAT.replace(b'"id"', b'"\\u001b[31m":1,"id"'))
    assert b"\x1b" not in plait("drift", tmp_path / "a.json").stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(None, "--since: cannot read", id="not there"),
        pytest.param(b"[]", "expected a baseline", id="no baseline"),
    ],
)
def test_bad_baseline(folder: Path, tmp_path: Path, content: bytes | None, words: str) -> None:
    """Status 2, and words."""
    if content is not None:
        (tmp_path / "baseline").write_bytes(content)
    done = plait("drift", folder, "--since", tmp_path / "baseline")
    assert words in done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")


def test_nothing_found(folder: Path) -> None:
    """A folder without a recording is no success."""
    done = plait("drift", folder / "c.md")
    assert b"no recorded response in" in done.stderr
    assert done.returncode == 2
