"""Cassette files -> `Cassette`. Reads what vcrpy and Ruby's VCR write; a file is never trusted.

YAML is read without tags that build objects and without merge keys (which can grow a small file without
bound), up to `MAX_CASSETTE` bytes.
"""

from __future__ import annotations

import base64
import re
import zlib
from functools import cache
from os import PathLike, fspath
from typing import Any, Literal

import msgspec

from plait.cassettes.model import Cassette, Chunk, Interaction, Provenance, Request, Response
from plait.errors import CassetteError, quote
from plait.wire.guessing import guess_wire

MAX_CASSETTE = 64 * 1024 * 1024
"""Bytes of a cassette file, and of one body after decompression: as many as a parser takes in one frame."""

NEEDS_YAML = (
    "cassettes are YAML, and reading them needs PyYAML, which is not installed: pip install 'plait[cli]'"
)

_LIST_KEYS = ("interactions", "http_interactions")
"""The top-level key of the list of interactions: vcrpy's, Ruby VCR's."""

_START = re.compile(
    rb'\{\s*"(?:version|(?:http_)?interactions)"\s*:|(?:version|(?:http_)?interactions)\s*:(?:\s|$)'
)
_SKIPPED_LINE = re.compile(rb"(?:---[^\r\n]*|#[^\r\n]*|[ \t]*|%[^\r\n]*)(?:\r\n|\n|\r)")


# The shapes of the files; vcrpy and VCR differ only in the list's key and in how a body is written.


class _Request(msgspec.Struct):
    method: str
    uri: str
    body: Any = None
    headers: dict[str, Any] | None = None


class _Status(msgspec.Struct):
    code: int
    message: str | None = None


class _Response(msgspec.Struct):
    status: _Status | None = None
    headers: dict[str, Any] | None = None
    body: Any = None
    # vcrpy before 6 recorded httpx in a form of its own.
    status_code: int | None = None
    content: Any = None


