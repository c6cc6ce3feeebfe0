"""Cassettes of vcrpy and Ruby VCR are read; anything else is a typed error that says what came."""

from __future__ import annotations

import base64
import gzip
import sys
import zlib
from pathlib import Path

import pytest

from plait import CassetteError
from plait.cassettes import (
    MAX_CASSETTE,
    Cassette,
    Interaction,
    Provenance,
    Request,
    Response,
    is_cassette_start,
    load,
    loads,
)

VCRPY = """\
interactions:
- request:
    body: '{"model": "m"}'
    headers:
      Content-Type: [application/json]
    method: POST
    uri: https://llm.example/v1/messages
  response:
    body:
      string: "data: \\xE9\\n\\n"
    headers:
      Content-Type: [text/event-stream]
      X-Two: [a, b]
    status: {code: 200, message: OK}
version: 1
"""

RUBY = """\
---
http_interactions:
- request:
    method: post
    uri: https://llm.example/v1/chat/completions
    body:
      encoding: UTF-8
      string: '{"model":"m"}'
    headers:
      Content-Type:
      - application/json
  response:
    status:
      code: 200
      message: OK
    headers:
      Content-Type:
      - text/event-stream
    body:
      encoding: ASCII-8BIT
      %s
  recorded_at: Sun, 01 Mar 2026 10:00:00 GMT
recorded_with: VCR 6.3.1
"""


def vcrpy(
    response: str = "{status: {code: 200, message: OK}, body: {string: ab}}", plait: str = "{}"
) -> bytes:
    """A vcrpy cassette with this response."""
    request = "{method: POST, uri: 'https://llm.example/v1/messages'}"
    return f"interactions: [{{request: {request}, response: {response}, plait: {plait}}}]".encode()


def body_of(data: bytes) -> bytes:
    """The body of the first response."""
    return loads(data).interactions[0].response.body


def test_vcrpy_yaml() -> None:
    """Bodies become bytes, header names lower case, several values of a header one."""
    expected = Interaction(
        Request(
            "POST",
            "https://llm.example/v1/messages",
            b'{"model": "m"}',
            {"content-type": "application/json"},
        ),
        Response(
            200,
            "data: é\n\n".encode(),
            {"content-type": "text/event-stream", "x-two": "a, b"},
            "OK",
        ),
        "anthropic-messages",
    )
    assert Cassette([expected]) == loads(VCRPY.encode())


def test_vcrpy_json() -> None:
    """vcrpy's JSON serializer writes the same structure."""
    text = (
        '{"version": 1, "interactions": [{"request": {"method": "GET", "uri": "https://llm.example/", '
        '"body": null, "headers": {}}, "response": {"status": {"code": 204, "message": null}, '
        '"headers": {}, "body": {"string": ""}}}]}'
    )
    expected = Interaction(Request("GET", "https://llm.example/"), Response(204, b""))
    assert Cassette([expected]) == loads(text.encode())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param('string: "data: 1\\n\\n"', id="text"),
        pytest.param("base64_string: |\n        ZGF0YTog\n        MQoK", id="base64_string"),
        pytest.param("string: !binary |-\n        ZGF0YTogMQoK", id="binary tag"),
    ],
)
def test_ruby_vcr(body: str) -> None:
    """Ruby VCR's list, methods in lower case, and bodies in each form it has for them."""
    (item,) = loads((RUBY % body).encode()).interactions
    assert item.request.method == "POST"
    assert item.request.body == b'{"model":"m"}'
    assert item.response.headers == {"content-type": "text/event-stream"}
    assert item.response.body == b"data: 1\n\n"
    assert item.wire == "openai-chat"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("!!binary AAH/", b"\x00\x01\xff", id="binary"),
        pytest.param("'été'", "été".encode(), id="text"),
        pytest.param("null", b"", id="null"),
        pytest.param("!!python/unicode 'a'", b"a", id="python text of an old vcrpy"),
    ],
)
def test_body_forms(body: str, expected: bytes) -> None:
    """Every form vcrpy has written bodies in gives the bytes."""
    assert expected == body_of(vcrpy(f"{{status: {{code: 200, message: OK}}, body: {{string: {body}}}}}"))


