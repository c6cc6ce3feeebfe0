"""What is written is read back as it was, and holds nothing that is nobody's business."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plait import CassetteError
from plait.cassettes import Cassette, Interaction, Provenance, Request, Response, dump, load, loads, save

REQUEST = Request(
    "POST", "https://llm.example/v1/messages", b'{"model": "m"}', {"content-type": "application/json"}
)


def test_everything_survives(tmp_path: Path) -> None:
    """A cassette that is saved and loaded is the same; folders are made."""
    whole = Interaction(
        REQUEST,
        Response(200, "data: é\n\n".encode(), {"content-type": "text/event-stream", "request-id": "r"}, "OK"),
        "anthropic-messages",
        "vertex",
        Provenance("synthesized", "https://docs.example/", "2026-11-30"),
        "OverloadedError",
        ((10, 6), (20, 4)),
    )
    bare = Interaction(Request("GET", "https://llm.example/"), Response(204, b""))
    path = tmp_path / "provider" / "scenario.yaml"
    save(Cassette([whole, bare]), path)
    assert Cassette([whole, bare]) == load(path)


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_body_survives(body: bytes) -> None:
    """Line ends, control characters, BOMs, bytes that are not text: all come back."""
    cassette = Cassette([Interaction(REQUEST, Response(200, body))])
    assert body == loads(dump(cassette).encode()).interactions[0].response.body


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"a\r\nb\rc\n", id="line ends"),
        pytest.param("\u2028\u2029\x85".encode(), id="YAML's other line ends"),
        pytest.param(b"  a \n b  \n\n", id="spaces"),
        pytest.param(b"\xff\x00\xfe", id="binary"),
        pytest.param("\ufeffdata: 🪢\n\n".encode(), id="BOM and emoji"),
    ],
)
def test_difficult_bodies_survive(body: bytes) -> None:
    """The ones that YAML would change if they were written plainly."""
    cassette = Cassette([Interaction(REQUEST, Response(200, body))])
    assert body == loads(dump(cassette).encode()).interactions[0].response.body


def test_a_stream_is_written_as_lines_to_read() -> None:
    """A body of lines is a block in the file, not one escaped string."""
    text = dump(Cassette([Interaction(REQUEST, Response(200, "event: é\ndata: {}\n\n".encode()))]))
    assert "        event: é\n        data: {}\n" in text


def test_only_harmless_headers_are_written() -> None:
    """Keys, cookies and account names are left out, in requests and responses."""
    headers = {
        "authorization": "Bearer secret-1",
        "x-api-key": "secret-2",
        "content-type": "text/event-stream",
        "set-cookie": "secret-3",
        "openai-organization": "secret-4",
        "retry-after": "3",
    }
    text = dump(
        Cassette(
            [Interaction(Request("GET", "https://a.example/", b"", headers), Response(200, b"", headers))]
        )
    )
    assert "secret" not in text
    entry = yaml.safe_load(text)["interactions"][0]
    kept = {"content-type": ["text/event-stream"], "retry-after": ["3"]}
    assert entry["request"]["headers"] == kept
    assert entry["response"]["headers"] == kept


def test_keys_in_a_url_are_not_written() -> None:
    """Some providers take the key as a query parameter, or as user information."""
    uri = "https://user:secret@llm.example/v1/models/m:streamGenerateContent?key=secret&alt=sse#secret"
    text = dump(Cassette([Interaction(Request("POST", uri), Response(200, b""))]))
    assert "secret" not in text
    assert "uri: https://llm.example/v1/models/m:streamGenerateContent?alt=sse" in text


def test_without_pyyaml_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML is in an extra."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(CassetteError, match=r"pip install 'plait\[cli\]'"):
        dump(Cassette([]))