class _Provenance(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["recorded", "synthesized"]
    source: str | None = None
    date: str | None = None
    model: str | None = None


class _Plait(msgspec.Struct, forbid_unknown_fields=True):
    wire: str | None = None
    dialect: str | None = None
    provenance: _Provenance | None = None
    expect: str | None = None
    chunks: list[Chunk] = []


class _Interaction(msgspec.Struct):
    request: _Request
    response: _Response
    plait: _Plait | None = None


def load(path: str | PathLike[str]) -> Cassette:
    """The cassette in a file: vcrpy's YAML or JSON, or Ruby VCR's YAML.

    Raises:
        CassetteError: not a cassette, or PyYAML is not installed; the message names the file, what was
            expected and what came
        OSError: the file cannot be read
    """
    with open(path, "rb") as file:
        data = file.read(MAX_CASSETTE + 1)
    return loads(data, name=fspath(path))


def loads(data: bytes, *, name: str = "cassette") -> Cassette:
    """The cassette in a file's bytes; `name` stands for the file in error messages. Raises as `load`."""
    if len(data) > MAX_CASSETTE:
        raise CassetteError(f"{name}: longer than {MAX_CASSETTE:,} bytes, the most a cassette may have")
    document = _read_yaml(data, name)
    entries = None
    if isinstance(document, dict):
        entries = next((document[key] for key in _LIST_KEYS if key in document), None)
    if not isinstance(entries, list):
        raise CassetteError(
            f"{name}: expected a cassette, a YAML mapping with a list named {' or '.join(_LIST_KEYS)}, "
            f"got {_what(document)} that starts with {quote(data[:80])}"
        )
    if not entries:
        raise CassetteError(f"{name}: expected at least one interaction, got an empty list")
    return Cassette([_interaction(entry, f"{name}: interaction {n}") for n, entry in enumerate(entries, 1)])


def is_cassette_start(prefix: bytes) -> bool | None:
    """Whether a file that starts with `prefix` is a cassette; None while that is too short to tell."""
    prefix = prefix.removeprefix(b"\xef\xbb\xbf")
    while skipped := _SKIPPED_LINE.match(prefix):
        prefix = prefix[skipped.end() :]
    if _START.match(prefix):
        return True
    return False if len(prefix) > 64 or b"\n" in prefix or b"\r" in prefix else None


def _read_yaml(data: bytes, name: str) -> Any:
    try:
        import yaml
    except ModuleNotFoundError:
        raise CassetteError(NEEDS_YAML) from None
    try:
        return yaml.load(data, Loader=_loader())
    except yaml.YAMLError as error:
        raise CassetteError(f"{name}: not YAML that a cassette may hold: {_yaml_problem(error)}") from None
    except RecursionError:
        raise CassetteError(f"{name}: YAML that is nested too deeply") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise CassetteError(f"{name}: a YAML value that cannot be read: {error}") from None


def _yaml_problem(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return where + (str(problem) if problem else str(error).partition("\n")[0])


@cache
def _loader() -> Any:
    """The safe loader (C where there is one), plus the tags that vcrpy and VCR write bodies with."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        def flatten_mapping(self, node: Any) -> None:
            """Leave merge keys alone: there is no constructor for them, so they are refused."""

    def scalar(loader: Any, node: Any) -> Any:
        return loader.construct_scalar(node)

    def binary(loader: Any, node: Any) -> bytes:
        return base64.b64decode(loader.construct_scalar(node))

    def text_tuple(loader: Any, node: Any) -> list[Any]:
        items: list[Any] = loader.construct_sequence(node, deep=True)
        return items

    def bytes_io(loader: Any, node: Any) -> Any:
        state = loader.construct_mapping(node, deep=True).get("state")
        return state[0] if isinstance(state, list) and state else b""

    python = "tag:yaml.org,2002:python/"
    for tag, constructor in {
        "tag:yaml.org,2002:timestamp": scalar,  # dates stay the text they are
        "!binary": binary,  # Ruby's spelling of !!binary
        f"{python}str": scalar,
        f"{python}unicode": scalar,
        f"{python}tuple": text_tuple,
        f"{python}object/new:_io.BytesIO": bytes_io,
    }.items():
        Loader.add_constructor(tag, constructor)
    return Loader


def _what(document: Any) -> str:
    if isinstance(document, dict):
        keys = ", ".join(quote(str(key), 40) for key in list(document)[:5])
        return f"a mapping of {keys}" if keys else "an empty mapping"
    return {list: "a list", str: "text", type(None): "nothing"}.get(type(document), type(document).__name__)


def _interaction(entry: Any, where: str) -> Interaction:
    try:
        raw = msgspec.convert(entry, _Interaction)
    except msgspec.ValidationError as error:
        raise CassetteError(f"{where}: {error}") from None
    request = Request(
        raw.request.method.upper(),
        raw.request.uri,
        _body(raw.request.body, f"{where}: request.body"),
        _headers(raw.request.headers),
    )
    response, encoded = _response(raw.response, where)
    plait = raw.plait or _Plait()
    source = plait.provenance
    return Interaction(
        request,
        response,
        plait.wire or guess_wire(request.uri, response.body),
        plait.dialect,
        None if source is None else Provenance(source.kind, source.source, source.date, source.model),
        plait.expect,
        () if encoded else _chunks(plait.chunks, response.body, where),
    )


def _response(raw: _Response, where: str) -> tuple[Response, bool]:
    """The response, and whether its body was stored compressed."""
    headers = _headers(raw.headers)
    status = raw.status.code if raw.status is not None else raw.status_code
    if status is None:
        raise CassetteError(f"{where}: expected response.status.code, got a response without a status")
    stored = _body(raw.body if raw.status is not None else raw.content, f"{where}: response.body")
    body = _decoded(stored, headers.get("content-encoding", ""), f"{where}: response.body")
    reason = (raw.status.message if raw.status is not None else None) or ""
    return Response(status, body, headers, reason), body != stored


def _headers(raw: dict[str, Any] | None) -> dict[str, str]:
    return {
        name.lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in (raw or {}).items()
    }


def _body(value: Any, where: str) -> bytes:
    """A body as vcrpy (`string` or bare) or VCR (`string`, `base64_string`) write it."""
    if isinstance(value, dict):
        if isinstance(encoded := value.get("base64_string"), str):
            try:
                return base64.b64decode("".join(encoded.split()), validate=True)
            except ValueError as error:
                raise CassetteError(f"{where}.base64_string: {error}") from None
        if "string" not in value:
            raise CassetteError(f"{where}: expected 'string' or 'base64_string', got {_what(value)}")
        value, where = value["string"], f"{where}.string"
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    raise CassetteError(f"{where}: expected text or binary, got {_what(value)}")


def _decoded(body: bytes, encoding: str, where: str) -> bytes:
    """The body without its content encoding. Some recorders keep the header of a body they decoded."""
    encoding = encoding.strip().lower()
    if encoding in ("gzip", "x-gzip") and body.startswith(b"\x1f\x8b"):
        return _inflate(body, 16 + zlib.MAX_WBITS, where)
    if encoding == "deflate" and body[:1] == b"\x78":
        return _inflate(body, zlib.MAX_WBITS, where)
    if encoding in ("br", "zstd", "compress"):
        try:
            body.decode()
        except UnicodeDecodeError:
            raise CassetteError(
                f"{where}: expected a body in gzip, deflate or no encoding, got {encoding}; record it with "
                "vcrpy's decode_compressed_response=True"
            ) from None
    return body


def _inflate(body: bytes, window: int, where: str) -> bytes:
    inflater = zlib.decompressobj(window)
    try:
        data = inflater.decompress(body, MAX_CASSETTE + 1)
    except zlib.error as error:
        raise CassetteError(f"{where}: expected compressed data, got {error}") from None
    if len(data) > MAX_CASSETTE:
        raise CassetteError(f"{where}: longer than {MAX_CASSETTE:,} bytes when decompressed")
    return data


def _chunks(chunks: list[Chunk], body: bytes, where: str) -> tuple[Chunk, ...]:
    before = 0
    for milliseconds, size in chunks:
        if milliseconds < before or size < 1:
            raise CassetteError(
                f"{where}: plait.chunks: expected [milliseconds since the response began, bytes] in "
                f"order of arrival, got [{milliseconds}, {size}] after {before} ms"
            )
        before = milliseconds
    if chunks and (total := sum(size for _, size in chunks)) != len(body):
        raise CassetteError(
            f"{where}: plait.chunks: expected {len(body):,} bytes, as many as the body has, got {total:,}"
        )
    return tuple(chunks)