def test_old_httpx_form_of_vcrpy() -> None:
    """vcrpy before version 6 wrote `status_code` and `content` for httpx."""
    data = vcrpy("{status_code: 429, content: slow down, headers: {Retry-After: ['3']}}")
    assert Response(429, b"slow down", {"retry-after": "3"}) == loads(data).interactions[0].response


@pytest.mark.parametrize(
    ("encoding", "stored"),
    [
        pytest.param("gzip", gzip.compress(b"data: 1\n\n"), id="gzip"),
        pytest.param("deflate", zlib.compress(b"data: 1\n\n"), id="deflate"),
        pytest.param("gzip", b"data: 1\n\n", id="gzip header of a body that was decoded"),
        pytest.param("br", b"data: 1\n\n", id="brotli header of a body that was decoded"),
    ],
)
def test_compressed_bodies_are_decoded(encoding: str, stored: bytes) -> None:
    """`Response.body` has no content encoding any more, and chunks of compressed bytes say nothing of it."""
    binary = base64.b64encode(stored).decode()
    response = (
        f"{{status: {{code: 200, message: OK}}, headers: {{Content-Encoding: [{encoding}]}}, "
        f"body: {{string: !!binary {binary}}}}}"
    )
    assert body_of(vcrpy(response)) == b"data: 1\n\n"


def test_a_compressed_body_that_was_cut_gives_what_came() -> None:
    """That the response is incomplete is for its parser to say."""
    stored = base64.b64encode(gzip.compress(b"data: 1\n\n" * 400)[:-12]).decode()
    data = vcrpy(
        "{status: {code: 200, message: OK}, headers: {content-encoding: [gzip]}, "
        f"body: {{string: !!binary {stored}}}}}"
    )
    assert body_of(data).startswith(b"data: 1\n\n")


def test_what_plait_adds() -> None:
    """The `plait:` mapping: wire, dialect, provenance, the expected error, chunks."""
    extra = (
        "{wire: openai-chat, dialect: azure, expect: RateLimitError, chunks: [[5, 1], [9, 1]], "
        "provenance: {kind: recorded, date: 2026-03-01, model: m}}"
    )
    (item,) = loads(vcrpy(plait=extra)).interactions
    assert item.wire == "openai-chat"
    assert item.dialect == "azure"
    assert item.expect == "RateLimitError"
    assert item.provenance == Provenance("recorded", date="2026-03-01", model="m")
    assert item.chunks == ((5, 1), (9, 1))
    assert list(item.body_chunks()) == [b"a", b"b"]


def test_without_chunks_a_body_is_one() -> None:
    """A file that does not say how its body arrived gives it in one piece."""
    (item,) = loads(vcrpy()).interactions
    assert list(item.body_chunks()) == [b"ab"]


