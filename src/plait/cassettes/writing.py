"""`Cassette` -> a YAML file that vcrpy replays. Only headers that are known to be harmless are written."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from plait.cassettes.model import Cassette, Interaction
from plait.cassettes.reading import NEEDS_YAML, loads
from plait.errors import CassetteError

KEPT_HEADERS = frozenset(
    {
        "content-type",
        "request-id",
        "x-request-id",
        "apim-request-id",
        "x-amzn-requestid",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
    }
)
"""The headers that are written. All others are left out: they name keys, accounts, cookies or nothing."""

KEPT_QUERY = frozenset({"alt", "api-version", "beta"})
"""The query parameters that are written: some providers take the key as one."""


def dump(cassette: Cassette) -> str:
    """The cassette as YAML text.

    Raises:
        CassetteError: PyYAML is not installed
    """
    try:
        import yaml
    except ModuleNotFoundError:
        raise CassetteError(NEEDS_YAML) from None

    class Dumper(yaml.SafeDumper):
        """Text with line ends as a block, short lists in one line."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(_Block, _represent_block)
    Dumper.add_representer(_Line, _represent_line)

    def text(block: bool) -> str:
        document = {"version": 1, "interactions": [_entry(item, block) for item in cassette.interactions]}
        return yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=block, width=110)

    written = text(block=True)
    # YAML takes some characters (U+2028, U+0085) for line ends: escapes in quotes keep the bytes.
    return written if _bodies(loads(written.encode())) == _bodies(cassette) else text(block=False)


def save(cassette: Cassette, path: str | PathLike[str]) -> None:
    """Write the cassette to a file, making its folder when there is none.

    Raises:
        CassetteError: PyYAML is not installed
        OSError: the file cannot be written
    """
    target = Path(path)
    written = dump(cassette)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(written.encode())


class _Block(str):
    """Text to be written as a block."""


class _Line(list[Any]):
    """A list to be written in one line."""


def _represent_block(dumper: Any, value: _Block) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style="|")


def _represent_line(dumper: Any, value: _Line) -> Any:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


def _bodies(cassette: Cassette) -> list[tuple[bytes, bytes]]:
    return [(item.request.body, item.response.body) for item in cassette.interactions]


def _entry(item: Interaction, block: bool) -> dict[str, Any]:
    request, response = item.request, item.response
    plait = _plait(item)
    return {
        **({"plait": plait} if plait else {}),
        "request": {
            "method": request.method,
            "uri": _scrubbed(request.uri),
            "headers": _headers(request.headers),
            "body": _body(request.body, block) if request.body else None,
        },
        "response": {
            "status": {"code": response.status, "message": response.reason},
            "headers": _headers(response.headers),
            "body": {"string": _body(response.body, block)},
        },
    }


def _plait(item: Interaction) -> dict[str, Any]:
    source = item.provenance
    facts = {
        "wire": item.wire,
        "dialect": item.dialect,
        "provenance": source
        and _present({name: getattr(source, name) for name in ("kind", "source", "date", "model")}),
        "expect": item.expect,
        "chunks": _Line(_Line(chunk) for chunk in item.chunks) or None,
    }
    return _present(facts)


def _present(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


def _headers(headers: Any) -> dict[str, list[str]]:
    return {name: [value] for name, value in headers.items() if name in KEPT_HEADERS}


def _body(body: bytes, block: bool) -> str | bytes:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    return _Block(text) if block else text


def _scrubbed(uri: str) -> str:
    parts = urlsplit(uri)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name in KEPT_QUERY])
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))
