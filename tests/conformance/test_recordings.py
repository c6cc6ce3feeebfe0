"""What is found under files and folders, and what is left out, with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bodies import STREAM, WHOLE

from plait.cassettes import Cassette, Interaction, Provenance, Request, Response, save
from plait.conformance.recordings import Recording, Skipped, recordings

MESSAGES = "https://llm.example/v1/messages"
ERROR = b'{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}'


def found(*paths: Path, wire: str | None = None) -> list[tuple[str, str, str]]:
    """File (and interaction), wire and kind of each recording; file, nothing, reason of what is skipped."""
    result: list[tuple[str, str, str]] = []
    for item in recordings(paths, wire=wire):
        name = Path(item.file).name + (f" {item.interaction}" if item.interaction else "")
        if isinstance(item, Recording):
            result.append((name, item.wire, item.kind))
        else:
            result.append((name, "", item.reason))
    return result


def test_cassette(tmp_path: Path) -> None:
    """Each interaction that is an answer is a recording of its own kind; the others say why they are not."""
    interactions = [
        Interaction(Request("POST", MESSAGES), Response(200, STREAM)),
        Interaction(Request("POST", MESSAGES), Response(200, WHOLE)),
        Interaction(Request("POST", MESSAGES), Response(529, ERROR)),
        Interaction(Request("GET", "https://llm.example/v1/models"), Response(200, b'{"data": []}')),
        Interaction(Request("GET", MESSAGES), Response(200, WHOLE)),
        Interaction(Request("POST", MESSAGES), Response(302, b"")),
        Interaction(Request("POST", MESSAGES), Response(200, b"")),
        Interaction(Request("GET", "https://llm.example/v1/responses/r1"), Response(200, b'{"id": "r1"}')),
    ]
    save(Cassette(interactions), tmp_path / "a.yaml")
    assert [
        ("a.yaml 1", "anthropic-messages", "stream"),
        ("a.yaml 2", "anthropic-messages", "body"),
        ("a.yaml 3", "anthropic-messages", "error"),
        ("a.yaml 4", "", "neither URL nor body says a wire format"),
        ("a.yaml 5", "", "a GET request, not an answer"),
        ("a.yaml 6", "", "HTTP 302, neither an answer nor an error"),
        ("a.yaml 7", "", "HTTP 200 without a body"),
        ("a.yaml 8", "openai-responses", "body"),
    ] == found(tmp_path / "a.yaml")


def test_cassette_says_wire_and_dialect(tmp_path: Path) -> None:
    """What the file says counts, whatever the URL."""
    source = Provenance("synthesized", "the messages API")
    answer = Interaction(
        Request("POST", "https://llm.example/"), Response(200, STREAM), "anthropic-messages", "vertex", source
    )
    save(Cassette([answer]), tmp_path / "a.yaml")
    (recording,) = recordings([tmp_path])
    assert isinstance(recording, Recording)
    assert ("anthropic-messages", "vertex", STREAM, 200) == (
        recording.wire,
        recording.dialect,
        recording.body,
        recording.status,
    )


def test_ruby_cassette(tmp_path: Path) -> None:
    """VCR's own files are read as vcrpy's are."""
    body = json.dumps(STREAM.decode())
    (tmp_path / "a.yml").write_text(
        f"http_interactions:\n- request:\n    method: post\n    uri: {MESSAGES}\n  response:\n"
        f"    status:\n      code: 200\n    body:\n      string: {body}\n",
        "utf-8",
    )
    assert [("a.yml 1", "anthropic-messages", "stream")] == found(tmp_path)


def test_json_cassette(tmp_path: Path) -> None:
    """vcrpy's JSON is told from a body by its content."""
    interaction = {
        "request": {"method": "POST", "uri": MESSAGES, "body": None, "headers": {}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {},
            "body": {"string": STREAM.decode()},
        },
    }
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "interactions": [interaction]}), "utf-8")
    assert [("a.json 1", "anthropic-messages", "stream")] == found(tmp_path)