NO_RESPONSE = b"interactions: [{request: {method: GET, uri: 'https://llm.example/'}}]"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "got nothing", id="empty"),
        pytest.param(b"event: ping\ndata: {}\n\n", "got a mapping of 'event', 'data'", id="stream"),
        pytest.param(b"- 1", "got a list", id="list"),
        pytest.param(b"interactions: {a: 1}", "got a mapping", id="interactions that are no list"),
        pytest.param(b"interactions: []", "at least one interaction", id="no interactions"),
        pytest.param(b"interactions: [1]", "interaction 1: Expected `object`, got `int`", id="number"),
        pytest.param(NO_RESPONSE, "missing required field `response`", id="no response"),
        pytest.param(vcrpy("{body: {string: a}}"), "response.status.code", id="no status"),
        pytest.param(vcrpy("{status: {code: x}}"), "$.response.status.code", id="status that is text"),
        pytest.param(
            vcrpy("{status: {code: 200}, body: {string: 1}}"), "response.body.string", id="number as body"
        ),
        pytest.param(
            vcrpy("{status: {code: 200}, body: {parsed_body: {}}}"), "base64_string", id="unknown body form"
        ),
        pytest.param(
            vcrpy("{status: {code: 200}, body: {base64_string: '*'}}"), "base64_string: ", id="bad base64"
        ),
        pytest.param(
            vcrpy("{status: {code: 200}, headers: {content-encoding: [br]}, body: {string: !!binary /w==}}"),
            "got br",
            id="brotli",
        ),
        pytest.param(
            vcrpy(
                "{status: {code: 200}, headers: {content-encoding: [gzip]}, body: {string: !!binary H4sA}}"
            ).replace(b"H4sA", base64.b64encode(b"\x1f\x8b\x00\x00")),
            "compressed data",
            id="broken gzip",
        ),
        pytest.param(vcrpy(plait="{chunk: []}"), "unknown field `chunk`", id="misspelt key"),
        pytest.param(vcrpy(plait="{chunks: [[1, 1]]}"), "expected 2 bytes", id="chunks that lack a byte"),
        pytest.param(vcrpy(plait="{chunks: [[9, 1], [5, 1]]}"), "order of arrival", id="chunks back in time"),
        pytest.param(vcrpy(plait="{provenance: {kind: real}}"), "'real'", id="unknown provenance"),
        pytest.param(b"interactions: [", "line 2, column 1", id="broken YAML"),
        pytest.param(b"a: !!python/object/apply:os.getcwd []", "os.getcwd", id="tag that runs code"),
        pytest.param(b"a: &a {x: 1}\nb: {<<: *a}", "merge", id="merge key"),
        pytest.param(b"[" * 100_000, "nest", id="deep nesting"),
        pytest.param(b"\x00\x01", "control characters", id="binary"),
        pytest.param(b"a: !!int x", "cannot be read", id="bad number"),
    ],
)
def test_what_is_no_cassette(data: bytes, words: str) -> None:
    """A typed error names the file, what was expected and what came."""
    with pytest.raises(CassetteError) as caught:
        loads(data, name="some.yaml")
    assert str(caught.value).startswith("some.yaml: ")
    assert words in str(caught.value)


def test_a_file_beyond_the_bound_is_not_read(tmp_path: Path) -> None:
    """A cassette has at most MAX_CASSETTE bytes; a sparse file is made for this in no time."""
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(MAX_CASSETTE + 2)
    with pytest.raises(CassetteError, match="longer than 67,108,864 bytes"):
        load(path)


def test_a_compressed_body_beyond_the_bound_is_not_unpacked() -> None:
    """A small file cannot make an unbounded body."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    stored = b"".join(packer.compress(bytes(1 << 20)) for _ in range(65)) + packer.flush()
    data = vcrpy(
        "{status: {code: 200}, headers: {content-encoding: [gzip]}, "
        f"body: {{string: !!binary {base64.b64encode(stored).decode()}}}}}"
    )
    with pytest.raises(CassetteError, match=r"longer than .* when decompressed"):
        loads(data)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    """What the file system says is not dressed up."""
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.yaml")


def test_without_pyyaml_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML is in an extra."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(CassetteError, match=r"pip install 'plait\[cli\]'"):
        loads(vcrpy())


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        pytest.param(b"version: 1\ninteractions:\n", True, id="ours"),
        pytest.param(VCRPY.encode(), True, id="vcrpy"),
        pytest.param(RUBY.encode(), True, id="ruby"),
        pytest.param(b"# a comment\r\n\r\ninteractions: []", True, id="comment first"),
        pytest.param(b'\xef\xbb\xbf{"version": 1,', True, id="json with a BOM"),
        pytest.param(b"event: message_start\n", False, id="stream"),
        pytest.param(b'{"id": "x"}\n', False, id="json body"),
        pytest.param(b"versions: 1\n", False, id="another key"),
        pytest.param(b"inter", None, id="too short"),
        pytest.param(b"---\n", None, id="only a document start"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_the_start_of_a_file_tells_a_cassette_from_a_body(prefix: bytes, expected: bool | None) -> None:
    """So a cassette may be piped in, and a body may have any name."""
    assert expected is is_cassette_start(prefix)