def test_bodies_of_a_folder(tmp_path: Path) -> None:
    """Bodies are found to the bottom, in order; hidden folders and files of other kinds are left out."""
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "b" / "a.sse").write_bytes(STREAM)
    (tmp_path / ".git" / "a.sse").write_bytes(STREAM)
    (tmp_path / "c.json").write_bytes(WHOLE)
    (tmp_path / "d.json").write_bytes(b'{"compilerOptions": {}}')
    (tmp_path / "e.ndjson").write_bytes(b'{"message": {"content": "a"}, "done": false}\n{"done": true}\n')
    (tmp_path / "f.py").write_bytes(STREAM)
    (tmp_path / "g.sse").write_bytes(b"\n")
    (tmp_path / "h.yaml").write_bytes(b"name: ci\n")
    result = found(tmp_path)
    assert [
        ("c.json", "anthropic-messages", "body"),
        ("d.json", "", "the body says no wire format: say --wire, if it has one"),
        ("e.ndjson", "ollama-chat", "stream"),
        ("f.py", "", "no recording's file name: *.py"),
        ("g.sse", "", "an empty file"),
    ] == result[:5]
    assert ("a.sse", "anthropic-messages", "stream") == result[6]
    assert "expected a cassette" in result[5][2]
    assert 7 == len(result)


def test_named_file(tmp_path: Path) -> None:
    """A file that is asked for by name is read whatever its name, and once."""
    (tmp_path / "answer").write_bytes(STREAM)
    assert [("answer", "anthropic-messages", "stream")] == found(tmp_path / "answer", tmp_path / "answer")


def test_wire(tmp_path: Path) -> None:
    """A wire format that is given is that of bodies which say none; recordings of another are left out."""
    (tmp_path / "a.sse").write_bytes(b'data: {"choices": []}\n\n')
    save(Cassette([Interaction(Request("POST", MESSAGES), Response(200, STREAM))]), tmp_path / "b.yaml")
    assert [
        ("a.sse", "openai-chat", "stream"),
        ("b.yaml 1", "", "anthropic-messages, not openai-chat"),
    ] == found(tmp_path, wire="openai-chat")


@pytest.mark.parametrize("above", [False, True], ids=["paths from its folder", "paths from the folder above"])
def test_corpus(tmp_path: Path, above: bool) -> None:
    """An index says wire and status; the files it lists are not found a second time."""
    folder = tmp_path / "corpus" / "source"
    (folder / "bodies").mkdir(parents=True)
    start = "source/" if above else ""
    entries = [
        {"file": f"{start}bodies/1.sse", "wire": "anthropic-messages", "kind": "stream", "status": 200},
        {"file": f"{start}bodies/2.json", "wire": "anthropic-messages", "kind": "error", "status": 529},
        {"file": f"{start}bodies/3.json", "wire": "cohere-v2", "kind": "json", "status": 200},
        {"file": f"{start}bodies/4.json", "wire": "other", "kind": "json", "status": 200},
        {"file": f"{start}bodies/5.json", "wire": "gemini", "kind": "json", "status": 200},
        {"note": "no file"},
    ]
    lines = [json.dumps(entry) for entry in entries]
    (folder / "index.jsonl").write_text("\n".join([*lines, "broken"]), "utf-8")
    (folder / "bodies" / "1.sse").write_bytes(STREAM)
    (folder / "bodies" / "2.json").write_bytes(ERROR)
    (folder / "bodies" / "3.json").write_bytes(b'{"message": {"role": "assistant"}}')
    (folder / "bodies" / "4.json").write_bytes(b"{}")
    expected = [
        ("1.sse", "anthropic-messages", "stream"),
        ("2.json", "anthropic-messages", "error"),
        ("3.json", "cohere-chat", "body"),
        ("4.json", "", "no wire format that can be read: other"),
        ("5.json", "", "cannot be read: No such file or directory"),
    ]
    assert expected == found(tmp_path / "corpus")
    assert expected == found(folder / "index.jsonl")


def test_no_such_path(tmp_path: Path) -> None:
    """A path that is not there is an error, not an empty result."""
    with pytest.raises(FileNotFoundError):
        list(recordings([tmp_path / "nowhere"]))


def test_skipped_says_which(tmp_path: Path) -> None:
    """What is skipped names file and interaction."""
    save(Cassette([Interaction(Request("DELETE", MESSAGES), Response(200, WHOLE))]), tmp_path / "a.yaml")
    path = str(tmp_path / "a.yaml")
    assert [Skipped(path, "a DELETE request, not an answer", 1)] == list(recordings([path]))
